"""Gains by family of models, the family being read from the model's name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from learnloop.reports.standings import ConfigurationTest

FAMILIES = (
    ("gemini", "Gemini"),
    ("gemma", "Gemma"),
    ("codellama", "Llama"),
    ("llama", "Llama"),
    ("meta-llama", "Llama"),
    ("mistral", "Mistral"),
    ("ministral", "Mistral"),
    ("mixtral", "Mistral"),
    ("codestral", "Mistral"),
    ("devstral", "Mistral"),
    ("qwen", "Qwen"),
    ("qwq", "Qwen"),
    ("gpt", "GPT"),
    ("claude", "Claude"),
    ("deepseek", "DeepSeek"),
    ("phi", "Phi"),
)
"""Beginnings of names, without regard to case, and the family that they tell."""
_PARTS = re.compile(r"[/:#]")


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyGain:
    """Mean gain of a method over a reference in the configurations of one family of models."""

    family: str
    method: str
    reference: str
    gain: float
    configurations: int
    models: int


def family_of(model: str) -> str:
    """Return the family of a model, or its own name where none is known.

    Provider and owner stand before the name, a colon or a slash between.

    Examples:
        >>> family_of("meta/llama-3.3-70b-instruct"), family_of("qwen2.5:1.5b")
        ('Llama', 'Qwen')
        >>> family_of("scripted/static")
        'scripted/static'
    """
    parts = _PARTS.split(model.lower())
    for part in reversed(parts):
        for beginning, family in FAMILIES:
            if part.startswith(beginning):
                return family
    return model


def gains_by_family(tests: Sequence[ConfigurationTest]) -> list[FamilyGain]:
    """Return the mean of the configurations' gains for each family, method and reference."""
    gathered: dict[tuple[str, str, str], list[ConfigurationTest]] = {}
    for one in tests:
        key = (one.reference, one.method, family_of(one.model))
        gathered.setdefault(key, []).append(one)
    return [
        FamilyGain(
            family=family,
            method=method,
            reference=reference,
            gain=fmean(one.gain for one in members),
            configurations=len(members),
            models=len({one.model for one in members}),
        )
        for (reference, method, family), members in gathered.items()
    ]
