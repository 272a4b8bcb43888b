"""Keeps a cheatsheet that a curator rewrites from what was answered: Dynamic Cheatsheet."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, PositiveInt

from learnloop.editing.cheatsheet import Curator
from learnloop.memory.memory import Memory
from learnloop.memory.retrieval import Similar
from learnloop.methods.answering import Answerer
from learnloop.methods.calls import CallKind, Outlook, exactly, one_answer_each, up_to
from learnloop.methods.parts import Parts
from learnloop.methods.unjudged import remember_unjudged
from learnloop.prompting.composer import Composer, Layout, TokenBudget
from learnloop.prompting.tokens import estimate_tokens
from learnloop.protocols import Journal, Retriever
from learnloop.types import Event, Feedback, Policy, PolicyDraft, Prediction, Query


class DynamicCheatsheetSettings(BaseModel):
    """The parameters of `dynamic_cheatsheet`; the first value of each choice is the default.

    Attributes:
        variant: `cumulative` answers with the sheet and then has it rewritten from the query and
            the answer; `retrieval_synthesis` has it rewritten for the query, from similar past
            queries and answers, and then answers with it.
        k: How many past queries and answers `retrieval_synthesis` hands to the curator.
        reasoning: Ask the answering model for reasoning before the answer; the curator sees it.
        layout: Order of the prompt.
        max_tokens: Limit on an answer.
        curator_tokens: Limit on what the curator writes; `None` is twice `max_tokens`, as
            published.
        sheet_budget: Limit on a sheet, in estimated tokens; over it, its last entries are dropped.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    variant: Literal["cumulative", "retrieval_synthesis"] = "cumulative"
    k: PositiveInt = 3
    reasoning: bool = False
    layout: Layout = "cache"
    max_tokens: PositiveInt = 256
    curator_tokens: PositiveInt | None = None
    sheet_budget: PositiveInt = 1000


class DynamicCheatsheet:
    """Two calls a query, and no label is used: what feedback says is neither read nor kept.

    A method learns when feedback arrives, so that an answer that nobody says anything about never
    gets into the sheet. Feedback that comes again changes nothing.

    The sheet is a policy whose bullets are its entries. It is one for the whole stream and comes
    into force in `learn_one`: a sheet that `retrieval_synthesis` wrote for a query goes with the
    prediction until then. A sheet that is refused leaves the one in force, where the published
    code falls back to the retrieved answers themselves; with no past answer the curator of
    `retrieval_synthesis` is not called. The curator sees past answers, right or wrong; the
    answering model sees of them what the curator wrote down.

    Source: Dynamic Cheatsheet, arXiv 2504.07952.

    Args:
        answerer: Answers.
        memory: Where answers are kept.
        curator: Writes the sheet.
        similar: Finds past queries and answers; `None` for the cumulative variant.
        k: How many of them the curator sees.
        journal: Told of refused sheets.
    """

    Settings = DynamicCheatsheetSettings
    uses_feedback = False

    def __init__(
        self,
        *,
        answerer: Answerer,
        memory: Memory,
        curator: Curator,
        similar: Retriever | None,
        journal: Journal,
        k: int = 3,
    ) -> None:
        self.answerer = answerer
        self.memory = memory
        self.curator = curator
        self.similar = similar
        self.journal = journal
        self.k = k
        self._sheet: Policy | None = None

    @classmethod
    def from_parts(cls, parts: Parts, **params: object) -> DynamicCheatsheet:
        """Put the method together; `params` are the fields of `DynamicCheatsheetSettings`."""
        settings = DynamicCheatsheetSettings.model_validate(params)
        composer = Composer(
            layout=settings.layout,
            budget=TokenBudget(policy=settings.sheet_budget + INTRODUCTION_TOKENS),
            reasoning=settings.reasoning,
        )
        curator = Curator(
            model=parts.policy_model,
            task=parts.task,
            measure=estimate_tokens,
            budget=settings.sheet_budget,
            max_tokens=settings.curator_tokens or 2 * settings.max_tokens,
            seed=parts.seed,
        )
        retrieves = settings.variant == "retrieval_synthesis"
        return cls(
            answerer=parts.answerer(composer, max_tokens=settings.max_tokens),
            memory=parts.memory,
            curator=curator,
            similar=Similar(memory=parts.memory) if retrieves else None,
            journal=parts.journal,
            k=settings.k,
        )

    @classmethod
    def calls_a_stream(cls, outlook: Outlook, **params: object) -> tuple[CallKind, ...]:
        """Return an answer a query, and a sheet after each, or before each but the first."""
        settings = DynamicCheatsheetSettings.model_validate(params)
        cumulative = settings.variant == "cumulative"
        most = outlook.length if cumulative else max(outlook.length - 1, 0)
        return (
            one_answer_each(
                outlook,
                max_tokens=settings.max_tokens,
                learnt=settings.sheet_budget,
                reasoning=settings.reasoning,
            ),
            CallKind(
                role="policy",
                count=exactly(most) if outlook.judged else up_to(most, expected=most),
                max_tokens=settings.curator_tokens or 2 * settings.max_tokens,
                episodes=1 if cumulative else settings.k,
                learnt=settings.sheet_budget,
                asks=False,
                writes=settings.sheet_budget,
            ),
        )

    def predict_one(self, query: Query) -> Prediction:
        if self.similar is None:
            return self.answerer.answer(query, policy=self._sheet)
        cases = self.similar.retrieve(query, k=self.k)
        sheet = self._sheet
        if cases:
            draft = self.curator.curate(sheet, cases=cases, query=query)
            sheet = self._accepted(draft, query)
        return self.answerer.answer(query, policy=sheet, evidence=cases)

    def learn_one(self, query: Query, prediction: Prediction, feedback: Feedback) -> None:
        episode = remember_unjudged(self.memory, query, prediction)
        if episode is None:
            return
        if self.similar is None:
            draft = self.curator.curate(self._sheet, cases=[episode])
            self._sheet = self._accepted(draft, query)
        elif prediction.policy is not None:
            self._sheet = prediction.policy

    def _accepted(self, draft: PolicyDraft, query: Query) -> Policy | None:
        """Return the new sheet, or the one in force where it was refused, and note why."""
        if draft.reason:
            kind = "policy_refused" if draft.refused else "bullets_refused"
            self.journal.record(Event(kind=kind, text=draft.reason, refs=(query.id,)))
        return self._sheet if draft.policy is None else draft.policy


INTRODUCTION_TOKENS = 100
"""What the sentence and the tags around a sheet take at most, beside its budget."""
