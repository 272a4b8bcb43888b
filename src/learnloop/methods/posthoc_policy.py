"""One policy for the whole stream, rewritten after each wrong answer and at no other time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, PositiveInt, model_validator

from learnloop.control.proportional import ProportionalGate
from learnloop.editing.case_writer import CaseWriter
from learnloop.editing.contrastive import CONTRASTIVE
from learnloop.editing.drafting import PolicyForm, PolicyPrompt, PolicyStyle
from learnloop.editing.prompt_history import PromptHistory
from learnloop.errors import StoreError
from learnloop.memory.memory import Memory
from learnloop.memory.retrieval import Right
from learnloop.methods.answering import Answerer
from learnloop.methods.calls import WRONG_SHARE, CallKind, Outlook, one_answer_each, up_to, written
from learnloop.methods.hosting_refusals import reasoning_refusal
from learnloop.methods.parts import Parts
from learnloop.methods.published import PUBLISHED_LIMITS, Insertion, inserted
from learnloop.methods.remembering import remember
from learnloop.prompting.blocks import ExampleFormat
from learnloop.prompting.composer import Composer, Layout, TokenBudget
from learnloop.protocols import Gate, Journal, PolicyWriter, Retriever
from learnloop.seen import Seen
from learnloop.states import State
from learnloop.types import (
    Advice,
    Decision,
    Episode,
    Event,
    Feedback,
    Policy,
    PolicyDraft,
    Prediction,
    Query,
)


class PosthocPolicySettings(BaseModel):
    """The parameters of `posthoc_policy`; those it shares with `drpg` mean the same.

    Attributes:
        variant: `fixed`, or `published`: each parameter of `PUBLISHED` is as in the paper's own
            code where it is not given.
        k: How many right examples the answering model sees.
        policy_cases: What the policy writer sees: the last `wrong` case alone, or `contrastive`,
            with k/2 right cases that are similar to it.
        previous_policy: Show the policy writer the policy that it edits.
        policy_only: Show the answering model no examples.
        policy_prompt: `drpg`, or `leap`: reasoning first.
        policy_bullets: How many bullets the policy may have; `None` is five, and eight with `leap`.
        policy_form: `bullets`, or `text` as published.
        case_format: `plain`, or `labelled` as published.
        example_format: `plain`, or `labelled` as published.
        insertion: `literal`, or `pattern` as published.
        reasoning: Ask the answering model for reasoning before the answer.
        layout: Order of the prompt; `paper` as published.
        max_tokens: Limit on an answer.
        examples_budget: Limit on all examples together, in estimated tokens.
        policy_budget: Limit on the policy in the prompt, in estimated tokens.
        policy_tokens: Limit on what the policy writer writes in one call.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    variant: Literal["fixed", "published"] = "fixed"
    k: PositiveInt = 4
    policy_cases: Literal["wrong", "contrastive"] = "wrong"
    previous_policy: bool = True
    policy_only: bool = False
    policy_prompt: PolicyPrompt = "drpg"
    policy_bullets: PositiveInt | None = None
    policy_form: PolicyForm = "bullets"
    case_format: ExampleFormat = "plain"
    example_format: ExampleFormat = "plain"
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
    "case_format": "labelled",
    "example_format": "labelled",
    "insertion": "pattern",
    "layout": "paper",
    **PUBLISHED_LIMITS,
}


class PosthocPolicyState(State):
    """What `posthoc_policy` has learnt beside the memory.

    `policies` are those of the versions of `prompts`, by their text; `judged` the newest episodes
    that were taken in. `errors` is what the gate was told, a letter each: a fresh gate that is
    told the same is the same gate.
    """

    prompts: dict[str, object]
    policies: dict[str, Policy]
    judged: tuple[str, ...]
    errors: str


class PosthocPolicy:
    """One call for a right answer and two for a wrong one: a P gate before a policy writer.

    The policy is rewritten when a wrong answer becomes known, once for each answer, with that case
    as the evidence (the published code does so at the next query). A refused policy leaves the one
    in force. The answering model sees it with the most similar right answers.

    Every policy is a version of `prompts`, as text; version 0, before the first one, is empty.

    Source: the `posthoc_policy` agent of DRPG's published code, arXiv 2609.16800.

    Args:
        answerer: Answers.
        memory: Where episodes are kept.
        examples: Finds right episodes.
        writer: Writes the policy.
        gate: Says whether an error is one to rewrite the policy for.
        journal: Told of what the gate decided, and of policies changed and refused.
        settings: The switches.
    """

    Settings = PosthocPolicySettings

    def __init__(
        self,
        *,
        answerer: Answerer,
        memory: Memory,
        examples: Retriever,
        writer: PolicyWriter,
        gate: Gate,
        journal: Journal,
        settings: PosthocPolicySettings,
    ) -> None:
        self.answerer = answerer
        self.memory = memory
        self.examples = examples
        self.writer = writer
        self.gate = gate
        self.journal = journal
        self.settings = settings
        self.prompts = PromptHistory("")
        self._policies: dict[str, Policy] = {}
        self._judged = Seen()
        self._errors: list[str] = []

    @classmethod
    def from_parts(cls, parts: Parts, **params: object) -> PosthocPolicy:
        """Put the method together; `params` are the fields of `PosthocPolicySettings`."""
        settings = PosthocPolicySettings.model_validate(params)
        composer = Composer(
            layout=settings.layout,
            example_format=settings.example_format,
            budget=TokenBudget(examples=settings.examples_budget, policy=settings.policy_budget),
            reasoning=settings.reasoning,
        )
        return cls(
            answerer=parts.answerer(composer, max_tokens=settings.max_tokens),
            memory=parts.memory,
            examples=Right(memory=parts.memory),
            writer=_writer(parts, settings),
            gate=ProportionalGate(),
            journal=parts.journal,
            settings=settings,
        )

    @classmethod
    def hosting_refusal(cls, **params: object) -> str | None:
        """Say why these parameters do not go with an application; `None` where they do."""
        return reasoning_refusal(PosthocPolicySettings.model_validate(params).reasoning)

    @classmethod
    def calls_a_stream(cls, outlook: Outlook, **params: object) -> tuple[CallKind, ...]:
        """Return an answer a query, and a policy for each wrong one."""
        settings = PosthocPolicySettings.model_validate(params)
        contrastive = settings.policy_cases == "contrastive"
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
                count=up_to(outlook.length, expected=outlook.length * WRONG_SHARE),
                max_tokens=settings.policy_tokens,
                episodes=1 + (settings.k // 2 if contrastive else 0),
                learnt=written(settings.policy_tokens) if settings.previous_policy else 0,
                asks=False,
                writes=written(settings.policy_tokens),
            ),
        )

    def predict_one(self, query: Query) -> Prediction:
        return self.answerer.follow(query, self.advise(query))

    def advise(self, query: Query) -> Advice:
        k = self.settings.k
        examples = () if self.settings.policy_only else self.examples.retrieve(query, k=k)
        shown = inserted(self._policy, examples=examples, insertion=self.settings.insertion)
        return Advice(examples=shown.examples, policy=shown.policy)

    def learn_one(self, query: Query, prediction: Prediction, feedback: Feedback) -> None:
        self.reflect_one(self.remember_one(query, prediction, feedback), prediction)

    def remember_one(self, query: Query, prediction: Prediction, feedback: Feedback) -> Episode:
        return remember(self.memory, query, prediction, feedback)

    def reflect_one(self, episode: Episode, prediction: Prediction) -> None:
        if episode.correct is None or episode.id in self._judged:
            return
        error = 0.0 if episode.correct else 1.0
        decision = self._tell(error)
        self.journal.decided(error, decision)
        if decision.opened and not self.prompts.pinned:
            self._edit(episode)
        self._judged.add(episode.id)

    def state(self) -> dict[str, object]:
        return PosthocPolicyState(
            prompts=self.prompts.state(),
            policies=self._policies,
            judged=self._judged.ids,
            errors="".join(self._errors),
        ).written()

    def restore(self, state: Mapping[str, object]) -> None:
        read = PosthocPolicyState.read(state)
        if self._policies or self._errors:
            raise StoreError("a method that has learnt something takes no state; make a new one")
        self.prompts.take_over(read.prompts)
        self._policies = dict(read.policies)
        self._judged = Seen(read.judged)
        for error in read.errors:
            self._tell(float(error))

    def pin(self, *, pinned: bool = True) -> None:
        self.prompts.pin(pinned=pinned)

    def _tell(self, error: float) -> Decision:
        self._errors.append(str(int(error)))
        return self.gate.decide(error)

    @property
    def _policy(self) -> Policy | None:
        """The policy in force."""
        return self._policies.get(self.prompts.current.text)

    def _edit(self, episode: Episode) -> None:
        query, before = episode.query, self.prompts.current
        evidence: tuple[Episode, ...] = (episode,)
        if self.settings.policy_cases == "contrastive":
            evidence = (*self.examples.retrieve(query, k=self.settings.k // 2), episode)
        previous = self._policy if self.settings.previous_policy else None
        draft = self.writer.write(query, evidence=evidence, previous=previous)
        if self.prompts.pinned or self.prompts.current != before:
            draft = PolicyDraft(policy=None, reason=OVERTAKEN, refused=True)
        if draft.policy is not None:
            self._deploy(draft.policy)
        self._note(episode, draft)

    def _deploy(self, policy: Policy) -> None:
        """Put a policy in force, and forget those of no version that is kept."""
        text = "\n".join(bullet.text for bullet in policy.bullets)
        self.prompts.deploy(text, cause="edit")
        known = {**self._policies, text: policy}
        kept = [version.prompt.text for version in self.prompts.versions]
        self._policies = {text: known[text] for text in kept if text in known}

    def _note(self, episode: Episode, draft: PolicyDraft) -> None:
        if draft.policy is not None:
            text = self.prompts.current.text
            self.journal.record(Event(kind="policy_changed", text=text, refs=(episode.id,)))
        if draft.reason:
            kind = "policy_refused" if draft.refused else "bullets_refused"
            self.journal.record(Event(kind=kind, text=draft.reason, refs=(episode.id,)))


def _writer(parts: Parts, settings: PosthocPolicySettings) -> PolicyWriter:
    return CaseWriter(
        model=parts.policy_model,
        task=parts.task,
        wording=CONTRASTIVE,
        style=PolicyStyle(
            prompt=settings.policy_prompt,
            form=settings.policy_form,
            max_bullets=settings.policy_bullets,
            label_cases=settings.case_format == "labelled",
        ),
        show_previous=settings.previous_policy,
        max_tokens=settings.policy_tokens,
        seed=parts.seed,
    )


OVERTAKEN = "another policy came into force, or was pinned, while it was written"
