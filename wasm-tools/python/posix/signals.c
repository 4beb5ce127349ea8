/* Signals without interrupts: the kernel keeps handled signals pending, and this layer takes them off and runs the
 * handlers when a waiting call returns EINTR, after kill() of the own process, and when the interpreter looks (the
 * kernel raises a flag in its eval breaker: see ../runtime/interrupts.c). */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "internal.h"

typedef void (*handler_function)(int);

static handler_function handlers[WSKILL_SIGNAL_MAX + 1];
static sigset_t blocked;        /* held back by sigprocmask */
static sigset_t held;           /* taken from the kernel while blocked */

static sigset_t bit(int sig)
{
	return 1ULL << (sig - 1);
}

static bool valid(int sig)
{
	return sig >= 1 && sig <= WSKILL_SIGNAL_MAX;
}

/* wasi-libc declares SIG_IGN and SIG_ERR as functions, since small integers are valid function pointers here. */
void __SIG_IGN(int sig)
{
	(void)sig;
}

void __SIG_ERR(int sig)
{
	(void)sig;
}

int wskill_result(int32_t error)
{
	if (error == 0) return 0;
	if (error == EINTR) wskill_deliver_signals();
	errno = error;
	return -1;
}

static void run_handler(int sig)
{
	handler_function handler = handlers[sig];
	if (handler != SIG_DFL && handler != SIG_IGN) handler(sig);
}

bool wskill_deliver_signals(void)
{
	bool any = false;
	for (int sig = 1; held & ~blocked; sig++) {
		if (!(held & ~blocked & bit(sig))) continue;
		held &= ~bit(sig);
		run_handler(sig);
		any = true;
	}
	for (int sig; valid(sig = wsk_sig_take());) {
		if (blocked & bit(sig)) {
			held |= bit(sig);
			continue;
		}
		run_handler(sig);
		any = true;
	}
	return any;
}

static int32_t disposition(handler_function handler)
{
	return handler == SIG_DFL ? WSK_SIG_DFL : handler == SIG_IGN ? WSK_SIG_IGN : WSK_SIG_HANDLE;
}

void wskill_resume_signals(void)
{
	for (int sig = 1; sig <= WSKILL_SIGNAL_MAX; sig++) {
		if (handlers[sig] == SIG_DFL) continue;
		int32_t inherited = WSK_SIG_DFL;
		wsk_sig_set(sig, disposition(handlers[sig]), &inherited);
		/* A signal that the parent left ignored (nohup, background jobs) stays ignored. */
		if (inherited == WSK_SIG_IGN && handlers[sig] != SIG_IGN) {
			handlers[sig] = SIG_IGN;
			wsk_sig_set(sig, WSK_SIG_IGN, 0);
		}
	}
}

int sigaction(int sig, const struct sigaction *restrict action, struct sigaction *restrict old)
{
	if (!valid(sig)) return wskill_result(EINVAL);
	handler_function previous = handlers[sig];
	if (action) {
		int32_t inherited = WSK_SIG_DFL;
		int32_t error = wsk_sig_set(sig, disposition(action->sa_handler), &inherited);
		if (error && error != ENOSYS) return wskill_result(error);
		if (error == 0 && previous == SIG_DFL && inherited == WSK_SIG_IGN) previous = SIG_IGN;
		handlers[sig] = action->sa_handler;
	}
	if (old) *old = (struct sigaction){.sa_handler = previous};
	return 0;
}

handler_function signal(int sig, handler_function handler)
{
	struct sigaction action = {.sa_handler = handler}, old;
	return sigaction(sig, &action, &old) < 0 ? SIG_ERR : old.sa_handler;
}

int siginterrupt(int sig, int flag)
{
	(void)flag;   /* waiting calls are always interrupted */
	return valid(sig) ? 0 : wskill_result(EINVAL);
}

/* ---- sets and masks --------------------------------------------------------------------------------------------- */

int sigemptyset(sigset_t *set)
{
	*set = 0;
	return 0;
}

int sigfillset(sigset_t *set)
{
	*set = ~0ULL;
	return 0;
}

int sigaddset(sigset_t *set, int sig)
{
	if (!valid(sig)) return wskill_result(EINVAL);
	*set |= bit(sig);
	return 0;
}

int sigdelset(sigset_t *set, int sig)
{
	if (!valid(sig)) return wskill_result(EINVAL);
	*set &= ~bit(sig);
	return 0;
}

int sigismember(const sigset_t *set, int sig)
{
	return valid(sig) && (*set & bit(sig)) != 0;
}

int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	sigset_t previous = blocked;
	if (set) {
		if (how == SIG_BLOCK) blocked |= *set;
		else if (how == SIG_UNBLOCK) blocked &= ~*set;
		else if (how == SIG_SETMASK) blocked = *set;
		else return wskill_result(EINVAL);
		blocked &= ~(bit(SIGKILL) | bit(SIGSTOP));
		wskill_deliver_signals();
	}
	if (old) *old = previous;
	return 0;
}

int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	return sigprocmask(how, set, old) < 0 ? wskill_linux_errno(errno) : 0;
}

int sigpending(sigset_t *set)
{
	wskill_deliver_signals();
	*set = held;
	return 0;
}

int sigwait(const sigset_t *restrict set, int *restrict sig)
{
	sigset_t previous;
	sigprocmask(SIG_BLOCK, set, &previous);
	while (!(held & *set)) {
		wskill_deliver_signals();
		if (!(held & *set)) wsk_pause();
	}
	for (int candidate = 1; valid(candidate); candidate++) {
		if (!(held & *set & bit(candidate))) continue;
		held &= ~bit(candidate);
		*sig = candidate;
		break;
	}
	sigprocmask(SIG_SETMASK, &previous, NULL);
	return 0;
}

/* ---- sending ---------------------------------------------------------------------------------------------------- */

/* Whether the default action of a signal is to end the process. */
static bool is_fatal(int sig)
{
	switch (sig) {
	case SIGCHLD: case SIGCONT: case SIGURG: case SIGWINCH: case SIGSTOP: case SIGTSTP: case SIGTTIN: case SIGTTOU:
		return false;
	default:
		return true;
	}
}

int kill(pid_t pid, int sig)
{
	int result = wskill_result(wsk_kill(pid, sig));
	/* The kernel ends this process at its next wait, but kill(2) does not return to one that is to end. */
	if (result == 0 && pid == getpid() && valid(sig) && handlers[sig] == SIG_DFL && is_fatal(sig)) wsk_pause();
	wskill_deliver_signals();   /* it may have been for this process */
	return result;
}

int killpg(pid_t pgid, int sig)
{
	return pgid < 0 ? wskill_result(EINVAL) : kill(-pgid, sig);
}

int raise(int sig)
{
	return kill(getpid(), sig);
}

int pause(void)
{
	return wskill_result(wsk_pause());
}

/* ---- timers ----------------------------------------------------------------------------------------------------- */

static uint64_t nanoseconds(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_usec * 1000;
}

static struct timeval timeval_of(uint64_t ns)
{
	return (struct timeval){.tv_sec = ns / 1000000000, .tv_usec = ns % 1000000000 / 1000};
}

static uint64_t timer_interval;   /* the kernel tells what is left, not the interval */
static uint64_t timer_deadline;   /* on the monotonic clock; 0: not armed */

static uint64_t monotonic_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int getitimer(int which, struct itimerval *value)
{
	if (which != ITIMER_REAL) return wskill_result(EINVAL);
	uint64_t left = 0;
	if (timer_deadline) {
		uint64_t now = monotonic_now();
		if (now < timer_deadline) left = timer_deadline - now;
		else if (timer_interval) left = timer_interval - (now - timer_deadline) % timer_interval;
	}
	*value = (struct itimerval){.it_value = timeval_of(left), .it_interval = timeval_of(timer_interval)};
	return 0;
}

int setitimer(int which, const struct itimerval *restrict value, struct itimerval *restrict old)
{
	if (which != ITIMER_REAL) return wskill_result(EINVAL);
	if (old) getitimer(which, old);
	uint64_t first = nanoseconds(&value->it_value), interval = nanoseconds(&value->it_interval), left = 0;
	if (wskill_result(wsk_itimer(first, interval, &left)) < 0) return -1;
	timer_interval = interval;
	timer_deadline = first ? monotonic_now() + first : 0;
	if (old) old->it_value = timeval_of(left);
	return 0;
}

unsigned alarm(unsigned seconds)
{
	struct itimerval value = {.it_value.tv_sec = seconds}, old;
	if (setitimer(ITIMER_REAL, &value, &old) < 0) return 0;
	return (unsigned)old.it_value.tv_sec + (old.it_value.tv_usec != 0);
}
