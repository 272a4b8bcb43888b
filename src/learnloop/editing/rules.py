"""The policy writer for small models: each complaint becomes one concrete rule that is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from learnloop.editing.bullets import MAX_BULLETS, why_refused
from learnloop.editing.details import lost, shared
from learnloop.editing.rule import Rule, counted, strengthened
from learnloop.editing.rule_fit import RightAnswer, RuleFit
from learnloop.errors import LanguageModelError, ParameterError, StoreError
from learnloop.protocols import Embedder, Journal, LanguageModel
from learnloop.quoting import as_data
from learnloop.seen import Seen
from learnloop.states import State
from learnloop.types import (
    Bullet,
    Episode,
    Event,
    Message,
    Options,
    Policy,
    PolicyDraft,
    Query,
)

MIN_SHARED_DETAILS = 0.5
DETAILS_COUNT = 0.3


class RulesState(State):
    """All that a `RulesWriter` has learnt; `right_answers` are those of each group."""

    rules: tuple[Rule, ...]
    heard: tuple[str, ...]
    right_answers: dict[str, tuple[RightAnswer, ...]]


class RulesWriter:
    """Turns each complaint into one rule with one short call, and shows at most five that fit.

    A complaint that says by meaning what an earlier one said strengthens that one's rule and
    costs no call; where the rule had been shown and was of no use, it takes on the wording of
    the new complaint. A rule that lost a value, a name or a number of its complaint is refused,
    and the complaint itself is kept as the rule; one that says what an earlier rule says
    strengthens that one.

    Args:
        model: Writes the rules.
        embedder: Measures what two texts have in common.
        journal: Told of every rule added, merged, reworded or refused.
        max_tokens: Limit on each reply.
        same_meaning: Cosine similarity, 0 to 1, from which two texts without any concrete detail
            say the same; up to 0.3 less where they share all their details.
        min_fit: Score (see `RuleFit`) that a rule needs to be shown.
        seed: Handed to the model.
    """

    def __init__(
        self,
        *,
        model: LanguageModel,
        embedder: Embedder,
        journal: Journal,
        max_tokens: int = 80,
        same_meaning: float = 0.8,
        min_fit: float = 0.3,
        seed: int = 0,
    ) -> None:
        self.model = model
        self.embedder = embedder
        self.journal = journal
        self.max_tokens = max_tokens
        self.same_meaning = same_meaning
        self.min_fit = min_fit
        self.seed = seed
        self._fit = RuleFit(embedder=embedder)
        self._rules: list[Rule] = []
        self._heard = Seen()

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules, oldest first."""
        return tuple(self._rules)

    def write(
        self, query: Query, *, evidence: Sequence[Episode], previous: Policy | None
    ) -> PolicyDraft:
        rules = [one for one in self._rules if one.group == query.group and one.retired is None]
        fits = list(zip(self._fit.scores(query.text, rules), rules, strict=True))
        fitting = [(score, rule) for score, rule in fits if score >= self.min_fit]
        best = sorted(fitting, key=lambda fit: (-fit[0], fit[1].id))[:MAX_BULLETS]
        if not best:
            return PolicyDraft(policy=None, reason="no rule fits" if fits else "no rules yet")
        chosen = sorted((rule for _, rule in best), key=lambda rule: rule.id)
        bullets = tuple(
            Bullet(text=one.text, sources=one.sources, helped=one.helped, harmed=one.harmed)
            for one in chosen
        )
        return PolicyDraft(policy=Policy(bullets=bullets, writer="rules"))

    def learn_one(self, episode: Episode, *, shown: Policy | None) -> None:
        """Count what the shown rules did, and learn a rule from the newest complaint.

        The same feedback a second time changes nothing. The call comes before any change, so that
        all of them are made, or none.
        """
        newest = episode.feedback[-1]
        if newest.id in self._heard:
            return
        complaint = _complaint(episode)
        text, known = complaint or "", None
        if complaint is not None:
            known = self._same(complaint, episode.query.group)
            if known is None:
                text = self._worded(complaint, episode)
                known = self._same(text, episode.query.group)
        self._heard.add(newest.id)
        texts = {bullet.text for bullet in shown.bullets} if shown is not None else set()
        if newest.correct is not None:
            self._count(texts, right=newest.correct)
        self._keep_right_answer(episode)
        if complaint is None:
            return
        if known is None:
            self._add(text, complaint, episode)
        else:
            self._merge(known, complaint, episode, shown=texts)

    def retire(self, rule_id: int, *, cause: str) -> None:
        """Show a rule no more; complaints that say the same go on to strengthen it, unseen.

        Raises:
            ParameterError: There is no such rule, or no cause.
        """
        if not cause:
            raise ParameterError(f"say why rule {rule_id!r} is taken out of use")
        self._mark(rule_id, retired=cause)

    def restore_rule(self, rule_id: int) -> None:
        """Show a rule again.

        Raises:
            ParameterError: There is no such rule.
        """
        self._mark(rule_id, retired=None)

    def state(self) -> dict[str, object]:
        """Return what was learnt, as values that JSON has.

        It grows with the rules; of heard feedback and right answers the newest are kept.
        """
        return RulesState(
            rules=self.rules, heard=self._heard.ids, right_answers=self._fit.right_answers
        ).written()

    def restore(self, state: Mapping[str, object]) -> None:
        """Go on from a state.

        Raises:
            StoreError: It cannot be read, or this writer has learnt something already.
        """
        read = RulesState.read(state)
        if self._rules or self._heard.ids:
            raise StoreError("a writer that has rules takes no other state; make a new one")
        self._rules = list(read.rules)
        self._heard = Seen(read.heard)
        self._fit.restore(read.right_answers)

    def _mark(self, rule_id: int, *, retired: str | None) -> None:
        if not 1 <= rule_id <= len(self._rules):
            raise ParameterError(f"no rule {rule_id!r}; there are 1 to {len(self._rules)}")
        self._rules[rule_id - 1] = replace(self._rules[rule_id - 1], retired=retired)

    def _worded(self, complaint: str, episode: Episode) -> str:
        """Return the complaint as a rule, in the model's words where they are good."""
        messages = (
            Message(role="system", content=ROLE),
            Message(role="user", content=ASK.format(complaint=complaint)),
        )
        options = Options(role="policy", max_tokens=self.max_tokens, seed=self.seed, stop=("\n",))
        try:
            reply = self.model.complete(messages, options=options)
        except LanguageModelError as error:
            self._note("rule_refused", f"call failed: {type(error).__name__}", episode)
            return complaint
        text = reply.text.strip().partition("\n")[0].removeprefix("Rule:").strip(' -*"')
        reason = why_refused(text, evidence=[episode]) or ", ".join(lost(complaint, text))
        if not reason:
            return text
        self._note("rule_refused", f"lost or bad: {reason}: {text}", episode)
        return complaint

    def _same(self, text: str, group: str) -> int | None:
        """Return the position of the rule that says the same, `None` where there is none."""
        margins = {
            place: max(self._margin(text, known) for known in rule.texts)
            for place, rule in enumerate(self._rules)
            if rule.group == group
        }
        best = max(margins, key=lambda place: margins[place], default=None)
        return best if best is not None and margins[best] >= 0 else None

    def _margin(self, text: str, known: str) -> float:
        """Return how far two texts are above the similarity from which they say the same.

        The more of their concrete details they share, the less alike their words need be; with
        half of the details or fewer in common they are never the same (two dates, two columns).
        """
        common = shared(text, known)
        if common is not None and common <= MIN_SHARED_DETAILS:
            return -1.0
        one, two = self.embedder.embed([text, known])
        return float(one @ two) - (self.same_meaning - DETAILS_COUNT * (common or 0.0))

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

    def _merge(self, place: int, complaint: str, episode: Episode, *, shown: set[str]) -> None:
        old = self._rules[place]
        reword = old.text in shown and why_refused(complaint, evidence=[episode]) is None
        self._rules[place] = strengthened(
            old,
            complaint=complaint,
            query=episode.query.text,
            source=episode.id,
            text=complaint if reword else old.text,
        )
        self._note(
            "rule_reworded" if reword else "rule_merged", f"{old.text} <- {complaint}", episode
        )

    def _keep_right_answer(self, episode: Episode) -> None:
        newest = episode.feedback[-1]
        answer = episode.answer if newest.correct else newest.correction
        if answer:
            self._fit.keep(episode.query.text, answer, group=episode.query.group)

    def _count(self, shown: set[str], *, right: bool) -> None:
        self._rules = [
            counted(rule, right=right) if rule.text in shown else rule for rule in self._rules
        ]

    def _note(self, kind: str, text: str, episode: Episode) -> None:
        self.journal.record(Event(kind=kind, text=text, refs=(episode.id,)))


def _complaint(episode: Episode) -> str | None:
    """Return the complaint that a rule is to come from, `None` where there is none."""
    newest = episode.feedback[-1]
    if not newest.comment or episode.correct:
        return None
    return as_data(" ".join(newest.comment.split()))


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
