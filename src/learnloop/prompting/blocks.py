"""How each part of a prompt looks as text: an example, the examples, a policy, a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from learnloop.quoting import as_data
from learnloop.types import Episode, Policy, Prompt, Query, Task

ExampleFormat = Literal["plain", "labelled"]


def query_block(task: Task, query: Query) -> str:
    """Return the query with its label, and the label of the answer that is to follow."""
    return f"{task.query_label}: {query.text}\n{task.answer_label}:"


def example_block(task: Task, episode: Episode, *, example_format: ExampleFormat) -> str:
    """Return one example; `labelled` adds the sentence of feedback that DRPG's own code shows."""
    question = f"{task.query_label}: {as_data(episode.query.text)}"
    lines = [question, f"{task.answer_label}: {as_data(episode.answer)}"]
    if example_format == "labelled":
        lines.append(_LABELS[episode.correct])
    return "\n".join(lines)


def examples_block(blocks: Sequence[str]) -> str:
    """Return the delimited block of examples."""
    return "\n".join([EXAMPLES_INTRODUCTION, "<examples>", "\n\n".join(blocks), "</examples>"])


def policy_block(policy: Policy) -> str:
    """Return the delimited block of a policy."""
    bullets = "\n".join(f"- {as_data(bullet.text)}" for bullet in policy.bullets)
    return f"{POLICY_INTRODUCTION}\n<policy>\n{bullets}\n</policy>"


def prompt_block(prompt: Prompt) -> str:
    """Return the delimited block of the persistent prompt."""
    return f"{PROMPT_INTRODUCTION}\n<prompt>\n{as_data(prompt.text)}\n</prompt>"


_LABELS = {
    True: "Feedback: this answer is correct.",
    False: "Feedback: this answer is not correct.",
    None: "Feedback: none.",
}

EXAMPLES_INTRODUCTION = "Earlier questions and answers that were right:"

PROMPT_INTRODUCTION = "What holds now, learnt from earlier feedback:"

POLICY_INTRODUCTION = (
    "Rules learnt from earlier feedback. Follow every rule that applies to the question:"
)
