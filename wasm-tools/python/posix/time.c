/* Waiting for time. wasi-libc's clock_nanosleep turns an interruption by a signal into ENOTSUP. */
#define _GNU_SOURCE
#include <time.h>
#include <wasi/api.h>
#include "internal.h"

void (*wskill_before_wait)(void);

int wskill_sleep(clockid_t clock, int flags, const struct timespec *wanted)
{
	if (wanted->tv_nsec < 0 || wanted->tv_nsec >= 1000000000) return EINVAL;
	const __wasi_subscription_t subscription = {
		.u.tag = __WASI_EVENTTYPE_CLOCK,
		.u.u.clock = {
			.id = clock == CLOCK_REALTIME ? __WASI_CLOCKID_REALTIME : __WASI_CLOCKID_MONOTONIC,
			.timeout = wanted->tv_sec < 0 ? 0 : (uint64_t)wanted->tv_sec * 1000000000 + wanted->tv_nsec,
			.flags = (flags & TIMER_ABSTIME) ? __WASI_SUBCLOCKFLAGS_SUBSCRIPTION_CLOCK_ABSTIME : 0,
		},
	};
	__wasi_event_t event;
	__wasi_size_t count;
	int error = __wasi_poll_oneoff(&subscription, &event, 1, &count);
	if (error == EINTR) wskill_deliver_signals();
	return error ? error : event.error;
}

/* CPython sleeps until a deadline, so it does not ask what is left. */
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left)
{
	(void)left;
	if (wskill_before_wait) wskill_before_wait();
	return wskill_linux_errno(wskill_sleep(clock, flags, wanted));
}
