"""Writes a DDXPlus patient as a short text: age, sex, complaint and findings, nothing left out.

The findings of a row are questions with answers. Those with a plain yes are listed together; the
words that only make a question of a finding (`Do you have`, `Are you`) are left away.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from learnloop.environments.fields import Fields

_ASKING = re.compile(
    r"^(?:(?:do you have|do you|did you|have you|are you|were you|is your)\s+)(?=\S)",
    re.IGNORECASE,
)
_SHORT = {"N": "no", "Y": "yes", "NA": "not applicable"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Finding:
    question: str
    answers: tuple[str, ...]

    @property
    def text(self) -> str:
        """The finding alone where the answer is yes, else with its answers."""
        if self.answers == ("Yes",):
            return short_question(self.question)
        values = ", ".join(_SHORT.get(answer, answer) for answer in self.answers)
        return f"{short_question(self.question)}: {values}"


def short_question(question: str) -> str:
    """Return what a question asks after, as a finding.

    Examples:
        >>> short_question("Do you have a fever (either felt or measured)?")
        'a fever (either felt or measured)'
    """
    return _ASKING.sub("", question.strip().rstrip(" ?:"))


def profile(row: Fields) -> str:
    """Return the patient of a row as text: the profile that the row has, else one of its findings.

    Raises:
        DataError: A field is missing or of another kind.
    """
    if "PATIENT_PROFILE" in row.row:
        return row.text("PATIENT_PROFILE")
    findings = _findings(row)
    complaint = row.text("initial_evidence")
    first = [one for one in findings if one.question == complaint]
    rest = [one for one in findings if one.question != complaint]
    plain = [one.text for one in rest if one.answers == ("Yes",)]
    lines = [
        f"{_age(row)} years, {_sex(row)}",
        f"Complaint: {_written(first) or short_question(complaint)}",
        *([f"Yes: {'; '.join(plain)}"] if plain else []),
        *(one.text for one in rest if one.answers != ("Yes",)),
    ]
    return "\n".join(lines)


def _written(findings: Sequence[_Finding]) -> str:
    return "; ".join(one.text for one in findings)


def _findings(row: Fields) -> list[_Finding]:
    evidences = row.row.get("evidences")
    if not isinstance(evidences, list) or not evidences:
        raise row.error("evidences", "must be a list of questions with answers")
    return [_finding(row, one) for one in evidences]


def _finding(row: Fields, evidence: object) -> _Finding:
    question = evidence.get("question") if isinstance(evidence, dict) else None
    answers = evidence.get("answers") if isinstance(evidence, dict) else None
    if not isinstance(question, str) or not isinstance(answers, list) or not answers:
        raise row.error("evidences", "must each have a question and answers", value=evidence)
    return _Finding(question=question.strip(), answers=tuple(str(answer) for answer in answers))


def _age(row: Fields) -> int:
    age = row.row.get("age")
    if not isinstance(age, int) or isinstance(age, bool):
        raise row.error("age", "must be a whole number")
    return age


def _sex(row: Fields) -> str:
    sex = row.text("sex")
    if sex not in _SEXES:
        raise row.error("sex", "must be 'F' or 'M'")
    return _SEXES[sex]


_SEXES = {"F": "female", "M": "male"}
