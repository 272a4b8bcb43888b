"""What a page says first about a control task: which arms are beaten, where, and how surely."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from learnloop.reports.control_comparison import PairedResult, beaten_everywhere
from learnloop.reports.control_sections import ControlSection
from learnloop.reports.wording import listing

MOST_LISTED = 8
"""Of more arms than this that are not beaten, none is named."""


def control_title(section: ControlSection, arm: str | None, results: Sequence[PairedResult]) -> str:
    """Return how many arms that edit are beaten; one that never edits has no calls to save."""
    if arm is None:
        return f"{section.environment}: no run has come to its end yet"
    if not results:
        return f"{section.environment}: {arm} alone"
    editing = _editing(section, results)
    if not editing:
        resting = listing(list(dict.fromkeys(one.other for one in results)))
        return f"{arm} against {resting} on {section.task}"
    others = len({one.other for one in editing})
    beaten = len(beaten_everywhere(editing))
    kind = "other arm" if len(editing) == len(results) else "other arm that edits"
    counted = f"every {kind}" if beaten == others else f"{beaten} of {others} {_many(kind)}"
    return f"{arm} beats {counted} on {section.task}, at no more calls"


def control_sentence(
    section: ControlSection, arm: str | None, results: Sequence[PairedResult]
) -> str:
    """Return what the title counts, how much of it may be chance, and where it does not hold."""
    if arm is None or not results:
        return ""
    parts = ["η is the share of the feedback that is wrong."]
    editing = _editing(section, results)
    if editing:
        parts += _counted(section, editing)
    resting = [one for one in results if one not in editing]
    parts += _resting(section, resting)
    return " ".join(parts)


def _counted(section: ControlSection, results: Sequence[PairedResult]) -> Iterator[str]:
    yield (
        f"An arm is beaten if its mean {section.metric.name} over common seeds is worse at every "
        "η, for at least as many calls."
    )
    beaten = beaten_everywhere(results)
    held = [one for one in results if one.other in beaten]
    chance = sum(not one.is_sure for one in held)
    if chance:
        share = "all" if chance == len(held) else str(chance)
        yield f"In {share} of these {len(held)} comparisons the difference may be chance."
    open_ones = [one for one in results if not one.is_better]
    others = dict.fromkeys(one.other for one in open_ones)
    if 0 < len(others) <= MOST_LISTED:
        where = [f"{other} {_where(section, open_ones, other)}" for other in others]
        yield f"Not beaten: {'; '.join(where)}."


def _resting(section: ControlSection, results: Sequence[PairedResult]) -> Iterator[str]:
    for other in dict.fromkeys(one.other for one in results):
        lost = [one for one in results if one.other == other and one.difference <= 0]
        found = f"no worse {_where(section, lost, other)}" if lost else "worse at every η"
        yield f"{other} makes no calls, and is {found}."


def _editing(section: ControlSection, results: Sequence[PairedResult]) -> list[PairedResult]:
    resting = {arm.label for arm in section.arms if arm.never_edits}
    return [one for one in results if one.other not in resting]


def _where(section: ControlSection, results: Sequence[PairedResult], other: str) -> str:
    found = {one.feedback for one in results if one.other == other}
    if 1 < len(section.levels) == len(found):
        return "at every η"
    return "at " + listing([level.title for level in section.levels if level.feedback in found])


def _many(kind: str) -> str:
    return "other arms that edit" if kind.endswith("edits") else "other arms"
