"""Writes a policy from past cases in one call; what is shown of them is for a `Wording` to say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from learnloop.editing.drafting import (
    ASK,
    PolicyPrompt,
    PolicyStyle,
    draft_policy,
    previous_section,
)
from learnloop.protocols import LanguageModel
from learnloop.types import Episode, Message, Options, Policy, PolicyDraft, Query, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What a writer of policies is told, and what it is shown.

    Attributes:
        writer: The name that goes with its policies.
        rules: What it is to do, by the prompt of the style; `{most}` stands for how many bullets.
        sections: Returns the cases as text.
    """

    writer: str
    rules: Mapping[PolicyPrompt, str]
    sections: Callable[[Task, PolicyStyle, Sequence[Episode]], Sequence[str]]


class CaseWriter:
    """Writes a few bullets from cases, in one call a query.

    Nothing is kept between queries but what is handed in as `previous`. Without cases no call is
    made.

    Args:
        model: Writes the policy; may be another model than the one that answers.
        task: What the cases are about.
        wording: `CONTRASTIVE`, or `NEUTRAL` without any feedback.
        style: How the policy is asked for and read.
        show_previous: Whether `previous` has a section, also where there is none yet and empty
            sections are kept.
        max_tokens: Limit on the reply.
        seed: Handed to the model.
    """

    def __init__(
        self,
        *,
        model: LanguageModel,
        task: Task,
        wording: Wording,
        style: PolicyStyle | None = None,
        show_previous: bool = True,
        max_tokens: int = 200,
        seed: int = 0,
    ) -> None:
        self.model = model
        self.task = task
        self.wording = wording
        self.style = style or PolicyStyle()
        self.show_previous = show_previous
        self.max_tokens = max_tokens
        self.seed = seed

    def write(
        self, query: Query, *, evidence: Sequence[Episode], previous: Policy | None
    ) -> PolicyDraft:
        if not evidence:
            return PolicyDraft(policy=None, reason="no cases yet")
        return draft_policy(
            self.model,
            self._messages(evidence, previous),
            options=Options(role="policy", max_tokens=self.max_tokens, seed=self.seed),
            style=self.style,
            evidence=evidence,
            writer=self.wording.writer,
        )

    def learn_one(self, episode: Episode, *, shown: Policy | None) -> None:
        """Learn nothing: each policy is written from the memory alone."""

    def _messages(
        self, evidence: Sequence[Episode], previous: Policy | None
    ) -> tuple[Message, ...]:
        rules = self.wording.rules[self.style.prompt].format(most=self.style.most)
        system = "\n\n".join([ROLE, self.task.instructions, rules])
        parts = previous_section(previous, style=self.style) if self.show_previous else []
        parts += [*self.wording.sections(self.task, self.style, evidence), ASK[self.style.prompt]]
        return (
            Message(role="system", content=system),
            Message(role="user", content="\n\n".join(parts)),
        )


ROLE = (
    "You study how an assistant answered earlier questions and write the policy that it will "
    "follow for the next one. The assistant's task:"
)
