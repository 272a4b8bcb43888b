"""Numbers that papers report, each with its source; kept apart from every result of ours."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pydantic import TypeAdapter

FILE = "reference_numbers.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSource:
    """Where numbers stand, and what is to be known of them."""

    id: str
    title: str
    where: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedScores:
    """One line of a published table: per cent by the name of the benchmark."""

    source: str
    table: str
    model: str
    method: str
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedClaim:
    """What a paper says of one method against another; `remark` is what we found of it."""

    source: str
    table: str
    method: str
    other: str
    benchmarks: tuple[str, ...]
    says: str
    remark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceNumbers:
    """All that one source says of some benchmarks."""

    source: PublishedSource
    benchmarks: tuple[str, ...]
    lines: tuple[PublishedScores, ...]
    claims: tuple[PublishedClaim, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    source: tuple[PublishedSource, ...]
    numbers: tuple[PublishedScores, ...]
    claims: tuple[PublishedClaim, ...]


def published_numbers(benchmarks: Iterable[str]) -> list[SourceNumbers]:
    """Return what is published on the named benchmarks, source by source.

    Examples:
        >>> [one.source.id for one in published_numbers(["cosql"])]
        ['streambench', 'drpg', 'unidentified-gemini']
        >>> published_numbers(["house_rules"])
        []
    """
    wanted = list(dict.fromkeys(benchmarks))
    found = [_of(source, wanted) for source in _read().source]
    return [one for one in found if one.lines or one.claims]


def _of(source: PublishedSource, wanted: list[str]) -> SourceNumbers:
    lines = [
        one
        for one in _read().numbers
        if one.source == source.id and any(name in one.scores for name in wanted)
    ]
    claims = [
        one
        for one in _read().claims
        if one.source == source.id and any(name in wanted for name in one.benchmarks)
    ]
    return SourceNumbers(
        source=source,
        benchmarks=tuple(name for name in wanted if any(name in one.scores for one in lines)),
        lines=tuple(lines),
        claims=tuple(claims),
    )


@cache
def _read() -> _File:
    text = files("learnloop.reports").joinpath(FILE).read_text("utf-8")
    return TypeAdapter(_File).validate_python(tomllib.loads(text))
