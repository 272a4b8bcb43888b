"""DRPG without feedback: a policy and examples from similar answers, right or wrong alike."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, PositiveInt, model_validator

from learnloop.editing.case_writer import CaseWriter
from learnloop.editing.drafting import PolicyForm, PolicyPrompt, PolicyStyle
from learnloop.editing.neutral import NEUTRAL
from learnloop.memory.memory import Memory
from learnloop.memory.retrieval import Similar
from learnloop.methods.answering import Answerer
from learnloop.methods.calls import CallKind, Outlook, exactly, one_answer_each, up_to, written
from learnloop.methods.parts import Parts
from learnloop.methods.published import PUBLISHED_LIMITS, Insertion, inserted
from learnloop.methods.unjudged import remember_unjudged
from learnloop.prompting.composer import Composer, Layout, TokenBudget
from learnloop.protocols import Journal, PolicyWriter, Retriever
from learnloop.types import Episode, Event, Feedback, Policy, Prediction, Query


class DRPGNoFeedbackSettings(BaseModel):
    """The parameters of `drpg_no_feedback`; those it shares with `drpg` mean the same.

    Attributes:
        variant: `fixed`, or `published`: each parameter of `PUBLISHED` is as in the paper's own
            code where it is not given.
        k: How many similar answers both models see (the paper: 16, or 4).
        policy_cases: How many of them the policy writer sees; `None` is all.
        previous_policy: Show the policy writer the policy before.
        policy_only: Show the answering model no examples.
        policy_prompt: `drpg`, or `leap`: reasoning first.
        policy_bullets: How many bullets a policy may have; `None` is five, and eight with `leap`.
        policy_form: `bullets`, or `text` as published.
        insertion: `literal`, or `pattern` as published.
        reasoning: Ask the answering model for reasoning before the answer.
        layout: Order of the prompt; `paper` as published.
        max_tokens: Limit on an answer.
        examples_budget: Limit on all examples together, in estimated tokens.
        policy_budget: Limit on a policy in the prompt, in estimated tokens.
        policy_tokens: Limit on what the policy writer writes in one call.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    variant: Literal["fixed", "published"] = "fixed"
    k: PositiveInt = 4
    policy_cases: PositiveInt | None = None
    previous_policy: bool = False
    policy_only: bool = False
    policy_prompt: PolicyPrompt = "drpg"
    policy_bullets: PositiveInt | None = None
    policy_form: PolicyForm = "bullets"
    insertion: Insertion = "literal"
    reasoning: bool = False
    layout: Layout = "cache"
    max_tokens: PositiveInt = 256
    examples_budget: PositiveInt = 2000
    policy_budget: PositiveInt = 400
    policy_tokens: PositiveInt = 160

    @model_validator(mode="before")
    @classmethod
    def _fill_in_variant(cls, params: dict[str, object]) -> dict[str, object]:
        return PUBLISHED | params if params.get("variant") == "published" else params


PUBLISHED: dict[str, object] = {
    "policy_form": "text",
    "insertion": "pattern",
    "layout": "paper",
    **PUBLISHED_LIMITS,
}


class DRPGNoFeedback:
    """DRPG but for what feedback says: the measure of what labels are worth to it.

    Both models see the most similar past answers, whatever became of them, in neutral words. A
    method learns when feedback arrives, so that an answer that nobody says anything about is not
    remembered. The policy before is that of the whole stream, as published.

    Source: DRPG, arXiv 2609.16800, appendix F.

    Args:
        answerer: Answers.
        memory: Where answers are kept.
        similar: Finds past answers.
        writer: Writes the policy.
        journal: Told of refused policies.
        settings: The switches.
    """

    Settings = DRPGNoFeedbackSettings
    uses_feedback = False
    shows_wrong_answers = True

    def __init__(
        self,
        *,
        answerer: Answerer,
        memory: Memory,
        similar: Retriever,
        writer: PolicyWriter,
        journal: Journal,
        settings: DRPGNoFeedbackSettings,
    ) -> None:
        self.answerer = answerer
        self.memory = memory
        self.similar = similar
        self.writer = writer
        self.journal = journal
        self.settings = settings
        self._in_force: Policy | None = None

    @classmethod
    def from_parts(cls, parts: Parts, **params: object) -> DRPGNoFeedback:
        """Put the method together; `params` are the fields of `DRPGNoFeedbackSettings`."""
        settings = DRPGNoFeedbackSettings.model_validate(params)
        composer = Composer(
            layout=settings.layout,
            example_format="unjudged",
            budget=TokenBudget(examples=settings.examples_budget, policy=settings.policy_budget),
            reasoning=settings.reasoning,
        )
        return cls(
            answerer=parts.answerer(composer, max_tokens=settings.max_tokens),
            memory=parts.memory,
            similar=Similar(memory=parts.memory),
            writer=_writer(parts, settings),
            journal=parts.journal,
            settings=settings,
        )

    @classmethod
    def calls_a_stream(cls, outlook: Outlook, **params: object) -> tuple[CallKind, ...]:
        """Return an answer a query, and a policy for each but the first."""
        settings = DRPGNoFeedbackSettings.model_validate(params)
        most = max(outlook.length - 1, 0)
        return (
            one_answer_each(
                outlook,
                max_tokens=settings.max_tokens,
                episodes=0 if settings.policy_only else settings.k,
                learnt=written(settings.policy_tokens),
                reasoning=settings.reasoning,
            ),
            CallKind(
                role="policy",
                count=exactly(most) if outlook.judged else up_to(most, expected=most),
                max_tokens=settings.policy_tokens,
                episodes=settings.policy_cases or settings.k,
                asks=False,
                writes=written(settings.policy_tokens),
            ),
        )

    def predict_one(self, query: Query) -> Prediction:
        found = self.similar.retrieve(query, k=self.settings.k)
        evidence = found[-(self.settings.policy_cases or len(found)) :]
        policy = self._policy(query, evidence)
        examples = () if self.settings.policy_only else found
        shown = inserted(policy, examples=examples, insertion=self.settings.insertion)
        return self.answerer.answer(
            query, examples=shown.examples, policy=shown.policy, evidence=evidence
        )

    def learn_one(self, query: Query, prediction: Prediction, feedback: Feedback) -> None:
        if remember_unjudged(self.memory, query, prediction) is None:
            return
        if prediction.policy is not None:
            self._in_force = prediction.policy

    def _policy(self, query: Query, evidence: tuple[Episode, ...]) -> Policy | None:
        """Return a new policy, or the one in force where it is refused, and note why."""
        previous = self._in_force if self.settings.previous_policy else None
        draft = self.writer.write(query, evidence=evidence, previous=previous)
        if draft.refused or (draft.policy is not None and draft.reason):
            kind = "policy_refused" if draft.refused else "bullets_refused"
            self.journal.record(Event(kind=kind, text=draft.reason, refs=(query.id,)))
        return self._in_force if draft.refused else draft.policy


def _writer(parts: Parts, settings: DRPGNoFeedbackSettings) -> PolicyWriter:
    return CaseWriter(
        model=parts.policy_model,
        task=parts.task,
        wording=NEUTRAL,
        style=PolicyStyle(
            prompt=settings.policy_prompt,
            form=settings.policy_form,
            max_bullets=settings.policy_bullets,
        ),
        show_previous=settings.previous_policy,
        max_tokens=settings.policy_tokens,
        seed=parts.seed,
    )
