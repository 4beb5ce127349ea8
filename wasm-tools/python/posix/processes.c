/* Processes: exec, spawn, wait, system, identifiers, limits and times. There is no fork. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <unistd.h>
#include "processes.h"

extern char **environ;

/* ---- requests --------------------------------------------------------------------------------------------------- */

/* Strings one after another, each ended by NUL, in one allocation. NULL when memory runs out. */
static char *join_strings(char *const *strings, uint32_t *length)
{
	size_t total = 0;
	for (char *const *item = strings; item && *item; item++) total += strlen(*item) + 1;
	char *block = malloc(total ? total : 1), *end = block;
	if (!block) return NULL;
	for (char *const *item = strings; item && *item; item++) {
		size_t size = strlen(*item) + 1;
		memcpy(end, *item, size);
		end += size;
	}
	*length = total;
	return block;
}

static int32_t with_request(const wskill_program *program, int32_t (*call)(wsk_spawn_request *, int32_t *),
                            int32_t *pid)
{
	wsk_spawn_request request = {
		.path = program->path, .path_len = strlen(program->path),
		.cwd = program->cwd, .cwd_len = program->cwd ? strlen(program->cwd) : 0,
		.fds = program->fds, .fds_count = program->fds_count,
		.flags = program->flags, .pgid = program->pgid, .umask = program->umask,
		.sig_ignore = program->ignored_signals,
	};
	int32_t error = ENOMEM;
	char *arguments = join_strings(program->argv, &request.argv_len);
	char *environment = join_strings(program->envp ? program->envp : environ, &request.env_len);
	if (arguments && environment) {
		request.argv = arguments;
		request.env = environment;
		error = call(&request, pid);
	}
	free(arguments);
	free(environment);
	return error;
}

static int32_t call_spawn(wsk_spawn_request *request, int32_t *pid)
{
	return wsk_spawn(request, pid);
}

static int32_t call_exec(wsk_spawn_request *request, int32_t *pid)
{
	(void)pid;
	return wsk_exec(request);
}

int wskill_spawn(const wskill_program *program, int32_t *pid)
{
	return wskill_linux_errno(with_request(program, call_spawn, pid));
}

uint64_t wskill_ignored_signals(void)
{
	uint64_t ignored = 0;
	for (int sig = 1; sig <= WSKILL_SIGNAL_MAX; sig++) {
		struct sigaction action;
		if (sigaction(sig, NULL, &action) == 0 && action.sa_handler == SIG_IGN) ignored |= 1ULL << (sig - 1);
	}
	return ignored;
}

/* ---- exec ------------------------------------------------------------------------------------------------------- */

int execve(const char *path, char *const argv[], char *const envp[])
{
	wskill_program program = {
		.path = path, .argv = argv, .envp = envp, .umask = -1, .ignored_signals = wskill_ignored_signals(),
	};
	static char *const empty[] = {NULL};
	if (!program.envp) program.envp = empty;
	return wskill_result(with_request(&program, call_exec, NULL));
}

int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

/* ---- posix_spawn ------------------------------------------------------------------------------------------------ */

typedef struct {
	enum { ACTION_OPEN, ACTION_CLOSE, ACTION_DUP2 } kind;
	int fd, source, flags;
	mode_t mode;
	char *path;
} file_action;

static int add_action(posix_spawn_file_actions_t *list, file_action action)
{
	file_action *grown = realloc(list->actions, (list->count + 1) * sizeof *grown);
	if (!grown) {
		free(action.path);
		return ENOMEM;
	}
	grown[list->count++] = action;
	list->actions = grown;
	return 0;
}

int posix_spawn_file_actions_init(posix_spawn_file_actions_t *list)
{
	*list = (posix_spawn_file_actions_t){0};
	return 0;
}

int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *list)
{
	file_action *actions = list->actions;
	for (int i = 0; i < list->count; i++) free(actions[i].path);
	free(actions);
	return posix_spawn_file_actions_init(list);
}

int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *restrict list, int fd, const char *restrict path,
                                     int oflag, mode_t mode)
{
	char *copy = strdup(path);
	if (!copy) return ENOMEM;
	return add_action(list, (file_action){.kind = ACTION_OPEN, .fd = fd, .flags = oflag, .mode = mode, .path = copy});
}

int posix_spawn_file_actions_addclose(posix_spawn_file_actions_t *list, int fd)
{
	return add_action(list, (file_action){.kind = ACTION_CLOSE, .fd = fd});
}

int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *list, int fd, int new_fd)
{
	return add_action(list, (file_action){.kind = ACTION_DUP2, .source = fd, .fd = new_fd});
}

int posix_spawnattr_init(posix_spawnattr_t *attr)
{
	*attr = (posix_spawnattr_t){0};
	return 0;
}

int posix_spawnattr_destroy(posix_spawnattr_t *attr)
{
	(void)attr;
	return 0;
}

int posix_spawnattr_setflags(posix_spawnattr_t *attr, short flags)
{
	attr->flags = flags;
	return 0;
}

int posix_spawnattr_setpgroup(posix_spawnattr_t *attr, pid_t pgroup)
{
	attr->pgroup = pgroup;
	return 0;
}

/* There is one scheduling policy, and it is the kernel's. */
int posix_spawnattr_setschedpolicy(posix_spawnattr_t *attr, int policy)
{
	(void)attr;
	(void)policy;
	return 0;
}

int posix_spawnattr_setschedparam(posix_spawnattr_t *restrict attr, const struct sched_param *restrict param)
{
	(void)attr;
	(void)param;
	return 0;
}

int posix_spawnattr_setsigmask(posix_spawnattr_t *restrict attr, const sigset_t *restrict mask)
{
	attr->sig_mask = *mask;
	return 0;
}

int posix_spawnattr_setsigdefault(posix_spawnattr_t *restrict attr, const sigset_t *restrict set)
{
	attr->sig_default = *set;
	return 0;
}

/* What a child descriptor will be after the actions so far: looks back through the map that is being built. */
static int32_t source_of(const wsk_fd_map *map, uint32_t count, int32_t fd)
{
	for (uint32_t i = count; i-- > 0;)
		if (map[i].child_fd == fd) return map[i].parent_fd;
	return fd;
}

/* The actions as one simultaneous map: the kernel applies all at once from the parent's table, so a later action that
 * reads what an earlier one set is resolved here. Opened descriptors are collected to be closed afterwards. */
static int map_actions(const posix_spawn_file_actions_t *list, wsk_fd_map *map, int *opened, uint32_t *opened_count)
{
	uint32_t count = 0;
	file_action *actions = list->actions;
	for (int i = 0; i < list->count; i++) {
		int32_t source = -1;
		if (actions[i].kind == ACTION_DUP2) {
			source = source_of(map, count, actions[i].source);
			if (source < 0) return EBADF;
		} else if (actions[i].kind == ACTION_OPEN) {
			source = open(actions[i].path, actions[i].flags | O_CLOEXEC, actions[i].mode);
			if (source < 0) return errno;
			opened[(*opened_count)++] = source;
		}
		map[count++] = (wsk_fd_map){.child_fd = actions[i].fd, .parent_fd = source};
	}
	return 0;
}

/* Later entries for the same child descriptor win. */
static uint32_t drop_overridden(wsk_fd_map *map, uint32_t count)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < count; i++) {
		bool overridden = false;
		for (uint32_t later = i + 1; later < count; later++) overridden |= map[later].child_fd == map[i].child_fd;
		if (!overridden) map[kept++] = map[i];
	}
	return kept;
}

static int spawn_with_actions(pid_t *pid, const char *path, const posix_spawn_file_actions_t *list,
                              const posix_spawnattr_t *attr, char *const argv[], char *const envp[], uint32_t flags)
{
	static char *const empty[] = {NULL};
	int count = list ? list->count : 0;
	wsk_fd_map *map = calloc(count + 1, sizeof *map);
	int *opened = calloc(count + 1, sizeof *opened);
	uint32_t opened_count = 0;
	int error = map && opened ? 0 : ENOMEM;
	if (!error && list) error = map_actions(list, map, opened, &opened_count);
	if (!error) {
		wskill_program program = {
			.path = path, .argv = argv, .envp = envp ? envp : empty, .umask = -1,
			.fds = map, .fds_count = drop_overridden(map, count), .flags = flags,
			.ignored_signals = wskill_ignored_signals(),
		};
		if (attr && (attr->flags & POSIX_SPAWN_SETPGROUP)) {
			program.flags |= WSK_SPAWN_SETPGID;
			program.pgid = attr->pgroup;
		}
		if (attr && (attr->flags & POSIX_SPAWN_SETSID)) program.flags |= WSK_SPAWN_SETPGID;
		if (attr && (attr->flags & POSIX_SPAWN_SETSIGDEF)) program.ignored_signals &= ~attr->sig_default;
		int32_t child = 0;
		error = with_request(&program, call_spawn, &child);
		if (!error && pid) *pid = child;
	}
	for (uint32_t i = 0; i < opened_count; i++) close(opened[i]);
	free(opened);
	free(map);
	return error;
}

int posix_spawn(pid_t *restrict pid, const char *restrict path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *restrict attr, char *const argv[restrict], char *const envp[restrict])
{
	return wskill_linux_errno(spawn_with_actions(pid, path, actions, attr, argv, envp, 0));
}

int posix_spawnp(pid_t *restrict pid, const char *restrict file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *restrict attr, char *const argv[restrict], char *const envp[restrict])
{
	return wskill_linux_errno(spawn_with_actions(pid, file, actions, attr, argv, envp, WSK_SPAWN_SEARCH));
}

/* ---- system ----------------------------------------------------------------------------------------------------- */

int system(const char *command)
{
	if (!command) return 1;   /* there is a shell */
	char *const argv[] = {"sh", "-c", (char *)command, NULL};
	/* system(3) ignores INT and QUIT in the parent while the child runs; the child gets the defaults back. */
	const sigset_t keyboard = 1ULL << (SIGINT - 1) | 1ULL << (SIGQUIT - 1);
	wskill_program program = {
		.path = "/bin/sh", .argv = argv, .umask = -1, .ignored_signals = wskill_ignored_signals(),
	};
	int32_t pid = 0;
	int32_t error = with_request(&program, call_spawn, &pid);
	if (error == ENOENT || error == EACCES || error == ENOEXEC) return 127 << 8;
	if (wskill_result(error) < 0) return -1;
	sigset_t previous;
	sigprocmask(SIG_BLOCK, &keyboard, &previous);
	int status = -1;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno == EINTR) continue;
		status = -1;
		break;
	}
	sigprocmask(SIG_SETMASK, &previous, NULL);
	return status;
}

/* ---- wait ------------------------------------------------------------------------------------------------------- */

static struct timeval timeval_of_ns(uint64_t ns)
{
	return (struct timeval){.tv_sec = ns / 1000000000, .tv_usec = ns % 1000000000 / 1000};
}

pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	wsk_wait_result result;
	if (!(options & WNOHANG) && wskill_before_wait) wskill_before_wait();
	if (wskill_result(wsk_wait(pid, (options & WNOHANG) ? WSK_WNOHANG : 0, &result)) < 0) return -1;
	if (status) *status = result.pid ? result.status : 0;
	if (usage)
		*usage = (struct rusage){
			.ru_utime = timeval_of_ns(result.cpu_ns), .ru_maxrss = (long)(result.peak_memory / 1024),
		};
	return result.pid;
}

pid_t wait3(int *status, int options, struct rusage *usage)
{
	return wait4(-1, status, options, usage);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	return wait4(pid, status, options, NULL);
}

pid_t wait(int *status)
{
	return wait4(-1, status, 0, NULL);
}

/* ---- identifiers ------------------------------------------------------------------------------------------------ */

pid_t getpid(void)
{
	return wsk_getpid();
}

pid_t getppid(void)
{
	return wsk_getppid();
}

pid_t getpgid(pid_t pid)
{
	int32_t pgid;
	return wskill_result(wsk_getpgid(pid, &pgid)) < 0 ? -1 : pgid;
}

pid_t getpgrp(void)
{
	return getpgid(0);
}

int setpgid(pid_t pid, pid_t pgid)
{
	return wskill_result(wsk_setpgid(pid, pgid));
}

pid_t setpgrp(void)
{
	return setpgid(0, 0);
}

/* There are no sessions: a new one is a process group of its own. */
pid_t setsid(void)
{
	if (getpgid(0) == getpid()) return wskill_result(EPERM);
	return setpgid(0, 0) < 0 ? -1 : getpid();
}

pid_t getsid(pid_t pid)
{
	return getpgid(pid);
}

/* ---- limits and times ------------------------------------------------------------------------------------------- */

int getrlimit(int resource, struct rlimit *limit)
{
	uint64_t value = 0;
	if (wskill_result(wsk_getrlimit(resource, &value)) < 0) return -1;
	limit->rlim_cur = limit->rlim_max = value;
	return 0;
}

/* The host alone sets limits. Asking for what already holds is fine. */
int setrlimit(int resource, const struct rlimit *limit)
{
	struct rlimit current;
	if (getrlimit(resource, &current) < 0) return -1;
	return limit->rlim_cur == current.rlim_cur && limit->rlim_max == current.rlim_max ? 0 : wskill_result(EPERM);
}

clock_t __wrap_times(struct tms *times)
{
	uint64_t own = 0, children = 0;
	if (wskill_result(wsk_times(&own, &children)) < 0) return -1;
	const uint64_t tick = 1000000000 / sysconf(_SC_CLK_TCK);
	*times = (struct tms){.tms_utime = own / tick, .tms_cutime = children / tick};
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return ((uint64_t)now.tv_sec * 1000000000 + now.tv_nsec) / tick;
}

int getrusage(int who, struct rusage *usage)
{
	uint64_t own = 0, children = 0;
	if (who != RUSAGE_SELF && who != RUSAGE_CHILDREN) return wskill_result(EINVAL);
	if (wskill_result(wsk_times(&own, &children)) < 0) return -1;
	*usage = (struct rusage){.ru_utime = timeval_of_ns(who == RUSAGE_SELF ? own : children)};
	if (who == RUSAGE_SELF) usage->ru_maxrss = (long)(__builtin_wasm_memory_size(0) * 64);
	return 0;
}
