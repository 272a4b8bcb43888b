"""Whether the order of a query's rows is asked for, and which of its rows tie.

Where it is not asked for, rows come in the order in which SQLite happened to find them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

import sqlglot
from sqlglot import errors, expressions

from learnloop.environments.graders.rows import Row


@lru_cache(maxsize=4096)
def is_ordered(sql: str) -> bool:
    """Whether the outermost query has an ORDER BY; one inside a part of it orders nothing.

    SQL that cannot be parsed counts as ordered where its last clause is an ORDER BY by its words.

    Examples:
        >>> is_ordered("SELECT name FROM pet ORDER BY age")
        True
        >>> is_ordered("SELECT name FROM pet WHERE age = (SELECT age FROM pet ORDER BY 1 LIMIT 1)")
        False
    """
    if "order" not in sql.lower():  # to parse takes milliseconds
        return False
    tree = _tree(sql)
    if tree is None:
        return "order by" in " ".join(sql.lower().rpartition(")")[2].split())
    return isinstance(tree, expressions.Query) and tree.args.get("order") is not None


def tie_sizes(
    sql: str, *, rows: Sequence[Row], run: Callable[[str], Sequence[Row] | None]
) -> tuple[int, ...]:
    """Return the sizes of the groups of rows that tie under the sort keys of ordered SQL.

    The SQL is run once more with its sort keys as further columns. That is only believed where
    the first columns are, row by row, what the SQL itself returns; and keys are only equal where
    they are so exactly, whatever the collation. In all other cases, and for compound queries,
    DISTINCT, and keys that name an output column in an expression, no rows tie: `()`.

    Rows that tie with the last one but were cut off by a LIMIT are other rows all the same.

    Args:
        sql: SQL with an ORDER BY.
        rows: What it returns.
        run: Returns the rows of trusted SQL; `None` where it does not run.
    """
    keyed = _with_keys(sql)
    found = run(keyed.sql) if keyed else None
    if keyed is None or found is None:
        return ()
    if [row[: -keyed.keys] for row in found] != list(rows):
        return ()
    return tuple(len(list(group)) for _, group in groupby(row[-keyed.keys :] for row in found))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keyed:
    """SQL with its sort keys as its last columns, and how many they are."""

    sql: str
    keys: int


def _with_keys(sql: str) -> _Keyed | None:
    tree = _tree(sql)
    if not isinstance(tree, expressions.Select) or tree.args.get("distinct"):
        return None
    order = tree.args.get("order")
    if order is None:
        return None
    keys = [_key(tree, ordered.this) for ordered in order.expressions]
    if None in keys:
        return None
    wide = tree.copy()
    wide.set("expressions", [*wide.expressions, *[key.copy() for key in keys if key]])
    return _Keyed(sql=wide.sql(dialect="sqlite"), keys=len(keys))


def _key(tree: expressions.Select, key: expressions.Expr) -> expressions.Expr | None:
    """Return what a sort key stands for: an output column by number or alias, or itself.

    `None` where it is the number of a column, and a star makes counting impossible.
    """
    outputs: list[expressions.Expr] = tree.expressions
    if isinstance(key, expressions.Literal):
        counts = key.is_int and 0 < int(key.name) <= len(outputs) and not tree.is_star
        return outputs[int(key.name) - 1].unalias() if counts else None
    if isinstance(key, expressions.Column) and not key.table:
        named = [one for one in outputs if one.alias.lower() == key.name.lower()]
        return named[0].unalias() if named else key
    return key


@lru_cache(maxsize=4096)
def _tree(sql: str) -> expressions.Expr | None:
    try:
        return sqlglot.parse_one(sql, read="sqlite")
    except errors.SqlglotError:
        return None
