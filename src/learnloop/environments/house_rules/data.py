"""What a database's files say: conventions, questions and gold SQL, checked as they are read."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from learnloop.errors import DataError, ParameterError


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"not a regular expression: {pattern!r} ({error})") from error
    return pattern


Pattern = Annotated[str, AfterValidator(_compiles)]


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Rule(_Entry):
    """One convention as it holds for a while.

    Attributes:
        statement: The convention in one line, with every value.
        comments: The same as users say it; each one is complete.
        follows: Pattern that the SQL of somebody who knows the convention matches.
        stated: Patterns that one policy bullet must all match to state the convention.
    """

    statement: str
    comments: tuple[str, ...] = Field(min_length=3)
    follows: Pattern
    stated: tuple[Pattern, ...] = Field(min_length=1)

    def is_followed_by(self, sql: str) -> bool:
        """Whether the SQL, with its white space evened out, shows the convention."""
        return re.search(self.follows, " ".join(sql.split()), re.IGNORECASE) is not None

    def is_stated_in(self, bullet: str) -> bool:
        """Whether one bullet says all that the convention says."""
        text = " ".join(bullet.split())
        return all(re.search(pattern, text, re.IGNORECASE) for pattern in self.stated)


class Convention(Rule):
    """A convention, and what it changes to in a stream that drifts."""

    id: str
    drift: Rule | None = None

    def in_force(self, *, drifted: bool) -> Rule:
        """Return the rule that holds before or after the drift."""
        return self.drift if drifted and self.drift is not None else self


class Question(_Entry):
    """One question with its gold SQL, and what an analyst new to the company would write.

    `after` is the gold SQL once the conventions have drifted, where it differs.
    """

    id: str
    text: str
    sql: str
    naive: str
    conventions: tuple[str, ...]
    ordered: bool = False
    after: str | None = None

    def gold(self, *, drifted: bool) -> str:
        """Return the SQL that is right before or after the drift."""
        return self.after if drifted and self.after is not None else self.sql


class Database(_Entry):
    """One company's database: how it is built, what its conventions are, what is asked of it."""

    name: str
    as_of: str
    description: str
    script: str
    conventions: tuple[Convention, ...] = Field(alias="convention")
    questions: tuple[Question, ...] = Field(alias="question")

    @model_validator(mode="after")
    def _names_agree(self) -> Self:
        known = [convention.id for convention in self.conventions]
        ids = [question.id for question in self.questions]
        for name, names in (("convention", known), ("question", ids)):
            if len(set(names)) != len(names):
                raise ValueError(f"a {name} id is given twice")
        for question in self.questions:
            if unknown := sorted(set(question.conventions) - set(known)):
                raise ValueError(f"question {question.id!r} needs unknown {unknown!r}")
        return self

    @property
    def schema_text(self) -> str:
        """The tables as a model sees them, one a line."""
        creates = re.findall(r"CREATE TABLE .*?\);", self.script, re.DOTALL)
        return "\n".join(" ".join(create.split()) for create in creates)

    @property
    def context(self) -> str:
        """The tables, and the day that counts as today."""
        return f"{self.schema_text}\nToday is {self.as_of}."

    def needed_by(self, question: Question) -> Iterator[Convention]:
        """Yield the conventions that a question needs, in their order in the file."""
        return (entry for entry in self.conventions if entry.id in question.conventions)


def database_names() -> tuple[str, ...]:
    """Return the names of the databases that come with the package."""
    names = (entry.name for entry in _folder().iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def load_database(name: str) -> Database:
    """Read one database's files.

    Raises:
        ParameterError: There is no such database.
        DataError: Its files are not what they should be.
    """
    known = database_names()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
        raise ParameterError(f"no database named {name!r}; {hint}")
    text = _folder().joinpath(f"{name}.toml").read_text(encoding="utf-8")
    script = _folder().joinpath(f"{name}.sql").read_text(encoding="utf-8")
    try:
        return Database.model_validate(tomllib.loads(text) | {"script": script})
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise DataError(f"{name}.toml cannot be used: {error}") from error


def _folder() -> Traversable:
    return resources.files("learnloop.environments.house_rules")
