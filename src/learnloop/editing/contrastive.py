"""The policy writer of the DRPG paper: a policy written anew for each query, from cases."""

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
from learnloop.quoting import as_data
from learnloop.types import Episode, Message, Options, Policy, PolicyDraft, Query, Task


class ContrastiveWriter:
    """Writes a few bullets from similar wrong and right cases, in one call a query.

    Wrong cases stand before right ones, each with the comment and the correction that its
    feedback carried. Nothing is kept between queries but what is handed in as `previous`.

    Source: DRPG, arXiv 2609.16800.

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
            writer="contrastive",
        )

    def learn_one(self, episode: Episode, *, shown: Policy | None) -> None:
        """Learn nothing: each policy is written from the memory alone."""

    def _messages(
        self, evidence: Sequence[Episode], previous: Policy | None
    ) -> tuple[Message, ...]:
        rules = RULES[self.style.prompt].format(most=self.style.most)
        system = "\n\n".join([ROLE, self.task.instructions, rules])
        parts = previous_section(previous, style=self.style) if self.show_previous else []
        parts += self._section(WRONG, [one for one in evidence if one.correct is False])
        parts += self._section(RIGHT, [one for one in evidence if one.correct])
        parts.append(ASK[self.style.prompt])
        return (
            Message(role="system", content=system),
            Message(role="user", content="\n\n".join(parts)),
        )

    def _section(self, title: str, cases: Sequence[Episode]) -> list[str]:
        if not cases and not self.style.keep_empty:
            return []
        return ["\n\n".join([title, *map(self._case, cases)])]

    def _case(self, episode: Episode) -> str:
        lines = case_lines(self.task, episode)
        for feedback in episode.feedback:
            if feedback.comment:
                lines.append(f"Complaint: {as_data(feedback.comment)}")
            if feedback.correction:
                lines.append(f"Right {self.task.answer_label}: {as_data(feedback.correction)}")
        if self.style.label_cases:
            lines.append(LABELS[bool(episode.correct)])
        return "\n".join(lines)


ROLE = (
    "You study how an assistant answered earlier questions and write the policy that it will "
    "follow for the next one. The assistant's task:"
)

RULES = {
    "drpg": (
        "Look at all cases. Find what the wrong answers missed and the right answers did. Write "
        "at most {most} short bullets that make the next answer right. Keep every "
        "concrete column, value and pattern from the complaints and corrections. Leave out what "
        "is redundant and what any expert knows anyway. Reply with a line POLICY: and then one "
        'bullet a line, each starting with "- ".'
    ),
    "leap": (
        "Look at all cases. First write REASONING: and, for each wrong answer, why it was wrong. "
        "Then write POLICY: and at most {most} short bullets with what was learnt, each "
        'starting with "- ". Keep every concrete column, value and pattern.'
    ),
}

WRONG = "Cases that were answered WRONG:"

RIGHT = "Cases that were answered RIGHT:"

LABELS = {
    True: "Feedback: this answer is correct.",
    False: "Feedback: this answer is not correct.",
}
