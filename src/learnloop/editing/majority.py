"""A reference editor without a model: believes what most of the evidence says. For theory."""

from __future__ import annotations

from collections.abc import Sequence

from learnloop.editing.parts import EditorParts
from learnloop.errors import ParameterError
from learnloop.structured_prompt import read_prompt, write_prompt
from learnloop.types import Edit, Episode, Prompt, PromptForm


class MajorityEditor:
    """Writes the prompt that agrees with most of the evidence; on a tie the old one stays.

    It stands for a competent editor that reads every example and trusts none in particular.

    Args:
        form: How the prompt is written, and how it is fitted.
    """

    max_calls = 1
    asks_no_model = True
    needs_form = True

    def __init__(self, *, form: PromptForm) -> None:
        self.form = form

    @classmethod
    def from_parts(cls, parts: EditorParts) -> MajorityEditor:
        """Put the editor together."""
        return cls(form=reference_form(parts, "majority"))

    def edit(self, prompt: Prompt, evidence: Sequence[Episode]) -> Edit:
        values = self.form.fit(read_prompt(self.form, prompt.text), evidence)
        return Edit(text=write_prompt(self.form, values), reason="what most of the evidence says")


def reference_form(parts: EditorParts, name: str) -> PromptForm:
    """Return the form of a task's prompt, which a reference editor cannot do without."""
    if parts.task.prompt_form is None:
        raise ParameterError(
            f"editor {name!r} fits the fields of a structured prompt, and the prompt of "
            f"{parts.task.name!r} is free text; use the editor 'rewriter'"
        )
    return parts.task.prompt_form
