"""Grades every reference solution of DS-1000 in the sandbox: how many pass, and how long it takes.

    python benchmarks/ds1000_references.py [--json] [--workers 2]

The rows are those of LEARNLOOP_DATA. Nothing is taken from the cache, and nothing left there.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from learnloop.environments.ds1000_references import MODULES, PASSED, check_references
from learnloop.environments.ds1000_rows import FILES, read_problem
from learnloop.environments.fields import read_fields
from learnloop.environments.rows import find_folder

EXPECTED = "gold_pass_latest.json"
"""Where it lies beside the rows: the numbers of those that passed elsewhere."""


def main() -> None:
    """Run all references but those of libraries that are no dependency here."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--workers", type=int, default=2, help="how many at the same time")
    arguments = parser.parse_args()
    folder = find_folder("ds1000")
    problems = [read_problem(fields) for fields in read_fields(folder, *FILES)]
    problems = [each for each in problems if each.library not in MODULES]
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as cache:
        found = check_references(
            problems, cache=Path(cache), workers=arguments.workers, progress=_tell
        )
    seconds = time.perf_counter() - begun
    passed = {number for number, why in found.items() if why == PASSED}
    expected = _expected(folder.path / EXPECTED)
    report = {
        "problems": len(problems),
        "passed": len(passed),
        "seconds": round(seconds, 1),
        "workers": arguments.workers,
        "expected": len(expected),
        "expected_passed": len(expected & passed),
        "expected_failed": {str(each): found[each] for each in sorted(expected - passed)},
        "passed_unexpectedly": sorted(passed - expected) if expected else [],
        "failed": dict(Counter(why.partition(":")[0] for why in found.values() if why != PASSED)),
    }
    if arguments.json:
        print(json.dumps(report))
    else:
        print("\n".join(f"{name}: {value}" for name, value in report.items()))


def _expected(path: Path) -> set[int]:
    if not path.exists():
        return set()
    return set(json.loads(path.read_text(encoding="utf-8"))["problem_ids"])


def _tell(done: int, total: int) -> None:
    if done % 100 == 0 or done == total:
        print(f"{done} of {total}", file=sys.stderr)


if __name__ == "__main__":
    main()
