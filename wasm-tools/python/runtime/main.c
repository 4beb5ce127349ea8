/* Entry points.
 *
 * The snapshot tool calls `wizer-initialize` once, keeps the memory, and makes `wizer.resume` the new `_start`. Without
 * a snapshot (a plain `_start`) the same program initialises and runs, only slower. */
#include "Python.h"
#include <stdio.h>
#include <stdlib.h>
#include <wasi/libc-environ.h>
#include <wasi/libc.h>
#include "runtime.h"

void __wasm_call_ctors(void);
int __main_void(void);

static int initialised;

int main(int argc, char **argv)
{
	if (!initialised) wskill_initialise();
	wskill_resume(argc, argv);
	return Py_RunMain();
}

__attribute__((export_name("wizer-initialize"))) void wskill_wizer_initialise(void)
{
	__wasm_call_ctors();
	wskill_initialise();
	initialised = 1;
	/* The build's environment and directories must not reach the snapshot; libc asks for both again when resumed. */
	__wasilibc_deinitialize_environ();
	__wasilibc_reset_preopens();
}

__attribute__((export_name("wizer.resume"))) void wskill_wizer_resume(void)
{
	int status = __main_void();
	fflush(NULL);
	_Exit(status);
}
