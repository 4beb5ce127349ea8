/* Making the snapshot: an interpreter with CPython's default settings, its common modules imported, and nothing in it
 * that belongs to the machine it was made on. */
#include "Python.h"
#include <stdio.h>
#include <stdlib.h>
#include "runtime.h"

static void fail(const char *what, PyStatus status)
{
	fprintf(stderr, "python: %s: %s: %s\n", what, status.func ? status.func : "", status.err_msg ? status.err_msg : "");
	_Exit(70);
}

static void set(PyConfig *config, wchar_t **field, const wchar_t *value)
{
	PyStatus status = PyConfig_SetString(config, field, value);
	if (PyStatus_Exception(status)) fail("set", status);
}

/* What the snapshot holds never becomes garbage: this keeps the collector from walking, and so copying, its pages. Only
 * __main__ is the program's own, and is collected at its end. */
static void freeze_objects(void)
{
	PyObject *module = PyImport_AddModuleRef("__main__"), *gc = PyImport_ImportModule("gc");
	if (!module || !gc) _Exit(72);
	PyObject *dict = PyModule_GetDict(module);
	PyGC_Collect();
	PyObject_GC_UnTrack(dict);
	PyObject_GC_UnTrack(module);
	Py_XDECREF(PyObject_CallMethod(gc, "freeze", NULL));
	PyObject_GC_Track(module);
	PyObject_GC_Track(dict);
	Py_DECREF(gc);
	Py_DECREF(module);
}

void wskill_initialise(void)
{
	PyPreConfig pre;
	PyPreConfig_InitPythonConfig(&pre);
	pre.parse_argv = 0;
	pre.utf8_mode = 1;              /* the sandbox is UTF-8 throughout, as with LANG=C.UTF-8 */
	pre.coerce_c_locale = 0;
	PyStatus status = Py_PreInitialize(&pre);
	if (PyStatus_Exception(status)) fail("preinitialise", status);

	if (PyImport_AppendInittab("_wskill_host", wskill_init_host) < 0) _Exit(73);
	PyConfig config;
	PyConfig_InitPythonConfig(&config);
	config.parse_argv = 0;
	config.use_environment = 0;     /* the build's environment; each process reads its own when resumed */
	config.use_hash_seed = 1;       /* strings are hashed while the snapshot is made, so the seed is fixed: */
	config.hash_seed = 0;           /* the one that PYTHONHASHSEED=0 means */
	config.site_import = 0;         /* the boot module does site's part */
	config.write_bytecode = 0;
	config.pathconfig_warnings = 0;
	config.module_search_paths_set = 1;
	status = PyWideStringList_Append(&config.module_search_paths, WSKILL_STDLIB_ARCHIVE);
	if (PyStatus_Exception(status)) fail("search path", status);
	set(&config, &config.program_name, L"python3");
	set(&config, &config.executable, L"/usr/bin/python3");
	set(&config, &config.base_executable, L"/usr/bin/python3");
	set(&config, &config.prefix, L"/usr");
	set(&config, &config.base_prefix, L"/usr");
	set(&config, &config.exec_prefix, L"/usr");
	set(&config, &config.base_exec_prefix, L"/usr");
	set(&config, &config.stdlib_dir, L"/usr/lib/python3.13");
	set(&config, &config.platlibdir, L"lib");
	status = Py_InitializeFromConfig(&config);
	if (PyStatus_Exception(status)) fail("initialise", status);
	PyConfig_Clear(&config);

	PyObject *boot = PyImport_ImportModule("_wskill_boot");
	PyObject *modules = boot ? PyObject_CallMethod(boot, "prepare", NULL) : NULL;
	if (!modules) {
		PyErr_Print();
		_Exit(71);
	}
	wskill_remember_modules(modules);
	wskill_prepare_resume(boot);
	wskill_prepare_threads();
	Py_DECREF(modules);
	freeze_objects();
	wskill_settle();
}
