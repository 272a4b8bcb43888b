"""The curator of a cheatsheet: has it rewritten in full from cases that nobody has judged."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from learnloop.editing.bullets import opens_turn
from learnloop.editing.drafting import case_lines
from learnloop.errors import LanguageModelError
from learnloop.protocols import LanguageModel
from learnloop.quoting import as_data
from learnloop.types import Bullet, Episode, Message, Options, Policy, PolicyDraft, Query, Task

WRITER = "cheatsheet"

_SHEET = re.compile(r"<cheatsheet>(?P<text>.*?)</cheatsheet>", re.IGNORECASE | re.DOTALL)
_ENTRY = re.compile(r"[-*•]\s+(?P<text>\S.*)")


class Curator:
    """Rewrites a sheet of entries in one call; whatever is not written again is gone.

    A sheet is a `Policy` with a bullet an entry, which may have several lines. The reply must hold
    it between `<cheatsheet>` tags, both of them: a sheet that was cut off is no sheet, and of
    several the longest counts. Over the budget, the last entries go first. Nothing that the
    feedback says is shown.

    Source: Dynamic Cheatsheet, arXiv 2504.07952.

    Args:
        model: Writes the sheet.
        task: What the cases are about.
        measure: Length of a text, in the unit of the budget.
        budget: The most that a sheet may take.
        max_tokens: Limit on the reply.
        seed: Handed to the model.
    """

    def __init__(
        self,
        *,
        model: LanguageModel,
        task: Task,
        measure: Callable[[str], int],
        budget: int,
        max_tokens: int,
        seed: int = 0,
    ) -> None:
        self.model = model
        self.task = task
        self.measure = measure
        self.budget = budget
        self.max_tokens = max_tokens
        self.seed = seed

    def curate(
        self, sheet: Policy | None, *, cases: Sequence[Episode], query: Query | None = None
    ) -> PolicyDraft:
        """Propose a new sheet, from the old one and some cases; for one query, where it is given.

        A call that fails, or a reply without a sheet, is a refused draft.
        """
        options = Options(role="policy", max_tokens=self.max_tokens, seed=self.seed)
        try:
            reply = self.model.complete(self._messages(sheet, cases, query), options=options)
        except LanguageModelError as error:
            return _refused(f"call failed: {type(error).__name__}")
        sheets = _SHEET.findall(reply.text)
        if not sheets:
            return _refused("no text between cheatsheet tags")
        return self._draft(read_entries(max(sheets, key=len)), sheet, cases)

    def _draft(
        self, entries: Sequence[str], sheet: Policy | None, cases: Sequence[Episode]
    ) -> PolicyDraft:
        safe = [entry for entry in entries if not any(map(opens_turn, entry.splitlines()))]
        kept = self._fitting(safe)
        if not kept:
            return _refused("over the budget" if safe else "an empty cheatsheet")
        known = {} if sheet is None else {bullet.text: bullet for bullet in sheet.bullets}
        sources = tuple(episode.id for episode in cases)
        bullets = [known.get(text) or Bullet(text=text, sources=sources) for text in kept]
        notes = {
            "role marker or delimiter": len(entries) - len(safe),
            "over the budget": len(safe) - len(kept),
        }
        return PolicyDraft(
            policy=Policy(bullets=tuple(bullets), writer=WRITER),
            reason="; ".join(f"{count} {why}" for why, count in notes.items() if count),
        )

    def _fitting(self, entries: Sequence[str]) -> list[str]:
        kept = list(entries)
        while kept and self.measure("\n".join(f"- {entry}" for entry in kept)) > self.budget:
            kept.pop()
        return kept

    def _messages(
        self, sheet: Policy | None, cases: Sequence[Episode], query: Query | None
    ) -> tuple[Message, ...]:
        entries = [f"- {as_data(b.text)}" for b in sheet.bullets] if sheet else [NO_ENTRIES]
        parts = ["\n".join([SHEET, "<cheatsheet>", *entries, "</cheatsheet>"])]
        parts.append("\n".join([CASES, "<cases>", "\n\n".join(map(self._case, cases)), "</cases>"]))
        if query is not None:
            parts.append(f"{NEXT}\n{self.task.query_label}: {as_data(query.text)}")
        parts.append(ASK)
        return (
            Message(role="system", content="\n\n".join([ROLE, self.task.instructions, RULES])),
            Message(role="user", content="\n\n".join(parts)),
        )

    def _case(self, episode: Episode) -> str:
        lines = case_lines(self.task, episode)
        if episode.rationale:
            lines.insert(-1, f"Reasoning: {as_data(episode.rationale)}")
        return "\n".join(lines)


def read_entries(text: str) -> tuple[str, ...]:
    r"""Return the entries of a sheet, as data: each begins with a mark at the start of a line.

    Lines without one belong to the entry above them; a repeated entry counts once.

    Examples:
        >>> read_entries("- Use euros.\n  Example: 3 EUR\n- Dates are ISO.")
        ('Use euros.\n  Example: 3 EUR', 'Dates are ISO.')
    """
    entries: list[str] = []
    for line in as_data(text).splitlines():
        begins = _ENTRY.match(line)
        if begins or (line.strip() and not entries):
            entries.append(begins["text"].rstrip() if begins else line.strip())
        elif line.strip():
            entries[-1] += f"\n{line.rstrip()}"
    return tuple(dict.fromkeys(entries))


def _refused(reason: str) -> PolicyDraft:
    return PolicyDraft(policy=None, reason=reason, refused=True)


ROLE = (
    "You keep the cheatsheet of an assistant: what it should have at hand when it answers the "
    "next question. The assistant's task:"
)

RULES = (
    "Nobody has judged the assistant's answers: judge them yourself, and keep only what you "
    "believe is right. Write the whole cheatsheet anew. Keep every old entry that is still of use, "
    "word by word or better; whatever you leave out is lost. Add what the cases teach that will "
    "help with other questions: ways to solve them, traps, facts. Merge entries that say the same, "
    'and put the most useful first. Each entry begins with "- " at the start of a line and says '
    "what it is for, then a short example, then how often it was of use so far, such as (used 3 "
    "times). Write the cheatsheet between <cheatsheet> and </cheatsheet>."
)

SHEET = "The cheatsheet so far:"

NO_ENTRIES = "(empty)"

CASES = "What the assistant was asked and answered:"

NEXT = "The next question, which the new cheatsheet is for:"

ASK = "Now write the whole new cheatsheet between <cheatsheet> and </cheatsheet>."
