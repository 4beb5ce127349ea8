/* Signals for code that computes. The kernel stores 1 into the lowest byte of the main thread's eval breaker while a
 * handled signal is pending. That bit is CPython's request to drop the interpreter lock, which means nothing with one
 * thread; so it can serve as the doorbell. The two functions below are reached through the linker's --wrap. */
#include "Python.h"
#include "pycore_ceval.h"
#include "pycore_pystate.h"
#include "internal.h"
#include "runtime.h"

int __real__Py_HandlePending(PyThreadState *tstate);
int __real_PyErr_CheckSignals(void);

void wskill_watch_signals(void)
{
	wsk_sig_flag((uint8_t *)&_PyThreadState_GET()->eval_breaker);
}

static void answer_doorbell(PyThreadState *tstate)
{
	if (!_Py_eval_breaker_bit_is_set(tstate, _PY_GIL_DROP_REQUEST_BIT)) return;
	_Py_unset_eval_breaker_bit(tstate, _PY_GIL_DROP_REQUEST_BIT);
	wskill_deliver_signals();
	/* The kernel's store wiped the other bits of that byte; this one is cheap to set without need. */
	_Py_set_eval_breaker_bit(tstate, _PY_SIGNALS_PENDING_BIT);
}

int __wrap__Py_HandlePending(PyThreadState *tstate)
{
	answer_doorbell(tstate);
	return __real__Py_HandlePending(tstate);
}

int __wrap_PyErr_CheckSignals(void)
{
	answer_doorbell(_PyThreadState_GET());
	return __real_PyErr_CheckSignals();
}
