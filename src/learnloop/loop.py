"""The closed loop: sense, compare, decide, edit. Knows every part by its protocol alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from learnloop.errors import EditingError, LanguageModelError, ParameterError, StoreError
from learnloop.protocols import (
    CallBudget,
    Comparator,
    Editor,
    Gate,
    Journal,
    Predictor,
    Prompts,
    Recall,
    Select,
    Trial,
)
from learnloop.seen import Seen
from learnloop.states import State
from learnloop.types import (
    NO_BUDGET,
    Comparison,
    Decision,
    Edit,
    Episode,
    Event,
    Feedback,
    Prediction,
    Prompt,
    Query,
    Source,
)

MEMORY = 64
"""How many episodes are kept as possible evidence, if nothing else is said."""
RECALLABLE = 16
"""How many earlier texts, the newest ones, a recall can choose from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopParts:
    """What the loop is made of.

    Attributes:
        predictor: Answers under the prompt in force.
        comparator: Turns feedback into an error.
        gate: Decides when, within what the budget allows.
        editor: Rewrites the prompt.
        budget: Told what an edit took.
        select: Chooses the evidence.
        reader: Says without a call what any prompt would answer; `None` where only a model can.
            Only with it can feedback on one prompt's answer judge another prompt.
        trial: Compares a new prompt with the one before; `None` for no rollback.
        recall: Chooses among earlier prompts; `None` for no recall.
    """

    predictor: Predictor
    comparator: Comparator
    gate: Gate
    editor: Editor
    budget: CallBudget
    select: Select
    reader: Predictor | None = None
    trial: Trial | None = None
    recall: Recall | None = None


class LoopState(State):
    """All that a loop knows beside the versions of its prompt.

    Attributes:
        history: All that the gate was told, one letter each: an error of `0` or `1`, or in
            brackets, and a reset with the prompt `c`hanged or `k`ept. A fresh gate that is told
            the same is the same gate, whatever it is.
        judged: Ids of the queries whose error the gate was told, the newest ones.
        episodes: What may be evidence, oldest first.
        calls: What all edits took.
        judging: Version of the prompt that the gate's errors are about.
        shadow: The prompt on trial against it.
        trial: The errors that it and the shadow made in the trial.
    """

    history: str
    judged: tuple[str, ...]
    episodes: tuple[Episode, ...]
    calls: int
    judging: int
    shadow: Prompt | None
    trial: tuple[tuple[float, float], ...]


class ClosedLoop:
    """Holds the prompt in force and lets the editor rewrite it when the gate opens.

    The gate is told one error a prediction, always that of the prompt in force: feedback that
    comes late, on the answer of an earlier prompt, is judged by what the one in force would have
    answered, and where that cannot be known it is evidence only. So is all further feedback on
    the same prediction.

    After an edit the prompt before it goes on as a shadow, on the same observations, and is put
    back where the trial says so; until the trial is over, nothing is edited. An earlier prompt
    that explains the evidence is put in force again without asking the editor, also where the
    budget does not allow an edit any more. Neither makes a call.

    A prompt that is pinned stays in force. One that somebody else puts in force is judged afresh
    from the next feedback on, and what an editor wrote for the one before it is dropped.

    Args:
        prompts: The versions of the prompt.
        parts: What the loop is made of.
        journal: Told of all that happens to the prompt.
        memory: How many episodes are kept as possible evidence, at least 1.

    Raises:
        ParameterError: A trial or a recall without a reader, or no memory.
    """

    def __init__(
        self, *, prompts: Prompts, parts: LoopParts, journal: Journal, memory: int = MEMORY
    ) -> None:
        if memory < 1:
            raise ParameterError(f"memory is at least 1 episode, not {memory!r}")
        if parts.reader is None and (parts.trial is not None or parts.recall is not None):
            raise ParameterError(
                "rollback and recall judge prompts that are not in force, which takes a prompt "
                "that is read without a model; switch them off, or take a task whose prompt has "
                "a form"
            )
        self.prompts = prompts
        self.parts = parts
        self.journal = journal
        self.memory = memory
        self._episodes: dict[str, Episode] = {}
        self._judged = Seen()
        self._told = 0
        self._history: list[str] = []
        self._judging = prompts.current.version
        self._shadow: Prompt | None = None
        self._trial: list[tuple[float, float]] = []

    def predict(self, query: Query) -> Prediction:
        """Answer a query under the prompt in force."""
        return self.parts.predictor.predict(self.prompts.current, query)

    def observe(self, query: Query, prediction: Prediction, feedback: Feedback) -> Decision | None:
        """Take in one feedback; `None` where the gate was not told of it.

        Raises:
            EditingError: The editor failed; the prompt stays as it was.
        """
        self._mind_others()
        comparison = self._compare(query, prediction, feedback)
        told = comparison is not None and query.id not in self._judged
        self._remember(query, prediction, feedback, told=told)
        if comparison is None or not told:
            return None
        self._judged.add(query.id)
        decision = self._decide(comparison.error)
        self.journal.decided(comparison.error, decision)
        if self._shadow is not None:
            self._judge_trial(self._shadow, query, feedback)
        elif not self.prompts.pinned and (decision.opened or NO_BUDGET in decision.terms):
            self._act(decision)
        return decision

    def state(self) -> dict[str, object]:
        """Return all that the loop knows beside the versions of its prompt.

        The history of the gate grows by a letter a judged query, all else is bounded.
        """
        return LoopState(
            history="".join(self._history),
            judged=self._judged.ids,
            episodes=tuple(self._episodes.values()),
            calls=self.parts.budget.used,
            judging=self._judging,
            shadow=self._shadow,
            trial=tuple(self._trial),
        ).written()

    def restore(self, state: Mapping[str, object]) -> None:
        """Go on from a state, over the same versions of the prompt.

        Raises:
            StoreError: It cannot be read, or this loop knows something already.
        """
        read = LoopState.read(state)
        if self._history or self._episodes:
            raise StoreError(
                "a loop that has learnt something takes no other state; make a new one"
            )
        for told in _HISTORY.findall(read.history):
            self._replay(told)
        self._judged = Seen(read.judged)
        self._episodes = {episode.id: episode for episode in read.episodes}
        self.parts.budget.used = read.calls
        self._judging, self._shadow = read.judging, read.shadow
        if self.parts.trial is not None and self._shadow is not None:
            self.parts.trial.begin()
            for new, old in read.trial:
                self.parts.trial.judge(new=new, old=old)
        self._trial = list(read.trial)

    def _replay(self, told: str) -> None:
        if told in _RESETS:
            self._reset(changed=told == _CHANGED)
        else:
            self._tell(float(told.strip("()")))

    def _tell(self, error: float) -> Decision:
        """Tell the gate an error."""
        decision = self.parts.gate.decide(error)
        self._history.append(str(int(error)) if error in (0, 1) else f"({error!r})")
        self._told += 1
        return decision

    def _reset(self, *, changed: bool) -> None:
        """Have the gate begin again, with the version now in force."""
        self.parts.gate.reset(changed=changed)
        self._history.append(_CHANGED if changed else _KEPT)
        self._judging = self.prompts.current.version

    def _mind_others(self) -> None:
        """Begin again where somebody else put a prompt in force, or pinned the one on trial."""
        current = self.prompts.current
        if current.version != self._judging:
            self._shadow = None
            self._note("steered", current.text, *_line(current))
            self._reset(changed=True)
        if self.prompts.pinned:
            self._shadow = None

    def _decide(self, error: float) -> Decision:
        """Tell the gate an error, and hold an opening back where there must be no edit now."""
        decision = self._tell(error)
        if self._shadow is not None:
            return _held_back(decision, "trial")
        return _held_back(decision, "pinned") if self.prompts.pinned else decision

    def _compare(
        self, query: Query, prediction: Prediction, feedback: Feedback
    ) -> Comparison | None:
        """Return the error of the prompt in force, whichever prompt the prediction was made by."""
        current = self.prompts.current
        if self._says(prediction.prompt_version, current):
            return self.parts.comparator.compare(prediction, feedback)
        if self.parts.reader is None or feedback.observed is None:
            return None
        read = self.parts.reader.predict(current, query)
        return self.parts.comparator.compare(read, feedback)

    def _says(self, version: int | None, prompt: Prompt) -> bool:
        """Whether a version of the prompt has the same text as another; `None` is that one."""
        if version is None or version == prompt.version:
            return True
        versions = {each.version: each.text for each in self.prompts.earlier()}
        return versions.get(version) == prompt.text

    def _remember(
        self, query: Query, prediction: Prediction, feedback: Feedback, *, told: bool
    ) -> None:
        """Keep what may be evidence: each feedback that judges, once, or else the first words.

        The step of an episode is the number of errors that the gate was told before its own, and
        until it is `told` that, before the episode was first heard of.
        """
        known = self._episodes.get(query.id)
        heard = () if known is None else known.feedback
        if not (_judges(feedback) or (known is None and feedback.comment)):
            return
        if feedback.id in [each.id for each in heard]:
            return
        if told:
            self._episodes.pop(query.id, None)  # it is the newest error, whenever it was asked
        self._episodes[query.id] = Episode(
            id=query.id,
            query=query,
            answer=prediction.text,
            step=self._told if known is None or told else known.step,
            source=_MODEL,
            correct=feedback.correct,
            feedback=(*heard, feedback),
        )
        if len(self._episodes) > self.memory:
            del self._episodes[next(iter(self._episodes))]

    def _judge_trial(self, shadow: Prompt, query: Query, feedback: Feedback) -> None:
        assert self.parts.trial is not None
        new = self._error(self.prompts.current, query, feedback)
        old = self._error(shadow, query, feedback)
        verdict = self.parts.trial.judge(new=new, old=old)
        self._trial.append((new, old))
        if verdict == "open":
            return
        self._shadow = None
        if verdict == "roll_back":
            restored = self.prompts.restore(shadow.version, cause="roll_back")
            self._note("rolled_back", restored.text, *_line(restored))
            self._reset(changed=True)

    def _act(self, decision: Decision) -> None:
        """Recall an earlier prompt, or else have the editor write one, if it may be called."""
        evidence = self.parts.select(tuple(self._episodes.values()), decision)
        if self._recalled(evidence) or not decision.opened:
            return
        before = self.prompts.current
        edit = self._edit(before, evidence)
        if self.prompts.pinned or self.prompts.current != before:
            edit = replace(edit, text=None, reason=_OVERTAKEN)
        changed = edit.text is not None and edit.text != before.text
        self._record(edit, changed=changed)
        if changed and self.parts.trial is not None:
            self.parts.trial.begin()
            self._shadow, self._trial = before, []
        self._reset(changed=self.prompts.current != before)

    def _edit(self, prompt: Prompt, evidence: Sequence[Episode]) -> Edit:
        """Call the editor and settle; one that failed is charged with all that was reserved."""
        editor, budget = self.parts.editor, self.parts.budget
        ids = [episode.id for episode in evidence]
        try:
            edit = editor.edit(prompt, evidence)
        except (EditingError, LanguageModelError) as error:
            budget.settle(editor.max_calls)
            self._note("editor_failed", f"charged {editor.max_calls}: {error}", *ids)
            raise EditingError(f"the prompt stays as it was: {error}") from error
        budget.settle(edit.calls)
        self._note("editor_called", f"charged {edit.calls}", *ids)
        return edit

    def _record(self, edit: Edit, *, changed: bool) -> None:
        for _ in range(edit.invalid):
            self._note("proposal_invalid", edit.reason)
        if changed and edit.text is not None:
            new = self.prompts.deploy(edit.text, cause="edit")
            self._note("prompt_changed", new.text, *_line(new))
        else:
            self._note("prompt_kept", edit.reason)

    def _recalled(self, evidence: Sequence[Episode]) -> bool:
        """Put an earlier prompt in force where it explains the evidence."""
        if self.parts.recall is None:
            return False
        pairs = [(each.query, each.feedback[-1]) for each in evidence]
        seen = [pair for pair in pairs if pair[1].observed is not None]
        current, known = self.prompts.current, self._other_texts()
        errors = [[self._error(each, *one) for one in seen] for each in (current, *known)]
        choice = self.parts.recall.choose(errors[0], errors[1:])
        if choice is None:
            return False
        recalled = self.prompts.restore(known[choice].version, cause="recall")
        self._note("recalled", recalled.text, *_line(recalled))
        self._reset(changed=True)
        return True

    def _other_texts(self) -> list[Prompt]:
        """Return earlier prompts that say something else, each text once, newest first."""
        newest: dict[str, Prompt] = {self.prompts.current.text: self.prompts.current}
        for prompt in self.prompts.earlier():
            newest.setdefault(prompt.text, prompt)
            if len(newest) > RECALLABLE:
                break
        return list(newest.values())[1:]

    def _error(self, prompt: Prompt, query: Query, feedback: Feedback) -> float:
        """Return the error that a prompt would have made; 0 where nothing was observed."""
        if feedback.observed is None or self.parts.reader is None:
            return 0.0
        read = self.parts.reader.predict(prompt, query)
        comparison = self.parts.comparator.compare(read, feedback)
        return 0.0 if comparison is None else comparison.error

    def _note(self, kind: str, text: str, *refs: str) -> None:
        self.journal.record(Event(kind=kind, text=text, refs=refs))


def _judges(feedback: Feedback) -> bool:
    """Whether feedback says more than words about an answer."""
    said = (feedback.observed, feedback.correct, feedback.correction)
    return any(part is not None for part in said)


def _held_back(decision: Decision, reason: str) -> Decision:
    return replace(decision, opened=False, terms={**decision.terms, reason: 1.0})


def _line(prompt: Prompt) -> tuple[str, ...]:
    """Return a version and its parent, as an event refers to them."""
    return (str(prompt.version), str(prompt.parent))


_MODEL = Source(kind="model")
_CHANGED, _KEPT = "c", "k"
_RESETS = (_CHANGED, _KEPT)
_HISTORY = re.compile(r"[01ck]|\([^()]*\)")
_OVERTAKEN = "another version came into force, or was pinned, while it was written"
