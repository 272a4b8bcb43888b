"""The `gepa` editor: a fresh population from the prompt in force, at most three reflections."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from learnloop.editing.gepa_adapter import COMPONENT, Candidate, Judging, Lineage, make_adapter
from learnloop.editing.gepa_reflector import FirstError, Reflector
from learnloop.editing.limits import check_limits
from learnloop.editing.parts import EditorParts
from learnloop.errors import EditingError, MissingExtraError, ParameterError
from learnloop.seeding import stream
from learnloop.structured_prompt import read_prompt, write_prompt
from learnloop.types import (
    Edit,
    Episode,
    Event,
    Options,
    Prompt,
    PromptField,
    PromptForm,
    Task,
)

if TYPE_CHECKING:
    from gepa.core.result import GEPAResult

SPLIT_FROM = 4
"""From so many episodes on, training and validation are disjoint."""
MINIBATCH = 3


class GEPAEditor:
    """Has the real gepa search for a prompt that explains the evidence better.

    Every other episode is for training, the newest among them, the rest for validation; fewer
    than four serve for both. The model reflects on a minibatch of at most three; a proposal must
    score more on it than its parent before it is validated in full. The best validated candidate
    is proposed, and on a tie the prompt in force stays. Candidates are scored without the model,
    and all of them go on record: an event `candidate` each (its text; refs `candidate`, `parent`,
    `fitness`, `parent_fitness`, `validation`, `valid` and `chosen`, as `name=value`), and an event
    `candidates_evaluated`.

    gepa swallows what a reflection raises and tries again: the first failure is kept, nothing is
    asked after it, and it is raised when gepa comes back.

    Source: GEPA as the package of that name has it, with the limits of PID-gated continual prompt
    adaptation under noisy feedback.

    Args:
        parts: What the application or run hands over.
        form: How the prompt is written.
        max_reflections: Calls of the model that one edit may take.
        metric_calls: Scorings of a candidate on an episode, beside the first validation, after
            which no new minibatch is taken. Nominal: what is under way is finished.
        max_tokens: Limit on a reply.
        temperature: Of the reflections.
        stop_when_perfect: Whether to stop once a candidate is right on all of the validation set.
            None can do better and a tie changes nothing, so this saves calls and changes no
            proposal; the published arm goes on.
    """

    needs_form = True

    def __init__(
        self,
        *,
        parts: EditorParts,
        form: PromptForm,
        max_reflections: int = 3,
        metric_calls: int = 36,
        max_tokens: int = 200,
        temperature: float = 0.0,
        stop_when_perfect: bool = False,
    ) -> None:
        check_limits(
            "gepa",
            max_reflections=max_reflections,
            metric_calls=metric_calls,
            max_tokens=max_tokens,
        )
        if not 0 <= temperature < math.inf:
            raise ParameterError(
                f"temperature of the editor 'gepa' is 0 or more, not {temperature!r}"
            )
        self.parts = parts
        self.form = form
        self.max_reflections = max_reflections
        self.metric_calls = metric_calls
        self.max_tokens = max_tokens
        self.temperature = temperature
        self.stop_when_perfect = stop_when_perfect

    @classmethod
    def from_parts(
        cls,
        parts: EditorParts,
        *,
        max_reflections: int = 3,
        metric_calls: int = 36,
        max_tokens: int = 200,
        temperature: float = 0.0,
        stop_when_perfect: bool = False,
    ) -> GEPAEditor:
        """Put the editor together.

        Raises:
            ParameterError: The prompt is free text, which takes a model to judge.
            MissingExtraError: gepa is not installed.
        """
        form = parts.task.prompt_form
        if form is None:
            raise ParameterError(
                f"editor 'gepa' scores prompts without a model, and the prompt of "
                f"{parts.task.name!r} is free text; use the editor 'rewriter'"
            )
        _load_optimize()
        return cls(
            parts=parts,
            form=form,
            max_reflections=max_reflections,
            metric_calls=metric_calls,
            max_tokens=max_tokens,
            temperature=temperature,
            stop_when_perfect=stop_when_perfect,
        )

    @property
    def max_calls(self) -> int:
        return self.max_reflections

    def edit(self, prompt: Prompt, evidence: Sequence[Episode]) -> Edit:
        if not evidence:
            return Edit(text=None, reason="there is no evidence", calls=0)
        search = _Search(self, prompt, evidence)
        result = search.run()
        chosen = search.lineage.number(result.best_idx)
        self._put_on_record(search, chosen)
        search.surface_failures()
        return self._propose(search, chosen)

    def _put_on_record(self, search: _Search, chosen: int) -> None:
        for candidate in search.lineage.candidates:
            valid = candidate.text not in search.judging.malformed
            refs = _refs(candidate, valid=valid, chosen=candidate.number == chosen)
            self.parts.journal.record(Event(kind="candidate", text=candidate.text, refs=refs))
        evaluations = f"{search.judging.evaluations} evaluations"
        self.parts.journal.record(Event(kind="candidates_evaluated", text=evaluations))

    def _propose(self, search: _Search, chosen: int) -> Edit:
        start, *proposals = search.lineage.candidates
        malformed = search.judging.malformed
        bad = dict.fromkeys(each.text for each in proposals if each.text in malformed)
        winner = search.lineage.candidates[chosen]
        complaints = [f"not valid: {malformed[text]}" for text in bad]
        reason = "; ".join([_outcome(start, winner, len(proposals)), *complaints])
        text = write_prompt(self.form, read_prompt(self.form, winner.text)) if chosen else None
        return Edit(text=text, reason=reason, invalid=len(bad), calls=search.reflector.calls)


class _Search:
    """One invocation: everything that it holds is its own, so that runs never meet."""

    def __init__(self, editor: GEPAEditor, prompt: Prompt, evidence: Sequence[Episode]) -> None:
        self.editor = editor
        self.prompt = prompt
        self.newest_first = list(reversed(evidence))
        self.judging = Judging(form=editor.form, evaluate=editor.parts.evaluate)
        self.kept = FirstError()
        self.reflector = _reflector(editor, self.kept)
        self.lineage = Lineage()
        self.log = _Log()

    def run(self) -> GEPAResult[float, int]:
        """Let gepa search; what `evaluate` raises comes through."""
        optimize, newest_first = _load_optimize(), self.newest_first
        apart = len(newest_first) >= SPLIT_FROM
        training = newest_first[0::2] if apart else newest_first
        validation = newest_first[1::2] if apart else newest_first
        result: GEPAResult[float, int] = optimize(
            {COMPONENT: self.prompt.text},
            trainset=training,
            valset=validation,
            adapter=make_adapter(self.judging, self.kept),
            reflection_lm=self.reflector,
            reflection_prompt_template=_TEMPLATE,
            reflection_minibatch_size=min(MINIBATCH, len(training)),
            candidate_selection_strategy="pareto",
            acceptance_criterion="strict_improvement",
            skip_perfect_score=True,
            use_merge=False,
            stop_callbacks=self._is_over,
            max_metric_calls=len(validation) + self.editor.metric_calls,
            callbacks=[self.lineage],
            logger=self.log,
            run_dir=None,
            display_progress_bar=False,
            seed=self._seed(),
            raise_on_exception=True,
        )
        return result

    def surface_failures(self) -> None:
        """Raise what gepa swallowed.

        Raises:
            EditingError: A reflection failed, or gepa itself did.
        """
        self.kept.surface()
        proposed = sum(each.fitness is not None for each in self.lineage.candidates)
        if not self.judging.datasets == self.reflector.calls == proposed:
            raise EditingError(
                f"gepa lost a proposal: {self.judging.datasets} begun, {self.reflector.calls} "
                f"reflections, {proposed} scored; it says {self.log.trouble[:300]!r}"
            )

    def _is_over(self, state: Any) -> bool:
        best = max(state.program_full_scores_val_set)
        return self.reflector.done or (self.editor.stop_when_perfect and best >= 1)

    def _seed(self) -> int:
        purpose = f"gepa:{self.prompt.version}:{self.newest_first[0].id}"
        return int(stream(self.editor.parts.seed, purpose).integers(2**32))


class _Log:
    """Takes what gepa would print, and keeps the first line about something that went wrong."""

    def __init__(self) -> None:
        self.trouble = ""

    def log(self, message: str) -> None:
        if "failed" in message or "Exception" in message:
            self.trouble = self.trouble or message


def _load_optimize() -> Callable[..., Any]:
    try:
        from gepa.api import optimize
    except ImportError as error:
        raise MissingExtraError(
            "the editor 'gepa' needs the package 'gepa'; install it with "
            "`pip install 'learnloop[optimizers]'`, or take the editor 'rewriter'"
        ) from error
    return optimize


def _reflector(editor: GEPAEditor, kept: FirstError) -> Reflector:
    def options(number: int) -> Options:
        return Options(
            role="reflect",
            max_tokens=editor.max_tokens,
            temperature=editor.temperature,
            seed=editor.parts.seed,
            sample=number,
        )

    return Reflector(
        model=editor.parts.model,
        system=_system(editor.parts.task, editor.form),
        options=options,
        limit=editor.max_reflections,
        kept=kept,
    )


def _refs(candidate: Candidate, *, valid: bool, chosen: bool) -> tuple[str, ...]:
    return (
        f"candidate={candidate.number}",
        f"parent={_number(candidate.parent)}",
        f"fitness={_number(candidate.fitness)}",
        f"parent_fitness={_number(candidate.parent_fitness)}",
        f"validation={_number(candidate.validation)}",
        f"valid={'yes' if valid else 'no'}",
        f"chosen={'yes' if chosen else 'no'}",
    )


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.6g}"


def _outcome(start: Candidate, winner: Candidate, proposals: int) -> str:
    if winner is not start:
        return (
            f"candidate {winner.number} of {proposals} validates at {winner.validation:.2f}, "
            f"the prompt at {start.validation:.2f}"
        )
    if not proposals:
        return "the prompt was right on all that it was tried on"
    return f"none of {proposals} candidates validates better than the prompt"


def _system(task: Task, form: PromptForm) -> str:
    fields = [f"`{field.name}` is {field.meaning}: {_range(field)}." for field in form.fields]
    return _SYSTEM.format(
        role=task.role,
        instructions=task.instructions,
        question=form.question,
        fields="\n".join(fields),
    )


def _range(field: PromptField) -> str:
    if field.choices:
        return "one word, " + " or ".join(field.choices)
    return f"one whole number, {field.low} to {field.high}"


_SYSTEM = """\
{role}

{instructions}

You keep a prompt up to date that says what holds now. {question}

{fields}

Reply with the new prompt only, between ``` and ```: the same names, and after each colon the \
value that fits what was observed."""

_TEMPLATE = """\
The old prompt:
```
<curr_param>
```

What was observed since, and what the old prompt says to it:

<side_info>

Write the new prompt. If the old one is wrong above, give it the values that were observed."""
