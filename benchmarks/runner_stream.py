"""The stream of `runner.py`: Spider's rows where they are here, else rows and databases of our own.

Spider's questions, of the stream and of the training split, come each once, and from then on again
under new ids. Ours are like them: 10,080 short questions to four small databases.
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

import numpy as np

from learnloop.environments.dataset import Dataset, Edition, Item
from learnloop.environments.spider import spider
from learnloop.errors import DataError, ParameterError
from learnloop.settings import variables_for_import
from learnloop.types import Episode

ROWS = 300
TABLES = {
    "shop": ("customers", "products", "orders"),
    "library": ("readers", "books", "loans"),
    "clinic": ("patients", "doctors", "visits"),
    "fleet": ("drivers", "vans", "trips"),
}
CITIES = ("Oslo", "Lima", "Turin", "Quito", "Perth")
QUESTIONS = (
    (
        "How many {table} are in {city}, of those with an id from {n} on?",
        "SELECT count(*) FROM {table} WHERE city = '{city}' AND id >= {n}",
    ),
    (
        "List the names of the {table} with an amount above {n}, by name.",
        "SELECT name FROM {table} WHERE amount > {n} ORDER BY name",
    ),
    (
        "What is the average amount of the {table} of {city} with an id up to {n}?",
        "SELECT avg(amount) FROM {table} WHERE city = '{city}' AND id <= {n}",
    ),
    (
        "Which cities have {table} whose id is no more than {n}, and how many?",
        "SELECT city, count(*) FROM {table} WHERE id <= {n} GROUP BY city",
    ),
)
"""Each is asked of every table with every number up to `HIGHEST`: 10,080 questions."""
HIGHEST = 210


@contextmanager
def open_stream(length: int, *, ours: bool, folder: Path) -> Iterator[Dataset]:
    """Make a stream of so many queries; `ours` does without Spider's rows also where they are."""
    environment = None if ours else _spider_here()
    if environment is not None:
        yield lengthened(environment, length)
        return
    write_rows(folder / "spider")
    with variables_for_import(LEARNLOOP_DATA=str(folder)):
        environment = spider()
    yield lengthened(environment, length)


def _spider_here() -> Dataset | None:
    try:
        return spider()
    except DataError:
        return None


def lengthened(environment: Dataset, length: int) -> Dataset:
    """Return a stream of so many queries: each question once, then again under new ids."""
    known = list(_items(environment))
    places = np.random.default_rng(42).permutation(len(known))
    known = [known[int(place)] for place in places]
    items = [
        replace(item, query=replace(item.query, id=f"{item.query.id}/{place // len(known)}"))
        for place, item in enumerate(islice(cycle(known), length))
    ]
    return Dataset(
        edition=Edition(id=environment.id, length=length),
        task=environment.task,
        items=items,
        grade=environment.grade,
        order="given",
    )


def _items(environment: Dataset) -> Iterator[Item]:
    """Yield the questions of a stream, and then its demonstrations, as items."""
    for query in environment.queries:
        yield Item(query=query, gold=environment.gold(query))
    for episode in _all_demonstrations(environment):
        yield Item(query=episode.query, gold=episode.answer)


def _all_demonstrations(environment: Dataset) -> Sequence[Episode]:
    """Return as many as there are; the number that there is stands in the refusal of too many."""
    try:
        return environment.demonstrations(k=sys.maxsize)
    except ParameterError as error:
        (count,) = re.findall(r" has (\d+) demonstrations", str(error))
        return environment.demonstrations(k=int(count))


def write_rows(folder: Path) -> None:
    """Write rows and databases of our own, in the layout of Spider's."""
    for name, tables in TABLES.items():
        path = folder / "database" / name / f"{name}.sqlite"
        path.parent.mkdir(parents=True)
        with closing(sqlite3.connect(path)) as database, database:
            for table in tables:
                database.execute(
                    f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, name TEXT, city TEXT, "
                    "amount INTEGER)"
                )
                database.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", _rows(table))
    lines = [json.dumps(row) for row in _questions()]
    (folder / "dev.jsonl").write_text("\n".join(lines), encoding="utf-8")


def _rows(table: str) -> Iterator[tuple[int, str, str, int]]:
    for number in range(1, ROWS + 1):
        city = CITIES[number * 7 % len(CITIES)]
        yield number, f"{table[:-1]} {number * 37 % ROWS}", city, number * 53 % 250


def _questions() -> Iterator[dict[str, object]]:
    number = 0
    for n in range(1, HIGHEST + 1):
        for name, tables in TABLES.items():
            for table in tables:
                for text, sql in QUESTIONS:
                    words = {"table": table, "n": n, "city": CITIES[number % len(CITIES)]}
                    yield {
                        "id": number,
                        "db_id": name,
                        "question": text.format(**words),
                        "query": sql.format(**words),
                    }
                    number += 1
