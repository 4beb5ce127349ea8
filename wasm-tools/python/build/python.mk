# Read after CPython's own Makefile: links the interpreter with our main program and POSIX layer.
# WSKILL is the folder python/, WSKILL_PREFIX where the static libraries are.

comma := ,
wskill_objects := $(patsubst %,Programs/wskill_%.o,main initialise resume finish interrupts settle threads tools)
wskill_posix := $(WSKILL_PREFIX)/lib/libwskill-posix.a
# The second options of their kind win: the linear stack's size fits the native stack's (2 MiB less 64 KiB).
wskill_ldflags := -z stack-size=2097152 \
	$(addprefix -Wl$(comma)--wrap=,$(shell grep -v '^\#' $(WSKILL)/wrapped-functions.txt))

# CPython compiles the place of its sources in, for an interpreter that runs in its build folder.
Modules/getpath.o: VPATH :=

Programs/wskill_%.o: $(WSKILL)/runtime/%.c $(WSKILL)/runtime/runtime.h
	$(CC) -c $(PY_CORE_CFLAGS) -I$(WSKILL)/posix -I$(WSKILL)/../sys/include -o $@ $<

python-wskill.wasm: $(wskill_objects) $(LINK_PYTHON_DEPS) $(wskill_posix) $(WSKILL)/wrapped-functions.txt
	$(LINKCC) $(PY_CORE_LDFLAGS) $(LINKFORSHARED) $(wskill_ldflags) -o $@ $(wskill_objects) \
		-Wl,--whole-archive $(wskill_posix) -Wl,--no-whole-archive $(LINK_PYTHON_OBJS) $(LIBS) $(MODLIBS) $(SYSLIBS)
