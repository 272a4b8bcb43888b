"""What is shown of an episode to whoever writes a prompt, and which text is taken for one."""

from __future__ import annotations

from collections.abc import Sequence

from learnloop.errors import ProposalError
from learnloop.quoting import as_data
from learnloop.structured_prompt import read_prompt, write_prompt
from learnloop.types import Episode, Task


def evidence_line(task: Task, episode: Episode) -> str:
    """Return one line that says what was observed."""
    if task.prompt_form is not None:
        return as_data(task.prompt_form.observe(episode))
    feedback = episode.feedback[-1]
    verdict = {True: "right", False: "wrong", None: "not judged"}[feedback.correct]
    said = [f"{task.query_label}: {episode.query.text}", f"{task.answer_label}: {episode.answer}"]
    said += [f"This was {verdict}.", *filter(None, (feedback.comment, feedback.correction))]
    return as_data(" | ".join(" ".join(part.split()) for part in said))


def accept(task: Task, text: str, *, evidence: Sequence[Episode], max_characters: int) -> str:
    """Return a proposed text as it is to be deployed.

    One with fields is written anew from its values. One of free text is limited in length, holds
    nothing that could end its block or open a chat turn, and copies no answer of the evidence.

    Raises:
        ProposalError: The text is no valid prompt; the message says why.
    """
    form = task.prompt_form
    if form is not None:
        return write_prompt(form, read_prompt(form, text))
    return accept_free_text(text, evidence=evidence, max_characters=max_characters)


def accept_free_text(text: str, *, evidence: Sequence[Episode], max_characters: int) -> str:
    """Return a proposed prompt of free text as it is to be deployed.

    Raises:
        ProposalError: It is empty, too long, or copies an answer.
    """
    cleaned = as_data(text).strip()
    if not cleaned:
        raise ProposalError("it says nothing")
    if len(cleaned) > max_characters:
        raise ProposalError(f"{len(cleaned)} characters; at most {max_characters} are taken")
    copied = [episode.id for episode in evidence if _copies(cleaned, episode)]
    if copied:
        raise ProposalError(f"it copies the answer to {copied[0]!r}")
    return cleaned


def _copies(text: str, episode: Episode) -> bool:
    answer = _plain(episode.answer)
    return len(answer) >= COPIED and answer in _plain(text)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


COPIED = 40
"""An answer of so many characters is not to stand in a prompt word by word."""
