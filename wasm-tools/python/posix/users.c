/* The user: always uid 0 of the sandbox, which has no power outside it. Names come from /etc/passwd and /etc/group. */
#define _GNU_SOURCE
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "internal.h"

uid_t getuid(void)
{
	return 0;
}

uid_t geteuid(void)
{
	return 0;
}

gid_t getgid(void)
{
	return 0;
}

gid_t getegid(void)
{
	return 0;
}

int getgroups(int count, gid_t groups[])
{
	if (count > 0) groups[0] = 0;
	return 1;
}

char *getlogin(void)
{
	struct passwd *entry = getpwuid(0);
	return entry ? entry->pw_name : NULL;
}

/* A small Linux, as far as scripts look. */
int __wrap_uname(struct utsname *name)
{
	strcpy(name->sysname, "Linux");
	strcpy(name->nodename, "sandbox");
	strcpy(name->release, "6.1.0-wskill");
	strcpy(name->version, "wskill");
	strcpy(name->machine, "wasm32");
	return 0;
}

/* ---- databases -------------------------------------------------------------------------------------------------- */

typedef struct {
	const char *path;
	const char *fallback;   /* the whole database when the file is missing */
	int fields;
	FILE *file;
	bool at_end;            /* the fallback entry was handed out */
	char line[1024];
	char *field[7];
} database;

static database users = {.path = "/etc/passwd", .fallback = "root:x:0:0:root:/home/user:/bin/sh", .fields = 7};
static database groups = {.path = "/etc/group", .fallback = "root:x:0:", .fields = 4};

static void rewind_database(database *db)
{
	if (db->file) fclose(db->file);
	db->file = NULL;
	db->at_end = false;
}

static bool split_line(database *db)
{
	db->line[strcspn(db->line, "\n")] = '\0';
	char *rest = db->line;
	for (int i = 0; i < db->fields; i++) {
		db->field[i] = strsep(&rest, ":");
		if (!db->field[i]) return false;
	}
	return true;
}

/* The next well-formed entry, in db->field. */
static bool next_entry(database *db)
{
	if (db->at_end) return false;
	if (!db->file) db->file = fopen(db->path, "re");
	if (!db->file) {
		db->at_end = true;
		strcpy(db->line, db->fallback);
		return split_line(db);
	}
	while (fgets(db->line, sizeof db->line, db->file))
		if (split_line(db)) return true;
	rewind_database(db);
	db->at_end = true;
	return false;
}

struct passwd *getpwent(void)
{
	static struct passwd entry;
	if (!next_entry(&users)) return NULL;
	char **field = users.field;
	entry = (struct passwd){
		.pw_name = field[0], .pw_passwd = field[1], .pw_uid = strtoul(field[2], NULL, 10),
		.pw_gid = strtoul(field[3], NULL, 10), .pw_gecos = field[4], .pw_dir = field[5], .pw_shell = field[6],
	};
	return &entry;
}

void setpwent(void)
{
	rewind_database(&users);
}

void endpwent(void)
{
	rewind_database(&users);
}

struct passwd *getpwuid(uid_t uid)
{
	struct passwd *entry;
	setpwent();
	while ((entry = getpwent()) && entry->pw_uid != uid) continue;
	return entry;
}

struct passwd *getpwnam(const char *name)
{
	struct passwd *entry;
	setpwent();
	while ((entry = getpwent()) && strcmp(entry->pw_name, name) != 0) continue;
	return entry;
}

struct group *getgrent(void)
{
	static struct group entry;
	static char *members[64];
	if (!next_entry(&groups)) return NULL;
	char **field = groups.field;
	size_t count = 0;
	for (char *rest = field[3], *name; count < sizeof members / sizeof *members - 1 && (name = strsep(&rest, ","));)
		if (*name) members[count++] = name;
	members[count] = NULL;
	entry = (struct group){
		.gr_name = field[0], .gr_passwd = field[1], .gr_gid = strtoul(field[2], NULL, 10), .gr_mem = members,
	};
	return &entry;
}

void setgrent(void)
{
	rewind_database(&groups);
}

void endgrent(void)
{
	rewind_database(&groups);
}

struct group *getgrgid(gid_t gid)
{
	struct group *entry;
	setgrent();
	while ((entry = getgrent()) && entry->gr_gid != gid) continue;
	return entry;
}

struct group *getgrnam(const char *name)
{
	struct group *entry;
	setgrent();
	while ((entry = getgrent()) && strcmp(entry->gr_name, name) != 0) continue;
	return entry;
}
