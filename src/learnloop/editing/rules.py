"""The policy writer for small models: each complaint becomes one concrete rule that is kept."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from learnloop.editing.bullets import MAX_BULLETS, why_refused
from learnloop.errors import LanguageModelError
from learnloop.protocols import Embedder, Journal, LanguageModel, Vectors
from learnloop.types import (
    Bullet,
    Episode,
    Event,
    Message,
    Options,
    Policy,
    PolicyDraft,
    Query,
    Task,
)

_CONCRETE = re.compile(
    r"(?<!\w)'([^'\s][^'\n]{0,39})'(?!\w)|\b([A-Za-z]+(?:_[A-Za-z0-9]+)+)\b|(-?\d+(?:[.,:/-]\d+)*)"
)

MIN_SHARED_DETAILS = 0.5
DETAILS_COUNT = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One learnt rule, where it came from, and what happened when it was shown."""

    id: int
    text: str
    group: str
    complaints: tuple[str, ...]
    queries: tuple[str, ...]
    sources: tuple[str, ...]
    helped: int = 0
    harmed: int = 0


class RulesWriter:
    """Turns each complaint into one rule with one short call, and shows the five that fit best.

    A complaint that says by meaning what an earlier one said strengthens that one's rule and
    costs no call. A rule that lost a value, a pattern or a number of its complaint is refused,
    and the complaint itself is kept as the rule. Rules whose texts mean the same are merged.

    A rule fits a query as its own text and the queries it came from are similar to it, and a
    little better the more complaints support it.

    Args:
        model: Writes the rules.
        task: What the complaints are about.
        embedder: Measures what two texts have in common.
        journal: Told of every rule added, merged or refused.
        max_tokens: Limit on each reply.
        same_meaning: Cosine similarity, 0 to 1, from which two texts without any concrete detail
            say the same; up to 0.3 less where they share all their details.
        seed: Handed to the model.
    """

    def __init__(
        self,
        *,
        model: LanguageModel,
        task: Task,
        embedder: Embedder,
        journal: Journal,
        max_tokens: int = 80,
        same_meaning: float = 0.8,
        seed: int = 0,
    ) -> None:
        self.model = model
        self.task = task
        self.embedder = embedder
        self.journal = journal
        self.max_tokens = max_tokens
        self.same_meaning = same_meaning
        self.seed = seed
        self._rules: list[Rule] = []

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules, oldest first."""
        return tuple(self._rules)

    def write(
        self, query: Query, *, evidence: Sequence[Episode], previous: Policy | None
    ) -> PolicyDraft:
        eligible = [rule for rule in self._rules if rule.group == query.group]
        if not eligible:
            return PolicyDraft(policy=None, reason="no rules yet")
        vector = self.embedder.embed([query.text])[0]
        fits = [self._fit(rule, vector) for rule in eligible]
        best = sorted(range(len(eligible)), key=lambda i: (-fits[i], eligible[i].id))
        chosen = [eligible[i] for i in sorted(best[:MAX_BULLETS], key=lambda i: eligible[i].id)]
        bullets = tuple(
            Bullet(text=r.text, sources=r.sources, helped=r.helped, harmed=r.harmed) for r in chosen
        )
        return PolicyDraft(policy=Policy(bullets=bullets, writer="rules"))

    def learn_one(self, episode: Episode, *, shown: Policy | None) -> None:
        """Count what the shown rules did, and learn a rule from the newest complaint."""
        if episode.correct is not None and shown is not None:
            self._count({bullet.text for bullet in shown.bullets}, right=episode.correct)
        complaint = next((f.comment for f in reversed(episode.feedback) if f.comment), None)
        if complaint is None or episode.correct:
            return
        known = self._same(complaint, episode.query.group)
        if known is not None:
            self._merge(known, complaint, episode)
            return
        text = self._rule_text(complaint, episode)
        same = self._same(text, episode.query.group)
        if same is not None:
            self._merge(same, complaint, episode)
        else:
            self._add(text, complaint, episode)

    def _rule_text(self, complaint: str, episode: Episode) -> str:
        options = Options(role="policy", max_tokens=self.max_tokens, seed=self.seed, stop=("\n",))
        try:
            reply = self.model.complete(self._messages(complaint), options=options)
        except LanguageModelError as error:
            self._note("rule_refused", f"call failed: {type(error).__name__}", episode)
            return complaint
        text = reply.text.strip().partition("\n")[0].removeprefix("Rule:").strip(' -*"')
        reason = why_refused(text, evidence=[episode]) or _what_was_lost(complaint, text)
        if reason is None:
            return text
        self._note("rule_refused", f"{reason}: {text}", episode)
        return complaint

    def _messages(self, complaint: str) -> tuple[Message, ...]:
        ask = ASK.format(complaint=" ".join(complaint.split()))
        return (Message(role="system", content=ROLE), Message(role="user", content=ask))

    def _same(self, text: str, group: str) -> int | None:
        """Return the position of the rule that says the same, `None` where there is none."""
        best, position = 0.0, None
        for i, rule in enumerate(self._rules):
            if rule.group != group:
                continue
            margin = max(self._margin(text, known) for known in (rule.text, *rule.complaints))
            if margin > best or (margin == best and position is None):
                best, position = margin, i
        return position

    def _margin(self, text: str, known: str) -> float:
        """Return how far two texts are above the similarity from which they say the same.

        The more of their concrete details they share, the less alike their words need be; with
        half of the details or fewer in common they are never the same (two dates, two columns).
        """
        some, others = _concrete(text), _concrete(known)
        shared = len(some & others) / len(some | others) if some | others else 0.0
        if (some or others) and shared <= MIN_SHARED_DETAILS:
            return -1.0
        one, two = self.embedder.embed([text, known])
        return float(one @ two) - (self.same_meaning - DETAILS_COUNT * shared)

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        return self.embedder.embed(texts)

    def _fit(self, rule: Rule, vector: Vectors) -> float:
        """Return how well a rule fits a query, about 0 to 1.1."""
        by_query = float(max(self._vectors(rule.queries) @ vector))
        by_text = float(self._vectors([rule.text])[0] @ vector)
        support = 1 - 1 / (1 + len(rule.complaints))
        return 0.6 * by_query + 0.4 * by_text + 0.1 * support

    def _add(self, text: str, complaint: str, episode: Episode) -> None:
        rule = Rule(
            id=len(self._rules) + 1,
            text=text,
            group=episode.query.group,
            complaints=(complaint,),
            queries=(episode.query.text,),
            sources=(episode.id,),
        )
        self._rules.append(rule)
        self._note("rule_added", text, episode)

    def _merge(self, position: int, complaint: str, episode: Episode) -> None:
        old = self._rules[position]
        self._rules[position] = replace(
            old,
            complaints=(*old.complaints, complaint),
            queries=(*old.queries, episode.query.text),
            sources=(*old.sources, episode.id),
        )
        self._note("rule_merged", f"{complaint} -> {old.text}", episode)

    def _count(self, shown: set[str], *, right: bool) -> None:
        self._rules = [
            replace(rule, helped=rule.helped + right, harmed=rule.harmed + (not right))
            if rule.text in shown
            else rule
            for rule in self._rules
        ]

    def _note(self, kind: str, text: str, episode: Episode) -> None:
        self.journal.record(Event(kind=kind, text=text, refs=(episode.id,)))


def _concrete(text: str) -> frozenset[str]:
    """Return the quoted values, the identifiers and the numbers in a text, in lower case."""
    return frozenset(m[m.lastindex or 0].lower() for m in _CONCRETE.finditer(text))


def _what_was_lost(complaint: str, rule: str) -> str | None:
    """Say which concrete details of a complaint a rule no longer has, `None` where it has all."""
    lost = sorted(detail for detail in _concrete(complaint) if not _names(rule, detail))
    return f"lost {', '.join(lost)}" if lost else None


def _names(rule: str, detail: str) -> bool:
    return bool(re.search(rf"(?<!\w){re.escape(detail)}(?!\w)", rule, re.IGNORECASE))


ROLE = """\
You turn a user's complaint about a wrong answer into one rule for all later questions.
Write one sentence that says what to do, with every column, value, pattern and number of the \
complaint. Say nothing about the one question.

Complaint: Why is the waiting room in there? Rows with room_no = 0 are not rooms.
Rule: Leave out rows with room_no = 0 (the waiting room).

Complaint: I wanted hours. duration is in seconds, so divide by 3600.0.
Rule: Report duration in hours: duration / 3600.0.

Complaint: A 'new' member is one whose since is '2024-09-01' or later.
Rule: A new member has since >= '2024-09-01'."""

ASK = "Complaint: {complaint}\nRule:"
