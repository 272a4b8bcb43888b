"""The text of a structured prompt: one line a field, `name: value`. Reads it, writes it, checks it.

What the values mean is for the task's `PromptForm` to say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from learnloop.errors import ProposalError
from learnloop.types import PromptField, PromptForm, Values


def write_prompt(form: PromptForm, values: Mapping[str, object]) -> str:
    """Return the text of a prompt with these values.

    Raises:
        ProposalError: A field is missing, unknown or out of range, or they do not go together.
    """
    checked = check_values(form, values)
    return "\n".join(f"{field.name}: {checked[field.name]}" for field in form.fields)


def read_prompt(form: PromptForm, text: str) -> Values:
    """Return the values of a prompt.

    Blank lines and spaces do not matter; anything else beside the fields makes it no prompt.

    Raises:
        ProposalError: The text is no such prompt; the message says why.
    """
    found: dict[str, object] = {}
    for line in filter(None, (line.strip() for line in text.splitlines())):
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not colon:
            raise ProposalError(f"not a line of a prompt: {line[:60]!r}")
        if name in found:
            raise ProposalError(f"{name!r} stands in it twice")
        found[name] = value
    return check_values(form, found)


def check_values(form: PromptForm, values: Mapping[str, object]) -> Values:
    """Return the values with words and numbers as the fields want them.

    Raises:
        ProposalError: A field is missing, unknown or out of range, or they do not go together.
    """
    names = [field.name for field in form.fields]
    unknown = [name for name in values if name not in names]
    if unknown:
        raise ProposalError(f"no field is called {unknown[0][:40]!r}; it has {', '.join(names)}")
    checked = {field.name: _check_value(field, values) for field in form.fields}
    complaint = form.complain(checked)
    if complaint is not None:
        raise ProposalError(complaint)
    return checked


def prompt_schema(form: PromptForm) -> dict[str, object]:
    """Return the JSON schema of the values, for a model whose reply is held to one."""
    return {
        "type": "object",
        "properties": {field.name: _field_schema(field) for field in form.fields},
        "required": [field.name for field in form.fields],
        "additionalProperties": False,
    }


def _check_value(field: PromptField, values: Mapping[str, object]) -> str | int:
    if field.name not in values:
        raise ProposalError(f"{field.name!r} is missing")
    value = values[field.name]
    if field.choices:
        if value not in field.choices:
            raise ProposalError(f"{field.name} is one of {field.choices}, not {value!r:.60}")
        return str(value)
    number = _whole_number(value)
    if number is None or not field.low <= number <= field.high:
        raise ProposalError(
            f"{field.name} is a whole number from {field.low} to {field.high}, not {value!r:.60}"
        )
    return number


def _whole_number(value: object) -> int | None:
    if isinstance(value, float) and value.is_integer():
        return int(value)  # 50.0 is a whole number in JSON
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    return int(value) if _DIGITS.fullmatch(str(value)) else None


def _field_schema(field: PromptField) -> dict[str, object]:
    if field.choices:
        return {"type": "string", "enum": list(field.choices)}
    return {"type": "integer", "minimum": field.low, "maximum": field.high}


_DIGITS = re.compile(r"[+-]?[0-9]{1,18}")
