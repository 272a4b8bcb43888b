"""Every message that a method sends, as texts to read: compared byte for byte.

Run this file as a program to write them anew: `python tests/methods/test_snapshots.py`. A
benchmark is added by its rows, written by us, in `rows/`, and its name in `BENCHMARKS`; databases
stand there as SQL.
"""

import json
import shutil
import sqlite3
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from learnloop.environments import ENVIRONMENTS
from learnloop.environments.dataset import Dataset, Edition, Graded, Item
from learnloop.environments.graders.sql_answer import parse_sql
from learnloop.memory.embedders.wordllama import WordLlamaEmbedder
from learnloop.memory.opening import open_memory
from learnloop.methods import METHODS
from learnloop.methods.parts import Parts
from learnloop.methods.self_refine import STOP_WORDS
from learnloop.prompting.reasoning import MARKER, REASONING_LABEL
from learnloop.runner.run import StepJournal
from learnloop.settings import variables_for_import
from learnloop.types import Prediction, Query, Reply, Task, Usage

HERE = Path(__file__).parent
SNAPSHOTS = HERE / "snapshots"
ROWS = HERE / "rows"

KINDS = {
    **{name: (name, {}) for name in METHODS},
    "few_shot": ("few_shot", {"k": 2}),
    "gated_prompt": ("gated_prompt", {"gate": "proportional"}),
    "self_stream_icl-rationale": ("self_stream_icl", {"rationale": True}),
    "drpg-contrastive": ("drpg", {"writer": "contrastive"}),
    "drpg-published": ("drpg", {"variant": "published"}),
    "dynamic_cheatsheet-retrieval_synthesis": (
        "dynamic_cheatsheet",
        {"variant": "retrieval_synthesis"},
    ),
}
BENCHMARKS = (
    "spider",
    "hotpotqa",
    "hotpotqa_published",
    "ddxplus",
    "ddxplus_published",
    "ds1000",
    "ds1000_published",
)
ON_A_BENCHMARK = (
    ("zero_shot", {}),
    ("self_stream_icl", {}),
    ("drpg", {"writer": "contrastive"}),
)
AS_PUBLISHED = (
    ("zero_shot", {"layout": "paper"}),
    ("self_stream_icl", {"layout": "paper"}),
    ("drpg", {"variant": "published"}),
)

SCHEMA = """CREATE TABLE member (id, name, town)
CREATE TABLE loan (id, member_id, days)"""
QUESTIONS = {
    "How many members are there?": ("SELECT count(*) FROM member", "SELECT count(*) FROM member"),
    "How many members have a loan?": (
        "SELECT count(DISTINCT member_id) FROM loan",
        "SELECT count(*) FROM loan",
    ),
    "How many members live in Bern?": (
        "SELECT count(*) FROM member WHERE town = 'Bern'",
        "SELECT count(*) FROM member WHERE town = 'Bern'",
    ),
    "How many members have had a loan of over 14 days?": (
        "SELECT count(DISTINCT member_id) FROM loan WHERE days > 14",
        "SELECT count(DISTINCT member_id) FROM loan WHERE days > 14",
    ),
}
SHOWN = {
    "Which towns are there?": "SELECT DISTINCT town FROM member",
    "What is the longest loan?": "SELECT max(days) FROM loan",
}


def library():
    """A small stream of our own; the second answer to it is wrong."""

    def item(number, text, gold):
        return Item(
            query=Query(id=f"q{number}", text=text, context=SCHEMA, group="library"), gold=gold
        )

    def grade(row, answer):
        right = answer == row.gold
        comment = "A member with two loans was counted twice; count each member once."
        return Graded(value=float(right), correct=right, comment=comment)

    return Dataset(
        edition=Edition(id="library-v1", length=len(QUESTIONS)),
        task=Task(
            name="library",
            role="You write SQL for a library.",
            instructions="Answer the question with one query on the given tables.",
            answer_format="Only the SQL statement.",
            metric="accuracy",
            parse=parse_sql,
            answer_label="SQL",
            shared_context=True,
        ),
        items=[item(n, text, right) for n, (text, (right, _)) in enumerate(QUESTIONS.items(), 1)],
        grade=grade,
        order="given",
        demonstrations=[
            item(f"-shown{n}", text, gold) for n, (text, gold) in enumerate(SHOWN.items())
        ],
    )


class Speaking:
    """Answers what it is set to, and says something fit in every other role."""

    def __init__(self, name, said):
        self.name = name
        self.said = said
        self.answer = ""

    def complete(self, messages, *, options):
        text = self._reply(messages, options.role)
        self.said.append((self.name, options.role, tuple(messages), text))
        return Reply(text=text, usage=Usage())

    def _reply(self, messages, role):
        asked = messages[-1].content
        refining = any(message.role == "assistant" for message in messages)
        if role == "answer" and asked.endswith(REASONING_LABEL):
            return f"It is asked how many, so I count.\n{MARKER} {self.answer}"
        if role == "answer" or (role == "edit" and refining):
            return self.answer
        if role == "judge":
            turns = sum(message.role == "assistant" for message in messages)
            return STOP_WORDS if turns > 1 else "Is each member counted once?"
        if role == "edit":
            return json.dumps({"prompt": "Answer with one query. Count each member once."})
        if "<cheatsheet>" in asked:
            return "<cheatsheet>\n- To count members: once each. count(DISTINCT id).\n</cheatsheet>"
        return "POLICY:\n- Count each member once, with DISTINCT, where one may have many loans."


def snapshot(environment, kind, embedder, answers):
    """Let a method go through a stream with clean feedback; return all that was said."""
    name, params = kind
    said = []
    models = [Speaking(each, said) for each in ("first", "second")]
    method = METHODS.load(name)
    parts = Parts(
        task=environment.task,
        model=models[0],
        policy_model=models[0],
        memory=open_memory(embedder),
        embedder=embedder,
        journal=StepJournal(),
        agents=tuple(models[1:]) if getattr(method, "takes_agents", False) else (),
        demonstrations=lambda k: environment.demonstrations(k=k),
        answer_key=environment.gold if getattr(method, "needs_answers", False) else None,
    )
    made = method.from_parts(parts, **params)
    lines, before = [f"{name} {params or ''}".rstrip()], ()
    query = environment.reset(seed=42)
    for answer in answers(environment):
        for model in models:
            model.answer = answer
        prediction = made.predict_one(query)
        step = environment.step(prediction)
        made.learn_one(query, prediction, step.feedback)
        lines.append(f"\n######## {query.id}")
        for model, role, messages, text in said:
            lines += _call(model, role, messages, text, before)
            before = messages
        lines += _ending(prediction, step.feedback)
        said.clear()
        query = step.query
    return "\n".join(lines) + "\n"


def _call(model, role, messages, text, before):
    yield f"\n==== {role}, by the {model} model"
    for place, message in enumerate(messages):
        same = place < len(before) and before[place] == message
        yield f"-- {message.role}{' (as in the call before)' if same else ''}"
        if not same:
            yield message.content
    yield "-- reply"
    yield text


def _ending(prediction, feedback):
    yield f"\n==== answer: {prediction.text}"
    yield f"right: {feedback.correct}"
    if feedback.comment:
        yield f"comment: {feedback.comment}"
    if feedback.correction:
        yield f"correction: {feedback.correction}"


def _library_answers(environment):
    return [said for _, said in QUESTIONS.values()]


def _right_but_the_second(environment):
    query, number = environment.reset(seed=42), 0
    answers = []
    while query is not None:
        answers.append("I do not know." if number == 1 else environment.gold(query))
        text = environment.task.parse(environment.gold(query))
        query = environment.step(Prediction(query_id=query.id, text=text)).query
        number += 1
    environment.reset(seed=42)
    return answers


def method_snapshot(kind, embedder):
    """All that one method says on the stream of the library."""
    return snapshot(library(), KINDS[kind], embedder, _library_answers)


def benchmark_snapshot(name, embedder):
    """All that three methods say on a benchmark."""
    kinds = AS_PUBLISHED if name.endswith("_published") else ON_A_BENCHMARK
    with own_rows():
        environment = ENVIRONMENTS.create(name, order="given")
        texts = [snapshot(environment, kind, embedder, _right_but_the_second) for kind in kinds]
    return "\n\n".join(texts)


@contextmanager
def own_rows():
    """Have the benchmarks read our rows; databases are made of their SQL."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        shutil.copytree(ROWS, data)
        for script in data.rglob("*.sql"):
            database = script.with_suffix("") / f"{script.stem}.sqlite"
            database.parent.mkdir()
            with closing(sqlite3.connect(database)) as connection:
                connection.executescript(script.read_text(encoding="utf-8"))
        with variables_for_import(LEARNLOOP_DATA=str(data), LEARNLOOP_CACHE=folder):
            yield


def test_there_is_a_snapshot_of_every_method_and_of_nothing_else():
    assert {name for name, _ in KINDS.values()} == set(METHODS)
    assert {path.stem for path in SNAPSHOTS.glob("*.txt")} == set(KINDS)
    benchmarks = {path.stem for path in (SNAPSHOTS / "benchmarks").glob("*.txt")}
    assert benchmarks == set(BENCHMARKS)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_prompts_of_a_method_are_those_of_its_snapshot(kind, words):
    written = (SNAPSHOTS / f"{kind}.txt").read_text(encoding="utf-8")
    assert method_snapshot(kind, words) == written


@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_prompts_of_a_benchmark_are_those_of_its_snapshot(name, words):
    if name.startswith("ds1000") and shutil.which("bwrap") is None:
        pytest.skip("needs bubblewrap, to grade")
    written = (SNAPSHOTS / "benchmarks" / f"{name}.txt").read_text(encoding="utf-8")
    assert benchmark_snapshot(name, words) == written


def write_all():
    """Write every snapshot anew."""
    embedder = WordLlamaEmbedder()
    (SNAPSHOTS / "benchmarks").mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        text = method_snapshot(kind, embedder)
        (SNAPSHOTS / f"{kind}.txt").write_text(text, encoding="utf-8")
    for name in BENCHMARKS:
        text = benchmark_snapshot(name, embedder)
        (SNAPSHOTS / "benchmarks" / f"{name}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_all()
