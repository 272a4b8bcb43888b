import os
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from learnloop.environments.graders.python_sandbox import PythonSandbox
from learnloop.environments.graders.python_sandbox_command import INSTALL, sandbox_command
from learnloop.errors import MissingExtraError
from learnloop.settings import read_settings

SUM = """
import numpy as np

def generate_test_case():
    return np.arange(4), 6

def exec_test(result, ans):
    np.testing.assert_equal(result, ans)
    return 1

exec_context = '''
import numpy as np
a = test_input
[insert]
'''

def test_execution(solution):
    code = exec_context.replace("[insert]", solution)
    test_input, expected_result = generate_test_case()
    test_env = {"test_input": test_input}
    exec(code, test_env)
    assert exec_test(test_env["result"], expected_result)
"""
FREE = """
def test_execution(solution):
    test_env = {}
    exec(solution, test_env)
    assert test_env["result"], test_env["result"]
"""
RIGHT = "result = a.sum()"
HOSTILE = {
    "no result": ("result = None", "failed"),
    "exit": ("import sys\nsys.exit(0)", "left"),
    "hard exit": ("import os\nos._exit(0)", "left"),
    "abort": ("import os\nos.abort()", "left"),
    "exit from the C library": ("import ctypes\nctypes.CDLL(None).exit(0)", "left"),
    "endless loop": ("while True: pass", "too slow"),
    "endless sleep": ("import time\ntime.sleep(1e6)", "too slow"),
    "endless loop that catches all": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "too slow",
    ),
    "fork bomb": ("import os\nwhile True: os.fork()", "raised"),
    "fork bomb that goes on": (
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
        "too slow",
    ),
    "threads": (
        "import threading, time\n"
        "for _ in range(1000): threading.Thread(target=time.sleep, args=(1e6,)).start()",
        "raised",
    ),
    "program": ("import subprocess\nsubprocess.run(['/usr/bin/true'], check=True)", "raised"),
    "socket": ("import socket\nsocket.socket()\n" + RIGHT, "raised"),
    "connection": ("import socket\nsocket.create_connection(('127.0.0.1', 80))", "raised"),
    "memory": (f"b = bytearray(4 * 2**30)\n{RIGHT}", "too large"),
    "memory bit by bit": ("b = []\nwhile True: b.append(bytearray(2**24))", "too large"),
    "memory without a name": (f"import os\nos.memfd_create('x')\n{RIGHT}", "raised"),
    "large file": (
        f"f = open('x', 'wb')\nfor _ in range(4096): f.write(bytes(2**20))\n{RIGHT}",
        "raised",
    ),
    "many files": (f"for n in range(10**5): open(f'x{{n}}', 'w').close()\n{RIGHT}", "raised"),
    "write outside": (f"open('/usr/x', 'w')\n{RIGHT}", "raised"),
    "device": (f"open('/dev/shm/x', 'w')\n{RIGHT}", "raised"),
    "mount": (
        "import ctypes\nassert ctypes.CDLL(None).mount(b'x', b'/tmp', b'tmpfs', 0, b'') == 0",
        "failed",
    ),
    "namespace": ("import ctypes\nassert ctypes.CDLL(None).unshare(0x10000000) == 0", "failed"),
}
FRAMES = "import sys\nf = sys._getframe()\nwhile f is not None:\n    {}\n    f = f.f_back\n"
FORGERIES = {
    "the comparison of the library": "np.testing.assert_equal = lambda *a, **k: None\nresult = 0",
    "its code": "np.testing.assert_equal.__code__ = (lambda *a, **k: None).__code__\nresult = 0",
    "a module in its place": (
        "import sys, types\nsys.modules['numpy'] = types.ModuleType('numpy')\nresult = 0"
    ),
    "built-in functions": (
        "import builtins\nbuiltins.AssertionError = StopIteration\n"
        "builtins.compile = builtins.exec = lambda *a, **k: None\nresult = 0"
    ),
    "the test by its frames": FRAMES.format("f.f_globals['exec_test'] = lambda *a: 1")
    + "result = 0",
    "the result from frames above": "result = 0\n"
    + FRAMES.format("result = f.f_locals.get('expected_result', result)"),
    "the result from all frames": "import sys\nresult = [\n"
    "    f.f_back.f_back.f_locals['expected_result'] for f in sys._current_frames().values()][0]",
    "the test from all objects": (
        "import gc\nfor o in gc.get_objects():\n"
        "    if isinstance(o, dict) and 'exec_test' in o: o['exec_test'] = lambda *a: 1\n"
        "result = 0"
    ),
    "the grader": (
        "import sys\nm = sys.modules['__main__']\n"
        "for name in list(vars(m)): setattr(m, name, lambda *a, **k: None)\nresult = 0"
    ),
    "writes": (
        "import os\nfor n in range(64):\n    try: os.write(n, b'passed')\n"
        "    except OSError: pass\nos._exit(0)"
    ),
    "messages": (
        "import os, json, struct\nb = json.dumps({'why': 'passed', 'detail': ''}).encode()\n"
        "for n in range(64):\n    try: os.write(n, struct.pack('>I', len(b)) + b)\n"
        "    except OSError: pass\nos._exit(0)"
    ),
    "writes by the grader's own function": (
        "import os\nwrite = os.write\nos.write = lambda n, b: write(n, b'passed')\nresult = 0"
    ),
    "lost faults": "import sys\nsys.excepthook = lambda *a: None\nraise ValueError",
    "tracing": (
        "import sys, threading\nthreading.settrace(lambda *a: None)\n"
        "sys.settrace(lambda *a: None)\nresult = 0"
    ),
    "an exit that waits": "import atexit, os\natexit.register(os._exit, 0)\nresult = 0",
    "a signal": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\nresult = 0",
    "all signals": "import os, signal\nos.kill(-1, signal.SIGKILL)\nresult = 0",
}


@pytest.mark.parametrize("code", [RIGHT, "result = 0 + 1 + 2 + 3"])
def test_a_right_answer_passes(sandbox, code):
    assert sandbox.grade(SUM, code, seconds=60).correct


@pytest.mark.parametrize(("code", "why"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_code_is_wrong_and_leaves_no_process(sandbox, code, why):
    grade = sandbox.grade(SUM, code, seconds=2 if why == "too slow" else 60)
    assert (grade.correct, grade.why) == (False, why), grade.detail
    assert sandbox.grade(SUM, RIGHT, seconds=60).correct
    assert len(processes_below(os.getpid())) == SANDBOX_PROCESSES


@pytest.mark.parametrize("code", FORGERIES.values(), ids=FORGERIES)
def test_no_forgery_passes(sandbox, code):
    assert not sandbox.grade(SUM, code, seconds=60).correct
    assert sandbox.grade(SUM, RIGHT, seconds=60).correct


def test_a_library_that_was_tampered_with_judges_as_before(sandbox):
    code = "np.testing.assert_equal = lambda *a, **k: 1 / 0\n" + RIGHT
    assert sandbox.grade(SUM, code, seconds=60).correct


@pytest.mark.parametrize(
    "path", [Path.home(), Path.cwd(), Path(__file__), read_settings().benchmarks, "/etc/passwd"]
)
def test_files_of_this_machine_are_not_to_be_seen(sandbox, path):
    look = f"import os\np = {str(path)!r}\nresult = not os.path.isfile(p)"
    look += " and all(not os.path.isfile(os.path.join(p, n)) for n in os.listdir(p))"
    look = look.replace("os.listdir(p)", "(os.listdir(p) if os.path.isdir(p) else [])")
    assert sandbox.grade(FREE, look, seconds=60).correct
    assert not sandbox.grade(FREE, f"result = open({str(path)!r}).read()", seconds=60).correct


def test_what_an_answer_writes_is_gone_with_it(sandbox):
    name = f"learnloop-{uuid.uuid4()}"
    write = f"for n in ({name!r}, '/tmp/{name}x'): open(n, 'w').write('here')\nresult = True"
    assert sandbox.grade(FREE, write, seconds=60).correct
    assert sandbox.grade(FREE, "import os\nresult = not os.listdir('/tmp')", seconds=60).correct
    assert not list(Path("/tmp").glob(f"{name}*"))
    assert not Path(name).exists()


def test_no_variable_of_the_environment_comes_in(sandbox):
    code = "import os\nresult = set(os.environ) <= set(os.environ['PYTHONPATH'] and KNOWN)"
    known = "HOME LANG MPLBACKEND MPLCONFIGDIR PYTHONHASHSEED PYTHONNOUSERSITE PWD TZ PYTHONPATH"
    known += " JOBLIB_MULTIPROCESSING OMP_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS"
    known += " ARROW_DEFAULT_MEMORY_POOL LC_CTYPE"
    assert sandbox.grade(FREE, f"KNOWN = {known.split()}\n{code}", seconds=60).correct


def test_an_answer_sees_no_other_process(sandbox):
    code = "import os\nresult = [n for n in os.listdir('/proc') if n.isdigit()] in ([], ['1'])"
    assert sandbox.grade(FREE, code, seconds=60).correct


def test_grades_do_not_depend_on_those_before(sandbox):
    draw = "import numpy as np, random\nresult = str((np.random.rand(), hash('a'), {'b', 'c'}))"
    tell = f"{FREE}\n    raise ValueError(test_env['result'])"
    first, second = (sandbox.grade(tell, draw, seconds=60) for _ in range(2))
    assert first.detail == second.detail
    assert first.why == "raised"


def test_a_condition_on_the_words_of_an_answer_counts(sandbox):
    program = FREE + "\ndef test_string(solution):\n    assert 'while' not in solution\n"
    assert sandbox.grade(program, "result = True", seconds=60).correct
    assert not sandbox.grade(program, "while False: pass\nresult = True", seconds=60).correct


def test_what_an_answer_says_of_itself_is_cut_and_never_fails(sandbox):
    grade = sandbox.grade(FREE, "raise ValueError('x' * 10**6)", seconds=60)
    assert len(grade.detail) < 500
    rude = "class Rude(Exception):\n    def __str__(self): raise Rude\nraise Rude"
    assert sandbox.grade(FREE, rude, seconds=60).why == "raised"
    assert sandbox.grade(FREE, "raise ValueError('\\ud800')", seconds=60).why == "raised"


def test_text_that_is_no_code_is_wrong(sandbox):
    for code in ("Here you are:", "", "\0", "(" * 1000, "result = '\\ud800' == 1"):
        assert not sandbox.grade(SUM, code, seconds=60).correct


def test_several_threads_can_grade_at_once(sandbox):
    with PythonSandbox(workers=2).closing() as pair, ThreadPoolExecutor(4) as threads:
        grades = list(
            threads.map(lambda n: pair.grade(FREE, f"result = {n} % 2 == 0", seconds=60), range(12))
        )
    assert [grade.correct for grade in grades] == [True, False] * 6


def test_a_lost_sandbox_is_started_again(sandbox):
    with PythonSandbox().closing() as own:
        before = processes_below(os.getpid())
        assert own.grade(FREE, "result = True", seconds=60).correct
        for process in processes_below(os.getpid()) - before:
            os.kill(process, 9)
        assert own.grade(FREE, "result = True", seconds=60).correct
        assert not own.grade(FREE, "result = False", seconds=60).correct


def test_a_closed_sandbox_leaves_no_process(sandbox):
    before = processes_below(os.getpid())
    with PythonSandbox().closing() as own:
        assert own.grade(FREE, "result = True", seconds=60).correct
        assert processes_below(os.getpid()) > before
    assert processes_below(os.getpid()) == before


def test_without_bubblewrap_nothing_runs_and_one_line_says_what_to_do(tmp_path):
    with pytest.raises(MissingExtraError, match=INSTALL):
        sandbox_command([], search=str(tmp_path))


def test_a_system_that_forbids_namespaces_is_told(sandbox, tmp_path):
    false = tmp_path / "bwrap"
    false.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    false.chmod(0o755)
    with pytest.raises(MissingExtraError, match="No permissions to create new namespace"):
        PythonSandbox(search=str(tmp_path)).grade(FREE, "result = True", seconds=60)


def processes_below(process):
    """The processes that another has started, and those that they have started."""
    try:
        found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return set()
    return {int(each) for each in found}.union(*map(processes_below, map(int, found)))


SANDBOX_PROCESSES = 3
"""One sandbox: bubblewrap outside, bubblewrap inside, and the process with the libraries."""
