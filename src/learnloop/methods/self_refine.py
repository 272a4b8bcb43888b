"""Has the model criticise and refine its own answer, without any feedback: Self-Refine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from learnloop.errors import LanguageModelError
from learnloop.methods.answering import Answerer
from learnloop.methods.calls import (
    CallKind,
    Outlook,
    Span,
    one_answer_each,
    up_to,
    written,
)
from learnloop.methods.parts import Parts
from learnloop.prompting.composer import Composer, Layout
from learnloop.protocols import Journal
from learnloop.types import CallRole, Event, Feedback, Message, Options, Prediction, Query


class SelfRefineSettings(BaseModel):
    """The parameters of `self_refine`.

    Attributes:
        rounds: How often an answer is refined at most (as published: 4).
        layout: Order of the first message.
        max_tokens: Limit on an answer, first or refined.
        judge_tokens: Limit on what the model says of its own answer.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rounds: int = Field(default=4, ge=0)
    layout: Layout = "cache"
    max_tokens: PositiveInt = 256
    judge_tokens: PositiveInt = 256


class SelfRefine:
    """Answers, then judges and refines in turn until the model finds nothing to mend.

    At most 1 + 2 · `rounds` calls a query. In the ledger the first answer has the role `answer`,
    what the model says of an answer `judge`, and each refined answer `edit`: so there is one
    `answer` a query, as for every method, and the two others are what refining costs. Every message
    goes on from the whole conversation so far. A call to judge or refine that fails leaves the
    answer as it is, with an event. The stop words end it wherever they stand, as published, even
    in a sentence that denies them.

    Source: Madaan et al. 2023, arXiv 2303.17651; as a baseline in StreamBench, arXiv 2406.08747.

    Args:
        answerer: Gives the first answer.
        journal: Told of calls that failed.
        settings: Rounds and limits.
    """

    Settings = SelfRefineSettings

    def __init__(
        self, *, answerer: Answerer, journal: Journal, settings: SelfRefineSettings
    ) -> None:
        self.answerer = answerer
        self.journal = journal
        self.settings = settings

    @classmethod
    def from_parts(cls, parts: Parts, **params: object) -> SelfRefine:
        """Put the method together; `params` are the fields of `SelfRefineSettings`."""
        settings = SelfRefineSettings.model_validate(params)
        composer = Composer(layout=settings.layout)
        return cls(
            answerer=parts.answerer(composer, max_tokens=settings.max_tokens),
            journal=parts.journal,
            settings=settings,
        )

    @classmethod
    def calls_a_stream(cls, outlook: Outlook, **params: object) -> tuple[CallKind, ...]:
        """Return an answer a query, then judgements, of which `STOPS` are the last, and edits."""
        settings = SelfRefineSettings.model_validate(params)
        length, rounds = outlook.length, settings.rounds
        going_on = [(1 - STOPS) ** place for place in range(rounds + 1)]
        judged = Span(
            at_least=length if rounds else 0,
            expected=round(length * sum(going_on[:-1])),
            at_most=length * rounds,
        )
        edited = up_to(length * rounds, expected=length * sum(going_on[1:]))
        said = written(settings.max_tokens) + written(settings.judge_tokens)
        return (
            one_answer_each(outlook, max_tokens=settings.max_tokens),
            CallKind(
                role="judge",
                count=judged,
                max_tokens=settings.judge_tokens,
                learnt=said,
                writes=written(settings.judge_tokens),
            ),
            CallKind(role="edit", count=edited, max_tokens=settings.max_tokens, learnt=said),
        )

    def predict_one(self, query: Query) -> Prediction:
        prediction = self.answerer.answer(query)
        made = self.answerer.composer.compose(self.answerer.task, query)
        said = [*made.messages, _says(prediction.raw)]
        try:
            for _ in range(self.settings.rounds):
                said.append(Message(role="user", content=JUDGE))
                judgement = self._call("judge", said, self.settings.judge_tokens)
                if STOP_WORDS.casefold() in judgement.casefold():
                    break
                said += [_says(judgement), Message(role="user", content=REFINE)]
                raw = self._call("edit", said, self.settings.max_tokens)
                said.append(_says(raw))
                prediction = replace(prediction, text=self.answerer.task.parse(raw), raw=raw)
        except LanguageModelError as error:
            text = f"the answer stays as it is: {error}"
            self.journal.record(Event(kind="refining_failed", text=text, refs=(query.id,)))
        return prediction

    def learn_one(self, query: Query, prediction: Prediction, feedback: Feedback) -> None:
        """Learn nothing."""

    def _call(self, role: CallRole, said: Sequence[Message], max_tokens: int) -> str:
        options = Options(role=role, max_tokens=max_tokens, seed=self.answerer.seed)
        return self.answerer.model.complete(tuple(said), options=options).text


def _says(text: str) -> Message:
    return Message(role="assistant", content=text)


STOPS = 0.5
"""Of judgements, how many end the refining, in an expectation. A guess."""

STOP_WORDS = "NO NEED TO REFINE"

JUDGE = (
    "Look at your last answer critically: does it do all that was asked, and nothing else? Say in "
    f"a few sentences what must be mended. If nothing must, write {STOP_WORDS}. Do not answer "
    "again yet."
)

REFINE = (
    "Now answer again with this mended. Write the answer alone, in the form asked for at first."
)
