/* <grp.h>: /etc/group, or one built-in entry when there is none. */
#ifndef WSKILL_POSIX_GRP_H
#define WSKILL_POSIX_GRP_H
#define __NEED_gid_t
#define __NEED_size_t
#include <bits/alltypes.h>
struct group {
	char *gr_name, *gr_passwd;
	gid_t gr_gid;
	char **gr_mem;
};
struct group *getgrgid(gid_t gid);
struct group *getgrnam(const char *name);
void setgrent(void);
struct group *getgrent(void);
void endgrent(void);
#endif
