"""The closed loop: sense, compare, decide, edit. Knows every part by its protocol alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from learnloop.protocols import (
    CallBudget,
    Comparator,
    Editor,
    Gate,
    Journal,
    Predictor,
    Prompts,
    Recall,
    Trial,
)
from learnloop.types import (
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

Select = Callable[[Sequence[Episode], Decision], Sequence[Episode]]
"""Chooses the evidence for an edit from the remembered episodes, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopParts:
    """What the loop is made of.

    Attributes:
        predictor: Answers under a prompt.
        comparator: Turns feedback into an error.
        gate: Decides when, within what the budget allows.
        editor: Rewrites the prompt.
        budget: Told what an edit took.
        select: Chooses the evidence.
        trial: Compares a new prompt with the one before; `None` for no rollback.
        recall: Chooses among earlier prompts; `None` for no recall.
    """

    predictor: Predictor
    comparator: Comparator
    gate: Gate
    editor: Editor
    budget: CallBudget
    select: Select
    trial: Trial | None = None
    recall: Recall | None = None


class ClosedLoop:
    """Holds the prompt in force and lets the editor rewrite it when the gate opens.

    After an edit the prompt before it goes on as a shadow, on the same observations, and is put
    back where the trial says so; until the trial is over, nothing is edited. An earlier prompt
    that explains the evidence is put in force again without asking the editor. Neither takes a
    call where the predictor takes none.

    Args:
        prompts: The versions of the prompt.
        parts: What the loop is made of.
        journal: Told of all that happens to the prompt.
        memory: How many episodes are kept as possible evidence.
    """

    def __init__(
        self, *, prompts: Prompts, parts: LoopParts, journal: Journal, memory: int = 64
    ) -> None:
        self.prompts = prompts
        self.parts = parts
        self.journal = journal
        self._episodes: deque[Episode] = deque(maxlen=memory)
        self._seen = 0
        self._shadow: Prompt | None = None

    def predict(self, query: Query) -> Prediction:
        """Answer a query under the prompt in force."""
        return self.parts.predictor.predict(self.prompts.current, query)

    def observe(self, query: Query, prediction: Prediction, feedback: Feedback) -> Decision | None:
        """Take in one feedback; `None` where no error can be told from it.

        Raises:
            EditingError: The editor failed; the prompt stays as it was.
        """
        comparison = self.parts.comparator.compare(prediction, feedback)
        if comparison is None:
            return None
        episode = self._remember(query, prediction, feedback)
        decision = self.parts.gate.decide(comparison.error)
        on_trial = self._shadow is not None
        if on_trial:
            decision = _held_back(decision)
        self.journal.decided(comparison.error, decision)
        if on_trial:
            self._judge_trial(episode)
        elif decision.opened:
            self._act(decision)
        return decision

    def _remember(self, query: Query, prediction: Prediction, feedback: Feedback) -> Episode:
        episode = Episode(
            id=query.id,
            query=query,
            answer=prediction.text,
            step=self._seen,
            source=_MODEL,
            correct=feedback.correct,
            feedback=(feedback,),
        )
        self._episodes.append(episode)
        self._seen += 1
        return episode

    def _judge_trial(self, episode: Episode) -> None:
        assert self.parts.trial is not None
        assert self._shadow is not None
        new, old = self._error(self.prompts.current, episode), self._error(self._shadow, episode)
        verdict = self.parts.trial.judge(new=new, old=old)
        if verdict == "roll_back":
            restored = self.prompts.restore(self._shadow.version, cause="roll_back")
            self._note("rolled_back", restored.text, *_line(restored))
            self.parts.gate.reset(changed=True)
        if verdict != "open":
            self._shadow = None

    def _act(self, decision: Decision) -> None:
        evidence = self.parts.select(tuple(self._episodes), decision)
        if self._recalled(evidence):
            return
        before = self.prompts.current
        edit = self.parts.editor.edit(before, evidence)
        self.parts.budget.settle(edit.calls)
        self._note("editor_called", f"charged {edit.calls}", *(each.id for each in evidence))
        changed = edit.text is not None and edit.text != before.text
        self._record(edit, changed=changed)
        if changed and self.parts.trial is not None:
            self.parts.trial.begin()
            self._shadow = before
        self.parts.gate.reset(changed=changed)

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
        current = self.prompts.current
        earlier = {prompt.text: prompt for prompt in reversed(self.prompts.earlier())}
        earlier.pop(current.text, None)
        known = list(earlier.values())
        choice = self.parts.recall.choose(
            self._errors(current, evidence), [self._errors(prompt, evidence) for prompt in known]
        )
        if choice is None:
            return False
        recalled = self.prompts.restore(known[choice].version, cause="recall")
        self._note("recalled", recalled.text, *_line(recalled))
        self.parts.gate.reset(changed=True)
        return True

    def _errors(self, prompt: Prompt, evidence: Sequence[Episode]) -> list[float]:
        return [self._error(prompt, episode) for episode in evidence]

    def _error(self, prompt: Prompt, episode: Episode) -> float:
        """Return the error that a prompt makes, or would have made, on what was observed."""
        prediction = self.parts.predictor.predict(prompt, episode.query)
        comparison = self.parts.comparator.compare(prediction, episode.feedback[-1])
        return 0.0 if comparison is None else comparison.error

    def _note(self, kind: str, text: str, *refs: str) -> None:
        self.journal.record(Event(kind=kind, text=text, refs=refs))


def _held_back(decision: Decision) -> Decision:
    return replace(decision, opened=False, terms={**decision.terms, "trial": 1.0})


def _line(prompt: Prompt) -> tuple[str, ...]:
    """Return a version and its parent, as an event refers to them."""
    return (str(prompt.version), str(prompt.parent))


_MODEL = Source(kind="model")
