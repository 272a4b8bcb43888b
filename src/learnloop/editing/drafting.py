"""One call of a policy writer: from messages to a draft, and how a case looks in the messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from learnloop.editing.bullets import MAX_BULLETS, Reading, read_bullets, read_lines
from learnloop.errors import LanguageModelError, ParameterError
from learnloop.protocols import LanguageModel
from learnloop.quoting import as_data
from learnloop.types import Bullet, Episode, Message, Options, Policy, PolicyDraft, Task

PolicyPrompt = Literal["drpg", "leap"]
PolicyForm = Literal["bullets", "text"]
LEAP_BULLETS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyStyle:
    """How a policy is asked for and read. The first value of each choice is the default.

    Attributes:
        prompt: `drpg`, or `leap`: reasoning first, after arXiv 2402.05403.
        form: `bullets` refuses a policy that is none; `text` takes every line after `POLICY:` for
            a bullet, as the published code does.
        max_bullets: How many bullets are asked for and kept; `None` is five, and eight with `leap`.
            With `text` whatever was written is kept.
        label_cases: Put a sentence of feedback under each case, as published.
        keep_empty: Show a section that has nothing in it, as published.
    """

    prompt: PolicyPrompt = "drpg"
    form: PolicyForm = "bullets"
    max_bullets: int | None = None
    label_cases: bool = False
    keep_empty: bool = False

    def __post_init__(self) -> None:
        if self.prompt not in ("drpg", "leap"):
            raise ParameterError(f"policy_prompt must be 'drpg' or 'leap', got {self.prompt!r}")

    @property
    def most(self) -> int:
        """The most bullets of a policy."""
        if self.max_bullets is not None:
            return self.max_bullets
        return LEAP_BULLETS if self.prompt == "leap" else MAX_BULLETS


def draft_policy(
    model: LanguageModel,
    messages: Sequence[Message],
    *,
    options: Options,
    style: PolicyStyle,
    evidence: Sequence[Episode],
    writer: str,
) -> PolicyDraft:
    """Have a policy written. A call that fails, or a reply that holds none, is a refused draft."""
    try:
        reply = model.complete(messages, options=options)
    except LanguageModelError as error:
        reason = f"call failed: {type(error).__name__}"
        return PolicyDraft(policy=None, reason=reason, refused=True)
    reading = _read(reply.text, style=style, evidence=evidence)
    if not reading.bullets:
        reason = "; ".join(reading.refused) or "no bullets"
        return PolicyDraft(policy=None, reason=reason, refused=True)
    sources = tuple(episode.id for episode in evidence)
    bullets = tuple(Bullet(text=text, sources=sources) for text in reading.bullets)
    past = [f"{reading.dropped} over the limit"] if reading.dropped else []
    reason = "; ".join([*reading.refused, *past])
    return PolicyDraft(policy=Policy(bullets=bullets, writer=writer), reason=reason)


def case_lines(task: Task, episode: Episode) -> list[str]:
    """Return the lines that show a query and its answer, with its context where that is needed."""
    lines = [
        f"{task.query_label}: {as_data(episode.query.text)}",
        f"{task.answer_label}: {as_data(episode.answer)}",
    ]
    if task.context_in_examples and episode.query.context:
        lines.insert(0, as_data(episode.query.context))
    return lines


def previous_section(policy: Policy | None, *, style: PolicyStyle) -> list[str]:
    """Return the section that shows the policy before, where there is one or it is kept empty."""
    if policy is None:
        return [f"{PREVIOUS}\n{NO_PREVIOUS}"] if style.keep_empty else []
    return ["\n".join([PREVIOUS, *(f"- {as_data(bullet.text)}" for bullet in policy.bullets)])]


def _read(reply: str, *, style: PolicyStyle, evidence: Sequence[Episode]) -> Reading:
    if style.form == "text":
        return read_lines(reply)
    return read_bullets(reply, evidence=evidence, max_bullets=style.most)


PREVIOUS = "The policy so far; keep what still holds:"

NO_PREVIOUS = "(none yet)"

ASK = {"drpg": "POLICY:", "leap": "Now write REASONING: and then POLICY:"}
