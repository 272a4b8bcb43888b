"""Several models take turns over one memory of right answers: StreamBench's MAM-StreamICL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt

from learnloop.errors import ParameterError
from learnloop.memory.memory import Memory
from learnloop.memory.retrieval import Right
from learnloop.methods.answering import Answerer
from learnloop.methods.calls import CallKind, Outlook, one_answer_each
from learnloop.methods.parts import Parts
from learnloop.methods.remembering import remember
from learnloop.methods.turns import RoundRobin, ThompsonSampling, Turns
from learnloop.prompting.composer import Composer, Layout, TokenBudget
from learnloop.protocols import Retriever
from learnloop.types import Event, Feedback, Prediction, Query


class MAMStreamICLSettings(BaseModel):
    """The parameters of `mam_stream_icl`.

    Attributes:
        k: How many examples to show.
        schedule: `round_robin`, or `thompson`: by what each got right; `dynamic_thompson` forgets.
        first: Which agent begins a round (the published code counts before it uses: 1).
        remembered: Up to how many answers `dynamic_thompson` holds for each agent.
        layout: Order of the prompt.
        max_tokens: Limit on an answer.
        examples_budget: Limit on all examples together, in estimated tokens.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    k: PositiveInt = 4
    schedule: Literal["round_robin", "thompson", "dynamic_thompson"] = "round_robin"
    first: NonNegativeInt = 0
    remembered: Annotated[int, Field(ge=2)] = 100
    layout: Layout = "cache"
    max_tokens: PositiveInt = 256
    examples_budget: PositiveInt = 2000


class MAMStreamICL:
    """Self-StreamICL with several models, each shown what all of them got right. One call a query.

    The turn passes on with the first feedback on a query, so that predicting changes nothing: a
    query whose call failed, or on which nobody says anything, leaves the turn where it was. The
    first verdict on an answer is credited to the agent that gave it. With one model this is
    `self_stream_icl`.

    Source: StreamBench, arXiv 2406.08747, section 4.

    Args:
        answerers: One for each model.
        turns: Chooses among them.
        memory: Where the episodes of all are kept.
        examples: Finds the right ones.
        k: How many to show.
    """

    Settings = MAMStreamICLSettings
    takes_agents = True

    def __init__(
        self,
        *,
        answerers: Sequence[Answerer],
        turns: Turns,
        memory: Memory,
        examples: Retriever,
        k: int,
    ) -> None:
        self.answerers = tuple(answerers)
        self.turns = turns
        self.memory = memory
        self.examples = examples
        self.k = k

    @classmethod
    def from_parts(cls, parts: Parts, **params: object) -> MAMStreamICL:
        """Put the method together; `params` are the fields of `MAMStreamICLSettings`.

        Raises:
            ParameterError: There is no agent of the number that is to begin.
        """
        settings = MAMStreamICLSettings.model_validate(params)
        models = (parts.model, *parts.agents)
        if len(models) == 1:
            parts.journal.record(Event(kind="one_agent", text=ONE_AGENT))
        budget = TokenBudget(examples=settings.examples_budget)
        composer = Composer(layout=settings.layout, budget=budget)
        return cls(
            answerers=[
                parts.answerer(composer, max_tokens=settings.max_tokens, model=model)
                for model in models
            ],
            turns=_turns(settings, agents=len(models), seed=parts.seed),
            memory=parts.memory,
            examples=Right(memory=parts.memory),
            k=settings.k,
        )

    @classmethod
    def calls_a_stream(cls, outlook: Outlook, **params: object) -> tuple[CallKind, ...]:
        """Return one call a query."""
        settings = MAMStreamICLSettings.model_validate(params)
        return (one_answer_each(outlook, max_tokens=settings.max_tokens, episodes=settings.k),)

    def predict_one(self, query: Query) -> Prediction:
        agent = self.turns.next()
        examples = self.examples.retrieve(query, k=self.k)
        return replace(self.answerers[agent].answer(query, examples=examples), agent=agent)

    def learn_one(self, query: Query, prediction: Prediction, feedback: Feedback) -> None:
        before = self.memory.get(query.id)
        after = remember(self.memory, query, prediction, feedback)
        if before is None:
            self.turns.pass_on()
        if after.correct is not None and (before is None or before.correct is None):
            self.turns.learn(prediction.agent, right=after.correct)


def _turns(settings: MAMStreamICLSettings, *, agents: int, seed: int) -> Turns:
    if settings.schedule == "round_robin":
        if settings.first >= max(agents, 2):
            raise ParameterError(
                f"first must be one of the {agents} agents, from 0, got {settings.first!r}"
            )
        return RoundRobin(agents=agents, first=settings.first)
    dynamic = settings.schedule == "dynamic_thompson"
    remembered = settings.remembered if dynamic else None
    return ThompsonSampling(agents=agents, seed=seed, remembered=remembered)


ONE_AGENT = "there is one model only, so this is self_stream_icl; give agents"
