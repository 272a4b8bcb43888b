import pytest
from tests.reports.test_page import HOSTILE, Page

from learnloop.reports.load import Material
from learnloop.reports.page import render_content, sort_out
from learnloop.reports.row_notes import COMPARABLE
from learnloop.reports.study_markdown import write_study
from learnloop.reports.study_page import show_study
from learnloop.types import Bullet, Policy

NOTE = "a subset: 4 of the 2,147 published queries"
HEADINGS = [
    "Score by method",
    "Who beats whom over configurations",
    "Gain in each configuration",
    "Tokens, and what an extra right answer costs",
    "How general the policies are",
    "Was memory used?",
    "Published numbers, other models and the full streams",
]


@pytest.fixture
def study(runs, step):
    """Write two benchmarks, one of them a subset, with two methods each; return all runs."""
    policy = Policy(writer="w", bullets=(Bullet(text=HOSTILE),))
    for env, note in (("spider", NOTE), ("hotpotqa", "")):
        spec = {"environment": env, "environment_params": {}}
        given = {"spec": spec, "environment_id": f"{env}-v1", "note": note}
        tags = ("empty gold",) if env == "spider" else ("f1=0.67",)
        runs.write("zero_shot", [step(n, 0.0, tags=tags) for n in range(4)], **given)
        runs.write("drpg", [step(n, n % 2 * 1.0, policy=policy) for n in range(4)], **given)
    return runs.load()


def page_of(runs):
    content = sort_out(Material(runs=tuple(runs)))
    return Page(render_content(content, command="learnloop report"))


def places(words, wanted):
    return [next(n for n, word in enumerate(words) if word.startswith(head)) for head in wanted]


def test_the_parts_of_a_study_come_in_their_order(study):
    page = page_of(study)
    found = places([word.strip() for word in page.words], HEADINGS)
    assert found == sorted(found)
    text = write_study(show_study(study))
    at = [text.index(f"### {head}") for head in HEADINGS]
    assert at == sorted(at)


def test_every_table_of_results_says_that_rows_are_a_subset(study):
    text = write_study(show_study(study))
    parts = [part for part in text.split("### ")[1:] if not part.startswith("Published")]
    assert len(parts) == 8
    assert all(f"spider-v1: {NOTE}. {COMPARABLE}" in part for part in parts)
    shown = "".join(page_of(study).words)
    assert shown.count(COMPARABLE) >= len(parts)


def test_a_note_of_one_method_is_told_of_it_alone(runs):
    told = "the method is told the right answers"
    runs.write("zero_shot", [0.0], note=NOTE)
    runs.write("oracle", [1.0], note=f"{NOTE}; {told}")
    text = write_study(show_study(runs.load()))
    assert f"house_rules-v1, database shop: {NOTE}. oracle: {told}. {COMPARABLE}" in text
    runs.write("zero_shot", [0.0], model="other")  # has no note: the others' is theirs alone
    assert f"zero_shot: {NOTE}. oracle: {NOTE}. oracle: {told}." in write_study(
        show_study(runs.load())
    )


def test_nothing_is_said_of_rows_that_are_all_there(runs):
    runs.write("zero_shot", [0.0])
    runs.write("drpg", [1.0])
    assert COMPARABLE not in write_study(show_study(runs.load()))


def test_hostile_names_and_notes_stay_text(runs):
    for method in ("zero_shot", "drpg"):
        runs.write(method, [0.0, 1.0], model=HOSTILE, metric=HOSTILE, note=HOSTILE)
    page = page_of(runs.load())
    assert sum(tag == "section" and given.get("id") == "study" for tag, given in page.tags) == 1
    assert set(page.scripts) >= {"charts-data", "runs-data", "scores-data"}
    assert set(page.json("scores-data")) == {"score-0"}
    assert any(HOSTILE in word for word in page.words)


def test_one_method_alone_is_no_study_on_the_page(runs):
    runs.write("drpg", [0.0, 1.0])
    page = page_of(runs.load())
    assert not any(a.get("id") == "study" for _, a in page.tags)
    assert write_study(show_study(runs.load())).startswith("## 1 method on 1 benchmark")


def test_published_numbers_stand_in_no_table_of_ours(study):
    text = write_study(show_study(study))
    ours, _, published = text.partition("### Published numbers")
    assert "gpt-4o" in published
    assert "gpt-4o" not in ours
    assert "arXiv 2406.08747v2" in published


def test_the_table_in_markdown_has_the_counted_numbers(study):
    text = write_study(show_study(study))
    assert "| drpg | **50.0** (1 × 4) | **50.0** (1 × 4) |" in text
    assert "| zero_shot | 0.0 (1 × 4, F1 67.0) | 0.0 (1 × 4) |" in text
    assert "| drpg | zero_shot | 2 / 0 / 0 | p = 0.25 | p = 0.25 | 0 |" in text


def test_where_there_are_no_streams_of_data_there_is_no_study():
    assert show_study([]) is None
