"""Takes back the rules that came from feedback which was revised, and brings them back again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from learnloop.editing.rule import Rule
from learnloop.quoting import as_data
from learnloop.types import Episode

REVISED = "revised by feedback "
"""How the cause of a retirement begins that comes from here."""


@runtime_checkable
class KeepsRules(Protocol):
    """A method with rules that can be read, retired and restored."""

    @property
    def rules(self) -> Sequence[Rule]: ...

    def retire(self, rule_id: int, *, cause: str) -> None: ...

    def restore_rule(self, rule_id: int) -> None: ...


def take_back(method: object, episode: Episode) -> tuple[int, ...]:
    """Bring rules in line with feedback on an episode that was revised; return those changed.

    A rule that came from this episode alone goes out of use where no complaint behind it is in
    force any more. One that went so comes back where such a complaint is made again.

    Args:
        method: What has learnt; one without rules is left alone.
        episode: With all feedback on it that was reflected on.
    """
    if not isinstance(method, KeepsRules):
        return ()
    in_force = _complaints(episode)
    changed = []
    for rule in tuple(method.rules):
        if set(rule.sources) != {episode.id}:
            continue
        stands = not in_force.isdisjoint(rule.complaints)
        if rule.retired is None and not stands:
            method.retire(rule.id, cause=f"{REVISED}{episode.feedback[-1].id}")
            changed.append(rule.id)
        elif (rule.retired or "").startswith(REVISED) and stands:
            method.restore_rule(rule.id)
            changed.append(rule.id)
    return tuple(changed)


def _complaints(episode: Episode) -> set[str]:
    """Return the complaints in force, as rules keep them."""
    replaced = {each.supersedes for each in episode.feedback}
    return {
        as_data(" ".join(each.comment.split()))
        for each in episode.feedback
        if each.comment and not each.correct and each.id not in replaced
    }
