/* Settling the snapshot's memory, the last step before it is taken. A process that resumes it copies every page it
 * writes to, which costs more than most of what it computes. So what lives in the snapshot is made immortal, for its
 * reference counts not to be written; the free blocks between it are taken out of use, for new objects to lie side by
 * side in fresh memory; and memory that holds nothing is zero, which packs to nothing. */
#include "Python.h"
#include "pycore_gc.h"
#include "pycore_interp.h"
#include "pycore_object.h"
#include "pycore_obmalloc.h"
#include "pycore_pystate.h"
#include "pycore_unicodeobject.h"
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime.h"

/* ---- immortal objects ------------------------------------------------------------------------------------------- */

static PyObject **waiting;          /* made immortal, but not yet what they refer to */
static size_t waiting_count, waiting_room;

static void out_of_memory(void)
{
	fputs("python: no memory to settle the snapshot\n", stderr);
	_Exit(75);
}

static int visit(PyObject *object, void *unused)
{
	(void)unused;
	if (!object || _Py_IsImmortal(object)) return 0;
	_Py_SetImmortalUntracked(object);
	/* The table of interned strings counts none of its references to a string that may go. */
	if (PyUnicode_CheckExact(object) && PyUnicode_CHECK_INTERNED(object) == SSTATE_INTERNED_MORTAL)
		((PyASCIIObject *)object)->state.interned = SSTATE_INTERNED_IMMORTAL;
	if (waiting_count == waiting_room) {
		waiting_room = waiting_room ? 2 * waiting_room : 4096;
		waiting = PyMem_RawRealloc(waiting, waiting_room * sizeof *waiting);
		if (!waiting) out_of_memory();
	}
	waiting[waiting_count++] = object;
	return 0;
}

/* The references that an object's own tp_traverse leaves out, since no cycle can go through them. */
static void visit_plain_references(PyObject *object)
{
	if (PyDict_Check(object)) {
		Py_ssize_t position = 0;
		PyObject *key, *value;
		while (PyDict_Next(object, &position, &key, &value)) visit(key, NULL);
	} else if (PyCode_Check(object)) {
		PyCodeObject *code = (PyCodeObject *)object;
		PyObject *parts[] = {code->co_consts, code->co_names, code->co_exceptiontable, code->co_localsplusnames,
		                     code->co_localspluskinds, code->co_filename, code->co_name, code->co_qualname,
		                     code->co_linetable};
		for (size_t i = 0; i < Py_ARRAY_LENGTH(parts); i++) visit(parts[i], NULL);
	}
}

/* Everything that the collector knows, and what can be reached from there. The program's own module, which is collected
 * at its end, keeps its count. */
static void immortalise_objects(PyInterpreterState *interp)
{
	PyObject *main_module = PyDict_GetItemString(PyImport_GetModuleDict(), "__main__");
	PyObject *main_dict = PyModule_GetDict(main_module);
	Py_ssize_t module_count = Py_REFCNT(main_module), dict_count = Py_REFCNT(main_dict);

	PyGC_Head *permanent = &interp->gc.permanent_generation.head;
	for (PyGC_Head *gc = _PyGCHead_NEXT(permanent); gc != permanent; gc = _PyGCHead_NEXT(gc))
		visit(_Py_FROM_GC(gc), NULL);
	visit(_Py_INTERP_CACHED_OBJECT(interp, interned_strings), NULL);
	while (waiting_count > 0) {
		PyObject *object = waiting[--waiting_count];
		traverseproc traverse = Py_TYPE(object)->tp_traverse;
		if (traverse && PyObject_IS_GC(object)) traverse(object, visit, NULL);
		visit_plain_references(object);
	}
	PyMem_RawFree(waiting);
	main_module->ob_refcnt = module_count;   /* Py_SET_REFCNT leaves immortal objects alone */
	main_dict->ob_refcnt = dict_count;
}

/* ---- free memory ------------------------------------------------------------------------------------------------ */

/* Takes the free blocks of all pools that are in use. Empty pools stay free. */
static void fill_pools(PyInterpreterState *interp)
{
	poolp *used = interp->obmalloc->pools.used;
	for (int i = 0; i < NB_SMALL_SIZE_CLASSES; i++) {
		size_t size = INDEX2SIZE(i);
		while (used[i + i]->nextpool != used[i + i]) {
			void *block = PyObject_Malloc(size);
			if (!block) out_of_memory();
			memset(block, 0, size);
		}
	}
}

/* Takes the free chunks of malloc that lie between others, down to the smallest. */
static void fill_chunks(void)
{
	enum { LARGEST = 1 << 20, STEP = 16 };
	char *top = malloc(LARGEST);
	if (!top) out_of_memory();
	memset(top, 0, LARGEST);
	free(top);
	for (size_t size = LARGEST; size > 0;) {
		char *chunk = malloc(size);
		if (!chunk) out_of_memory();
		if (chunk < top) {
			memset(chunk, 0, malloc_usable_size(chunk));
			continue;
		}
		free(chunk);
		size -= STEP;
	}
}

extern char __stack_low;

static void clear_stack(void)
{
	enum { IN_USE = 4096 };
	char *low = &__stack_low, *here = __builtin_frame_address(0);
	if (here - low > IN_USE) memset(low, 0, here - low - IN_USE);
}

void wskill_settle(void)
{
	PyInterpreterState *interp = _PyInterpreterState_GET();
	immortalise_objects(interp);
	_PyGC_ClearAllFreeLists(interp);
	fill_pools(interp);
	fill_chunks();
	clear_stack();
}
