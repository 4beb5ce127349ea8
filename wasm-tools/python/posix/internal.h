/* Shared by the files of this layer: POSIX calls that wasi-libc lacks or stubs, over the `wskill` imports.
 *
 * Two ways to supply a call. What wasi-libc does not define at all is defined here under its own name. What it does
 * define, but without modes, signals or shared descriptors, is replaced with the linker's --wrap (the list is in
 * ../wrapped-functions.txt): `__wrap_X` here is what callers reach, `__real_X` is wasi-libc's own.
 *
 * While the snapshot is made there is no kernel: every import answers ENOSYS. Calls that the interpreter needs at
 * that time then fall back to `__real_X`; the others fail with ENOSYS. */
#ifndef WSKILL_POSIX_INTERNAL_H
#define WSKILL_POSIX_INTERNAL_H
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include "wskill.h"

/* Turns the errno that an import returns into POSIX's -1 with errno. An interrupted call delivers its signal first,
 * so that handlers have run when the caller sees EINTR, as POSIX promises. */
int wskill_result(int32_t error);

/* Linux's number for one of WASI's: what the interpreter's errno.h has. Only for calls that return an error number;
 * those that set errno need nothing (see errno.c). */
int wskill_linux_errno(int wasi);

/* Runs the handlers of all pending, unblocked signals. True when at least one ran. */
bool wskill_deliver_signals(void);
/* Tells the kernel again which signals have handlers or are ignored: a fresh process knows nothing of what the
 * snapshot set. */
void wskill_resume_signals(void);
#define WSKILL_SIGNAL_MAX 64

/* Called before a call that may wait for another process or for time, when it is set: see ../runtime/threads.c. */
extern void (*wskill_before_wait)(void);

/* clock_nanosleep(2), returning WASI's error number. Handlers of the signal that interrupted it have run. */
int wskill_sleep(clockid_t clock, int flags, const struct timespec *wanted);

/* The kernel's number for a directory descriptor: wasi-libc's AT_FDCWD differs. */
int32_t wskill_dirfd(int dirfd);

/* Makes wasi-libc's own working directory follow the kernel's. */
int wskill_sync_cwd(void);
#endif
