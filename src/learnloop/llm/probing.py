"""Finds out by asking what a model can do of what the methods need, and how fast."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from learnloop.errors import LanguageModelError
from learnloop.protocols import LanguageModel
from learnloop.types import Message, Options, Reply

MOST_BULLETS = 5
READ = 50
"""Lines of the text that is read to measure speed; about 10 tokens each."""
WRITTEN = 48


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What was found. Speeds are tokens a second, `None` where no call took time.

    `failure` says why a model gave no answer; all else is then empty.
    """

    model: str
    context: int | None = None
    follows_schema: bool = False
    writes_bullets: bool = False
    reads_per_second: float | None = None
    writes_per_second: float | None = None
    failure: str | None = None

    @property
    def fit(self) -> bool:
        """Whether the methods can work with the model."""
        return self.failure is None and self.follows_schema and self.writes_bullets


def probe(model: LanguageModel) -> Probe:
    """Ask a model four short questions. A failed call is a finding, not an error."""
    context = getattr(model, "context", None)
    try:
        reading = _ask(model, ROLE, f"{_long_text()}\nHow many lines are there?", max_tokens=1)
        writing = _ask(model, ROLE, COUNT, max_tokens=WRITTEN)
        schema = _ask(model, ROLE, SCHEMA_QUESTION, max_tokens=WRITTEN, schema=SCHEMA)
        bullets = _ask(model, BULLETS_ROLE, BULLETS_QUESTION, max_tokens=160)
    except LanguageModelError as error:
        return Probe(model=model.name, failure=f"{type(error).__name__}: {error}")
    reads = _rate(reading.usage.tokens_in - reading.usage.tokens_cached, reading.usage.seconds)
    return Probe(
        model=model.name,
        context=context if isinstance(context, int) else None,
        follows_schema=follows_schema(schema.text),
        writes_bullets=writes_bullets(bullets.text),
        reads_per_second=reads,
        writes_per_second=_writing_rate(writing, reads),
    )


def verdict(found: Probe) -> tuple[str, ...]:
    """Return what a person should know or do, the most important first.

    Examples:
        >>> verdict(Probe(model="m", follows_schema=True, writes_bullets=True))
        ('m can be used: it keeps to the formats that the methods need.',)
        >>> verdict(Probe(model="m", follows_schema=True))[0]
        'm did not write at most 5 bullets when asked: its policies would be refused. Use a larger \
model, at least as --policy-model.'
    """
    if found.failure is not None:
        return (f"{found.model} gave no answer: {found.failure}",)
    said = []
    if not found.writes_bullets:
        said.append(
            f"{found.model} did not write at most {MOST_BULLETS} bullets when asked: its policies "
            "would be refused. Use a larger model, at least as --policy-model."
        )
    if not found.follows_schema:
        said.append(
            f"{found.model} did not follow a JSON schema: if it is a server of your own, turn on "
            "structured output."
        )
    if found.fit:
        said.append(f"{found.model} can be used: it keeps to the formats that the methods need.")
    seconds = seconds_a_step(found)
    if seconds is not None:
        said.append(f"A step of house_rules takes about {seconds:.0f} s with it.")
    return tuple(said)


def seconds_a_step(found: Probe) -> float | None:
    """Estimate a step with examples and a policy: 350 tokens read anew, 50 written."""
    if not found.reads_per_second or not found.writes_per_second:
        return None
    return 350 / found.reads_per_second + 50 / found.writes_per_second


def follows_schema(text: str) -> bool:
    """Whether a reply is an object with a number under `n` and nothing else.

    Examples:
        >>> follows_schema('{"n": 4}'), follows_schema("4"), follows_schema('{"n": "4"}')
        (True, False, False)
    """
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        return False
    return isinstance(found, dict) and list(found) == ["n"] and type(found["n"]) is int


def writes_bullets(text: str) -> bool:
    r"""Whether a reply is one to five lines that each begin with `- `.

    Examples:
        >>> writes_bullets("- one\n- two"), writes_bullets("one"), writes_bullets("- a\n" * 6)
        (True, False, False)
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return 1 <= len(lines) <= MOST_BULLETS and all(line.startswith(("- ", "* ")) for line in lines)


def _ask(
    model: LanguageModel,
    role: str,
    question: str,
    *,
    max_tokens: int,
    schema: dict[str, object] | None = None,
) -> Reply:
    messages: Sequence[Message] = (
        Message(role="system", content=role),
        Message(role="user", content=question),
    )
    return model.complete(messages, options=Options(max_tokens=max_tokens, schema=schema))


def _writing_rate(reply: Reply, reads: float | None) -> float | None:
    """Return tokens written a second, the time for reading the question taken off."""
    usage = reply.usage
    reading = (usage.tokens_in - usage.tokens_cached) / reads if reads else 0.0
    return _rate(usage.tokens_out, usage.seconds - reading)


def _rate(tokens: int, seconds: float) -> float | None:
    return tokens / seconds if seconds > 0 and tokens > 0 else None


def _long_text() -> str:
    return "\n".join(f"{number}. an order of day {number * 7 % 31}" for number in range(READ))


ROLE = "You answer briefly."
COUNT = "Write the numbers from one to thirty in words, separated by commas."
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
SCHEMA_QUESTION = 'How many legs has a cat? Reply in JSON: {"n": the number}.'
BULLETS_ROLE = (
    'You write rules from feedback. Write one rule a line, each beginning with "- ", at most five '
    "rules, and nothing else. Keep every concrete detail."
)
BULLETS_QUESTION = (
    "Feedback: amounts are stored in cents but reported in euros. Feedback: refunded orders never "
    "count. Feedback: names are written as Last, First."
)
