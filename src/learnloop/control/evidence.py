"""Which remembered episodes an editor gets to see."""

from __future__ import annotations

from collections.abc import Sequence

from learnloop.control.ranges import check_range
from learnloop.protocols import Select
from learnloop.types import Decision, Episode


def recent(k: int) -> Select:
    """The last k episodes, right ones included, whatever the gate thinks (the paper: k = 8)."""
    check_range("k", k, at_least=1)

    def select(episodes: Sequence[Episode], decision: Decision) -> Sequence[Episode]:
        return episodes[-k:]

    return select


def since_change(k: int) -> Select:
    """At most the last k episodes since the gate's own estimate of the change.

    Older ones were made under another rule and would only mislead; a gate without an estimate
    gets what `recent` gives. Episodes are counted as the gate counts errors.
    """
    check_range("k", k, at_least=1)

    def select(episodes: Sequence[Episode], decision: Decision) -> Sequence[Episode]:
        start = decision.change_point
        if start is None:
            return episodes[-k:]
        return [episode for episode in episodes if episode.step >= start][-k:] or episodes[-1:]

    return select
