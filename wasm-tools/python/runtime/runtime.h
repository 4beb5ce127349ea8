/* The interpreter's own main program: initialised once when the snapshot is made, resumed in every process. */
#ifndef WSKILL_RUNTIME_H
#define WSKILL_RUNTIME_H
#include "Python.h"

/* Where the standard library lies, while the snapshot is made and in the sandbox. */
#define WSKILL_STDLIB_ARCHIVE L"/usr/lib/python313.zip"

/* Starts the interpreter with neutral settings and imports what most scripts use. Ends the process on failure. */
void wskill_initialise(void);
/* Looks up, while the snapshot is made, what blocking calls run first. */
void wskill_prepare_threads(void);
/* Takes on this process's arguments, environment, directory, streams and randomness. */
void wskill_resume(int argc, char **argv);
/* The exit of a process without tearing the interpreter down: see finish.c. -1 when a flush failed, else 0. */
int wskill_finish(void);
/* Tells wskill_finish which modules (a sequence) are the snapshot's own and to be left alone. */
void wskill_remember_modules(PyObject *modules);
/* Looks up, while the snapshot is made, what wskill_resume calls. `boot` is the module _wskill_boot. */
void wskill_prepare_resume(PyObject *boot);
/* Arranges the memory of the finished snapshot so that a process writes to few of its pages: see settle.c. */
void wskill_settle(void);
/* The module _wskill_host. */
PyObject *wskill_init_host(void);
/* Lets the kernel interrupt computations. */
void wskill_watch_signals(void);
#endif
