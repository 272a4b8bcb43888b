"""Whether the order of a query's rows is asked for, or only how SQLite happened to return them."""

from __future__ import annotations

from functools import lru_cache

import sqlglot
from sqlglot import errors, expressions


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
    try:
        tree = sqlglot.parse_one(sql, read="sqlite")
    except errors.SqlglotError:
        return "order by" in " ".join(sql.lower().rpartition(")")[2].split())
    return isinstance(tree, expressions.Query) and tree.args.get("order") is not None
