"""What a run will take, told before it is made: calls, and tokens by model. Spends nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from learnloop.control.sensors import parse_feedback
from learnloop.llm.absent import NO_MODEL
from learnloop.methods import METHODS
from learnloop.methods.calls import WRONG_SHARE, CallKind, Estimates, Outlook, Span, exactly
from learnloop.runner.spec import RunSpec
from learnloop.runner.streams import StreamFacts

INSTRUCTION_TOKENS = 200.0
"""Tokens of a message that is not a query: to a policy writer or an editor. A guess."""
UNKNOWN_LIMIT = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one model is asked for in a run."""

    model: str
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """The calls of a run with their limits, embeddings left out, and what its models read."""

    calls: Span
    shares: tuple[Share, ...] = ()

    def left(self, part: float) -> tuple[Share, ...]:
        """Return the shares of the part of a run, 0 to 1, that is still to be made."""
        return tuple(
            Share(
                model=share.model,
                tokens_in=round(share.tokens_in * part),
                tokens_out=round(share.tokens_out * part),
            )
            for share in self.shares
        )


def make_forecast(spec: RunSpec, facts: StreamFacts) -> Forecast:
    """Return what a run of a checked spec will take if no call fails."""
    if spec.model == NO_MODEL:
        return Forecast(calls=exactly(0))
    length = spec.steps or facts.length
    kinds = _kinds(spec, facts, length=length)
    shares = [share for kind in kinds for share in _shares(kind, spec, facts, length=length)]
    return Forecast(
        calls=sum((kind.count for kind in kinds), exactly(0)), shares=tuple(_merged(shares))
    )


def _kinds(spec: RunSpec, facts: StreamFacts, *, length: int) -> Sequence[CallKind]:
    """Return the calls that the method says it will make; one a query where it says nothing."""
    mix = parse_feedback(spec.feedback)
    outlook = Outlook(
        length=length,
        judged=mix.correct >= 1,
        explained=mix.comment > 0,
        has_form=facts.has_form,
    )
    method = METHODS.load(spec.method)
    if hasattr(method, "calls_a_stream"):
        return cast(Estimates, method).calls_a_stream(outlook, **spec.method_params)
    unknown = Span(at_least=length, expected=length, at_most=None)
    return (CallKind(role="answer", count=unknown, max_tokens=UNKNOWN_LIMIT),)


def _shares(kind: CallKind, spec: RunSpec, facts: StreamFacts, *, length: int) -> list[Share]:
    """Return what calls of one kind read and write, divided among the models that they go to."""
    shown = mean_shown(length, kind.episodes)
    read = facts.query_tokens if kind.asks else INSTRUCTION_TOKENS
    read += shown * facts.example_tokens + kind.learnt
    write = min(kind.max_tokens, facts.answer_tokens if kind.writes is None else kind.writes)
    models = [spec.model, *spec.agents] if kind.asks else [spec.policy_model or spec.model]
    calls = kind.count.expected / len(models)
    return [
        Share(model=name, tokens_in=round(calls * read), tokens_out=round(calls * write))
        for name in models
    ]


def mean_shown(length: int, most: int) -> float:
    """Return how many right episodes a message holds on average over a stream, at most `most`.

    Memory begins empty and fills with each right answer.

    Examples:
        >>> mean_shown(10, 0), mean_shown(10_000, 16) > 15.9
        (0.0, True)
    """
    share = 1 - WRONG_SHARE
    full_from = most / share
    if length <= full_from:
        return share * length / 2
    return most - most * full_from / 2 / length


def _merged(shares: Sequence[Share]) -> list[Share]:
    names = dict.fromkeys(share.model for share in shares)
    return [
        Share(
            model=name,
            tokens_in=sum(share.tokens_in for share in shares if share.model == name),
            tokens_out=sum(share.tokens_out for share in shares if share.model == name),
        )
        for name in names
    ]
