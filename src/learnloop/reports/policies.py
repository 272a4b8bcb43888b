"""What the policies of a group said: the bullets shown most often, and the events by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from learnloop.reports.groups import Group, Section
from learnloop.types import Bullet, Event

MOST = 8
REASON_LENGTH = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownBullet:
    """One bullet, over all runs of a group.

    `sources`, `helped` and `harmed` are those of its last showing, added up over the runs.
    """

    text: str
    shown: int
    right: int
    sources: int
    helped: int
    harmed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How often something happened."""

    name: str
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A reason for which proposals were refused, and how often."""

    reason: str
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySummary:
    """What one group's policies came to; `bullets` holds the most shown of `distinct`."""

    label: str
    feedback: str
    bullets: tuple[ShownBullet, ...]
    distinct: int
    steps_with_policy: int
    steps: int
    events: tuple[Count, ...]
    refusals: tuple[Refusal, ...]

    @property
    def key(self) -> tuple[str, str]:
        """Names the group."""
        return self.label, self.feedback


def summarise_policies(section: Section) -> list[PolicySummary]:
    """Return a summary for each group that showed a policy or recorded an event."""
    found = [_summarise(group) for group in section.groups]
    return [one for one in found if one.bullets or one.events]


def _summarise(group: Group) -> PolicySummary:
    records = [record for run in group.runs for record in run.steps]
    events = [event for record in records for event in record.events]
    kinds = Counter(event.kind for event in events)
    refused = [_reason(event) for event in events if event.kind.endswith("_refused")]
    bullets = shown_bullets(group)
    return PolicySummary(
        label=group.label,
        feedback=group.feedback,
        bullets=tuple(bullets[:MOST]),
        distinct=len(bullets),
        steps_with_policy=sum(record.policy is not None for record in records),
        steps=len(records),
        events=tuple(Count(name=kind, times=n) for kind, n in _by_count(kinds)),
        refusals=tuple(
            Refusal(reason=text, times=n) for text, n in _by_count(Counter(refused))[:MOST]
        ),
    )


def _reason(event: Event) -> str:
    """Return the reason alone: what follows a colon is the text that was refused."""
    reason = event.text.partition(":")[0].strip()
    return reason if len(reason) <= REASON_LENGTH else f"{reason[:REASON_LENGTH]}…"


def shown_bullets(group: Group) -> list[ShownBullet]:
    """Return every bullet that was shown, the most shown first."""
    shown, right = Counter[str](), Counter[str]()
    last: dict[str, dict[int, Bullet]] = {}
    for number, run in enumerate(group.runs):
        for record in run.steps:
            for bullet in record.policy.bullets if record.policy else ():
                shown[bullet.text] += 1
                right[bullet.text] += record.score >= 1.0
                last.setdefault(bullet.text, {})[number] = bullet
    return [
        _bullet(text, n, right[text], list(last[text].values())) for text, n in _by_count(shown)
    ]


def _bullet(text: str, shown: int, right: int, last: Sequence[Bullet]) -> ShownBullet:
    return ShownBullet(
        text=text,
        shown=shown,
        right=right,
        sources=sum(len(bullet.sources) for bullet in last),
        helped=sum(bullet.helped for bullet in last),
        harmed=sum(bullet.harmed for bullet in last),
    )


def _by_count(counter: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counter.items(), key=lambda item: (-item[1], item[0]))
