"""What tests/python_cases/cases.json is made from: see README.md.

case(NAME, ARGV or script=TEXT, ...): one run. The expected answer is a native CPython 3.13's, unless `stdout` or `status`
is given here because the sandbox differs on purpose (the comment says why).
"""

CASES = []


def case(name, *argv, script=None, stdin=None, files=None, env=None, stdout=None, stderr_has=None, status=None):
    files = dict(files or {})
    if script is not None:
        files["script.py"] = script.lstrip("\n")
        argv = ("python3", "script.py", *argv)
    CASES.append({"name": name, "argv": list(argv), "stdin": stdin, "files": files, "env": env or {},
                  "stdout": stdout, "stderr_has": stderr_has, "status": status})


# ---- ways to start ---------------------------------------------------------------------------------------------------

case("start_command", "python3", "-c", "import sys; print(sys.argv, repr(sys.path[0]))", "a", "b c")
case("start_python_name", "python", "-c", "print('ok')")
case("start_script", "python3", "tools/show.py", "x",
     files={"tools/show.py": "import sys, os\nprint(sys.argv, os.path.basename(sys.path[0]), __name__, os.path.isabs(__file__))\n"})
case("start_module", "python3", "-m", "pkg.tool", "x", files={
    "pkg/__init__.py": "", "pkg/tool.py": "import sys, os\nprint(os.path.basename(sys.argv[0]), sys.argv[1:], __name__, __package__, sys.path[0] == os.getcwd())\n"})
case("start_package_main", "python3", "-m", "pkg", files={"pkg/__init__.py": "print('init')", "pkg/__main__.py": "print('main', __package__)"})
case("start_directory", "python3", "app", "1", files={"app/__main__.py": "import sys, helper\nprint(sys.argv, helper.x)", "app/helper.py": "x = 5"})
case("start_zip", "python3", "-c", """
import zipfile, subprocess, sys
with zipfile.ZipFile('app.zip', 'w') as z:
    z.writestr('__main__.py', 'import sys, inner; print(sys.argv, inner.y)')
    z.writestr('inner.py', 'y = 7')
print(subprocess.run([sys.executable, 'app.zip', 'q'], capture_output=True, text=True).stdout)
""")
case("start_stdin_dash", "python3", "-", "a", stdin="import sys\nprint(sys.argv, repr(sys.path[0]))\n")
case("start_stdin", "python3", stdin="print('from stdin')\nfor i in range(3):\n    print(i)\n")
case("start_missing_file", "python3", "nope.py", status=2, stderr_has="can't open file")
case("start_missing_module", "python3", "-m", "nope", status=1, stderr_has="No module named nope")
case("start_directory_without_main", "python3", "d", files={"d/x.py": ""}, status=1, stderr_has="can't find '__main__' module in")
case("start_shebang_text", "python3", "script", files={"script": "#!/usr/bin/env python3\nprint('no suffix')\n"})

# ---- options -----------------------------------------------------------------------------------------------------------

case("option_version", "python3", "-V", stdout="Python 3.13.5\n")
case("option_version_long", "python3", "--version", stdout="Python 3.13.5\n")
case("option_help", "python3", "-c", "import subprocess, sys; print(subprocess.run([sys.executable, '-h'], capture_output=True, text=True).stdout.splitlines()[1:8])")
case("option_unknown", "python3", "-Z", status=2, stderr_has="Unknown option: -Z")
case("option_missing_argument", "python3", "-c", status=2, stderr_has="Argument expected for the -c option")
case("option_unknown_long", "python3", "--nope", status=2, stderr_has="unknown option --nope")
case("option_b", "python3", "-b", "-c", "print(b'a' == 'a')", stderr_has="BytesWarning")
case("option_bb", "python3", "-bb", "-c", "b'a' == 'a'", status=1, stderr_has="BytesWarning")
case("option_B", "python3", "-B", "-c", "import sys; print(sys.dont_write_bytecode, sys.flags.dont_write_bytecode)")
case("option_E", "python3", "-E", "-c", "import sys; print('/elsewhere' in sys.path, sys.flags.ignore_environment)", env={"PYTHONPATH": "/elsewhere"})
case("option_I", "python3", "-I", "-c", "import sys; print(sys.flags.isolated, sys.flags.safe_path, '' in sys.path)")
case("option_O", "python3", "-O", "-c", "assert False; print(__debug__)")
case("option_OO", "python3", "-OO", "-c", "def f():\n  'doc'\nprint(f.__doc__, __debug__)")
case("option_P", "python3", "-P", "-c", "import sys; print('' in sys.path, sys.flags.safe_path)")
case("option_q", "python3", "-q", "-c", "import sys; print(sys.flags.quiet)")
case("option_s", "python3", "-s", "-c", "import sys; print(sys.flags.no_user_site)")
case("option_S", "python3", "-S", "-c", "import sys; print('exit' in dir(__builtins__), sys.flags.no_site, 'site' in sys.modules)")
case("option_u", "python3", "-u", "-c", "import sys; print(sys.stdout.write_through, sys.flags.quiet)")
case("option_W_error", "python3", "-W", "error", "-c", "import warnings; warnings.warn('w')", status=1, stderr_has="UserWarning: w")
case("option_W_ignore", "python3", "-Wignore", "-c", "import warnings; warnings.warn('w'); print('quiet')")
case("option_W_invalid", "python3", "-W", "nonsense", "-c", "print(1)", stderr_has="Invalid -W option ignored: invalid action: 'nonsense'")
case("option_x", "python3", "-x", "script.txt", files={"script.txt": "this is no Python\nprint('second line')\n"})
case("option_X_dev", "python3", "-X", "dev", "-c", "import sys; print(sys.flags.dev_mode, sys.warnoptions)")
case("option_X_utf8", "python3", "-X", "utf8", "-X", "spam=1", "-c", "import sys; print(sys._xoptions)")
case("option_X_int_max_str_digits", "python3", "-X", "int_max_str_digits=640", "-c", "import sys; print(sys.get_int_max_str_digits())")
case("option_X_importtime", "python3", "-X", "importtime", "-c", "import helper", files={"helper.py": ""}, stderr_has="helper")
case("option_X_tracemalloc", "python3", "-X", "tracemalloc=3", "-c", "import tracemalloc; print(tracemalloc.is_tracing(), tracemalloc.get_traceback_limit())")
case("option_v", "python3", "-v", "-c", "import helper", files={"helper.py": ""}, stderr_has="helper")
case("option_check_hash", "python3", "--check-hash-based-pycs", "always", "-c", "import _imp; print(_imp.check_hash_based_pycs)")
case("option_cluster", "python3", "-Bsc", "print('clustered')")
case("option_i", "python3", "-i", "-c", "x = 41", stdin="print(x + 1)\n", stdout="42\n")

# ---- environment --------------------------------------------------------------------------------------------------------

case("env_pythonpath", "python3", "-c", "import mod; print(mod.z)", files={"libs/mod.py": "z = 3"}, env={"PYTHONPATH": "libs"})
case("env_pythonpath_absolute", "python3", "-c", "import sys; print(sys.path[1:3])", env={"PYTHONPATH": "/one:/two:/one"})
case("env_unbuffered", "python3", "-c", "import sys; print(sys.stdout.write_through)", env={"PYTHONUNBUFFERED": "1"})
case("env_safepath", "python3", "-c", "import sys; print('' in sys.path)", env={"PYTHONSAFEPATH": "1"})
case("env_ioencoding", "python3", "-c", "import sys; print(sys.stdout.encoding, sys.stdin.errors); print('\\u00e4')", env={"PYTHONIOENCODING": "ascii:backslashreplace"})
case("env_warnings", "python3", "-c", "import warnings; warnings.warn('w')", env={"PYTHONWARNINGS": "error"}, status=1, stderr_has="UserWarning: w")
case("env_dontwritebytecode", "python3", "-c", "import m, os; print(os.path.exists('__pycache__'))", files={"m.py": ""}, env={"PYTHONDONTWRITEBYTECODE": "1"})
case("env_bytecode_written", "python3", "-c", "import m, os; print(os.listdir('__pycache__'))", files={"m.py": ""})
case("env_optimize", "python3", "-c", "print(__debug__)", env={"PYTHONOPTIMIZE": "1"})
case("env_environ", "python3", "-c", "import os; print(os.environ['GREETING'], os.environb[b'GREETING'], os.getenv('NOPE'))", env={"GREETING": "h\u00e4llo"})
case("env_change", script="""
import os, subprocess, sys
os.environ['NEW'] = '1'
del os.environ['OLD']
print(subprocess.run([sys.executable, '-c', 'import os; print(os.environ.get("NEW"), os.environ.get("OLD"))'], capture_output=True, text=True).stdout)
""", env={"OLD": "x"})

# ---- status and streams -------------------------------------------------------------------------------------------------

case("exit_default", "python3", "-c", "pass")
case("exit_number", "python3", "-c", "import sys; sys.exit(3)")
case("exit_text", "python3", "-c", "import sys; sys.exit('went wrong')", stderr_has="went wrong")
case("exit_none", "python3", "-c", "raise SystemExit")
case("exit_large", "python3", "-c", "raise SystemExit(256 + 7)")
case("exit_builtin", "python3", "-c", "exit(4)")
case("exit_os", "python3", "-c", "import os; print('lost', end=''); os._exit(9)")
case("exit_exception", "python3", "-c", "1/0", stderr_has="ZeroDivisionError: division by zero")
case("exit_atexit", "python3", "-c", "import atexit; atexit.register(print, 'bye'); print('hi')")
case("exit_interrupt", "python3", "-c", "raise KeyboardInterrupt", status=130, stderr_has="KeyboardInterrupt")
case("exit_flushes_open_file", script="""
f = open('left-open.txt', 'w')
f.write('written')
import atexit
atexit.register(lambda: None)
""", files={"look.py": ""})
case("exit_flushes_open_file_in_function", script="""
import subprocess, sys
subprocess.run([sys.executable, '-c', "global_file = open('x.txt', 'w'); global_file.write('kept')"])
print(open('x.txt').read())
""")
case("exit_destructor", "python3", "-c", "class A:\n  def __del__(self): print('gone')\na = A()")
case("exit_module_destructor", "python3", "-c", "import m; print('end')", files={"m.py": "class A:\n    def __del__(self): print('module gone')\na = A()\n"})
case("exit_unraisable_hook", "python3", "-c", "import sys; sys.excepthook = lambda *a: print('hooked', a[0].__name__); 1/0")
case("streams_utf8", "python3", "-c", "import sys; s = sys.stdin.read(); print(len(s), s, sys.stdin.encoding, sys.stdout.encoding, sys.stderr.errors)", stdin="\u00e4\u20ac\U0001f600\n")
case("streams_lines", "python3", "-c", "for n, line in enumerate(__import__('sys').stdin): print(n, line.rstrip())", stdin="a\nb\n\nd")
case("streams_input", "python3", "-c", "name = input('name? '); print('hello', name)", stdin="you\n")
case("streams_input_eof", "python3", "-c", "input()", stdin="", status=1, stderr_has="EOFError: EOF when reading a line")
case("streams_binary", "python3", "-c", "import sys; d = sys.stdin.buffer.read(); sys.stdout.buffer.write(d[::-1])", stdin="abc")
case("streams_bigger_than_pipe", "python3", "-c", "import sys; d = sys.stdin.read(); print(len(d), d.count('x'))", stdin="x" * 200000)
case("streams_not_a_terminal", "python3", "-c", "import sys, os; print(sys.stdin.isatty(), os.isatty(1), sys.stdout.line_buffering)", stdin="")
case("streams_syntax_error", "python3", "-c", "x = = 1", status=1, stderr_has="SyntaxError: invalid syntax")
case("streams_broken_pipe", "bash", "-c", "python3 -c 'for i in range(100000): print(i)' 2>err.txt | head -2; grep -q BrokenPipeError err.txt && echo seen")

case("streams_full_device", "bash", "-c", "python3 -c 'print(1)' > /dev/full; echo $?", stderr_has="No space left on device")
case("streams_closed", "bash", "-c", "python3 -c 'import sys; print(sys.stdout, sys.stdin is None, file=sys.stderr)' >&- <&-; echo $?", stderr_has="None True")
case("streams_redirected_file", "bash", "-c", "python3 -c 'print(1); import sys; print(2, file=sys.stderr)' > both.txt 2>&1; cat both.txt | sort")
case("streams_seekable_input", "bash", "-c", "printf 'one\\ntwo\\n' > in.txt; python3 -c 'import sys; print(sys.stdin.seekable(), sys.stdin.read(3)); sys.stdin.seek(0); print(sys.stdin.readline())' < in.txt")
case("streams_shared_offset", "bash", "-c", "(python3 -c 'print(1)'; python3 -c 'print(2)'; echo 3) > out.txt; cat out.txt")

# ---- files ----------------------------------------------------------------------------------------------------------------

case("files_write_read", script="""
import pathlib
p = pathlib.Path('a/b/c.txt')
p.parent.mkdir(parents=True)
p.write_text('line 1\\nline 2\\n')
with p.open('a') as f:
    f.write('line 3\\n')
print(p.read_text().splitlines(), p.stat().st_size, p.exists(), sorted(x.name for x in p.parent.parent.rglob('*')))
p.unlink()
print(p.exists())
""")
case("files_modes", script="""
import os, stat
os.umask(0o022)
open('f', 'w').close()
print(oct(os.stat('f').st_mode))
os.chmod('f', 0o755)
print(stat.filemode(os.stat('f').st_mode), os.access('f', os.X_OK))
os.chmod('f', 0o640)
print(oct(os.stat('f').st_mode & 0o777))
old = os.umask(0o077)
print(oct(old))
fd = os.open('g', os.O_CREAT | os.O_WRONLY, 0o666)
print(oct(os.fstat(fd).st_mode & 0o777))
os.fchmod(fd, 0o600)
print(oct(os.fstat(fd).st_mode & 0o777))
os.close(fd)
os.mkdir('d', 0o750)
print(oct(os.stat('d').st_mode))
""")
case("files_stat_fields", script="""
import os
open('f', 'w').write('x' * 5000)
st = os.stat('f')
print(st.st_size, st.st_nlink, st.st_ino > 0, st.st_blocks * 512 >= 5000, st.st_blksize > 0)
os.link('f', 'h')
print(os.stat('f').st_nlink, os.path.samefile('f', 'h'))
os.symlink('f', 's')
print(os.path.islink('s'), os.readlink('s'), os.lstat('s').st_size, os.stat('s').st_size)
print([(e.name, e.is_file(), e.is_symlink(), e.stat().st_size, e.inode() > 0) for e in sorted(os.scandir('.'), key=lambda e: e.name) if e.name != 'script.py'])
os.utime('f', (1000000000, 1000000001.5))
print(os.stat('f').st_mtime, os.stat('f').st_atime)
""")
case("files_errors", script="""
import os
for action in (lambda: open('nope'), lambda: os.mkdir('.'), lambda: open('.'), lambda: os.rmdir('nope'),
               lambda: open('f/x'), lambda: os.listdir('nope'), lambda: os.unlink('nope')):
    try:
        open('f', 'a').close()
        action()
    except OSError as e:
        print(type(e).__name__, e.errno, e)
""")
case("files_tempfile", script="""
import tempfile, os
with tempfile.TemporaryDirectory() as d:
    print(os.path.isdir(d), os.path.dirname(d))
    with tempfile.NamedTemporaryFile('w+', dir=d) as f:
        f.write('x'); f.flush()
        print(os.path.exists(f.name), oct(os.stat(f.name).st_mode & 0o777))
    with tempfile.TemporaryFile() as f:
        f.write(b'abc'); f.seek(0); print(f.read())
print(os.path.exists(d))
""")
case("files_cwd", script="""
import os
os.makedirs('deep/er')
here = os.getcwd()
os.chdir('deep')
open('in-deep.txt', 'w').close()
print(os.path.relpath(os.getcwd(), here), os.listdir('.') == ['er', 'in-deep.txt'] or sorted(os.listdir('.')))
os.chdir('er/..')
print(os.path.relpath(os.getcwd(), here))
os.chdir('..')
print(os.getcwd() == here, os.path.exists('deep/in-deep.txt'), os.path.abspath('x') == os.path.join(here, 'x'))
""")
case("files_fifo", script="""
import os, stat, subprocess, sys
os.mkfifo('pipe', 0o600)
print(stat.S_ISFIFO(os.stat('pipe').st_mode), oct(os.stat('pipe').st_mode & 0o777))
child = subprocess.Popen([sys.executable, '-c', "open('pipe', 'w').write('through the pipe')"])
print(open('pipe').read(), child.wait())
""")
case("files_shutil", script="""
import shutil, os
os.makedirs('src/sub')
open('src/a.txt', 'w').write('a'); open('src/sub/b.txt', 'w').write('b')
os.chmod('src/a.txt', 0o700)
shutil.copytree('src', 'dst')
print(sorted(os.path.join(r, f) for r, _, fs in os.walk('dst') for f in fs), oct(os.stat('dst/a.txt').st_mode & 0o777))
shutil.make_archive('pack', 'zip', 'src')
shutil.make_archive('pack', 'gztar', 'src')
shutil.unpack_archive('pack.tar.gz', 'out')
print(sorted(os.listdir('out')), shutil.which('nonexistent-tool'), shutil.which('sh') is not None)
shutil.move('dst', 'moved'); shutil.rmtree('moved')
print(os.path.exists('moved'), shutil.disk_usage('.').total > 0)
""")
case("files_lock", script="""
import fcntl
with open('lock', 'w') as a, open('lock', 'w') as b:
    fcntl.flock(a, fcntl.LOCK_EX)
    try:
        fcntl.flock(b, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as e:
        print('held', e.errno)
    fcntl.flock(a, fcntl.LOCK_UN)
    fcntl.flock(b, fcntl.LOCK_EX | fcntl.LOCK_NB)
    print('free')
""")
case("files_descriptors", script="""
import os, fcntl
r, w = os.pipe()
print(os.get_inheritable(r), os.write(w, b'abc'), os.read(r, 10))
os.set_inheritable(w, True)
print(os.get_inheritable(w), fcntl.fcntl(w, fcntl.F_GETFD))
d = os.dup(w)
print(os.get_inheritable(d)); os.write(d, b'x'); print(os.read(r, 1))
os.dup2(w, 20); os.write(20, b'y'); print(os.read(r, 1))
os.set_blocking(r, False)
try:
    os.read(r, 1)
except BlockingIOError as e:
    print(e.errno, e.strerror)
os.close(w); os.close(d); os.close(20)
print(os.read(r, 1))
try:
    os.close(99)
except OSError as e:
    print(e)
""")

# ---- processes ------------------------------------------------------------------------------------------------------------

case("process_run", script="""
import subprocess
r = subprocess.run(['echo', 'a b', '*'], capture_output=True, text=True)
print(r.returncode, repr(r.stdout), repr(r.stderr))
print(subprocess.check_output('echo one; echo two >&2; exit 0', shell=True, stderr=subprocess.STDOUT, text=True))
print(subprocess.call(['false']), subprocess.getoutput('echo got'), subprocess.getstatusoutput('exit 3'))
try:
    subprocess.run(['sh', '-c', 'exit 5'], check=True)
except subprocess.CalledProcessError as e:
    print(e)
""")
case("process_input", "python3", "-c", "import subprocess; print(subprocess.run(['tr', 'a-z', 'A-Z'], input='shout', capture_output=True, text=True).stdout)")
case("process_pipeline", script="""
import subprocess
a = subprocess.Popen(['printf', 'c\\\\nb\\\\na\\\\n'], stdout=subprocess.PIPE)
b = subprocess.Popen(['sort'], stdin=a.stdout, stdout=subprocess.PIPE, text=True)
a.stdout.close()
print(b.communicate()[0].split(), a.wait())
""")
case("process_big_both_ways", script="""
import subprocess
data = b'0123456789abcdef' * 65536
out, err = subprocess.Popen(['cat'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE).communicate(data)
print(len(out), out == data, err)
""")
case("process_missing", script="""
import subprocess
for argument in (['no-such-program'], ['./no/such/path']):
    try:
        subprocess.run(argument)
    except FileNotFoundError as e:
        print(e.errno, e.filename, e)
try:
    subprocess.run(['echo'], cwd='no-such-dir')
except FileNotFoundError as e:
    print(e)
print(subprocess.run('no-such-program', shell=True, stderr=subprocess.DEVNULL).returncode)
""")
case("process_cwd_env", script="""
import subprocess, os
os.mkdir('sub')
r = subprocess.run(['sh', '-c', 'basename "$PWD"; echo $ONLY; echo "[$HOME]"'], cwd='sub', env={'ONLY': 'this', 'PATH': os.environ['PATH']}, capture_output=True, text=True)
print(r.stdout)
""")
case("process_timeout", script="""
import subprocess, time
start = time.monotonic()
try:
    subprocess.run(['sleep', '30'], timeout=0.2)
except subprocess.TimeoutExpired as e:
    print(e.cmd, time.monotonic() - start < 5)
""")
case("process_kill", script="""
import subprocess, signal
p = subprocess.Popen(['sleep', '30'])
print(p.poll())
p.terminate(); print(p.wait())
p = subprocess.Popen(['sleep', '30']); p.kill(); print(p.wait())
p = subprocess.Popen(['sleep', '30']); p.send_signal(signal.SIGINT); print(p.wait())
""")
case("process_pass_fds", script="""
import os, subprocess
r, w = os.pipe()
subprocess.run(['sh', '-c', f'echo through >&{w}'], pass_fds=(w,))
os.close(w)
print(os.read(r, 100))
""")
case("process_closed_fds", script="""
import os, subprocess, sys
r, w = os.pipe()
os.set_inheritable(w, True)
check = f'import os\\ntry:\\n    os.fstat({w}); print("open")\\nexcept OSError: print("closed")'
print(subprocess.run([sys.executable, '-c', check], capture_output=True, text=True).stdout.strip())
print(subprocess.run([sys.executable, '-c', check], capture_output=True, text=True, close_fds=False).stdout.strip())
""")
case("process_devnull_file", script="""
import subprocess
with open('out.txt', 'w') as f:
    subprocess.run(['sh', '-c', 'echo to-file; echo err >&2'], stdout=f, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
print(open('out.txt').read())
""")
case("process_system_popen", script="""
import os
print(os.system('exit 3'), os.waitstatus_to_exitcode(os.system('exit 3')))
print(os.popen('echo popped').read())
f = os.popen('cat > popped.txt', 'w'); f.write('written'); print(f.close(), open('popped.txt').read())
print(os.popen('exit 2').close())
""")
case("process_wait", script="""
import os, subprocess
p = subprocess.Popen(['sh', '-c', 'exit 7'])
pid, status = os.waitpid(p.pid, 0)
print(pid == p.pid, os.WIFEXITED(status), os.WEXITSTATUS(status))
p = subprocess.Popen(['sh', '-c', 'kill -9 $$'])
pid, status = os.wait()
print(os.WIFSIGNALED(status), os.WTERMSIG(status))
try:
    os.wait()
except ChildProcessError as e:
    print(e)
""")
case("process_spawn", script="""
import os, shutil
echo = shutil.which('echo')
pid = os.posix_spawn(echo, ['echo', 'spawned'], os.environ)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
pid = os.posix_spawnp('sh', ['sh', '-c', 'echo to file'], os.environ,
                      file_actions=[(os.POSIX_SPAWN_OPEN, 1, 'spawn.txt', os.O_WRONLY | os.O_CREAT, 0o644)])
os.waitpid(pid, 0)
print(open('spawn.txt').read())
""", stdout=None)
case("process_exec", "python3", "-c", "import os; print('before', flush=True); os.execvp('sh', ['sh', '-c', 'echo after; exit 6'])")
case("process_exec_missing", "python3", "-c", "import os\ntry:\n  os.execv('/no/such', ['x'])\nexcept FileNotFoundError as e: print(e.errno)")
case("process_identity", script="""
import os
print(os.getpid() > 0, os.getppid() != os.getpid(), os.getuid(), os.geteuid(), os.getgid(), os.getpgid(0) > 0)
""", stdout="True True 0 0 0 True\n")
case("process_preexec", "python3", "-c", "import subprocess, os; print(subprocess.run(['echo', 'x'], preexec_fn=os.setsid, capture_output=True).stdout)")
# There is no fork.
case("process_fork", "python3", "-c", "import os\ntry:\n  os.fork()\nexcept NotImplementedError as e: print(str(e)[:26])", stdout="os.fork() is not available\n")
case("process_shell_to_python", "bash", "-c", "python3 -c 'import subprocess; subprocess.run([\"sh\", \"-c\", \"python3 -c \\\"print(42)\\\"\"])'")
case("process_many", script="""
import subprocess
ps = [subprocess.Popen(['echo', str(i)], stdout=subprocess.PIPE, text=True) for i in range(10)]
print([p.communicate()[0].strip() for p in ps])
""")

# ---- signals --------------------------------------------------------------------------------------------------------------

case("signal_handler", script="""
import os, signal
signal.signal(signal.SIGTERM, lambda n, f: print('got', signal.Signals(n).name))
os.kill(os.getpid(), signal.SIGTERM)
print('alive')
""")
case("signal_alarm_sleep", script="""
import signal, time
class Late(Exception): pass
def late(n, f): raise Late
signal.signal(signal.SIGALRM, late)
signal.setitimer(signal.ITIMER_REAL, 0.1)
try:
    time.sleep(20)
except Late:
    print('interrupted the sleep')
""")
case("signal_alarm_busy", script="""
import signal
class Late(Exception): pass
def late(n, f): raise Late
signal.signal(signal.SIGALRM, late)
signal.setitimer(signal.ITIMER_REAL, 0.1)
try:
    while True: pass
except Late:
    print('interrupted the loop')
""")
case("signal_interrupt_self", "python3", "-c", "import os, signal\ntry:\n  os.kill(os.getpid(), signal.SIGINT); import time; time.sleep(1)\nexcept KeyboardInterrupt: print('caught')")
case("signal_default_kills", "python3", "-c", "import os, signal; os.kill(os.getpid(), signal.SIGTERM)", status=143)
case("signal_child_handler", script="""
import subprocess, sys
code = "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *a: sys.exit(12)); print('ready', flush=True); time.sleep(20)"
p = subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE, text=True)
print(p.stdout.readline().strip()); p.terminate(); print(p.wait())
""")
case("signal_mask", script="""
import signal, os
signal.signal(signal.SIGUSR1, lambda *a: print('handled'))
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
os.kill(os.getpid(), signal.SIGUSR1)
print(signal.SIGUSR1 in signal.sigpending())
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
print('done')
""")

# ---- threads, asyncio -------------------------------------------------------------------------------------------------------

case("threads_join", script="""
import threading
results = []
def work(n): results.append(n * n)
threads = [threading.Thread(target=work, args=(n,)) for n in range(5)]
for t in threads: t.start()
for t in threads: t.join()
print(sorted(results), threading.active_count(), threads[0].is_alive())
""")
case("threads_queue", script="""
import threading, queue
q, done = queue.Queue(), []
def worker():
    while (item := q.get()) is not None:
        done.append(item)
t = threading.Thread(target=worker)
t.start()
for i in range(10): q.put(i)
q.put(None)
t.join()
print(done)
""")
# A thread that waits for what only the suspended main program could do is ended; the program goes on.
case("threads_stuck", script="""
import threading
e = threading.Event()
t = threading.Thread(target=e.wait)
t.start(); t.join()
e.set()
print('went on')
""", stdout="went on\n", status=0, stderr_has="this wait can never end")
case("threads_deadlock", "python3", "-c", "import threading; l = threading.Lock(); l.acquire(); l.acquire()", status=1, stdout="", stderr_has="this wait can never end")
case("threads_reader", script="""
import subprocess, threading, sys
p = subprocess.Popen([sys.executable, '-c', "print('x' * 300000)"], stdout=subprocess.PIPE, text=True)
lines = []
t = threading.Thread(target=lambda: lines.extend(p.stdout))
t.start()
print(p.wait()); t.join()
print(len(lines[0]))
""")
case("threads_daemon_workers", script="""
import threading, queue
q, done = queue.Queue(), []
def worker():
    while True:
        done.append(q.get() * 2)
        q.task_done()
for _ in range(3): threading.Thread(target=worker, daemon=True).start()
for i in range(6): q.put(i)
q.join()
print(sorted(done))
""")
case("threads_pool", script="""
from concurrent.futures import ThreadPoolExecutor, as_completed
with ThreadPoolExecutor(4) as pool:
    print(list(pool.map(lambda x: x + 1, range(5))))
    futures = {pool.submit(pow, n, 2): n for n in range(4)}
    print(sorted((futures[f], f.result()) for f in as_completed(futures)))
    failed = pool.submit(lambda: 1/0)
    print(type(failed.exception()).__name__)
""")
case("threads_event_timer", script="""
import threading
e = threading.Event()
t = threading.Timer(0.05, e.set)
t.start()
print(e.wait(5))
never = threading.Timer(60, print, ['never'])
never.start(); never.cancel(); never.join()
print('end')
""")
case("threads_exception", "python3", "-c", "import threading; t = threading.Thread(target=lambda: 1/0); t.start(); t.join(); print('main goes on')", stderr_has="ZeroDivisionError")
case("threads_lock", script="""
import threading
lock = threading.Lock(); total = 0
def add():
    global total
    for _ in range(1000):
        with lock: total += 1
ts = [threading.Thread(target=add) for _ in range(4)]
[t.start() for t in ts]; [t.join() for t in ts]
print(total, lock.acquire(timeout=0.05), lock.acquire(timeout=0.05))
""")
case("threads_at_exit", "python3", "-c", "import threading; threading.Thread(target=print, args=('from thread',)).start()")
case("asyncio_run", script="""
import asyncio
async def one(n):
    await asyncio.sleep(0.01 * n)
    return n
async def main():
    print(await asyncio.gather(one(2), one(1), one(0)))
    try:
        await asyncio.wait_for(asyncio.sleep(10), 0.05)
    except TimeoutError:
        print('timeout')
    print(await asyncio.to_thread(lambda: 'thread'))
asyncio.run(main())
""")
case("asyncio_subprocess", script="""
import asyncio
async def main():
    p = await asyncio.create_subprocess_exec('tr', 'a-z', 'A-Z', stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    out, _ = await p.communicate(b'loud')
    print(out, p.returncode)
    p = await asyncio.create_subprocess_shell('echo err >&2; exit 4', stderr=asyncio.subprocess.PIPE)
    print((await p.communicate())[1], p.returncode)
asyncio.run(main())
""")

# ---- the library ------------------------------------------------------------------------------------------------------------

case("library_imports", script="""
import importlib
names = '''abc argparse array ast asyncio base64 bisect bz2 calendar cmath collections concurrent.futures configparser contextlib copy csv
dataclasses datetime decimal difflib dis email enum fcntl filecmp fnmatch fractions functools getpass glob graphlib grp gzip hashlib heapq
hmac html http.client http.server inspect io ipaddress itertools json keyword linecache locale logging lzma math mimetypes numbers operator
os pathlib pickle pkgutil platform plistlib pprint pwd queue random re resource sched secrets select selectors shelve shlex shutil signal
smtplib socket sqlite3 statistics string struct subprocess sys sysconfig tarfile tempfile textwrap threading time timeit tomllib traceback
types typing unicodedata unittest urllib.request uuid warnings wave weakref xml.dom.minidom xml.etree.ElementTree zipapp zipfile zlib zoneinfo'''
bad = []
for name in names.split():
    try:
        importlib.import_module(name)
    except Exception as e:
        bad.append((name, repr(e)))
print(bad)
""")
case("library_shadowing", "python3", "script.py", files={"statistics.py": "mine = True\n", "script.py": "import statistics\nprint(statistics.mine)\n"})
case("library_sqlite", script="""
import sqlite3
db = sqlite3.connect('data.db')
db.execute('create table t (a integer, b text)')
db.executemany('insert into t values (?, ?)', [(i, f'row {i}') for i in range(1000)])
db.commit(); db.close()
db = sqlite3.connect('data.db')
print(db.execute('select count(*), sum(a), max(b) from t').fetchone())
print(sqlite3.connect(':memory:').execute("select sqrt(2), upper('x')").fetchone())
""")
case("library_json_csv_re", script="""
import json, csv, re, io
print(json.dumps({'b': [1, 2.5, None, True], 'a': '\\u00e4'}, indent=1, sort_keys=True))
print(list(csv.DictReader(io.StringIO('x,y\\n1,"a, b"\\n'))))
print(re.sub(r'(\\w+) (\\w+)', r'\\2 \\1', 'hello world'))
""")
case("library_datetime_zone", script="""
from datetime import datetime, timezone
from zoneinfo import ZoneInfo
d = datetime(2025, 7, 1, 12, tzinfo=timezone.utc)
print(d.isoformat(), d.astimezone(ZoneInfo('Europe/Berlin')).isoformat())
""")
case("library_compression", script="""
import gzip, bz2, lzma, zlib, tarfile, zipfile, io
data = b'repeat ' * 1000
print([len(m.decompress(m.compress(data))) for m in (gzip, bz2, lzma, zlib)])
""")
case("library_randomness_fresh", script="""
import subprocess, sys
code = 'import random, tempfile, uuid, secrets; print(random.random(), uuid.uuid4(), secrets.token_hex(8), next(tempfile._get_candidate_names()))'
seen = {word for _ in range(3) for word in subprocess.check_output([sys.executable, '-c', code], text=True).split()}
print(len(seen))
""")
case("library_random_seeded", "python3", "-c", "import random; random.seed(1); print(random.random(), random.sample(range(100), 3))")
case("library_users", "python3", "-c", "import pwd, grp, os, getpass; p = pwd.getpwuid(os.getuid()); print(p.pw_uid, grp.getgrgid(p.pw_gid).gr_gid, bool(getpass.getuser()))", stdout="0 0 True\n")
case("library_pickle_own", script="""
import pickle, dataclasses, collections, datetime
@dataclasses.dataclass
class P:
    x: int
Q = collections.namedtuple('Q', 'a b')
print(pickle.loads(pickle.dumps([P(1), Q(1, 2), datetime.date(2025, 1, 1)])))
""")
case("library_network", "python3", "-c", "import urllib.request\ntry:\n  urllib.request.urlopen('http://example.com', timeout=5)\nexcept OSError as e: print(e)",
     stdout="<urlopen error [Errno -3] the sandbox has no network>\n")
case("library_platform", "python3", "-c", "import sys, os, platform; print(sys.platform, os.name, platform.system(), platform.machine(), os.sep, sys.byteorder)",
     stdout="wasi posix Linux wasm32 / little\n")
case("library_flags_hash", "python3", "-c", "print(hash('a') == hash('a'), list({'x', 'y', 'z', 'w'}) == list({'x', 'y', 'z', 'w'}))")

case("library_as_program", "python3", "-m", "json.tool", "--sort-keys", stdin='{"b": 1, "a": [2]}')
case("library_as_program_own_state", "python3", "-m", "calendar", "2025", "1")
case("library_reload", script="""
import importlib, sys, json, textwrap
json.marked = True
importlib.reload(json)
print(json.marked, json.loads('[1]'))
first = textwrap
del sys.modules['textwrap']
import textwrap
print(textwrap is first, textwrap.fill('x y'))
""")
case("library_modules_at_start", "python3", "-c", "import sys; print([m for m in ('json', 're', 'random', 'subprocess', 'asyncio') if m in sys.modules])")
case("library_warnings_caught", script="""
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter('always')
    warnings.warn('noted')
print([str(w.message) for w in caught])
""")
case("library_logging", "python3", "-c", "import logging; logging.basicConfig(format='%(levelname)s %(message)s'); logging.warning('careful')", stderr_has="WARNING careful")
case("library_unittest", "python3", "-m", "unittest", "-q", "test_it", files={"test_it.py": "import unittest\nfrom unittest import mock\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(mock.Mock(return_value=3)(), 3)\n"}, stderr_has="OK")
case("pools_multiprocessing", script="""
import multiprocessing, concurrent.futures
def square(n): return n * n
if __name__ == '__main__':
    with multiprocessing.Pool(4) as pool:
        print(pool.map(square, range(5)), pool.apply_async(square, (7,)).get())
    with concurrent.futures.ProcessPoolExecutor() as pool:
        print(list(pool.map(square, [1, 2, 3])))
""")

# ---- deep and large ---------------------------------------------------------------------------------------------------------

case("deep_function", "python3", "-c", "def f(n): return f(n + 1)\ntry: f(0)\nexcept RecursionError as e: print(e)")
case("deep_method_sort", "python3", "-c", "class A:\n  def __lt__(self, o): return sorted([A(), A()]) and True\ntry: sorted([A(), A()])\nexcept RecursionError as e: print('RecursionError')")
case("deep_json", "python3", "-c", "import json\ntry: json.loads('[' * 100000)\nexcept RecursionError: print('RecursionError')")
case("deep_repr", "python3", "-c", "l = []\nfor i in range(100000): l = [l]\ntry: repr(l)\nexcept RecursionError: print('RecursionError', flush=True)\nimport os; os._exit(0)")
case("deep_nested_source", "python3", "-c", "try: eval('(' * 5000 + ')' * 5000)\nexcept (MemoryError, SyntaxError, RecursionError): print('refused')")
case("deep_regex", "python3", "-c", "import re\ntry: re.compile('(' * 5000 + ')' * 5000)\nexcept RecursionError: print('RecursionError')")
case("deep_limit_raised", "python3", "-c", "import sys\nsys.setrecursionlimit(10**6)\ndef f(n): return 0 if n == 0 else f(n - 1)\nprint(f(50000))")
case("deep_copy", "python3", "-c", "import copy\nl = []\nfor i in range(2000): l = [l]\ntry: copy.deepcopy(l)\nexcept RecursionError: print('RecursionError')")
case("deep_pickle", "python3", "-c", "import pickle\nl = []\nfor i in range(100000): l = [l]\ntry: pickle.dumps(l)\nexcept RecursionError: print('RecursionError')\nimport os, sys; sys.stdout.flush(); os._exit(0)")
case("deep_deallocation", "python3", "-c", "l = []\nfor i in range(1000000): l = [l]\ndel l\nprint('freed')")
case("large_integer_text", "python3", "-c", "print(len(str(3**9000)))\ntry: str(10**5000)\nexcept ValueError as e: print(e)")
case("large_float", "python3", "-c", "try: 2.0**10000\nexcept OverflowError as e: print(e)")
case("large_memory", "python3", "-c", "try: bytearray(1 << 40)\nexcept (MemoryError, OverflowError): print('refused')")

# ---- the end ---------------------------------------------------------------------------------------------------------

case("end_destructors_see_their_class", "python3", "-c",
     "class A:\n    def __del__(self): print('del', A)\na = A()\nb = A(); b.b = b")
case("end_order", "python3", "-c", "import atexit, weakref\nclass A:\n    def __del__(self): print('del', A.__name__, atexit is not None)\n"
     "a = A()\natexit.register(print, 'atexit')\nweakref.finalize(a, print, 'finalize')")
case("end_main_module_under_two_names", "python3", "-c", "import sys\nprint('__mp_main__' in sys.modules)\nimport multiprocessing\n"
     "print(sys.modules['__mp_main__'] is sys.modules['__main__'])\nclass A:\n    def __del__(self): print('del', A)\na = A()")
