"""How each part of a prompt looks as text: an example, the examples, a policy, a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from learnloop.prompting.reasoning import MARKER, REASONING_LABEL
from learnloop.quoting import as_data
from learnloop.types import Episode, Policy, Prompt, Query, Task

ExampleFormat = Literal["plain", "labelled"]
EpisodeFormat = Literal["plain", "labelled", "commented", "unjudged"]


def query_block(task: Task, query: Query, *, reasoning: bool = False) -> str:
    """Return the query with its label, and the label of what is to follow: answer or reasoning."""
    label = REASONING_LABEL if reasoning else f"{task.answer_label}:"
    return f"{task.query_label}: {query.text}\n{label}"


def example_block(
    task: Task, episode: Episode, *, example_format: EpisodeFormat, reasoning: bool = False
) -> str:
    """Return one example, with the context of its query where the task wants that.

    `labelled` adds the sentence of feedback that DRPG's own code shows, `commented` that sentence
    and the comments; `plain` and `unjudged` add nothing. With `reasoning` the answer stands as it
    is asked for: behind the reasoning that it was given with, where there is any, and the marker.
    """
    lines = [f"{task.query_label}: {as_data(episode.query.text)}"]
    if task.context_in_examples and episode.query.context:
        lines.insert(0, as_data(episode.query.context))
    if reasoning and episode.rationale:
        lines.append(f"{REASONING_LABEL} {as_data(episode.rationale)}")
    label = MARKER if reasoning else f"{task.answer_label}:"
    lines.append(f"{label} {as_data(episode.answer)}")
    if example_format in ("labelled", "commented"):
        lines.append(_LABELS[episode.correct])
    if example_format == "commented":
        lines += [f"Comment: {as_data(comment)}" for comment in _comments(episode)]
    return "\n".join(lines)


def examples_block(blocks: Sequence[str], *, example_format: EpisodeFormat = "plain") -> str:
    """Return the delimited block of examples, introduced as what they are."""
    introduction = INTRODUCTIONS[example_format]
    return "\n".join([introduction, "<examples>", "\n\n".join(blocks), "</examples>"])


def policy_block(policy: Policy) -> str:
    """Return the delimited block of a policy, introduced by where it comes from."""
    introduction = POLICY_INTRODUCTIONS.get(policy.writer, POLICY_INTRODUCTION)
    bullets = "\n".join(f"- {as_data(bullet.text)}" for bullet in policy.bullets)
    return f"{introduction}\n<policy>\n{bullets}\n</policy>"


def prompt_block(prompt: Prompt) -> str:
    """Return the delimited block of the persistent prompt."""
    return f"{PROMPT_INTRODUCTION}\n<prompt>\n{as_data(prompt.text)}\n</prompt>"


def _comments(episode: Episode) -> list[str]:
    """Return the comments in force, oldest first, each once."""
    replaced = {feedback.supersedes for feedback in episode.feedback}
    said = [each.comment for each in episode.feedback if each.comment and each.id not in replaced]
    return list(dict.fromkeys(said))


_LABELS = {
    True: "Feedback: this answer is correct.",
    False: "Feedback: this answer is not correct.",
    None: "Feedback: none.",
}

EXAMPLES_INTRODUCTION = "Earlier questions and answers that were right:"

MIXED_INTRODUCTION = (
    "Earlier questions, what was answered, right or wrong, and the feedback on it. Do not repeat "
    "an answer that was not correct:"
)

UNJUDGED_INTRODUCTION = "Earlier questions and what was answered; nobody has judged it:"

INTRODUCTIONS: dict[EpisodeFormat, str] = {
    "plain": EXAMPLES_INTRODUCTION,
    "labelled": EXAMPLES_INTRODUCTION,
    "commented": MIXED_INTRODUCTION,
    "unjudged": UNJUDGED_INTRODUCTION,
}

PROMPT_INTRODUCTION = "What holds now, learnt from earlier feedback:"

POLICY_INTRODUCTION = (
    "Rules learnt from earlier feedback. Follow every rule that applies to the question:"
)

POLICY_INTRODUCTIONS = {
    "neutral": (
        "Rules drawn from earlier questions and answers that nobody has judged. Follow those that "
        "help with the question:"
    ),
    "cheatsheet": (
        "A cheatsheet kept from earlier questions, which nobody has checked. Use what helps with "
        "the question:"
    ),
}
"""By the name of the writer; a policy of any other one has learnt from feedback."""
