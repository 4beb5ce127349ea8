/* <signal.h> with handlers, masks and kill. Delivery is at host calls and at the interpreter's own checks: see
 * ../signals.c. */
#include_next <signal.h>
#ifndef WSKILL_POSIX_SIGNAL_H
#define WSKILL_POSIX_SIGNAL_H
#define __NEED_pid_t
#define __NEED_pthread_t
#define __NEED_struct_timespec
#include <bits/alltypes.h>
#include <__typedef_sigset_t.h>

#define SIG_BLOCK   0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2

#define SA_NOCLDSTOP 1
#define SA_NOCLDWAIT 2
#define SA_ONSTACK   0x08000000   /* accepted: there are no other stacks */
#define SA_RESTART   0x10000000
#define SA_NODEFER   0x40000000
#define SA_RESETHAND 0x80000000

struct sigaction {
	void (*sa_handler)(int);
	sigset_t sa_mask;
	int sa_flags;
};

int sigaction(int sig, const struct sigaction *restrict action, struct sigaction *restrict old);
int siginterrupt(int sig, int flag);
int sigemptyset(sigset_t *set);
int sigfillset(sigset_t *set);
int sigaddset(sigset_t *set, int sig);
int sigdelset(sigset_t *set, int sig);
int sigismember(const sigset_t *set, int sig);
int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old);
int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old);
int sigpending(sigset_t *set);
int sigwait(const sigset_t *restrict set, int *restrict sig);

int kill(pid_t pid, int sig);
int killpg(pid_t pgid, int sig);
#endif
