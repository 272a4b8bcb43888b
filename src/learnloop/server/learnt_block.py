"""The one message that a request gets beside the caller's own: what was learnt, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from learnloop.prompting.composer import Composer, TokenBudget
from learnloop.server.config import TaskConfig
from learnloop.server.learners import task_of
from learnloop.types import Advice, Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class LearntBlock:
    """What of an advice is shown; `text` is `""` where nothing is learnt yet."""

    text: str = ""
    examples: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    policy: Policy | None = None
    prompt_version: int | None = None


def learnt_block(advice: Advice, *, name: str, task: TaskConfig) -> LearntBlock:
    """Write an advice within the budgets of a task.

    Examples that are not all known to be right are shown with what was said of each.
    """
    right = all(episode.correct for episode in advice.examples)
    composer = Composer(
        example_format="plain" if right else "commented",
        budget=TokenBudget(examples=task.examples_budget, policy=task.policy_budget),
    )
    said = advice.prompt is not None and bool(advice.prompt.text.strip())
    learnt = composer.learnt(
        task_of(name, task),
        examples=advice.examples,
        policy=advice.policy,
        prompt=advice.prompt if said else None,
    )
    return LearntBlock(
        text="\n\n".join(learnt.blocks),
        examples=tuple(episode.id for episode in learnt.examples),
        evidence=tuple(episode.id for episode in advice.evidence) if learnt.policy else (),
        policy=learnt.policy,
        prompt_version=None if advice.prompt is None else advice.prompt.version,
    )


def with_block(messages: Sequence[Any], text: str) -> list[Any]:
    """Return the messages with one more of the user before the user's last; `""` adds none.

    Examples:
        >>> with_block([{"role": "system"}, {"role": "user", "content": "Hi"}], "Learnt.")[1]
        {'role': 'user', 'content': 'Learnt.'}
    """
    place = _last_of_user(messages)
    if not text or place is None:
        return list(messages)
    return [*messages[:place], {"role": "user", "content": text}, *messages[place:]]


def query_text(messages: object) -> str:
    """Return the text of the user's last message, `""` where there is none.

    Examples:
        >>> query_text([{"role": "user", "content": [{"type": "text", "text": "Hi"}]}])
        'Hi'
    """
    if not isinstance(messages, list):
        return ""
    place = _last_of_user(messages)
    content = None if place is None else messages[place].get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _last_of_user(messages: Sequence[Any]) -> int | None:
    for place in reversed(range(len(messages))):
        message = messages[place]
        if isinstance(message, dict) and message.get("role") == "user":
            return place
    return None
