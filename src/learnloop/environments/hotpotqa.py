"""The HotpotQA benchmark: questions whose answer needs two paragraphs out of ten.

Source: Yang et al. 2018 (distractor setting), CC BY-SA 4.0; as a stream in StreamBench
(arXiv 2406.08747): the first 1,500 rows, then shuffled. Where those are not there, the first rows
of the development split stand in, and `note` says so.

Answers are written as JSON, `{"answer": "..."}`, also in examples and corrections. The score is
exact match after SQuAD normalisation; the tag `f1=0.67` holds the F1 of a step beside it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from learnloop.environments.dataset import Dataset, Edition, Graded, Item
from learnloop.environments.fields import Fields, read_fields, read_if_there
from learnloop.environments.graders.exact import exact_match, f1, published_f1
from learnloop.environments.graders.json_answer import (
    parse_answer,
    parse_published_answer,
    read_answer,
    write_answer,
)
from learnloop.environments.rows import find_folder
from learnloop.errors import DataError, ParameterError
from learnloop.types import Query, Task

LENGTH = 1500
"""Queries of the published stream: the first rows of its file, before shuffling."""

FILES = ("stream.jsonl", "distractor_dev500.jsonl", "distractor_dev100_exact.jsonl")


def hotpotqa(
    *, contexts: int | None = None, order: Literal["shuffled", "given"] = "shuffled"
) -> Dataset:
    """Make the stream of HotpotQA questions, each with its paragraphs.

    Args:
        contexts: How many of the paragraphs are given, where ten are too many for the machine.
            Those that hold the answer are among them, in the order of the source. It is an easier
            task than the published one, and the id and the note of the stream say so.
        order: `shuffled` or `given`.
    """
    if contexts is not None and contexts < NEEDED:
        raise ParameterError(
            f"contexts must be at least {NEEDED}, since the answers need as many, got {contexts!r}"
        )
    return Dataset(
        edition=_edition(contexts),
        task=_task("hotpotqa", parse=parse_answer),
        items=[_item(row, contexts) for row in _stream()],
        grade=_grade,
        order=order,
        demonstrations=[_item(row, contexts, prefix="train-") for row in _training()],
    )


def hotpotqa_published(*, order: Literal["shuffled", "given"] = "shuffled") -> Dataset:
    """Make the stream as StreamBench grades it; the sentences are ours.

    Its quirks, each kept here: an episode is remembered under its context and question, though
    memory is searched by the question alone; the answer is read from the first balanced braces,
    without regard to strings; what it remembers is JSON in ASCII; F1 counts a shared word once.
    A reply with a `}` before the first `{`, or whose answer is no text, crashes the published
    run; here it counts as wrong, and the stream goes on.
    """
    return Dataset(
        edition=Edition(id="hotpotqa_published-v1", length=LENGTH),
        task=_task("hotpotqa_published", parse=parse_published_answer),
        items=[_published_item(row) for row in _stream()],
        grade=_published_grade,
        order=order,
        demonstrations=[_published_item(row, prefix="train-") for row in _training()],
    )


NEEDED = 2
"""How many paragraphs an answer needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Paragraph:
    title: str
    text: str


def _stream() -> list[Fields]:
    return read_fields(find_folder("hotpotqa"), *FILES)[:LENGTH]


def _training() -> list[Fields]:
    return read_if_there(find_folder("hotpotqa"), "train.jsonl")


def _edition(contexts: int | None) -> Edition:
    if contexts is None:
        return Edition(id="hotpotqa-v1", length=LENGTH)
    remark = f"not the published task: only {contexts} paragraphs of each question are given"
    return Edition(id=f"hotpotqa_{contexts}_paragraphs-v1", length=LENGTH, remarks=(remark,))


def _task(name: str, *, parse: Callable[[str], str]) -> Task:
    return Task(
        name=name,
        role="You answer questions from the paragraphs that come with them.",
        instructions=(
            "Read the paragraphs and answer the question. The answer is a short piece of text, "
            "such as a name, a date or a number, or yes or no; do not explain it."
        ),
        answer_format='Only JSON of this form: {"answer": "<the short answer>"}',
        metric="exact match",
        parse=parse,
        query_label="Question",
        answer_label="Answer",
        context_in_examples=True,
    )


def _item(row: Fields, contexts: int | None, *, prefix: str = "") -> Item:
    chosen = _chosen(row, _paragraphs(row), contexts)
    return Item(
        query=Query(
            id=f"hotpotqa-{prefix}{row.id}",
            text=row.text("question"),
            context="\n\n".join(f"{one.title}\n{one.text}" for one in chosen),
        ),
        gold=write_answer(row.text("answer")),
        tags=_tags(row),
    )


def _published_item(row: Fields, *, prefix: str = "") -> Item:
    question = row.text("question")
    shown = "\n\n".join(f"Title: {p.title}\nParagraph: {p.text}" for p in _paragraphs(row))
    context = f"Context:\n```\n{shown}\n```"
    return Item(
        query=Query(
            id=f"hotpotqa-{prefix}{row.id}",
            text=question,
            context=context,
            key=f"{context}\nQuestion: {question}",
        ),
        gold=json.dumps({"answer": row.text("answer")}),
        tags=_tags(row),
    )


def _paragraphs(row: Fields) -> list[_Paragraph]:
    """Return the paragraphs of a row in either form: pairs, or titles beside lists of sentences."""
    context = row.row.get("context")
    if isinstance(context, dict):
        titles, bodies = row.texts("context", "title"), context.get("sentences")
    elif isinstance(context, list) and all(isinstance(p, list) and len(p) == 2 for p in context):
        titles, bodies = [title for title, _ in context], [body for _, body in context]
    else:
        raise row.error("context", "must be a list of [title, text]")
    if not isinstance(bodies, list) or not titles or len(bodies) != len(titles):
        raise row.error("context", "must have as many titles as texts, and one at least")
    return [
        _Paragraph(title=_text(row, title), text=_text(row, body))
        for title, body in zip(titles, bodies, strict=True)
    ]


def _text(row: Fields, body: object) -> str:
    if isinstance(body, list) and all(isinstance(sentence, str) for sentence in body):
        return "".join(body).strip()
    if isinstance(body, str):
        return body.strip()
    raise row.error("context", "must hold texts", value=body)


def _chosen(
    row: Fields, paragraphs: Sequence[_Paragraph], contexts: int | None
) -> Sequence[_Paragraph]:
    """Return so many paragraphs, in their order: those of the answer and the first others."""
    if contexts is None:
        return paragraphs
    needed = set(_gold_titles(row))
    missing = needed - {one.title for one in paragraphs}
    if missing:
        raise row.error("context", f"lacks the paragraph {min(missing)!r}")
    others = [one for one in paragraphs if one.title not in needed]
    kept = others[: max(0, contexts - (len(paragraphs) - len(others)))]
    return [one for one in paragraphs if one.title in needed or one in kept]


def _gold_titles(row: Fields) -> list[str]:
    facts = row.row.get("supporting_facts")
    if "gold_titles" in row.row:
        titles = row.texts("gold_titles")
    elif isinstance(facts, list) and all(isinstance(f, list) and len(f) == 2 for f in facts):
        titles = [str(title) for title, _ in facts]
    else:
        titles = row.texts("supporting_facts", "title")
    return [title.strip() for title in titles]


def _tags(row: Fields) -> tuple[str, ...]:
    found = (row.row.get(field) for field in ("type", "level"))
    return tuple(tag for tag in found if isinstance(tag, str) and tag)


def _grade(item: Item, answer: str) -> Graded:
    return _graded(item, answer, measure=f1)


def _published_grade(item: Item, answer: str) -> Graded:
    return _graded(item, answer, measure=published_f1)


def _graded(item: Item, answer: str, *, measure: Callable[[str, str], float]) -> Graded:
    said, wanted = read_answer(answer), read_answer(item.gold)
    if wanted is None:
        raise DataError(f"{item.query.id} has no gold answer: {item.gold!r}; get the data again")
    if said is None:
        return Graded(value=0.0, correct=False, why=_CRASH, comment=_WRONG, tags=("f1=0.00",))
    correct = exact_match(said, wanted)
    return Graded(
        value=float(correct),
        correct=correct,
        why="exact match" if correct else "another answer",
        comment=_WRONG,
        tags=(f"f1={measure(said, wanted):.2f}",),
    )


_CRASH = "the published code crashes on this reply"
_WRONG = "That is not the answer to the question."
