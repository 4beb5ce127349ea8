/* <pwd.h>: the sandbox's user database is /etc/passwd, or one built-in entry when there is none. */
#ifndef WSKILL_POSIX_PWD_H
#define WSKILL_POSIX_PWD_H
#define __NEED_uid_t
#define __NEED_gid_t
#define __NEED_size_t
#include <bits/alltypes.h>
struct passwd {
	char *pw_name, *pw_passwd;
	uid_t pw_uid;
	gid_t pw_gid;
	char *pw_gecos, *pw_dir, *pw_shell;
};
struct passwd *getpwuid(uid_t uid);
struct passwd *getpwnam(const char *name);
void setpwent(void);
struct passwd *getpwent(void);
void endpwent(void);
#endif
