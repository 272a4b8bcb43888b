"""A policy writer that knows no outcome: a policy from similar cases, right or wrong."""

from __future__ import annotations

from collections.abc import Sequence

from learnloop.editing.drafting import (
    ASK,
    PolicyStyle,
    case_lines,
    draft_policy,
    previous_section,
)
from learnloop.protocols import LanguageModel
from learnloop.types import Episode, Message, Options, Policy, PolicyDraft, Query, Task


class NeutralWriter:
    """Writes a few bullets from similar cases, in one call a query, and uses no feedback.

    What is known of a case beyond its query and its answer is not shown.

    Source: the no-feedback ablation of DRPG, arXiv 2609.16800, appendix F.

    Args:
        model: Writes the policy; may be another model than the one that answers.
        task: What the cases are about.
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
        style: PolicyStyle | None = None,
        show_previous: bool = True,
        max_tokens: int = 200,
        seed: int = 0,
    ) -> None:
        self.model = model
        self.task = task
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
            writer="neutral",
        )

    def learn_one(self, episode: Episode, *, shown: Policy | None) -> None:
        """Learn nothing: each policy is written from the memory alone."""

    def _messages(
        self, evidence: Sequence[Episode], previous: Policy | None
    ) -> tuple[Message, ...]:
        rules = RULES[self.style.prompt].format(most=self.style.most)
        system = "\n\n".join([ROLE, self.task.instructions, rules])
        cases = ["\n".join(case_lines(self.task, episode)) for episode in evidence]
        parts = previous_section(previous, style=self.style) if self.show_previous else []
        parts += ["\n\n".join([CASES, *cases]), ASK[self.style.prompt]]
        return (
            Message(role="system", content=system),
            Message(role="user", content="\n\n".join(parts)),
        )


ROLE = (
    "You study how an assistant answered earlier questions and write the policy that it will "
    "follow for the next one. The assistant's task:"
)

RULES = {
    "drpg": (
        "Look at all cases. Find what carries over to similar questions and where an answer can "
        "go astray. Write at most {most} short bullets that help with the next answer. Keep "
        "concrete columns, values and patterns. Leave out what is redundant and what any expert "
        "knows anyway. Reply with a line POLICY: and then one bullet a line, each starting with "
        '"- ".'
    ),
    "leap": (
        "Look at all cases. First write REASONING: and what the answers have in common and where "
        "they differ. Then write POLICY: and at most {most} short bullets that carry over, each "
        'starting with "- ". Keep concrete columns, values and patterns.'
    ),
}

CASES = "Earlier questions and the assistant's answers; nobody has judged them:"
