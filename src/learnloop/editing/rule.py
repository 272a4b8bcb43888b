"""One learnt rule: its wording, where it came from, and what happened when it was shown."""

from __future__ import annotations

from dataclasses import dataclass, replace

KEPT = 50
"""So many of the newest sources, queries and complaints of a rule are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule of one group.

    `text` is the wording in use; `complaints` are the different ones behind it, `sources` the
    newest episodes complained about and `queries` what was asked in them. `retired` says why the
    rule is not shown any more, where a person took it out of use.
    """

    id: int
    text: str
    group: str
    complaints: tuple[str, ...]
    queries: tuple[str, ...]
    sources: tuple[str, ...]
    helped: int = 0
    harmed: int = 0
    retired: str | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """Its wording, and the complaints behind it."""
        return (self.text, *self.complaints)


def strengthened(rule: Rule, *, complaint: str, query: str, source: str, text: str) -> Rule:
    """Return the rule with one more complaint behind it, and with that wording."""
    return replace(
        rule,
        text=text,
        complaints=tuple(dict.fromkeys([*rule.complaints, complaint]))[-KEPT:],
        queries=(*rule.queries, query)[-KEPT:],
        sources=(*rule.sources, source)[-KEPT:],
    )


def counted(rule: Rule, *, right: bool) -> Rule:
    """Return the rule with one more time that it was shown."""
    return replace(rule, helped=rule.helped + right, harmed=rule.harmed + (not right))
