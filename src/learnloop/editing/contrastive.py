"""The policy writer of the DRPG paper: a policy written anew for each query, from cases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from learnloop.editing.bullets import MAX_BULLETS, as_bullets, read_bullets
from learnloop.errors import LanguageModelError, ParameterError
from learnloop.protocols import LanguageModel
from learnloop.quoting import as_data
from learnloop.types import (
    Bullet,
    Episode,
    Message,
    Options,
    Policy,
    PolicyDraft,
    Query,
    Task,
)

PolicyPrompt = Literal["drpg", "leap"]
PolicyForm = Literal["bullets", "text"]


class ContrastiveWriter:
    """Writes at most five bullets from similar wrong and right cases, in one call a query.

    Wrong cases stand before right ones, each with the comment and the correction that its
    feedback carried. Nothing is kept between queries but what is handed in as `previous`.

    Source: DRPG, arXiv 2609.16800; `leap` asks for reasoning first, after arXiv 2402.05403.

    Args:
        model: Writes the policy; may be another model than the one that answers.
        task: What the cases are about.
        prompt: `drpg`, or `leap` (reasoning first).
        form: `bullets` refuses a policy that is none; `text` takes every line after `POLICY:` for
            a bullet, as the published code does.
        max_tokens: Limit on the reply.
        seed: Handed to the model.
    """

    def __init__(
        self,
        *,
        model: LanguageModel,
        task: Task,
        prompt: PolicyPrompt = "drpg",
        form: PolicyForm = "bullets",
        max_tokens: int = 200,
        seed: int = 0,
    ) -> None:
        if prompt not in ("drpg", "leap"):
            raise ParameterError(f"policy_prompt must be 'drpg' or 'leap', got {prompt!r}")
        self.model = model
        self.task = task
        self.prompt = prompt
        self.form = form
        self.max_tokens = max_tokens
        self.seed = seed

    def write(
        self, query: Query, *, evidence: Sequence[Episode], previous: Policy | None
    ) -> PolicyDraft:
        if not evidence:
            return PolicyDraft(policy=None, reason="no cases yet")
        options = Options(role="policy", max_tokens=self.max_tokens, seed=self.seed)
        try:
            reply = self.model.complete(self._messages(evidence, previous), options=options)
        except LanguageModelError as error:
            reason = f"call failed: {type(error).__name__}"
            return PolicyDraft(policy=None, reason=reason, refused=True)
        text = as_bullets(reply.text) if self.form == "text" else reply.text
        reading = read_bullets(text, evidence=evidence)
        if not reading.bullets:
            reason = "; ".join(reading.refused) or "no bullets"
            return PolicyDraft(policy=None, reason=reason, refused=True)
        sources = tuple(episode.id for episode in evidence)
        bullets = tuple(Bullet(text=text, sources=sources) for text in reading.bullets)
        past = [f"{reading.dropped} over the limit"] if reading.dropped else []
        reason = "; ".join([*reading.refused, *past])
        return PolicyDraft(policy=Policy(bullets=bullets, writer="contrastive"), reason=reason)

    def learn_one(self, episode: Episode, *, shown: Policy | None) -> None:
        """Learn nothing: each policy is written from the memory alone."""

    def _messages(
        self, evidence: Sequence[Episode], previous: Policy | None
    ) -> tuple[Message, ...]:
        system = "\n\n".join([ROLE, self.task.instructions, RULES[self.prompt]])
        wrong = [self._case(episode) for episode in evidence if episode.correct is False]
        right = [self._case(episode) for episode in evidence if episode.correct]
        parts = []
        if previous is not None:
            parts.append("\n".join([PREVIOUS, *(f"- {as_data(b.text)}" for b in previous.bullets)]))
        if wrong:
            parts.append("\n\n".join([WRONG, *wrong]))
        if right:
            parts.append("\n\n".join([RIGHT, *right]))
        parts.append(ASK[self.prompt])
        return (
            Message(role="system", content=system),
            Message(role="user", content="\n\n".join(parts)),
        )

    def _case(self, episode: Episode) -> str:
        lines = [
            f"{self.task.query_label}: {as_data(episode.query.text)}",
            f"{self.task.answer_label}: {as_data(episode.answer)}",
        ]
        for feedback in episode.feedback:
            if feedback.comment:
                lines.append(f"Complaint: {as_data(feedback.comment)}")
            if feedback.correction:
                lines.append(f"Right {self.task.answer_label}: {as_data(feedback.correction)}")
        return "\n".join(lines)


ROLE = (
    "You study how an assistant answered earlier questions and write the policy that it will "
    "follow for the next one. The assistant's task:"
)

RULES = {
    "drpg": (
        "Look at all cases. Find what the wrong answers missed and the right answers did. Write "
        f"at most {MAX_BULLETS} short bullets that make the next answer right. Keep every "
        "concrete column, value and pattern from the complaints and corrections. Leave out what "
        "is redundant and what any expert knows anyway. Reply with a line POLICY: and then one "
        'bullet a line, each starting with "- ".'
    ),
    "leap": (
        "Look at all cases. First write REASONING: and, for each wrong answer, why it was wrong. "
        f"Then write POLICY: and at most {MAX_BULLETS} short bullets with what was learnt, each "
        'starting with "- ". Keep every concrete column, value and pattern.'
    ),
}

PREVIOUS = "The policy so far; keep what still holds:"

WRONG = "Cases that were answered WRONG:"

RIGHT = "Cases that were answered RIGHT:"

ASK = {"drpg": "POLICY:", "leap": "Now write REASONING: and then POLICY:"}
