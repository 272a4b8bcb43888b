"""Answers a query from examples and a policy; the part that all methods share."""

from __future__ import annotations

from collections.abc import Sequence

from learnloop.prompting.composer import Composer, Composition
from learnloop.prompting.reasoning import Reasoned, split_reply
from learnloop.protocols import Journal, LanguageModel
from learnloop.types import (
    Advice,
    Episode,
    Event,
    Options,
    Policy,
    Prediction,
    Prompt,
    Query,
    Task,
)


class Answerer:
    """Composes the messages, calls the model once, and parses what it says.

    Where the composer asks for reasoning, the answer is parsed from what follows the last marker.

    Args:
        task: What is asked of the model.
        model: Answers.
        composer: Orders and cuts the prompt.
        journal: Told where the budget cut learnt text.
        max_tokens: Limit on the reply.
        seed: Handed to the model.
    """

    def __init__(
        self,
        *,
        task: Task,
        model: LanguageModel,
        composer: Composer,
        journal: Journal,
        max_tokens: int = 256,
        seed: int = 0,
    ) -> None:
        self.task = task
        self.model = model
        self.composer = composer
        self.journal = journal
        self.max_tokens = max_tokens
        self.seed = seed

    def answer(
        self,
        query: Query,
        *,
        examples: Sequence[Episode] = (),
        policy: Policy | None = None,
        evidence: Sequence[Episode] = (),
        prompt: Prompt | None = None,
    ) -> Prediction:
        """Answer one query, under a version of the persistent prompt where there is one.

        Raises:
            LanguageModelError: The call failed.
        """
        made = self.composer.compose(
            self.task, query, examples=examples, policy=policy, prompt=prompt
        )
        self._note_cuts(query, made)
        options = Options(role="answer", max_tokens=self.max_tokens, seed=self.seed)
        reply = self.model.complete(made.messages, options=options)
        said = self._split(reply.text)
        return Prediction(
            query_id=query.id,
            text=self.task.parse(said.answer),
            raw=reply.text,
            rationale=said.rationale,
            examples=tuple(episode.id for episode in made.examples),
            evidence=tuple(episode.id for episode in evidence),
            policy=made.policy,
            prompt_version=None if prompt is None else prompt.version,
        )

    def follow(self, query: Query, advice: Advice) -> Prediction:
        """Answer one query by what a method advises for it.

        Raises:
            LanguageModelError: The call failed.
        """
        return self.answer(
            query,
            examples=advice.examples,
            policy=advice.policy,
            evidence=advice.evidence,
            prompt=advice.prompt,
        )

    def _split(self, reply: str) -> Reasoned:
        """Tell reasoning from answer where the composer asks for both."""
        if self.composer.reasoning:
            return split_reply(reply)
        return Reasoned(rationale="", answer=reply)

    def _note_cuts(self, query: Query, made: Composition) -> None:
        if made.cut_examples or made.cut_bullets:
            text = f"{made.cut_examples} examples and {made.cut_bullets} bullets over the budget"
            self.journal.record(Event(kind="cut", text=text, refs=(query.id,)))
