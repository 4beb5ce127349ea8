/* The end of a process. Freeing every object of an interpreter whose memory is thrown away a moment later costs more
 * than a short script's whole run, so this does only what a program can observe: threads' shutdown, atexit functions,
 * the destructors of what the program itself made (files left open are flushed there), and the standard streams. */
#include "Python.h"
#include "pycore_atexit.h"
#include "pycore_ceval.h"
#include "pycore_interp.h"
#include "pycore_moduleobject.h"
#include "pycore_pylifecycle.h"
#include "pycore_pystate.h"
#include "pycore_runtime.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include "runtime.h"

/* CPython's, made visible by patches/0001. */
int flush_std_files(void);
void wait_for_thread_shutdown(PyThreadState *tstate);
void finalize_modules_delete_special(PyThreadState *tstate, int verbose);

static PyObject *snapshot_modules;         /* a frozenset */
static PyDictKeysObject *snapshot_keys;    /* of sys.modules, and where what is added to it comes */
static Py_ssize_t snapshot_end;

void wskill_remember_modules(PyObject *modules)
{
	PyObject *known = PyImport_GetModuleDict();
	snapshot_modules = PyFrozenSet_New(modules);
	if (!snapshot_modules) _Exit(73);
	while (PyDict_Next(known, &snapshot_end, NULL, NULL)) continue;
	snapshot_keys = ((PyDictObject *)known)->ma_keys;
}

static bool append_program_module(PyObject *name, PyObject *module, PyObject *names, PyObject *taken)
{
	if (!PyModule_Check(module) || PySet_Contains(snapshot_modules, module) != 0) return true;
	return PyList_Append(names, name) == 0 && PyList_Append(taken, module) == 0;
}

/* Takes the program's modules out of sys.modules. The result lists them, in the order of their import. As long as the
 * table has not been laid out anew, all but __main__ come after the snapshot's, which lie in many pages, untouched. */
static PyObject *take_program_modules(void)
{
	PyObject *modules = PyImport_GetModuleDict(), *names = PyList_New(0), *taken = PyList_New(0);
	PyObject *name = &_Py_ID(__main__), *module = PyDict_GetItemWithError(modules, name);
	bool going = names && taken && (!module || append_program_module(name, module, names, taken));
	Py_ssize_t position = ((PyDictObject *)modules)->ma_keys == snapshot_keys ? snapshot_end : 0;
	while (going && PyDict_Next(modules, &position, &name, &module))
		going = name == &_Py_ID(__main__) || append_program_module(name, module, names, taken);
	for (Py_ssize_t i = 0; names && i < PyList_GET_SIZE(names); i++)
		if (PyDict_DelItem(modules, PyList_GET_ITEM(names, i)) < 0) PyErr_Clear();
	Py_XDECREF(names);
	PyErr_Clear();
	return taken;
}

/* As finalize_modules() does, for the program's modules only: let go of them, collect cycles, then empty what is still
 * held by something, last imported first. */
static void destroy_program_modules(void)
{
	PyObject *taken = take_program_modules();
	if (!taken) return;
	PyObject *references = PyList_New(0);
	for (Py_ssize_t i = 0; references && i < PyList_GET_SIZE(taken); i++) {
		PyObject *reference = PyWeakref_NewRef(PyList_GET_ITEM(taken, i), NULL);
		if (!reference || PyList_Append(references, reference) < 0) PyErr_Clear();
		Py_XDECREF(reference);
	}
	Py_DECREF(taken);
	PyGC_Collect();
	for (Py_ssize_t i = references ? PyList_GET_SIZE(references) : 0; i-- > 0;) {
		PyObject *module = NULL;
		if (PyWeakref_GetRef(PyList_GET_ITEM(references, i), &module) == 1) _PyModule_Clear(module);
		Py_XDECREF(module);
	}
	PyGC_Collect();
}

int wskill_finish(void)
{
	PyThreadState *tstate = _PyThreadState_GET();
	int status = 0;
	tstate->interp->finalizing = 1;
	wait_for_thread_shutdown(tstate);
	_Py_FinishPendingCalls(tstate);
	_PyAtExit_Call(tstate->interp);
	_PyInterpreterState_SetFinalizing(tstate->interp, tstate);
	_PyRuntimeState_SetFinalizing(tstate->interp->runtime, tstate);
	if (flush_std_files() < 0) status = -1;
	finalize_modules_delete_special(tstate, 0);
	destroy_program_modules();
	if (flush_std_files() < 0) status = -1;
	return status;
}

/* ---- what CPython calls at the end, through the linker's --wrap ------------------------------------------------- */

int __wrap_Py_FinalizeEx(void)
{
	return wskill_finish();
}

void __wrap__PyRuntime_Finalize(void)
{
}

void __wrap_Py_Exit(int status)
{
	PyThreadState *tstate = _PyThreadState_GET();
	if (tstate && _PyThreadState_IsRunningMain(tstate)) _PyInterpreterState_SetNotRunningMain(tstate->interp);
	if (wskill_finish() < 0) status = 120;
	fflush(NULL);
	_Exit(status);
}
