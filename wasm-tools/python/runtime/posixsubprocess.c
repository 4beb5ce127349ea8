/* `_posixsubprocess`: what the standard library's subprocess.py starts children with. CPython's own forks and then
 * prepares the child from inside; here the kernel starts a finished child from a description. Failures to start are
 * raised at once with the file name that subprocess.py would report, instead of through its error pipe. */
#define PY_SSIZE_T_CLEAN
#include "Python.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "processes.h"

/* ---- arguments -------------------------------------------------------------------------------------------------- */

/* A sequence of path-like or bytes objects as a NULL-ended array. The strings live as long as *keep. */
static char **strings_of(PyObject *sequence, PyObject **keep)
{
	PyObject *items = PySequence_Tuple(sequence);
	if (!items) return NULL;
	Py_ssize_t count = PyTuple_GET_SIZE(items);
	PyObject *encoded = PyTuple_New(count);
	char **strings = encoded ? PyMem_Calloc(count + 1, sizeof *strings) : NULL;
	for (Py_ssize_t i = 0; strings && i < count; i++) {
		PyObject *bytes;
		if (!PyUnicode_FSConverter(PyTuple_GET_ITEM(items, i), &bytes)) {
			PyMem_Free(strings);
			strings = NULL;
			break;
		}
		PyTuple_SET_ITEM(encoded, i, bytes);
		strings[i] = PyBytes_AS_STRING(bytes);
	}
	Py_DECREF(items);
	if (!strings) {
		if (!PyErr_Occurred()) PyErr_NoMemory();
		Py_XDECREF(encoded);
		return NULL;
	}
	*keep = encoded;
	return strings;
}

/* The two functions that programs pass as preexec_fn most often have a description; any other would have to run between
 * fork and exec. Returns 1 when the child needs a process group of its own, 0 when there is nothing to do. */
static int new_group_from(PyObject *preexec_fn)
{
	if (preexec_fn == Py_None) return 0;
	PyObject *posix = PyImport_ImportModule("posix");
	if (!posix) return -1;
	static const char *const names[] = {"setsid", "setpgrp"};
	int result = -1;
	for (size_t i = 0; result < 0 && i < 2; i++) {
		PyObject *function = PyObject_GetAttrString(posix, names[i]);
		if (function == preexec_fn) result = 1;
		Py_XDECREF(function);
	}
	Py_DECREF(posix);
	if (result < 0 && !PyErr_Occurred())
		PyErr_SetString(PyExc_NotImplementedError,
		                "preexec_fn is not supported: the sandbox has no fork (os.setsid and os.setpgrp are understood)");
	return result;
}

/* The child's descriptors: 0 to 2, then those to keep. Returns the number of entries, -1 with an exception. */
static Py_ssize_t map_descriptors(wsk_fd_map *map, const int standard[3], PyObject *keep, int error_pipe)
{
	Py_ssize_t count = 0;
	for (int fd = 0; fd < 3; fd++)
		if (standard[fd] >= 0) map[count++] = (wsk_fd_map){.child_fd = fd, .parent_fd = standard[fd]};
	for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keep); i++) {
		int fd = PyLong_AsInt(PyTuple_GET_ITEM(keep, i));
		if (fd == -1 && PyErr_Occurred()) return -1;
		if (fd == error_pipe || fd < 3) continue;   /* subprocess.py adds its error pipe, which nobody needs here */
		map[count++] = (wsk_fd_map){.child_fd = fd, .parent_fd = fd};
	}
	return count;
}

/* With close_fds the child gets what the map names and nothing else, so the standard three must be in it when open. */
static int inherited(int fd)
{
	return fcntl(fd, F_GETFD) >= 0 ? fd : -1;
}

/* ---- starting --------------------------------------------------------------------------------------------------- */

static void raise_for(int error, PyObject *filename)
{
	errno = error;
	PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, filename);
}

/* The name that subprocess.py would put into the exception: the one the caller gave, not the PATH entry tried last. */
static PyObject *reported_name(char *const *candidates)
{
	const char *name = candidates[0];
	if (candidates[1]) name = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	return PyUnicode_DecodeFSDefault(name);
}

/* Tries the candidates in turn, as execvp does. */
static int spawn_first(wskill_program *program, char *const *candidates, int32_t *pid)
{
	int error = ENOENT, denied = 0;
	for (; *candidates; candidates++) {
		program->path = *candidates;
		error = wskill_spawn(program, pid);
		if (error == EACCES) denied = error;
		if (error != ENOENT && error != ENOTDIR && error != EACCES) return error;
	}
	return denied ? denied : error;
}

static bool directory_exists(const char *path)
{
	struct stat st;
	if (stat(path, &st) < 0) return false;
	if (S_ISDIR(st.st_mode)) return true;
	errno = ENOTDIR;
	return false;
}

static const char fork_exec_doc[] =
	"fork_exec(args, executable_list, close_fds, pass_fds, cwd, env, p2cread, p2cwrite, c2pread, c2pwrite,\n"
	"          errread, errwrite, errpipe_read, errpipe_write, restore_signals, call_setsid, pgid_to_set,\n"
	"          gid, extra_groups, uid, child_umask, preexec_fn, allow_vfork, /)\n--\n\n"
	"Starts a child process and returns its PID.";

static PyObject *fork_exec(PyObject *module, PyObject *arguments)
{
	(void)module;
	PyObject *args, *executables, *keep_fds, *cwd, *env, *gid, *groups, *uid, *preexec_fn;
	int close_fds, p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite, errpipe_read, errpipe_write;
	int restore_signals, call_setsid, pgid, child_umask, allow_vfork;
	if (!PyArg_ParseTuple(arguments, "OOpO!OOiiiiiiiippiOOOiOp:fork_exec", &args, &executables, &close_fds, &PyTuple_Type,
	                      &keep_fds, &cwd, &env, &p2cread, &p2cwrite, &c2pread, &c2pwrite, &errread, &errwrite,
	                      &errpipe_read, &errpipe_write, &restore_signals, &call_setsid, &pgid, &gid, &groups, &uid,
	                      &child_umask, &preexec_fn, &allow_vfork))
		return NULL;
	int new_group = new_group_from(preexec_fn);
	if (new_group < 0) return NULL;

	PyObject *keep_argv = NULL, *keep_paths = NULL, *keep_env = NULL, *cwd_bytes = NULL, *result = NULL;
	wsk_fd_map *map = NULL;
	char **argv = strings_of(args, &keep_argv), **envp = NULL;
	char **paths = argv ? strings_of(executables, &keep_paths) : NULL;
	if (!paths) goto out;
	if (env != Py_None && !(envp = strings_of(env, &keep_env))) goto out;
	if (cwd != Py_None) {
		if (!PyUnicode_FSConverter(cwd, &cwd_bytes)) goto out;
		if (!directory_exists(PyBytes_AS_STRING(cwd_bytes))) {
			PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, cwd);
			goto out;
		}
	}
	map = PyMem_Calloc(3 + PyTuple_GET_SIZE(keep_fds), sizeof *map);
	if (!map) {
		PyErr_NoMemory();
		goto out;
	}
	const int standard[3] = {
		p2cread >= 0 ? p2cread : close_fds ? inherited(0) : -1,
		c2pwrite >= 0 ? c2pwrite : close_fds ? inherited(1) : -1,
		errwrite >= 0 ? errwrite : close_fds ? inherited(2) : -1,
	};
	Py_ssize_t count = map_descriptors(map, standard, keep_fds, errpipe_write);
	if (count < 0) goto out;

	wskill_program program = {
		.argv = argv, .envp = envp, .cwd = cwd_bytes ? PyBytes_AS_STRING(cwd_bytes) : NULL,
		.fds = map, .fds_count = count, .umask = child_umask,
		.flags = close_fds ? WSK_SPAWN_CLOSE_OTHER : 0,
		.ignored_signals = wskill_ignored_signals(),
	};
	if (call_setsid || new_group || pgid >= 0) {
		program.flags |= WSK_SPAWN_SETPGID;
		program.pgid = call_setsid || new_group ? 0 : pgid;
	}
	/* CPython ignores PIPE and XFSZ itself; restore_signals gives the child the defaults back. */
	if (restore_signals) program.ignored_signals &= ~(1ULL << (SIGPIPE - 1) | 1ULL << (SIGXFSZ - 1));
	int32_t pid = 0;
	int error = spawn_first(&program, paths, &pid);
	if (error == 0) {
		result = PyLong_FromLong(pid);
	} else {
		PyObject *name = reported_name(paths);
		if (name) raise_for(error, name);
		Py_XDECREF(name);
	}
out:
	PyMem_Free(map);
	PyMem_Free(argv);
	PyMem_Free(paths);
	PyMem_Free(envp);
	Py_XDECREF(keep_argv);
	Py_XDECREF(keep_paths);
	Py_XDECREF(keep_env);
	Py_XDECREF(cwd_bytes);
	return result;
}

static PyMethodDef methods[] = {{"fork_exec", fork_exec, METH_VARARGS, fork_exec_doc}, {NULL, NULL, 0, NULL}};
static PyModuleDef_Slot slots[] = {
	{Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED}, {Py_mod_gil, Py_MOD_GIL_NOT_USED}, {0, NULL},
};
static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT, "_posixsubprocess", "Starts child processes for subprocess.", 0, methods, slots,
	NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__posixsubprocess(void)
{
	return PyModuleDef_Init(&definition);
}
