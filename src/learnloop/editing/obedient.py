"""A reference editor without a model: believes the alarm. For theory."""

from __future__ import annotations

from collections.abc import Sequence

from learnloop.editing.majority import reference_form
from learnloop.editing.parts import EditorParts
from learnloop.structured_prompt import read_prompt, write_prompt
from learnloop.types import Edit, Episode, Prompt, PromptForm


class ObedientEditor:
    """Writes the prompt that agrees with the newest observation that would change the old one.

    On two rules this is the editor that flips whenever it is called, for which the limits of
    gates are known exactly.

    Args:
        form: How the prompt is written, and how it is fitted.
    """

    max_calls = 1
    asks_no_model = True
    needs_form = True

    def __init__(self, *, form: PromptForm) -> None:
        self.form = form

    @classmethod
    def from_parts(cls, parts: EditorParts) -> ObedientEditor:
        """Put the editor together."""
        return cls(form=reference_form(parts, "obedient"))

    def edit(self, prompt: Prompt, evidence: Sequence[Episode]) -> Edit:
        old = read_prompt(self.form, prompt.text)
        for episode in reversed(evidence):
            new = self.form.fit(old, [episode])
            if new != old:
                return Edit(text=write_prompt(self.form, new), reason="the newest mismatch")
        return Edit(text=None, reason="no observation that the prompt missed")
