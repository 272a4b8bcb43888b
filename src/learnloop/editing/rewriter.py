"""The direct editor: one call, held to a JSON schema, rewrites the prompt from evidence."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from learnloop.editing.limits import check_limits
from learnloop.editing.parts import EditorParts
from learnloop.editing.proposals import accept_free_text, evidence_line
from learnloop.errors import EditingError, LanguageModelError, ProposalError
from learnloop.protocols import LanguageModel
from learnloop.quoting import as_data
from learnloop.structured_prompt import prompt_schema, write_prompt
from learnloop.types import Edit, Episode, Message, Options, Prompt, Task


class Rewriter:
    """Shows the model the prompt and what was observed, and asks plainly what holds now.

    A prompt with fields is asked for field by field; one of free text as a whole, in at most
    `max_characters`. A reply that is not valid changes nothing and is counted. The system message
    is the same in every call of a task and holds nothing that was learnt. The newest observation
    stands first: a small model follows what it reads first.

    Args:
        task: What the prompt is for.
        model: Writes.
        max_tokens: Limit on the reply.
        max_characters: Limit on a prompt of free text.
        seed: Handed to the model.
    """

    max_calls = 1

    def __init__(
        self,
        *,
        task: Task,
        model: LanguageModel,
        max_tokens: int = 256,
        max_characters: int = 1200,
        seed: int = 0,
    ) -> None:
        check_limits("rewriter", max_tokens=max_tokens, max_characters=max_characters)
        self.task = task
        self.model = model
        self.max_tokens = max_tokens
        self.max_characters = max_characters
        self.seed = seed

    @classmethod
    def from_parts(
        cls, parts: EditorParts, *, max_tokens: int = 256, max_characters: int = 1200
    ) -> Rewriter:
        """Put the editor together."""
        return cls(
            task=parts.task,
            model=parts.model,
            max_tokens=max_tokens,
            max_characters=max_characters,
            seed=parts.seed,
        )

    def edit(self, prompt: Prompt, evidence: Sequence[Episode]) -> Edit:
        form = self.task.prompt_form
        reply = self._ask(prompt, evidence)
        try:
            given = _read_object(reply)
            text = self._free_text(given, evidence) if form is None else write_prompt(form, given)
        except ProposalError as error:
            return Edit(text=None, reason=f"not valid: {error}", invalid=1)
        if text == prompt.text:
            return Edit(text=None, reason="the model says the same of the evidence as the prompt")
        return Edit(text=text, reason="what the model makes of the evidence")

    def _ask(self, prompt: Prompt, evidence: Sequence[Episode]) -> str:
        form = self.task.prompt_form
        messages = (
            Message(role="system", content=_system(self.task)),
            Message(role="user", content=_user(self.task, prompt, evidence)),
        )
        options = Options(
            role="edit",
            max_tokens=self.max_tokens,
            seed=self.seed,
            schema=_FREE_TEXT_SCHEMA if form is None else prompt_schema(form),
        )
        try:
            return self.model.complete(messages, options=options).text
        except LanguageModelError as error:
            raise EditingError(f"the editor's call failed: {error}") from error

    def _free_text(self, given: Mapping[str, object], evidence: Sequence[Episode]) -> str:
        written = given.get("prompt")
        if not isinstance(written, str):
            raise ProposalError("there is no text under 'prompt'")
        return accept_free_text(written, evidence=evidence, max_characters=self.max_characters)


def _read_object(reply: str) -> Mapping[str, object]:
    try:
        given = json.loads(reply)
    except (ValueError, RecursionError) as error:
        raise ProposalError(f"no JSON: {reply[:60]!r}") from error
    if not isinstance(given, dict):
        raise ProposalError(f"no JSON object: {reply[:60]!r}")
    return given


def _system(task: Task) -> str:
    what = _FREE_TEXT_QUESTION if task.prompt_form is None else _FORM_QUESTION
    return "\n\n".join([task.role, task.instructions, what])


def _user(task: Task, prompt: Prompt, evidence: Sequence[Episode]) -> str:
    lines = [evidence_line(task, episode) for episode in reversed(evidence)]
    if task.prompt_form is None:
        return _FREE_TEXT_REQUEST.format(prompt=as_data(prompt.text), evidence="\n".join(lines))
    return _FORM_REQUEST.format(
        prompt=as_data(", ".join(prompt.text.splitlines())),
        evidence="\n".join(
            f"{_BEFORE if place else _NEWEST}: {line}" for place, line in enumerate(lines)
        ),
        question=task.prompt_form.question,
    )


_FREE_TEXT_SCHEMA = {
    "type": "object",
    "properties": {"prompt": {"type": "string"}},
    "required": ["prompt"],
    "additionalProperties": False,
}

_FREE_TEXT_QUESTION = (
    "You keep the instructions for this work up to date. Read the instructions that hold now and "
    "what was observed lately, some of which may be mistaken. Write the instructions anew, short "
    "and general, so that the wrong answers would have been right and the right ones stay right."
)

_FORM_QUESTION = "Answer in JSON, by the newest observations."

_NEWEST, _BEFORE = "newest", "before"
"""A small model reads the newest of several values where it is marked, and the first one if not."""

_FORM_REQUEST = """\
Until now {prompt} was believed; these observations are newer:
<evidence>
{evidence}
</evidence>

{question}"""

_FREE_TEXT_REQUEST = """\
Until now this was believed; it may have changed:
<prompt>
{prompt}
</prompt>

Observations, newest first:
<evidence>
{evidence}
</evidence>

Write the instructions anew."""
