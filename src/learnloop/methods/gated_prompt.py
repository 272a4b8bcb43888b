"""A persistent prompt that an editor may rewrite when a gate opens: the closed loop as a method."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt

from learnloop.control import GATES, RECALLS, TRIALS
from learnloop.control.comparators import DistanceComparator, LabelComparator
from learnloop.control.evidence import recent, since_change
from learnloop.control.guards import Calls, Guarded
from learnloop.editing import EDITORS
from learnloop.editing.parts import EditorParts
from learnloop.editing.prompt_history import PromptHistory
from learnloop.errors import ParameterError
from learnloop.loop import MEMORY, ClosedLoop, LoopParts
from learnloop.methods.calls import (
    CallKind,
    Outlook,
    Span,
    exactly,
    one_answer_each,
    up_to,
    written,
)
from learnloop.methods.hosting_refusals import needs_a_form
from learnloop.methods.parts import Parts
from learnloop.methods.predicting import ModelPredictor, StructuredPredictor
from learnloop.methods.remembering import episode_of
from learnloop.prompting.composer import Composer, Layout
from learnloop.protocols import Comparator, Editor, Predictor
from learnloop.registry import Registry, split_params
from learnloop.states import State
from learnloop.structured_prompt import write_prompt
from learnloop.types import (
    Advice,
    Episode,
    Event,
    Feedback,
    Prediction,
    Prompt,
    Query,
    Task,
)

Part = TypeVar("Part")
Nested = dict[str, dict[str, object]]


class GatedPromptSettings(BaseModel):
    """The parameters of `gated_prompt`. Those of its parts are written `gate.threshold`.

    Attributes:
        gate: Decides when the editor is called.
        editor: Rewrites the prompt.
        evidence: What the editor sees: episodes `since_change`, as the gate estimates it, or the
            most `recent` ones (the paper).
        k: How many episodes it sees at most (the paper: 8).
        budget: Calls that all edits together may take; `None` for no limit.
        pause: Steps after an edit in which there is no other one.
        max_interval: Steps without an edit after which one is made; `None` for never.
        needs_error: Whether an edit needs an error since the last one.
        rollback: Puts the prompt before back where a new one does worse: `sprt`, `betting`, or
            `none`. Like `recall`, for prompts that have a form.
        recall: Puts an earlier prompt in force again where it explains the evidence, without a
            call: `best`, or `none`.
        predictor: `structured` reads the prompt without a model, `llm` has the model answer;
            `auto` is structured where the task's prompt has a form.
        near: Error of a number that is off by less than a class of distance.
        full: At how many classes of distance off a number has error 1.
        layout: Order of the answering prompt.
        max_tokens: Limit on an answer.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    gate: str = "bayes"
    editor: str = "rewriter"
    evidence: Literal["since_change", "recent"] = "since_change"
    k: PositiveInt = 8
    budget: NonNegativeInt | None = None
    pause: NonNegativeInt = 0
    max_interval: PositiveInt | None = None
    needs_error: bool = True
    rollback: str = "none"
    recall: str = "none"
    predictor: Literal["auto", "structured", "llm"] = "auto"
    near: Annotated[float, Field(gt=0, le=1)] = 0.65
    full: PositiveInt = 1
    layout: Layout = "cache"
    max_tokens: PositiveInt = 256


class GatedPromptState(State):
    """What `gated_prompt` has learnt."""

    prompts: dict[str, object]
    loop: dict[str, object]


class GatedPrompt:
    """Predicts under the prompt in force and takes feedback to the closed loop.

    Source: the closed loop of PID-gated continual prompt adaptation under noisy feedback.

    It keeps no episodes in the memory that it is handed, but a few of the newest as evidence.

    Args:
        loop: Senses, compares, decides, edits.
        prompts: The versions of the loop's prompt.
    """

    def __init__(self, *, loop: ClosedLoop, prompts: PromptHistory) -> None:
        self.loop = loop
        self.prompts = prompts

    Settings = GatedPromptSettings
    parts_by_name = {"gate": GATES, "editor": EDITORS, "rollback": TRIALS, "recall": RECALLS}

    @classmethod
    def from_parts(cls, parts: Parts, **params: object) -> GatedPrompt:
        """Put the method together; `params` are the fields of `GatedPromptSettings`.

        Raises:
            InputError: A part is unknown, takes no such parameter, or does not go with the task.
        """
        own, nested = split_params(params, cls.parts_by_name)
        settings = GatedPromptSettings.model_validate(own)
        prompts = PromptHistory(_initial(parts.task))
        first = prompts.current
        parts.journal.record(Event(kind="prompt_initial", text=first.text, refs=("0",)))
        made = _loop_parts(parts, settings, nested)
        loop = ClosedLoop(
            prompts=prompts, parts=made, journal=parts.journal, memory=max(MEMORY, settings.k)
        )
        return cls(loop=loop, prompts=prompts)

    @classmethod
    def hosting_refusal(cls, **params: object) -> str | None:
        """Say why these parameters do not go with an application; `None` where they do."""
        own, _ = split_params(params, cls.parts_by_name)
        settings = GatedPromptSettings.model_validate(own)
        if getattr(EDITORS.load(settings.editor), "needs_form", False):
            return needs_a_form("editor", settings.editor, "rewriter")
        if settings.predictor == "structured":
            return needs_a_form("predictor", settings.predictor, "llm")
        for name, value in (("rollback", settings.rollback), ("recall", settings.recall)):
            if value != "none":
                return needs_a_form(name, value, "none")
        return None

    @classmethod
    def calls_a_stream(cls, outlook: Outlook, **params: object) -> tuple[CallKind, ...]:
        """Return an answer a query, unless the prompt is read without a model, and the edits."""
        own, nested = split_params(params, cls.parts_by_name)
        settings = GatedPromptSettings.model_validate(own)
        edits = CallKind(
            role="edit",
            count=_edit_calls(outlook, settings, nested),
            max_tokens=EDIT_TOKENS,
            episodes=settings.k,
            asks=False,
            writes=written(EDIT_TOKENS),
        )
        if outlook.has_form and settings.predictor != "llm":
            return (edits,)
        answers = one_answer_each(outlook, max_tokens=settings.max_tokens, learnt=EDIT_TOKENS)
        return (answers, edits)

    def predict_one(self, query: Query) -> Prediction:
        return self.loop.predict(query)

    def advise(self, query: Query) -> Advice:
        return Advice(prompt=self.prompts.current)

    def learn_one(self, query: Query, prediction: Prediction, feedback: Feedback) -> None:
        self.reflect_one(self.remember_one(query, prediction, feedback), prediction)

    def remember_one(self, query: Query, prediction: Prediction, feedback: Feedback) -> Episode:
        return episode_of(query, prediction, feedback)

    def reflect_one(self, episode: Episode, prediction: Prediction) -> None:
        self.loop.observe(episode.query, prediction, episode.feedback[-1])

    def state(self) -> dict[str, object]:
        return GatedPromptState(prompts=self.prompts.state(), loop=self.loop.state()).written()

    def restore(self, state: Mapping[str, object]) -> None:
        read = GatedPromptState.read(state)
        self.loop.restore(read.loop)
        self.prompts.take_over(read.prompts)

    def pin(self, *, pinned: bool = True) -> None:
        self.prompts.pin(pinned=pinned)


def _edit_calls(outlook: Outlook, settings: GatedPromptSettings, nested: Nested) -> Span:
    """Return how many calls the editor makes: none where it or the gate is of theory, else some.

    A budget is their limit, and what is to be expected where drift is all that a gate waits for.
    """
    editor = EDITORS.load(settings.editor)
    if settings.gate == "never" or getattr(editor, "asks_no_model", False):
        return exactly(0)
    each = editor.max_calls
    if not isinstance(each, int):  # its own number, which a parameter can change
        each = int(str(nested["editor"].get("max_reflections", MOST_REFLECTIONS)))
    most = outlook.length * each
    if settings.budget is not None:
        most = min(most, settings.budget)
    return up_to(most, expected=most if settings.budget is not None else most / STEPS_AN_EDIT)


EDIT_TOKENS = 256
MOST_REFLECTIONS = 3
STEPS_AN_EDIT = 15
"""Steps from one edit to the next, in an expectation where there is no budget. A guess."""


def _loop_parts(parts: Parts, settings: GatedPromptSettings, nested: Nested) -> LoopParts:
    predictor = _predictor(parts, settings)
    comparator = _comparator(parts.task, settings)
    reader = _reader(parts.task)
    evaluate = _Evaluation(reader=reader, comparator=comparator)
    editor = _editor(parts, settings, nested, evaluate)
    calls = Calls(limit=settings.budget, reserve=editor.max_calls)
    gate = Guarded(
        _made(GATES, settings.gate, nested["gate"]),
        calls=calls,
        pause=settings.pause,
        max_interval=settings.max_interval,
        needs_error=settings.needs_error,
    )
    select = {"recent": recent, "since_change": since_change}[settings.evidence]
    return LoopParts(
        predictor=predictor,
        comparator=comparator,
        gate=gate,
        editor=editor,
        budget=calls,
        select=select(settings.k),
        reader=reader,
        trial=_optional(TRIALS, settings.rollback, nested["rollback"]),
        recall=_optional(RECALLS, settings.recall, nested["recall"]),
    )


def _editor(
    parts: Parts, settings: GatedPromptSettings, nested: Nested, evaluate: _Evaluation
) -> Editor:
    given = EditorParts(
        task=parts.task,
        model=parts.policy_model,
        evaluate=evaluate,
        journal=parts.journal,
        seed=parts.seed,
    )
    factory = EDITORS.load(settings.editor).from_parts
    _check_names(f"editor {settings.editor!r}", factory, nested["editor"], given=1)
    made: Editor = factory(given, **nested["editor"])
    return made


def _predictor(parts: Parts, settings: GatedPromptSettings) -> Predictor:
    form = parts.task.prompt_form
    if settings.predictor == "structured" and form is None:
        raise ParameterError(
            f"the prompt of {parts.task.name!r} is free text, which only a model can read; "
            "use predictor=llm"
        )
    if form is not None and settings.predictor != "llm":
        return StructuredPredictor(form=form)
    composer = Composer(layout=settings.layout)
    return ModelPredictor(answerer=parts.answerer(composer, max_tokens=settings.max_tokens))


def _reader(task: Task) -> Predictor | None:
    """Return what reads any version of the prompt without a call, where it has a form."""
    return None if task.prompt_form is None else StructuredPredictor(form=task.prompt_form)


def _comparator(task: Task, settings: GatedPromptSettings) -> Comparator:
    form = task.prompt_form
    if form is None or not form.bucket:
        return LabelComparator()
    return DistanceComparator(bucket=form.bucket, near=settings.near, full=settings.full)


class _Evaluation:
    """Judges any text as a prompt on what was observed; only where the prompt has a form.

    Where nothing was observed, nothing can be held against a text: the error is 0.
    """

    def __init__(self, *, reader: Predictor | None, comparator: Comparator) -> None:
        self.reader = reader
        self.comparator = comparator

    def __call__(self, text: str, episode: Episode) -> float:
        if self.reader is None:
            raise ParameterError("a prompt of free text cannot be judged without a model")
        prediction = self.reader.predict(Prompt(version=0, text=text), episode.query)
        feedback = episode.feedback[-1]
        if feedback.observed is None:
            return 0.0
        comparison = self.comparator.compare(prediction, feedback)
        return 0.0 if comparison is None else comparison.error


def _initial(task: Task) -> str:
    """Return the first prompt: what the form says, or for free text the task's instructions."""
    form = task.prompt_form
    return task.instructions if form is None else write_prompt(form, form.initial)


def _optional(registry: Registry[Part], name: str, params: Mapping[str, object]) -> Part | None:
    if name != "none":
        return _made(registry, name, params)
    if params:
        raise ParameterError(
            f"{registry.kind} is 'none' and takes no parameter {next(iter(params))!r}; name one"
        )
    return None


def _made(registry: Registry[Part], name: str, params: Mapping[str, object]) -> Part:
    _check_names(f"{registry.kind} {name!r}", registry.load(name), params)
    return registry.create(name, **params)


def _check_names(
    what: str, factory: Callable[..., object], params: Mapping[str, object], *, given: int = 0
) -> None:
    """Raise unless a part takes parameters of these names, after those that it is `given`."""
    if not params:
        return
    names = list(inspect.signature(factory).parameters)[given:]
    unknown = [name for name in params if name not in names]
    if unknown:
        known = f"it has {', '.join(sorted(names))}" if names else "it has none"
        raise ParameterError(f"{what} has no parameter {unknown[0]!r}; {known}")
