"""What a policy writer sees that knows no outcome: similar cases, right or wrong alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from learnloop.editing.case_writer import Wording
from learnloop.editing.drafting import PolicyPrompt, PolicyStyle, case_lines
from learnloop.types import Episode, Task


def _sections(task: Task, style: PolicyStyle, evidence: Sequence[Episode]) -> list[str]:
    cases = ["\n".join(case_lines(task, episode)) for episode in evidence]
    return ["\n\n".join([CASES, *cases])]


RULES: Mapping[PolicyPrompt, str] = {
    "drpg": (
        "Look at all cases. Find what carries over to similar questions and where an answer can "
        "go astray. Write at most {most} short bullets that help with the next answer. Keep "
        "concrete columns, values and patterns. Leave out what is redundant and what any expert "
        "knows anyway. Reply with a line POLICY: and then one bullet a line, each starting with "
        '"- ".'
    ),
    "leap": (
        "Look at all cases. First write REASONING: and what the answers have in common and where "
        "they differ. Then write POLICY: and at most {most} short bullets that carry over, each "
        'starting with "- ". Keep concrete columns, values and patterns.'
    ),
}

CASES = "Earlier questions and the assistant's answers; nobody has judged them:"

NEUTRAL = Wording(writer="neutral", rules=RULES, sections=_sections)
"""Nothing is shown of a case but its query and its answer. Source: the no-feedback ablation of
DRPG, arXiv 2609.16800, appendix F."""
