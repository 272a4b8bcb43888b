"""The DDXPlus benchmark: 49 diagnoses to choose from, given what a patient told.

Source: Fansi Tchango et al. 2022, CC BY 4.0; as a stream in StreamBench (arXiv 2406.08747): 1,764
rows, 36 of each diagnosis, with a profile in the first person. Where those are not there, other
patients of the validation split stand in, with a profile made of their findings, and `note` says
so.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from learnloop.environments.dataset import Dataset, Edition, Graded, Item
from learnloop.environments.fields import Fields, read_fields, read_if_there
from learnloop.environments.graders.diagnosis import Diagnoses
from learnloop.environments.patient import profile
from learnloop.environments.rows import Folder, find_folder
from learnloop.errors import DataError
from learnloop.types import Query, Task

LENGTH = 1764
"""Queries of the published stream."""

STREAM = "stream.jsonl"
OTHER_PATIENTS = "other patients than the published ones, with profiles written from their findings"


def ddxplus(*, order: Literal["shuffled", "given"] = "shuffled") -> Dataset:
    """Make the stream of patients.

    Args:
        order: `shuffled` or `given`.
    """
    patients = _read_patients()
    return _dataset(patients, task=_task(patients.diagnoses), order=order)


def ddxplus_published(*, order: Literal["shuffled", "given"] = "shuffled") -> Dataset:
    """Make the stream as StreamBench grades it; the sentences are ours.

    The list of diagnoses stands at the very beginning, before any examples. The quirk, kept here:
    the first number with a point in a reply is the answer, whatever stands beside it; a name
    without a number is no answer, nor is a number without a point.
    """
    patients = _read_patients()
    return _dataset(patients, task=_published_task(patients.diagnoses), order=order)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Patients:
    diagnoses: Diagnoses
    stream: Sequence[Fields]
    demonstrations: Sequence[Fields]
    published: bool


def _read_patients() -> _Patients:
    folder = find_folder("ddxplus")
    stream = read_fields(folder, STREAM, "validate_588.jsonl")
    published = stream[0].file.endswith(STREAM) if stream else False
    names = ("validate.jsonl", "train_98.jsonl") if published else ("train_98.jsonl",)
    return _Patients(
        diagnoses=Diagnoses(_labels(folder, stream)),
        stream=stream,
        demonstrations=_shuffled(read_if_there(folder, *names)),
        published=published,
    )


def _dataset(patients: _Patients, *, task: Task, order: Literal["shuffled", "given"]) -> Dataset:
    known = patients.diagnoses
    return Dataset(
        edition=Edition(
            id=f"{task.name}-v1",
            length=LENGTH,
            remarks=() if patients.published else (OTHER_PATIENTS,),
        ),
        task=task,
        items=[_item(row, known) for row in patients.stream],
        grade=_grade,
        order=order,
        demonstrations=[_item(row, known, prefix="other-") for row in patients.demonstrations],
    )


def _task(known: Diagnoses) -> Task:
    return Task(
        name="ddxplus",
        role=ROLE,
        instructions=(
            "Choose the one diagnosis that fits the patient best from this numbered list:\n"
            f"{known.options}"
        ),
        answer_format="Only the diagnosis with its number, in the form: <number>. <diagnosis>",
        metric="accuracy",
        parse=known.parse,
        query_label="Patient",
        answer_label="Diagnosis",
    )


def _published_task(known: Diagnoses) -> Task:
    return replace(
        _task(known),
        name="ddxplus_published",
        role=f"{ROLE} These are the diagnoses to choose from, with their numbers:\n{known.options}",
        instructions="Choose the one diagnosis of the list that fits the patient best.",
        parse=known.parse_published,
    )


ROLE = "You are a doctor who finds the most likely diagnosis of a patient."


def _item(row: Fields, known: Diagnoses, *, prefix: str = "") -> Item:
    number = known.number(_pathology(row))
    if number is None:
        raise row.error(_pathology_field(row), f"must be one of the {DIAGNOSES} diagnoses")
    return Item(
        query=Query(
            id=f"ddxplus-{prefix}{row.row.get('row') or row.id}",
            text=profile(row),
        ),
        gold=known.text(number),
    )


def _grade(item: Item, answer: str) -> Graded:
    correct = answer == item.gold
    return Graded(
        value=float(correct),
        correct=correct,
        why="the diagnosis" if correct else "another diagnosis",
        comment="That is not the diagnosis.",
    )


DIAGNOSES = 49
"""How many diagnoses there are to choose from."""


def _labels(folder: Folder, rows: Sequence[Fields]) -> list[str]:
    """Return the names in the order of their numbers: by the codes of their letters.

    They stand in `labels49.json`; the rows of a whole stream name them all as well.

    Raises:
        DataError: The file, or what the rows name, is not 49 names.
    """
    path = folder.path / "labels49.json"
    try:
        labels = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {str(path)!r}: {error}; get the data again") from error
    if labels is None:
        labels = sorted({_pathology(row) for row in rows})
    if (
        not isinstance(labels, list)
        or not all(isinstance(one, str) for one in labels)
        or len({one.casefold() for one in labels}) != DIAGNOSES
    ):
        raise DataError(
            f"{folder.benchmark}/{path.name}, or the rows where it is not there, must name "
            f"{DIAGNOSES} diagnoses, got {str(labels)[:80]}; get the data again"
        )
    return labels


def _pathology(row: Fields) -> str:
    return row.text(_pathology_field(row))


def _pathology_field(row: Fields) -> str:
    return "PATHOLOGY" if "PATHOLOGY" in row.row else "pathology"


def _shuffled(rows: Sequence[Fields]) -> list[Fields]:
    """Return rows in the order of seed 42, as published: the file may be sorted by diagnosis."""
    return [rows[int(place)] for place in np.random.default_rng(42).permutation(len(rows))]
