"""The editor by textual gradients: a loss, its gradient and a step of the library textgrad."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from learnloop.editing.limits import check_limits
from learnloop.editing.parts import EditorParts
from learnloop.editing.proposals import accept, evidence_line
from learnloop.editing.textgrad_engine import RoleEngine, load_textgrad
from learnloop.errors import EditingError, LanguageModelError, ProposalError
from learnloop.protocols import LanguageModel
from learnloop.quoting import as_data
from learnloop.types import CallRole, Edit, Episode, Options, Prompt, PromptField, Task


class TextGradEditor:
    """Has the prompt criticised in the light of the evidence, and improved from the criticism.

    Three calls each time, which are charged also where the proposal cannot be used: the loss
    criticises the prompt, the backward pass turns that into feedback on it, the step writes it
    anew between the tags that the library asks for. Each edit begins with fresh variables and
    remembers no gradient.

    Source: TextGrad (arXiv 2406.07496) as an arm of PID-gated continual prompt adaptation.

    Args:
        task: What the prompt is for.
        model: Criticises and writes.
        words: How long loss and feedback may be, as they are asked for.
        critique_tokens: Limit on the replies of loss and backward pass.
        max_tokens: Limit on the reply that writes the prompt.
        max_characters: Limit on a prompt of free text.
        seed: Handed to the model.
    """

    max_calls = 3

    def __init__(
        self,
        *,
        task: Task,
        model: LanguageModel,
        words: int = 100,
        critique_tokens: int = 160,
        max_tokens: int = 320,
        max_characters: int = 1200,
        seed: int = 0,
    ) -> None:
        check_limits(
            "textgrad",
            words=words,
            critique_tokens=critique_tokens,
            max_tokens=max_tokens,
            max_characters=max_characters,
        )
        self.task = task
        self.model = model
        self.words = words
        self.critique_tokens = critique_tokens
        self.max_tokens = max_tokens
        self.max_characters = max_characters
        self.seed = seed
        self._textgrad = load_textgrad()

    @classmethod
    def from_parts(
        cls,
        parts: EditorParts,
        *,
        words: int = 100,
        critique_tokens: int = 160,
        max_tokens: int = 320,
        max_characters: int = 1200,
    ) -> TextGradEditor:
        """Put the editor together."""
        return cls(
            task=parts.task,
            model=parts.model,
            words=words,
            critique_tokens=critique_tokens,
            max_tokens=max_tokens,
            max_characters=max_characters,
            seed=parts.seed,
        )

    def edit(self, prompt: Prompt, evidence: Sequence[Episode]) -> Edit:
        request = "" if self.task.prompt_form is None else _PLAINLY
        step = self._engine("edit", request=request)
        try:
            text = self._optimise(prompt, evidence, step)
            if self.task.prompt_form is not None:
                text = _without_braces(text)
            text = accept(self.task, text, evidence=evidence, max_characters=self.max_characters)
        except ProposalError as error:
            reason = f"not valid: {error}"
            return Edit(text=None, reason=reason, invalid=1, calls=self.max_calls)
        except LanguageModelError as error:
            raise EditingError(f"a call of the editor failed: {error}") from error
        return Edit(text=text, reason="a textual gradient step", calls=self.max_calls)

    def _optimise(self, prompt: Prompt, evidence: Sequence[Episode], step: RoleEngine) -> str:
        """Make the three calls and return the text between the tags."""
        data = _data(self.task, evidence)
        theta = self._textgrad.Variable(
            as_data(prompt.text), requires_grad=True, role_description=_role(self.task)
        )
        loss = self._textgrad.TextLoss(
            _instruction(self.task, self.words) + data, engine=self._engine("loss", evidence=data)
        )
        optimizer = self._textgrad.TextualGradientDescent(
            parameters=[theta], engine=step, constraints=_constraints(self.task), gradient_memory=0
        )
        optimizer.zero_grad()
        request = _FEEDBACK.format(words=self.words)
        loss(theta).backward(engine=self._engine("backward", request=request))
        _take_step(optimizer, step)
        return str(theta.value)

    def _engine(self, role: CallRole, *, evidence: str = "", request: str = "") -> RoleEngine:
        limit = self.max_tokens if role == "edit" else self.critique_tokens
        options = Options(role=role, max_tokens=limit, seed=self.seed)
        return RoleEngine(model=self.model, options=options, evidence=evidence, request=request)


def _take_step(optimizer: Any, step: RoleEngine) -> None:
    """Have the library write the variable anew, if both of its tags are there."""
    try:
        optimizer.step()
    except IndexError:
        if step.reply is None or OPEN in step.reply:
            raise
        raise ProposalError(f"there is no {OPEN} in the reply") from None
    if CLOSE not in (step.reply or "").partition(OPEN)[2]:
        raise ProposalError(f"{OPEN} is never closed")


def _without_braces(text: str) -> str:
    """Return the text without the braces that the package shows round its place.

    A structured prompt holds none, so a model that writes them has followed the format shown.
    """
    return text[1:-1] if text.startswith("{") and text.endswith("}") else text


def _instruction(task: Task, words: int) -> str:
    form = task.prompt_form
    question, shape = (_FREE_QUESTION, "") if form is None else (form.question, _shape(task))
    criticise = _CRITICISE.format(words=words)
    return "\n\n".join(filter(None, [task.role, task.instructions, question, shape, criticise]))


def _role(task: Task) -> str:
    form = task.prompt_form
    if form is None:
        return "instructions for this work"
    names = ", ".join(f"`{field.name}`" for field in form.fields)
    return f"lines {names}, which state what holds now"


def _shape(task: Task) -> str:
    assert task.prompt_form is not None
    return "\n".join([_FIELDS, *(_meaning(field) for field in task.prompt_form.fields)])


def _data(task: Task, evidence: Sequence[Episode]) -> str:
    lines = "\n".join(evidence_line(task, episode) for episode in evidence)
    return _DATA.format(lines=lines)


def _constraints(task: Task) -> list[str]:
    form = task.prompt_form
    if form is None:
        return [_SHORT]
    lines = [f"Line {n} is {_line(field)}." for n, field in enumerate(form.fields, start=1)]
    return [*lines, _AGREE, _NOTHING_ELSE]


def _line(field: PromptField) -> str:
    if field.choices:
        return " or ".join(f"`{field.name}: {choice}`" for choice in field.choices)
    return f"`{field.name}: ` and {_range(field)}"


def _meaning(field: PromptField) -> str:
    return f"{field.name}: {field.meaning}, {_range(field)}"


def _range(field: PromptField) -> str:
    if field.choices:
        return " or ".join(field.choices)
    return f"a whole number from {field.low} to {field.high}"


OPEN, CLOSE = "<IMPROVED_VARIABLE>", "</IMPROVED_VARIABLE>"
"""The tags that textgrad asks for and reads; its templates name them, so they are not ours."""

_FIELDS = "The variable states what is believed to hold now, one line a field:"

_FREE_QUESTION = (
    "The variable is the instructions for this work. They are to be short and general, so that "
    "the wrong answers would have been right and the right ones stay right."
)

_CRITICISE = (
    "Compare the variable with what was observed. Say in at most {words} words which of its lines "
    "the observations contradict and what these lines should say, or that it is right."
)

_DATA = """

Observed, oldest first:
<evidence>
{lines}
</evidence>

The variable:
"""

_FEEDBACK = (
    "In at most {words} words, say for each line of the variable whether the observations "
    "contradict it, and what fits them."
)

_PLAINLY = "\n\nWrite the improved variable itself, without braces."
"""The package shows the place of the variable in braces, which small models write as well."""

_AGREE = "The variable agrees with most of the observations in the conversation."

_NOTHING_ELSE = "There is nothing else between the tags: no braces and no explanation."

_SHORT = "The improved variable is plain text of at most 150 words, not put into braces."
