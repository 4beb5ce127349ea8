/* Threads in turns, the C side: see lib/_wskill_threads.py. Every lock of the interpreter that is taken ends in a wait on
 * a condition variable, which only another thread or a signal handler can end; so started threads get their turn there,
 * and before calls that wait for time or for other processes. The functions with __wrap names are reached through the
 * linker's --wrap. */
#include "Python.h"
#include "pycore_ceval.h"
#include "pycore_pystate.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include "internal.h"
#include "runtime.h"

static PyObject *run_next, *stuck;
static PyObject *waiting;   /* a deque of the threads that have not run yet; its size is looked at from here */

/* Lets one waiting thread run. The caller has released the interpreter, as every caller of a blocking function has. */
static bool take_turn(void)
{
	if (!waiting || Py_SIZE(waiting) == 0) return false;
	PyGILState_STATE state = PyGILState_Ensure();
	PyObject *result = PyObject_CallNoArgs(run_next);
	bool ran = result == Py_True;
	if (!result) PyErr_WriteUnraisable(run_next);
	Py_XDECREF(result);
	PyGILState_Release(state);
	return ran;
}

static void take_turns(void)
{
	while (take_turn()) continue;
}

void wskill_prepare_threads(void)
{
	PyObject *module = PyImport_ImportModule("_wskill_threads");
	run_next = module ? PyObject_GetAttrString(module, "run_next") : NULL;
	stuck = module ? PyObject_GetAttrString(module, "stuck") : NULL;
	waiting = module ? PyObject_GetAttrString(module, "_waiting") : NULL;
	Py_XDECREF(module);
	wskill_before_wait = take_turns;
	if (run_next && stuck && waiting) return;
	PyErr_Print();
	_Exit(74);
}

/* Runs as a pending call: raises in the thread that waits. */
static int raise_stuck(void *unused)
{
	(void)unused;
	PyObject *result = PyObject_CallNoArgs(stuck);
	Py_XDECREF(result);
	return result ? 0 : -1;
}

/* A program that handles signals may wait for one without end. */
static bool expects_signals(void)
{
	for (int sig = 1; sig <= WSKILL_SIGNAL_MAX; sig++) {
		struct sigaction action;
		if (sig == SIGINT || sigaction(sig, NULL, &action) < 0) continue;
		if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN) return true;
	}
	return false;
}

/* Whether the condition has been signalled is the caller's to see: it looks again whenever a wait returns 0. */
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	(void)condition;
	(void)mutex;
	if (take_turn()) return 0;
	if (expects_signals()) wskill_result(wsk_pause());
	else Py_AddPendingCall(raise_stuck, NULL);
	return 0;
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *deadline)
{
	(void)condition;
	(void)mutex;
	if (take_turn()) return 0;
	return wskill_sleep(CLOCK_REALTIME, TIMER_ABSTIME, deadline) ? 0 : ETIMEDOUT;
}
