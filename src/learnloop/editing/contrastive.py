"""What the policy writer of the DRPG paper sees: right and wrong cases, told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from learnloop.editing.case_writer import Wording
from learnloop.editing.drafting import PolicyPrompt, PolicyStyle, case_lines
from learnloop.quoting import as_data
from learnloop.types import Episode, Task


def _sections(task: Task, style: PolicyStyle, evidence: Sequence[Episode]) -> list[str]:
    wrong = [one for one in evidence if one.correct is False]
    right = [one for one in evidence if one.correct]
    return [
        "\n\n".join([title, *(_case(task, style, one) for one in cases)])
        for title, cases in ((WRONG, wrong), (RIGHT, right))
        if cases or style.keep_empty
    ]


def _case(task: Task, style: PolicyStyle, episode: Episode) -> str:
    lines = case_lines(task, episode)
    for feedback in episode.feedback:
        if feedback.comment:
            lines.append(f"Complaint: {as_data(feedback.comment)}")
        if feedback.correction:
            lines.append(f"Right {task.answer_label}: {as_data(feedback.correction)}")
    if style.label_cases:
        lines.append(LABELS[bool(episode.correct)])
    return "\n".join(lines)


RULES: Mapping[PolicyPrompt, str] = {
    "drpg": (
        "Look at all cases. Find what the wrong answers missed and the right answers did. Write "
        "at most {most} short bullets that make the next answer right. Keep every "
        "concrete column, value and pattern from the complaints and corrections. Leave out what "
        "is redundant and what any expert knows anyway. Reply with a line POLICY: and then one "
        'bullet a line, each starting with "- ".'
    ),
    "leap": (
        "Look at all cases. First write REASONING: and, for each wrong answer, why it was wrong. "
        "Then write POLICY: and at most {most} short bullets with what was learnt, each "
        'starting with "- ". Keep every concrete column, value and pattern.'
    ),
}

WRONG = "Cases that were answered WRONG:"

RIGHT = "Cases that were answered RIGHT:"

LABELS = {
    True: "Feedback: this answer is correct.",
    False: "Feedback: this answer is not correct.",
}

CONTRASTIVE = Wording(writer="contrastive", rules=RULES, sections=_sections)
"""Wrong cases stand before right ones, each with the comment and the correction that its feedback
carried. Source: DRPG, arXiv 2609.16800."""
