import json
from pathlib import Path

import pytest

from learnloop.checks.environments import check_environment
from learnloop.environments.ds1000 import LEAK, ds1000, ds1000_published, run_references
from learnloop.environments.ds1000_references import PASSED, check_references
from learnloop.environments.ds1000_rows import FILES, read_problem
from learnloop.environments.fields import read_fields
from learnloop.environments.rows import Folder, find_folder
from learnloop.errors import DataError, ParameterError
from learnloop.prompting.composer import Composer
from learnloop.types import Prediction

SNAPSHOTS = Path(__file__).parent / "snapshots"
PROGRAM = '''
import numpy as np

def generate_test_case(test_case_id):
    def generate_ans(data):
        secret_of_the_tests = {answer}
        return secret_of_the_tests
    test_input = {given}
    return test_input, generate_ans(test_input)

def exec_test(result, ans):
    np.testing.assert_allclose(result, ans)
    return 1

exec_context = r"""
import numpy as np
a = test_input
{place}
"""

def test_execution(solution: str):
    code = exec_context.replace("[insert]", solution)
    for i in range(1):
        test_input, expected_result = generate_test_case(i + 1)
        test_env = {{"test_input": test_input}}
        exec(code, test_env)
        assert exec_test(test_env["result"], expected_result)
'''
NO_LOOPS = """
def test_string(solution: str):
    assert "for" not in solution
"""
MEAN = {
    "prompt": "Problem:\nI need the mean of an array, not of its first half:\n"
    "    a[:2]\n\nA:\n<code>\nimport numpy as np\na = np.arange(4)\n</code>\n"
    "result = ... # put solution in this variable\nBEGIN SOLUTION\n<code>\n",
    "reference_code": "secret_reference = a.mean()\nresult = secret_reference",
    "metadata": {"problem_id": 7, "library": "Numpy"},
    "code_context": PROGRAM.format(answer="1.5", given="np.arange(4)", place="[insert]") + NO_LOOPS,
}
WITHIN = {
    "prompt": "Problem:\nWrite a function that doubles.\n\nA:\n<code>\ndef f(a):\n"
    "    # return the solution in this function\n    ### BEGIN SOLUTION",
    "reference_code": "    secret_reference = 2 * a\n    return secret_reference",
    "metadata": {"problem_id": 8, "library": "Scipy"},
    "code_context": PROGRAM.format(
        answer="np.arange(4) * 2", given="np.arange(4)", place="def f(a):\n[insert]\nresult = f(a)"
    ),
}
OLD = {
    **MEAN,
    "reference_code": "result = np.function_that_is_gone(a)",
    "metadata": {"problem_id": 9, "library": "Numpy"},
}
TORCH = {**MEAN, "metadata": {"problem_id": 10, "library": "Pytorch"}}
TORCH["code_context"] = "import torch_that_nobody_has\n" + MEAN["code_context"]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def write(tmp_path, monkeypatch, cache):
    """Writes rows to where the benchmark is looked for; what references gave is kept."""
    monkeypatch.setenv("LEARNLOOP_DATA", str(tmp_path))
    monkeypatch.setenv("LEARNLOOP_CACHE", str(cache))

    def to_folder(*rows):
        path = tmp_path / "ds1000" / "ds1000.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    return to_folder


@pytest.fixture
def stream(write, sandbox):
    write(MEAN, WITHIN, OLD, TORCH)
    return ds1000(order="given")


def test_what_passes_is_the_stream_and_the_others_are_named(stream):
    assert len(stream) == 2
    assert stream.edition.excluded == ("ds1000-9", "ds1000-10")
    assert "2 excluded" in stream.note
    assert "a subset" in stream.note


def test_gold_is_right_and_the_tests_decide(stream, walk):
    golds = [step.score.gold for _, step in walk(stream, seed=42)]
    assert [step.score.value for _, step in walk(stream, seed=42)] == [0, 0]
    query = stream.reset(seed=42)
    first = stream.step(Prediction(query_id=query.id, text=stream.task.parse(golds[0])))
    second = stream.step(Prediction(query_id=first.query.id, text=golds[1]))
    assert (first.score.value, second.score.value) == (1, 1)
    assert (first.feedback.correct, first.feedback.correction) == (True, None)


def test_an_answer_that_breaks_a_condition_on_its_words_is_wrong(stream):
    code = "result = sum(x for x in a) / 4"
    query = stream.reset(seed=42)
    assert query.id == "ds1000-7"
    assert not stream.step(Prediction(query_id=query.id, text=code)).feedback.correct


def test_a_function_body_keeps_its_indentation(stream):
    item = stream.reset(seed=1)
    assert item.id == "ds1000-7"
    item = stream.step(Prediction(query_id=item.id, text="")).query
    reply = "Sure:\n```python\n    return a + a\n```\nIt doubles."
    assert stream.step(Prediction(query_id=item.id, text=stream.task.parse(reply))).score.value == 1


def test_nothing_of_the_tests_but_the_place_of_the_answer_is_shown(stream, walk):
    for query, _ in walk(stream, seed=1):
        shown = query.text + query.context
        assert "[insert]" in shown
        assert "secret" not in shown
        assert "generate" not in shown
        assert "exec_test" not in shown
        assert "SOLUTION" not in query.text


def test_published_messages_have_their_quirks(write, sandbox):
    write(MEAN, WITHIN, OLD)
    query = ds1000_published(order="given").reset(seed=1)
    listed = str(['exec_context = r"""\nimport numpy as np\na = test_input\n[insert]\n"""'])
    assert listed in query.context
    assert "\na[:2]\n" in query.text
    assert query.text.endswith("BEGIN SOLUTION\n<code>")
    assert "secret" not in query.text + query.context


def test_the_leak_of_drpg_is_another_edition_that_says_so(write, sandbox):
    write(MEAN)
    leaked = ds1000_published(leaked=True)
    assert leaked.id == "ds1000_leaked-v1"
    assert LEAK in leaked.note
    assert "secret_of_the_tests = 1.5" in leaked.reset(seed=1).context
    assert LEAK not in ds1000_published().note


def test_published_answers_have_three_seconds(write, sandbox):
    write(MEAN)
    stream = ds1000_published()
    assert stream.grade.seconds == 3
    query = stream.reset(seed=1)
    slow = stream.step(Prediction(query_id=query.id, text="while True: pass"))
    assert slow.score.why == "too slow"


def test_libraries_choose_rows(write, sandbox):
    write(MEAN, WITHIN, TORCH)
    assert [ds1000(libraries=name).reset(seed=1).group for name in ("numpy", " Scipy,")] == [
        "numpy",
        "scipy",
    ]
    with pytest.raises(ParameterError, match="no library 'polars'; there are pandas, numpy"):
        ds1000(libraries="numpy,polars")


def test_references_are_run_once(write, sandbox, tmp_path):
    write(MEAN, WITHIN, OLD)
    problems = [read_problem(each) for each in read_fields(find_folder("ds1000"), *FILES)]
    told = []
    for _ in range(2):
        found = check_references(
            problems, cache=tmp_path, progress=lambda done, total: told.append((done, total))
        )
        assert [found[number] == PASSED for number in (7, 8, 9)] == [True, True, False]
        assert "function_that_is_gone" in found[9]
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_references_can_be_run_before_the_stream_is_made(write, sandbox, monkeypatch, tmp_path):
    monkeypatch.setenv("LEARNLOOP_CACHE", str(tmp_path))
    write(MEAN, WITHIN)
    told = []
    found = run_references(libraries="scipy", progress=lambda *both: told.append(both))
    assert (found, told) == ({8: PASSED}, [(1, 1)])


def test_a_cut_off_cache_is_made_again(write, sandbox, tmp_path):
    write(MEAN)
    problems = [read_problem(each) for each in read_fields(find_folder("ds1000"), *FILES)]
    check_references(problems, cache=tmp_path)
    (path,) = (tmp_path / "ds1000").glob("*.json")
    path.write_text(path.read_text()[:-9])
    assert check_references(problems, cache=tmp_path) == {7: PASSED}


def test_our_own_demonstrations_are_right_and_in_no_stream(stream, sandbox):
    shown = stream.demonstrations(k=4)
    path = Path(ds1000.__code__.co_filename).with_name("ds1000_demonstrations.json")
    for episode, each in zip(shown, json.loads(path.read_text(encoding="utf-8")), strict=True):
        assert each["solution"] in episode.answer
        assert each["runner"] in episode.query.context
        program = (
            "import matplotlib.pyplot as plt, numpy, pandas\n"
            "def test_execution(solution):\n"
            f"    code = {each['runner']!r}.replace('[insert]', solution)\n"
            f"    names = {{'test_input': {each['inputs']}}}\n"
            "    exec(code, names)\n"
            "    result = names['result']\n"
            f"    assert {each['check']}\n"
        )
        grade = sandbox.grade(program, each["solution"], seconds=60)
        assert grade.correct, grade.detail
        assert not sandbox.grade(program, "result = None", seconds=60).correct


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metadata": None}, "metadata must be an object"),
        ({"metadata": {"library": "Julia"}}, r"metadata\.library must be one of"),
        ({"metadata": {"library": "Numpy"}}, r"metadata\.problem_id must be a number"),
        ({"prompt": ""}, "prompt must be text"),
        ({"reference_code": None}, "reference_code must be text"),
        ({"code_context": "x = 1"}, "code_context must define test_execution"),
    ],
)
def test_a_malformed_row_is_named(write, change, message):
    write(MEAN, {**MEAN, **change})
    with pytest.raises(DataError, match=r"ds1000/ds1000\.jsonl, row 2: " + message):
        ds1000()


@pytest.mark.parametrize("make", [ds1000, ds1000_published])
def test_the_streams_keep_the_contract(write, sandbox, make):
    write(MEAN, WITHIN)
    check_environment(make, gold_may_appear=False)


@pytest.mark.parametrize(
    ("make", "layout"), [(ds1000, "cache"), (ds1000_published, "paper")], ids=["ours", "published"]
)
def test_the_whole_prompt_looks_as_in_the_snapshot(write, sandbox, make, layout):
    write(WITHIN)
    stream = make()
    composition = Composer(layout=layout).compose(
        stream.task, stream.reset(seed=1), examples=stream.demonstrations(k=1)
    )
    shown = "\n\n".join(f"=== {each.role} ===\n{each.content}" for each in composition.messages)
    path = SNAPSHOTS / f"{stream.task.name}.txt"
    assert shown + "\n" == path.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def real_problems(benchmark_data):
    if not (benchmark_data / "ds1000").is_dir():
        pytest.skip("needs the rows of DS-1000 in LEARNLOOP_DATA")
    folder = Folder(benchmark="ds1000", path=benchmark_data / "ds1000")
    return [read_problem(each) for each in read_fields(folder, *FILES)]


def test_no_real_reference_can_be_read_off_what_is_shown(real_problems):
    for problem in real_problems:
        shown = problem.question() + "\n" + problem.runner()
        assert "generate_ans" not in shown
        assert "def generate_test_case" not in shown
        lines = {line.strip() for line in problem.reference.splitlines() if line.strip()}
        asked = {line.strip() for line in problem.prompt.splitlines()}
        assert lines <= asked or not lines <= {line.strip() for line in shown.splitlines()}


def test_every_real_row_has_a_place_for_the_answer_and_a_question(real_problems):
    assert len(real_problems) == 1000
    for problem in real_problems:
        assert problem.runner().count("[insert]") == 1
        assert problem.question()
        assert problem.question() in problem.prompt
        assert "exec_context" in problem.published_runner()
