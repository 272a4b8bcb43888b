"""Dynamic retrieval-based policy generation: right examples, and a policy for each query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, PositiveInt, model_validator

from learnloop.editing.case_writer import CaseWriter
from learnloop.editing.contrastive import CONTRASTIVE
from learnloop.editing.drafting import PolicyForm, PolicyPrompt, PolicyStyle
from learnloop.editing.rule import Rule
from learnloop.editing.rules import RulesWriter
from learnloop.errors import ParameterError
from learnloop.memory.memory import Memory
from learnloop.memory.retrieval import POOL_FACTOR, CommonPool, Contrastive, Right, Wrong
from learnloop.methods.answering import Answerer
from learnloop.methods.calls import (
    WRONG_SHARE,
    CallKind,
    Outlook,
    Span,
    exactly,
    one_answer_each,
    up_to,
    written,
)
from learnloop.methods.hosting_refusals import needs_a_model, reasoning_refusal
from learnloop.methods.parts import Parts
from learnloop.methods.published import PUBLISHED_LIMITS, Insertion, inserted
from learnloop.methods.remembering import remember
from learnloop.prompting.blocks import ExampleFormat
from learnloop.prompting.composer import Composer, Layout, TokenBudget
from learnloop.protocols import Journal, PolicyWriter, Retriever
from learnloop.states import State
from learnloop.types import (
    Advice,
    Episode,
    Event,
    Feedback,
    Outcome,
    Policy,
    PolicyDraft,
    Prediction,
    Query,
)


class DRPGSettings(BaseModel):
    """The parameters of `drpg`; the first value of each choice is the default.

    Attributes:
        variant: `fixed`, or `published`: each parameter of `PUBLISHED` is as in the paper's own
            code where it is not given. `k` stays what it is here: the paper's is 16, and 4 for
            HotpotQA and DS-1000.
        writer: `rules` (one rule a complaint, kept) or `contrastive` (the paper's: a policy
            written anew for each query).
        k: How many right examples the answering model sees.
        policy_cases: Which episodes the contrastive writer sees.
        cases_per_class: How many of each outcome it sees; `None` is the paper's choice, k/2 of
            each or k of one alone (its code can also take two, or one).
        case_format: `labelled` puts a sentence of feedback under each case, as published.
        empty_cases: `omit` an empty section of cases, or `keep` it as published.
        previous_policy: Show the contrastive writer the policy before (the paper's appendix E).
        policy_scope: Which one that is, and which stays in force where a new one is refused: the
            last of the query's own `group`, or of the whole `stream`, as published.
        policy_only: Show the answering model no examples.
        policy_prompt: `drpg`, or `leap`: reasoning first, for which `policy_tokens` must do.
        policy_bullets: How many bullets a contrastive policy may have; `None` is five, and eight
            with `leap`.
        policy_form: `bullets` refuses a contrastive policy that is no list of bullets; `text` takes
            whatever follows `POLICY:`, as published.
        pool: `per_class` retrieves right and wrong cases each from all of their class; `common`
            takes both from one pool of the 10 k nearest, as published.
        example_format: `plain`, or `labelled` as published.
        reasoning: Ask the answering model for reasoning before the answer.
        insertion: `literal`, or `pattern` as published (see `published.py`).
        empty_examples: `omit`, or `keep` the empty block as published.
        layout: Order of the prompt; `paper` as published.
        max_tokens: Limit on an answer.
        examples_budget: Limit on all examples together, in estimated tokens.
        policy_budget: Limit on a policy in the prompt, in estimated tokens.
        policy_tokens: Limit on what a policy writer writes in one call.
        same_meaning: Cosine from which the rules writer takes two complaints for one.
        min_fit: Score that one of its rules needs to be shown for a query, about 0 to 2.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    variant: Literal["fixed", "published"] = "fixed"
    writer: Literal["rules", "contrastive"] = "rules"
    k: PositiveInt = 4
    policy_cases: Literal["contrastive", "correct", "wrong"] = "contrastive"
    cases_per_class: PositiveInt | None = None
    case_format: ExampleFormat = "plain"
    empty_cases: Literal["omit", "keep"] = "omit"
    previous_policy: bool = False
    policy_scope: Literal["group", "stream"] = "group"
    policy_only: bool = False
    policy_prompt: PolicyPrompt = "drpg"
    policy_bullets: PositiveInt | None = None
    policy_form: PolicyForm = "bullets"
    pool: Literal["per_class", "common"] = "per_class"
    example_format: ExampleFormat = "plain"
    reasoning: bool = False
    insertion: Insertion = "literal"
    empty_examples: Literal["omit", "keep"] = "omit"
    layout: Layout = "cache"
    max_tokens: PositiveInt = 256
    examples_budget: PositiveInt = 2000
    policy_budget: PositiveInt = 400
    policy_tokens: PositiveInt = 160
    same_meaning: float = 0.8
    min_fit: float = 0.3

    @model_validator(mode="before")
    @classmethod
    def _fill_in_variant(cls, params: dict[str, object]) -> dict[str, object]:
        return PUBLISHED | params if params.get("variant") == "published" else params


PUBLISHED: dict[str, object] = {
    "writer": "contrastive",
    "policy_form": "text",
    "case_format": "labelled",
    "empty_cases": "keep",
    "policy_scope": "stream",
    "pool": "common",
    "example_format": "labelled",
    "insertion": "pattern",
    "empty_examples": "keep",
    "layout": "paper",
    **PUBLISHED_LIMITS,
}
"""What `variant=published` stands for."""


class DRPGState(State):
    """What `drpg` has learnt beside the memory: its rules, and the policies last acted upon."""

    rules: dict[str, object]
    in_force: dict[str, Policy]


class DRPG:
    """Answers with similar right answers and a policy from similar right and wrong ones.

    The answering model never sees a wrong answer; wrong ones go to the policy writer only. A
    refused policy leaves the one in force, and says so in the journal.

    Source: DRPG, arXiv 2609.16800.

    Args:
        answerer: Answers.
        memory: Where episodes are kept.
        examples: Finds right episodes for the answering model.
        evidence: Finds episodes for the policy writer.
        writer: Writes the policy.
        journal: Told of refused policies.
        settings: The switches.
    """

    Settings = DRPGSettings

    @classmethod
    def writes_from_comments(cls, **params: object) -> bool:
        """Return whether without any comment no policy will ever be written."""
        return DRPGSettings.model_validate(params).writer == "rules"

    def __init__(
        self,
        *,
        answerer: Answerer,
        memory: Memory,
        examples: Retriever,
        evidence: Retriever,
        writer: PolicyWriter,
        journal: Journal,
        settings: DRPGSettings,
    ) -> None:
        self.answerer = answerer
        self.memory = memory
        self.examples = examples
        self.evidence = evidence
        self.writer = writer
        self.journal = journal
        self.settings = settings
        self._in_force: dict[str, Policy] = {}

    @classmethod
    def from_parts(cls, parts: Parts, **params: object) -> DRPG:
        """Put the method together; `params` are the fields of `DRPGSettings`."""
        settings = DRPGSettings.model_validate(params)
        composer = Composer(
            layout=settings.layout,
            example_format=settings.example_format,
            budget=TokenBudget(examples=settings.examples_budget, policy=settings.policy_budget),
            keep_empty_examples=settings.empty_examples == "keep" and not settings.policy_only,
            reasoning=settings.reasoning,
        )
        return cls(
            answerer=parts.answerer(composer, max_tokens=settings.max_tokens),
            memory=parts.memory,
            examples=_examples(parts, settings),
            evidence=_evidence(parts, settings),
            writer=_writer(parts, settings),
            journal=parts.journal,
            settings=settings,
        )

    @classmethod
    def hosting_refusal(cls, **params: object) -> str | None:
        """Say why these parameters do not go with an application; `None` where they do."""
        settings = DRPGSettings.model_validate(params)
        if settings.writer != "rules":
            return needs_a_model("writer", settings.writer, "rules")
        return reasoning_refusal(settings.reasoning)

    @classmethod
    def calls_a_stream(cls, outlook: Outlook, **params: object) -> tuple[CallKind, ...]:
        """Return an answer a query, and a policy for each query with cases (or new complaint)."""
        settings = DRPGSettings.model_validate(params)
        rules = settings.writer == "rules"
        cases = 1 if rules else _cases(settings)
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
                count=(_rules_written if rules else _policies_written)(outlook, settings),
                max_tokens=settings.policy_tokens,
                episodes=cases,
                asks=False,
                writes=written(settings.policy_tokens),
            ),
        )

    def predict_one(self, query: Query) -> Prediction:
        return self.answerer.follow(query, self._advice(query))

    def advise(self, query: Query) -> Advice:
        self._kept_rules()
        return self._advice(query)

    def learn_one(self, query: Query, prediction: Prediction, feedback: Feedback) -> None:
        self.reflect_one(self.remember_one(query, prediction, feedback), prediction)

    def remember_one(self, query: Query, prediction: Prediction, feedback: Feedback) -> Episode:
        return remember(self.memory, query, prediction, feedback)

    def reflect_one(self, episode: Episode, prediction: Prediction) -> None:
        if prediction.policy is not None:
            self._in_force[self._scope(episode.query)] = prediction.policy
        self.writer.learn_one(episode, shown=prediction.policy)

    def state(self) -> dict[str, object]:
        rules = self._kept_rules().state()
        return DRPGState(rules=rules, in_force=self._in_force).written()

    def restore(self, state: Mapping[str, object]) -> None:
        read = DRPGState.read(state)
        self._kept_rules().restore(read.rules)
        self._in_force = dict(read.in_force)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules, oldest first; only with `writer=rules`."""
        return self._kept_rules().rules

    def retire(self, rule_id: int, *, cause: str) -> None:
        self._kept_rules().retire(rule_id, cause=cause)

    def restore_rule(self, rule_id: int) -> None:
        self._kept_rules().restore_rule(rule_id)

    def _kept_rules(self) -> RulesWriter:
        if not isinstance(self.writer, RulesWriter):
            raise ParameterError(needs_a_model("writer", self.settings.writer, "rules"))
        return self.writer

    def _advice(self, query: Query) -> Advice:
        evidence = self.evidence.retrieve(query, k=_cases(self.settings))
        before = self._in_force.get(self._scope(query))
        previous = before if self.settings.previous_policy else None
        draft = self.writer.write(query, evidence=evidence, previous=previous)
        self._note(query, draft)
        policy = before if draft.refused else draft.policy
        k = self.settings.k
        examples = () if self.settings.policy_only else self.examples.retrieve(query, k=k)
        shown = inserted(policy, examples=examples, insertion=self.settings.insertion)
        return Advice(examples=shown.examples, policy=shown.policy, evidence=evidence)

    def _scope(self, query: Query) -> str:
        return query.group if self.settings.policy_scope == "group" else ""

    def _note(self, query: Query, draft: PolicyDraft) -> None:
        if draft.refused:
            event = Event(kind="policy_refused", text=draft.reason, refs=(query.id,))
            self.journal.record(event)
        elif draft.policy is not None and draft.reason:
            self.journal.record(Event(kind="bullets_refused", text=draft.reason, refs=(query.id,)))


def _cases(settings: DRPGSettings) -> int:
    """Return how many episodes the contrastive writer is shown."""
    if settings.cases_per_class is None:
        return settings.k
    both = settings.policy_cases == "contrastive"
    return settings.cases_per_class * (2 if both else 1)


def _policies_written(outlook: Outlook, settings: DRPGSettings) -> Span:
    """Return how many policies the contrastive writer writes: one a query, once there are cases.

    Where right and wrong ones count and each answer is judged, there are some after the first.
    """
    most = max(outlook.length - 1, 0)
    any_will_do = settings.policy_cases == "contrastive" and _cases(settings) > 1
    return exactly(most) if any_will_do and outlook.judged else up_to(most, expected=most)


def _rules_written(outlook: Outlook, settings: DRPGSettings) -> Span:
    """Return how many complaints become rules: none where none comes, each at most once."""
    if not outlook.explained:
        return exactly(0)
    return up_to(outlook.length, expected=outlook.length * WRONG_SHARE)


def _examples(parts: Parts, settings: DRPGSettings) -> Retriever:
    if settings.pool == "common":
        return CommonPool(memory=parts.memory, outcome="right")
    return Right(memory=parts.memory)


def _evidence(parts: Parts, settings: DRPGSettings) -> Retriever:
    memory = parts.memory
    if settings.pool == "common":
        outcomes: dict[str, Outcome | None] = {"correct": "right", "wrong": "wrong"}
        pool = POOL_FACTOR * settings.k
        return CommonPool(memory=memory, outcome=outcomes.get(settings.policy_cases), pool=pool)
    retrievers: dict[str, Retriever] = {
        "contrastive": Contrastive(memory=memory),
        "correct": Right(memory=memory),
        "wrong": Wrong(memory=memory),
    }
    return retrievers[settings.policy_cases]


def _writer(parts: Parts, settings: DRPGSettings) -> PolicyWriter:
    if settings.writer == "rules":
        return RulesWriter(
            model=parts.policy_model,
            embedder=parts.embedder,
            journal=parts.journal,
            max_tokens=settings.policy_tokens,
            same_meaning=settings.same_meaning,
            min_fit=settings.min_fit,
            seed=parts.seed,
        )
    return CaseWriter(
        model=parts.policy_model,
        task=parts.task,
        wording=CONTRASTIVE,
        style=PolicyStyle(
            prompt=settings.policy_prompt,
            form=settings.policy_form,
            max_bullets=settings.policy_bullets,
            label_cases=settings.case_format == "labelled",
            keep_empty=settings.empty_cases == "keep",
        ),
        show_previous=settings.previous_policy,
        max_tokens=settings.policy_tokens,
        seed=parts.seed,
    )
