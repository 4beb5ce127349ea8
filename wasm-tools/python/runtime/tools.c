/* The module _wskill_host: what lib/host.py needs of the kernel. */
#include "Python.h"
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#include "internal.h"
#include "runtime.h"

/* The rest of a file that the kernel opened, which is closed. */
static PyObject *read_all(int fd)
{
	struct stat st;
	PyObject *text = fstat(fd, &st) < 0 ? PyErr_SetFromErrno(PyExc_OSError) : PyBytes_FromStringAndSize(NULL, st.st_size);
	if (text) {
		char *at = PyBytes_AS_STRING(text), *end = at + st.st_size;
		while (at < end) {
			ssize_t count = read(fd, at, end - at);
			if (count <= 0) {
				if (count == 0) errno = EIO;
				PyErr_SetFromErrno(PyExc_OSError);
				Py_CLEAR(text);
				break;
			}
			at += count;
		}
	}
	close(fd);
	return text;
}

/* A signal's handler has its say before the error that it interrupted the call. */
static PyObject *refuse(int32_t error)
{
	wskill_result(error);
	int reason = errno;
	if (reason == EINTR && PyErr_CheckSignals() < 0) return NULL;
	errno = reason;
	return PyErr_SetFromErrno(PyExc_OSError);
}

static PyObject *call(PyObject *module, PyObject *arguments)
{
	(void)module;
	const char *name, *json;
	Py_ssize_t name_size, json_size;
	if (!PyArg_ParseTuple(arguments, "s#y#", &name, &name_size, &json, &json_size)) return NULL;
	int32_t result[2];
	int32_t error = wsk_tool_call(name, (uint32_t)name_size, json, (uint32_t)json_size, result);
	if (error != 0) return refuse(error);
	PyObject *text = read_all(result[0]);
	return text ? Py_BuildValue("NN", PyBool_FromLong(result[1] == 0), text) : NULL;
}

static PyObject *list(PyObject *module, PyObject *nothing)
{
	(void)module;
	(void)nothing;
	int32_t fd, error = wsk_tool_list(&fd);
	return error ? refuse(error) : read_all(fd);
}

static PyMethodDef methods[] = {
	{"call", call, METH_VARARGS, "call(name, json) -> (worked, answer)"},
	{"list", list, METH_NOARGS, "A line for each tool: name, tab, description."},
	{NULL, NULL, 0, NULL},
};
static PyModuleDef_Slot slots[] = {
	{Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED}, {Py_mod_gil, Py_MOD_GIL_NOT_USED}, {0, NULL},
};
static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT, "_wskill_host", "Tools of the host.", 0, methods, slots, NULL, NULL, NULL,
};

PyObject *wskill_init_host(void)
{
	return PyModuleDef_Init(&definition);
}
