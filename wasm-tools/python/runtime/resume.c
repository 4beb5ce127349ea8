/* Resuming the snapshot: the part of CPython's start that depends on the process. The command line and the environment
 * are read by CPython's own code, so options, messages and precedence are the same. */
#include "Python.h"
#include "pycore_initconfig.h"
#include "pycore_interp.h"
#include "pycore_pathconfig.h"
#include "pycore_pylifecycle.h"
#include "pycore_pystate.h"
#include "pycore_tracemalloc.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wasi/libc-environ.h>
#include "internal.h"
#include "runtime.h"

extern char **environ;

/* CPython's, made visible by patches/0001. */
PyStatus init_sys_streams(PyThreadState *tstate);

static void check(PyStatus status)
{
	if (PyStatus_Exception(status)) Py_ExitStatusException(status);
}

static void check_python(int result)
{
	if (result >= 0) return;
	PyErr_Print();
	exit(1);
}

static PyObject *posix_environ;   /* posix.environ, which is also what os.environ looks into */
static PyObject *boot_resume;     /* _wskill_boot.resume */

void wskill_prepare_resume(PyObject *boot)
{
	PyObject *posix = PyImport_ImportModule("posix");
	posix_environ = posix ? PyObject_GetAttrString(posix, "environ") : NULL;
	boot_resume = PyObject_GetAttrString(boot, "resume");
	Py_XDECREF(posix);
	if (posix_environ && boot_resume) return;
	PyErr_Print();
	_Exit(73);
}

static void read_configuration(PyThreadState *tstate, int argc, char **argv)
{
	PyConfig config;
	PyConfig_InitPythonConfig(&config);
	_PyRuntime.preconfig.dev_mode = -1;   /* undecided again, so that -X dev counts */
	check(PyConfig_SetBytesArgv(&config, argc, argv));
	check(_PyConfig_Read(&config, 0));
	/* Fixed in the snapshot, whatever PYTHONHASHSEED asks for. */
	config.use_hash_seed = 1;
	config.hash_seed = 0;
	/* sys.path is the snapshot's; the boot module adds PYTHONPATH and site directories to it. */
	config.module_search_paths_set = 0;
	check(_PyConfig_Copy(&tstate->interp->config, &config));
	check(_PyConfig_Write(&config, tstate->interp->runtime));
	tstate->interp->long_state.max_str_digits = config.int_max_str_digits;
	check_python(_PySys_UpdateConfig(tstate));
	PyConfig_Clear(&config);
}

static int rebuild_environ(void)
{
	PyDict_Clear(posix_environ);
	for (char **entry = environ; entry && *entry; entry++) {
		const char *equals = strchr(*entry, '=');
		if (!equals) continue;
		PyObject *name = PyBytes_FromStringAndSize(*entry, equals - *entry);
		PyObject *value = PyBytes_FromString(equals + 1);
		if (!name || !value || !PyDict_SetDefault(posix_environ, name, value)) return -1;
		Py_DECREF(name);
		Py_DECREF(value);
	}
	return 0;
}

/* The snapshot has finished stream objects for descriptors 0 to 2. They serve when CPython would make the same ones
 * now: usual encoding and buffering, and nothing that can be sought, since streams remember that. */
static bool snapshot_streams_fit(const PyConfig *config)
{
	if (!config->buffered_stdio || wcscmp(config->stdio_encoding, L"utf-8") != 0 ||
	    wcscmp(config->stdio_errors, L"surrogateescape") != 0)
		return false;
	for (int fd = 0; fd < 3; fd++) {
		struct stat st;
		if (fstat(fd, &st) < 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) return false;
	}
	return true;
}

static void resume_streams(PyThreadState *tstate, const PyConfig *config)
{
	if (!snapshot_streams_fit(config)) {
		check(init_sys_streams(tstate));
		return;
	}
	if (!isatty(1) && !config->interactive) return;
	PyObject *out = PySys_GetObject("stdout"), *reconfigure = PyObject_GetAttrString(out, "reconfigure");
	PyObject *keywords = Py_BuildValue("{sO}", "line_buffering", Py_True), *none = PyTuple_New(0);
	PyObject *result = reconfigure && keywords && none ? PyObject_Call(reconfigure, none, keywords) : NULL;
	check_python(result ? 0 : -1);
	Py_XDECREF(result);
	Py_XDECREF(none);
	Py_XDECREF(keywords);
	Py_XDECREF(reconfigure);
}

/* What is left is Python: see lib/_wskill_boot.py. */
static int call_boot(const PyConfig *config)
{
	const wchar_t *variable = config->pythonpath_env;
	PyObject *search_path = variable ? PyUnicode_FromWideChar(variable, -1) : Py_NewRef(Py_None);
	if (!search_path) return -1;
	struct sigaction interrupt;
	sigaction(SIGINT, NULL, &interrupt);
	PyObject *result = PyObject_CallFunction(boot_resume, "NiiiiN", search_path, config->site_import,
	                                         config->user_site_directory, config->faulthandler,
	                                         interrupt.sa_handler == SIG_IGN,
	                                         PyUnicode_FromWideChar(config->check_hash_pycs_mode, -1));
	Py_XDECREF(result);
	return result ? 0 : -1;
}

void wskill_resume(int argc, char **argv)
{
	PyThreadState *tstate = _PyThreadState_GET();
	const PyConfig *config = _PyInterpreterState_GetConfig(tstate->interp);
	if (wsk_abi_version() != WSK_ABI_VERSION) fputs("python: this kernel speaks another version of wskill\n", stderr);
	__wasilibc_ensure_environ();
	wskill_sync_cwd();
	read_configuration(tstate, argc, argv);
	check_python(rebuild_environ());
	wskill_resume_signals();
	wskill_watch_signals();
	resume_streams(tstate, config);
	if (config->optimization_level > 0)
		check_python(PyDict_SetItemString(tstate->interp->builtins, "__debug__", Py_False));
	if (config->tracemalloc) check_python(_PyTraceMalloc_Start(config->tracemalloc));
	check_python(call_boot(config));
}
