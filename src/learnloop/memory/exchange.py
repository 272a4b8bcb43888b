"""Memories as rows that JSON can hold: written out of one store, taken into another or the same.

Vectors are left out: whoever takes rows in embeds the texts anew, maybe with another embedder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from reprlib import repr as shorten
from typing import Any, Literal, Protocol

from pydantic import TypeAdapter, ValidationError

from learnloop.errors import DataError
from learnloop.memory.contents import Kept
from learnloop.protocols import EpisodeStore, Vectors
from learnloop.types import Episode

TAKEN_IN_AT_ONCE = 500

Embed = Callable[[Sequence[str]], Vectors]


class Walked(Protocol):
    """A store whose episodes can be gone through, each with the verdict that it brought itself."""

    def walk(self) -> Iterator[Kept]:
        """Go through all episodes, oldest first."""
        ...


class Exchanged(EpisodeStore, Protocol):
    """A store that rows can be taken into."""

    def add_many(self, episodes: Sequence[Episode], vectors: Vectors) -> int:
        """Remember several, all or none, and return how many were new."""
        ...


def export_episodes(store: Walked) -> Iterator[dict[str, Any]]:
    """Write out every episode with its feedback, oldest first, as what `json.dumps` takes.

    Examples:
        >>> import numpy as np
        >>> from learnloop.memory.in_memory import InMemoryStore
        >>> from learnloop.types import Query, Source
        >>> store = InMemoryStore(embedder_name="by-hand", dimension=2)
        >>> query = Query(id="q1", text="How many orders?")
        >>> episode = Episode(id="q1", query=query, answer="7", step=0, source=Source())
        >>> vector = np.array([1, 0], dtype=np.float32)
        >>> store.add(episode, vector)
        True
        >>> rows = list(export_episodes(store))
        >>> rows[0]["format"], rows[0]["episode"]["answer"]
        (1, '7')
        >>> copy = InMemoryStore(embedder_name="by-hand", dimension=2)
        >>> import_episodes(copy, rows, lambda texts: np.stack([vector for _ in texts]))
        1
        >>> copy.get("q1") == store.get("q1")
        True
    """
    for kept in store.walk():
        yield {"format": 1, "given": kept.given, "episode": asdict(kept.episode)}


def import_episodes(store: Exchanged, rows: Iterable[Mapping[str, Any]], embed: Embed) -> int:
    """Take in what was exported; return how many episodes were new.

    What is there already stays as it is and gets the feedback that it lacks, so rows may be taken
    in again, after an import that was broken off too. Nothing is locked while texts are embedded.

    Args:
        store: Where they go.
        rows: As `export_episodes` makes them, also after a way through JSON.
        embed: Turns texts into vectors of the store's embedder.

    Raises:
        DataError: A row is not of this format. Hundreds before it may be in already.
        ConflictError: Other content is there under the same id.
    """
    numbered = enumerate(rows, start=1)
    new = 0
    while batch := [_read(row, number) for number, row in islice(numbered, TAKEN_IN_AT_ONCE)]:
        keys = [row.episode.query.key or row.episode.query.text for row in batch]
        new += store.add_many([_first_form(row) for row in batch], embed(keys))
        for row in batch:
            _complete(store, row.episode)
    return new


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    format: Literal[1]
    given: bool | None
    episode: Episode


def _read(row: Mapping[str, Any], number: int) -> _Row:
    try:
        return _ROWS.validate_python(row)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise DataError(
            f"row {number} cannot be taken in: {place or 'it'} is {shorten(first['input'])} "
            f"({first['msg']}); give rows as the export made them"
        ) from error


def _first_form(row: _Row) -> Episode:
    """Return the episode as it was before any feedback, where it brought a verdict itself."""
    if row.given is None:
        return replace(row.episode, correct=None)
    return replace(row.episode, correct=row.given, feedback=())


def _complete(store: Exchanged, episode: Episode) -> None:
    there = store.get(episode.id)
    said = {feedback.id for feedback in there.feedback} if there else set()
    for feedback in episode.feedback:
        if there and feedback.id not in said:
            store.add_feedback(episode.id, feedback)


_ROWS = TypeAdapter(_Row)
