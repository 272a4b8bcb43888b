"""What a step costs besides the model: DRPG, wordllama and a SQLite store, at three sizes.

A step is one `predict_one` and one `learn_one` of DRPG with a model that answers at once, over a
memory on disk that already holds 100, 10,000 or 100,000 episodes. Two of five answers are wrong;
those come with a comment, one of twelve that recur. Beside it, the store's exact search for the 10
nearest is timed against `faiss.IndexFlatIP` on one thread, on the same 100,000 vectors, turn by
turn.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import faiss
import numpy as np

from learnloop.llm.scripted import scripted
from learnloop.memory.embedders.wordllama import WordLlamaEmbedder
from learnloop.memory.memory import Memory
from learnloop.memory.sqlite import SQLiteStore
from learnloop.memory.vector_index import VectorIndex
from learnloop.methods.drpg import DRPG
from learnloop.methods.parts import Parts
from learnloop.protocols import Embedder, Vectors
from learnloop.runner.run import StepJournal
from learnloop.types import Episode, Feedback, Query, Source, Task

SIZES = (100, 10_000, 100_000)
TARGETS_MS = {100: 3.0, 10_000: 6.0, 100_000: 30.0}
TARGET_RATIO = 1.5
COMPARED = (
    "A step of DRPG outside the model is compared with 3, 6 and 30 ms, and our exact search for "
    "the 10 nearest of 100,000 with faiss.IndexFlatIP on one thread."
)
LOADED_AT_ONCE = 10_000
K = 10
WARM_UP = 5

SCHEMA = "\n".join(
    f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, name TEXT, amount_cents INTEGER, day TEXT);"
    for table in ("customers", "orders", "order_lines", "products", "refunds", "shipments")
)
TASK = Task(
    name="overhead",
    role="You write SQL.",
    instructions="Write one SQLite query that answers the question.",
    answer_format="Answer with SQL only.",
    metric="accuracy",
)
COMMENTS = tuple(
    f"The column {column} must be {rule}."
    for column in ("amount_cents", "day", "name", "id")
    for rule in ("divided by 100", "compared with '2024-06-30'", "left out where it is NULL")
)
ASKED = ("How many", "Which", "What is the sum of the", "List the", "Show the newest", "Rank the")
THINGS = ("orders", "refunds", "customers", "parcels", "invoices", "products", "returns", "visits")
WAYS = ("per month", "per customer", "by country", "in the last quarter", "above the average")
PLACES = ("Berlin", "Lagos", "Lima", "Osaka", "Turin", "Perth", "Quito", "Oslo", "Hanoi", "Lyon")


def main() -> None:
    """Measure and print."""
    options = read_options()
    print(COMPARED, file=sys.stderr)
    embedder = WordLlamaEmbedder()
    rounds = 40 if options.quick else 300
    rows = embed_queries(embedder, SIZES[-1])
    step_ms = {size: step_milliseconds(embedder, rows[:size], steps=rounds) for size in SIZES}
    asked = embed_queries(embedder, rounds + WARM_UP, first=SIZES[-1])
    ours_ms, faiss_ms = search_milliseconds(rows, asked)
    if options.json:
        found = {str(size): round(value, 3) for size, value in step_ms.items()}
        print(json.dumps({"step_ms": found, "faiss_ratio": round(ours_ms / faiss_ms, 3)}))
        return
    for size, value in step_ms.items():
        print(f"{size:>7,} episodes: {value:5.2f} ms a step, wanted {TARGETS_MS[size]:.0f} or less")
    print(
        f"exact top {K}: {ours_ms:.2f} ms, faiss {faiss_ms:.2f} ms, ratio "
        f"{ours_ms / faiss_ms:.2f}, wanted {TARGET_RATIO} or less"
    )
    print(f"medians of {rounds}; {machine_state()}")


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=COMPARED)
    parser.add_argument("--quick", action="store_true", help="fewer steps, under 30 seconds")
    parser.add_argument("--json", action="store_true", help="print one JSON object only")
    return parser.parse_args()


def machine_state() -> str:
    """Say on what this runs, and how busy it is with other things."""
    load = os.getloadavg()[0]
    return f"{platform.machine()}, {os.cpu_count()} cores, load average {load:.1f}"


def embed_queries(embedder: Embedder, count: int, *, first: int = 0) -> Vectors:
    """Return the vectors of some queries, from the first on."""
    numbers = range(first, first + count)
    parts = [
        embedder.embed([query_of(n).text for n in numbers[start : start + LOADED_AT_ONCE]])
        for start in range(0, count, LOADED_AT_ONCE)
    ]
    return np.concatenate(parts)


def step_milliseconds(embedder: Embedder, rows: Vectors, *, steps: int) -> float:
    """Return the median time of a step over a memory that holds some episodes already."""
    name, dimension = embedder.name, embedder.dimension
    with (
        tempfile.TemporaryDirectory() as folder,
        SQLiteStore(Path(folder) / "memory.db", embedder_name=name, dimension=dimension) as store,
    ):
        store.add_many([stored_episode(number) for number in range(len(rows))], rows)
        method = drpg(Memory(store=store, embedder=embedder))
        return median_ms(lambda number: step(method, len(rows) + number), rounds=steps)


def drpg(memory: Memory) -> DRPG:
    """Put DRPG together as a run does, with a model that answers at once."""
    model = scripted("static")
    parts = Parts(
        task=TASK,
        model=model,
        policy_model=model,
        memory=memory,
        embedder=memory.embedder,
        journal=StepJournal(),
    )
    return DRPG.from_parts(parts)


def step(method: DRPG, number: int) -> None:
    """Answer one new query and take in the feedback on it."""
    query = query_of(number)
    method.learn_one(query, method.predict_one(query), feedback_on(number))


def search_milliseconds(rows: Vectors, asked: Vectors) -> tuple[float, float]:
    """Return the median time of our exact search and of faiss's, taken turn by turn."""
    ours, theirs = VectorIndex(dimension=rows.shape[1]), faiss.IndexFlatIP(rows.shape[1])
    ours.extend(rows, verdicts=[None] * len(rows), groups=[""] * len(rows))
    theirs.add(rows)
    faiss.omp_set_num_threads(1)
    times = [
        (
            milliseconds(ours.nearest, vector, k=K, outcome=None, group=None),
            milliseconds(theirs.search, vector[np.newaxis], K),
        )
        for vector in asked
    ]
    counted = times[WARM_UP:]
    return statistics.median(t[0] for t in counted), statistics.median(t[1] for t in counted)


def median_ms(act: Callable[[int], None], *, rounds: int) -> float:
    """Return the median time of an act over some rounds, after some that do not count."""
    times = [milliseconds(act, number) for number in range(rounds + WARM_UP)]
    return statistics.median(times[WARM_UP:])


def milliseconds(act: Callable[..., object], *args: object, **options: object) -> float:
    """Return how long one act takes."""
    start = time.perf_counter()
    act(*args, **options)
    return 1e3 * (time.perf_counter() - start)


def query_of(number: int) -> Query:
    """Return a question that is like many others and equal to none."""
    text = (
        f"{pick(ASKED, number, 1)} {pick(THINGS, number, 2)} {pick(WAYS, number, 3)} "
        f"from {pick(PLACES, number, 4)} with more than {number} {pick(THINGS, number, 5)}?"
    )
    return Query(id=f"q{number}", text=text, context=SCHEMA, group="shop")


def feedback_on(number: int) -> Feedback:
    """Return feedback by which two of five answers are wrong."""
    correct = number % 5 > 1
    comment = None if correct else pick(COMMENTS, number, 6)
    return Feedback(id=f"f{number}", target_id=f"q{number}", correct=correct, comment=comment)


def stored_episode(number: int) -> Episode:
    """Return an episode as a run would have left it."""
    query = query_of(number)
    return Episode(
        id=query.id,
        query=query,
        answer=f"SELECT count(*) FROM orders WHERE amount_cents > {number}",
        step=number,
        source=Source(kind="model"),
        feedback=(feedback_on(number),),
    )


def pick(words: tuple[str, ...], number: int, purpose: int) -> str:
    """Choose a word, the same each time for one number and purpose."""
    return words[(number * 2654435761 + purpose * 40503) % 2**32 // 7 % len(words)]


if __name__ == "__main__":
    main()
