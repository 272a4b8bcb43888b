"""Puts the parts of a prompt in order and cuts learnt text to its budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from learnloop.errors import ParameterError
from learnloop.prompting.blocks import (
    EpisodeFormat,
    example_block,
    examples_block,
    policy_block,
    prompt_block,
    query_block,
)
from learnloop.prompting.reasoning import REASONING_REQUEST
from learnloop.prompting.tokens import estimate_tokens
from learnloop.types import Episode, Message, Policy, Prompt, Query, Task

Layout = Literal["cache", "paper"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBudget:
    """How many estimated tokens learnt text may take: the examples, and the policy."""

    examples: int = 2000
    policy: int = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """Messages, and what of the examples and the policy really is in them.

    `cut` counts the examples and bullets that the budget left out.
    """

    messages: tuple[Message, ...]
    examples: tuple[Episode, ...] = ()
    policy: Policy | None = None
    cut_examples: int = 0
    cut_bullets: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Learnt:
    """The blocks of what was learnt, within the budget, and what of it they hold."""

    blocks: tuple[str, ...]
    examples: tuple[Episode, ...] = ()
    policy: Policy | None = None


class Composer:
    """Writes the messages for one query.

    Layout `cache` orders from what changes least to what changes most: role, instructions,
    answer format, shared context (all in the system message), then policy, examples, query.
    Layout `paper` is the published order: task, examples, policy, context, query, in one message.

    Cutting, where a budget is passed: of the examples the least similar goes first, then the
    next, one by one; of the policy the last bullet, one by one. The query and its context are
    never cut. Remembered text stands in delimited blocks and never in the system message.

    Args:
        layout: `cache` or `paper`.
        example_format: `plain`, `labelled` with a sentence of feedback under each example,
            `commented` with the comments too: for examples that may be wrong, or `unjudged`: for
            those of which nothing is known.
        budget: Limits on learnt text.
        keep_empty_examples: Show the block of examples also where there is none (what DRPG's own
            code does while memory holds wrong answers only).
        reasoning: Ask for reasoning before the answer; `split_reply` tells them apart.
    """

    def __init__(
        self,
        *,
        layout: Layout = "cache",
        example_format: EpisodeFormat = "plain",
        budget: TokenBudget | None = None,
        keep_empty_examples: bool = False,
        reasoning: bool = False,
    ) -> None:
        _check_choice("layout", layout, get_args(Layout))
        _check_choice("example_format", example_format, get_args(EpisodeFormat))
        self.layout = layout
        self.example_format = example_format
        self.budget = budget or TokenBudget()
        self.keep_empty_examples = keep_empty_examples
        self.reasoning = reasoning

    def compose(
        self,
        task: Task,
        query: Query,
        *,
        examples: Sequence[Episode] = (),
        policy: Policy | None = None,
        prompt: Prompt | None = None,
    ) -> Composition:
        """Return the messages for a query; `examples` come most similar last.

        The persistent prompt, which learns, stands where it changes least of what is learnt:
        before policy and examples. It is never cut: whoever writes it keeps it short.
        """
        learnt = self.learnt(task, examples=examples, policy=policy, prompt=prompt)
        order = self._cache_order if self.layout == "cache" else self._paper_order
        return Composition(
            messages=order(task, query, learnt.blocks),
            examples=learnt.examples,
            policy=learnt.policy,
            cut_examples=len(examples) - len(learnt.examples),
            cut_bullets=_count(policy) - _count(learnt.policy),
        )

    def learnt(
        self,
        task: Task,
        *,
        examples: Sequence[Episode] = (),
        policy: Policy | None = None,
        prompt: Prompt | None = None,
    ) -> Learnt:
        """Return the blocks of learnt text alone, in order and cut as in `compose`."""
        bullets = self._fitting_bullets(policy)
        blocks = self._fitting_examples(task, examples, room=self.budget.examples)
        learnt = self._learnt_blocks(blocks, bullets, had_memory=policy is not None)
        if prompt is not None:
            learnt = [prompt_block(prompt), *learnt]
        shown = tuple(examples)[len(examples) - len(blocks) :]
        return Learnt(blocks=tuple(learnt), examples=shown, policy=bullets)

    def _fitting_bullets(self, policy: Policy | None) -> Policy | None:
        while policy is not None and _size(policy) > self.budget.policy:
            policy = replace(policy, bullets=policy.bullets[:-1]) if policy.bullets else None
        return policy if policy is not None and policy.bullets else None

    def _fitting_examples(self, task: Task, examples: Sequence[Episode], *, room: int) -> list[str]:
        """Return the example texts from the most similar back, as many as there is room for."""
        blocks: list[str] = []
        for episode in reversed(examples):
            block = example_block(
                task, episode, example_format=self.example_format, reasoning=self.reasoning
            )
            room -= estimate_tokens(block)
            if room < 0:
                break
            blocks.insert(0, block)
        return blocks

    def _learnt_blocks(
        self, blocks: Sequence[str], policy: Policy | None, *, had_memory: bool
    ) -> list[str]:
        empty = self.keep_empty_examples and had_memory
        made = examples_block(blocks, example_format=self.example_format)
        shown = [made] if blocks or empty else []
        rules = [policy_block(policy)] if policy is not None else []
        return rules + shown if self.layout == "cache" else shown + rules

    def _cache_order(self, task: Task, query: Query, learnt: Sequence[str]) -> tuple[Message, ...]:
        fixed = [task.role, task.instructions, task.answer_format, self._request()]
        context = [query.context] if query.context else []
        system = fixed + context if task.shared_context else fixed
        own = [] if task.shared_context else context
        asked = query_block(task, query, reasoning=self.reasoning)
        return (
            Message(role="system", content="\n\n".join(filter(None, system))),
            Message(role="user", content="\n\n".join([*own, *learnt, asked])),
        )

    def _paper_order(self, task: Task, query: Query, learnt: Sequence[str]) -> tuple[Message, ...]:
        parts = [task.role, *learnt, query.context, task.instructions, task.answer_format]
        parts += [self._request(), query_block(task, query, reasoning=self.reasoning)]
        return (Message(role="user", content="\n\n".join(filter(None, parts))),)

    def _request(self) -> str:
        return REASONING_REQUEST if self.reasoning else ""


def _check_choice(name: str, given: str, known: Sequence[str]) -> None:
    if given not in known:
        words = " or ".join(map(repr, known))
        raise ParameterError(f"{name} must be {words}, got {given!r}")


def _size(policy: Policy | None) -> int:
    return 0 if policy is None else estimate_tokens(policy_block(policy))


def _count(policy: Policy | None) -> int:
    return 0 if policy is None else len(policy.bullets)
