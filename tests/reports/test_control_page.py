import json

import pytest

from learnloop.records.schema import CallRecord
from learnloop.reports.control_markdown import write_markdown
from learnloop.reports.control_page import show_controls
from learnloop.reports.load import Material, load_material
from learnloop.reports.page import render, sort_out, write_page
from learnloop.types import Event

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.fixture
def written(control, runs):
    """Write two arms at two levels of noise, two seeds each."""
    for noise in (0, 0.1):
        for seed in (1, 2):
            events = {
                0: (control.FIRST,),
                3: (control.CALLED, control.EDITED),
                6: (control.RECALLED,),
            }
            made = control.steps("..xx...x", events=events, changes=(2,))
            control.write(runs, "P", made, noise=noise, seed=seed)
            made = control.steps("..x.....", events={0: (control.FIRST,), **events}, changes=(2,))
            control.write(runs, "Mine (ours)", made, noise=noise, seed=seed)
    return runs


def page_of(runs):
    content = sort_out(Material(runs=tuple(runs.load())))
    return render(content.sections, control=content.control, command="learnloop report")


def data_of(page, name):
    start = page.index(f'id="{name}">') + len(f'id="{name}">')
    return json.loads(page[start : page.index("</script>", start)])


def test_the_page_has_every_part_of_a_control_task(written):
    page = page_of(written)
    for part in (
        "Mine (ours) beats every other arm on parity, at no more calls",
        "Accuracy, edits and calls",
        "Accuracy against edits",
        "ideal filter, not told the schedule",
        "best gate, flips at hazard 1/30",
        "Bayes ceiling",
        "Mine (ours) against each other arm",
        "One run, step by step",
        "Delay against run length",
        "What it took",
    ):
        assert part in page, part
    assert "Learning curves" not in page
    assert "Every step of every run" not in page


def test_every_panel_has_its_chart_and_its_words(written):
    page = page_of(written)
    panels = data_of(page, "panels-data")
    assert sorted(panels) == ["parity-v1-delay-1", "parity-v1-edits-0", "parity-v1-edits-1"]
    for name, specs in panels.items():
        assert f'data-panel="{name}" role="img"' in page
        assert set(specs) == {"light", "dark"}
    assert "accuracy at η = 0: P 62.5% with 2.0 changes; Mine (ours) 87.5%" in page


def test_only_one_seed_an_arm_and_level_is_embedded(written):
    names = [one["name"] for one in data_of(page_of(written), "trajectories-data")["parity-v1"]]
    assert names == [
        "Mine (ours), η = 0, seed 1",
        "P, η = 0, seed 1",
        "Mine (ours), η = 0.1, seed 1",
        "P, η = 0.1, seed 1",
    ]


def test_what_a_model_wrote_cannot_end_its_script_or_become_markup(control, runs):
    edited = Event(kind="prompt_changed", text=HOSTILE, refs=("1", "0"))
    made = control.steps("..x.", events={0: (control.FIRST,), 1: (control.CALLED, edited)})
    control.write(runs, HOSTILE, made)
    page = page_of(runs)
    assert HOSTILE not in page
    assert "<img src=x" not in page
    assert HOSTILE in data_of(page, "trajectories-data")["parity-v1"][0]["versions"][1]["text"]


def test_streams_of_data_keep_their_section_beside_a_control_task(written):
    written.write("zero_shot", [0.0, 1.0])
    page = page_of(written)
    found = "<span>Mine (ours) beats every other arm on parity, at no more calls</span>"
    for part in (
        found,
        "2 environments",
        "Learning curves",
        "Every step of every run",
        "What it took",
    ):
        assert part in page


def test_pngs_are_written_beside_the_page(written, tmp_path):
    out = tmp_path / "out"
    write_page(sort_out(load_material([written.folder])), out=out, command="learnloop report")
    assert sorted(file.name for file in out.iterdir()) == [
        "index.html",
        *(
            f"parity-v1-{kind}-{theme}.png"
            for kind in ("delay", "edits", "trajectory")
            for theme in ("dark", "light")
        ),
    ]


def markdown_of(runs):
    return write_markdown(show_controls(runs.load(), []))


def test_markdown_holds_the_same_numbers(written):
    text = markdown_of(written)
    lines = text.splitlines()
    assert lines[0] == "## parity-v1"
    assert lines[2].startswith("**Mine (ours) beats every other arm on parity, at no more calls.**")
    assert lines[4].startswith("8 runs of 8 steps, 2 seeds; model local; accuracy on the true")
    assert "| P | 62.5 ± 0.0 | 1.00 | 1.00 | 62.5 ± 0.0 | 1.00 | 1.00 |" in lines
    assert "| Mine (ours) | **87.5** ± 0.0 | 1.00 | 1.00 | **87.5** ± 0.0 | 1.00 | 1.00 |" in lines
    assert (
        "| P | η = 0.1 | 2 | +25.0 | +25.0 to +25.0 | 2 / 0 / 0 | 0 | yes, may be chance |" in lines
    )


def test_a_bar_in_a_label_does_not_split_a_markdown_cell(control, runs):
    control.write(runs, "P|Q", control.steps(".."))
    text = markdown_of(runs)
    assert "| P\\|Q | **" not in text
    assert "| P\\|Q | 100.0 |" in text


def test_markdown_tells_calls_tokens_and_invalid_proposals_a_level_and_the_cost_a_role(
    control, runs
):
    calls = (
        CallRecord(role="loss", model="local", tokens_in=30, tokens_out=2),
        CallRecord(role="edit", model="local", tokens_in=70, tokens_out=8),
    )
    events = {1: (control.CALLED, control.INVALID, control.KEPT)}
    control.write(runs, "P", control.steps("..", events=events, calls=calls), noise=0)
    control.write(runs, "P", control.steps(".."), noise=0.1)
    lines = markdown_of(runs).splitlines()
    start = "| η = 0 | P | 1 | 1.00 | 1.00 | 0.00 | 1.00 | 0.00 | 0.00 | 2.00 | 100 | 10 |"
    assert [line for line in lines if line.startswith(start)]
    assert "| P | loss | 0.50 | 15 | 1 |" in lines
    assert "| P | edit | 0.50 | 35 | 4 |" in lines
    assert "### How the runs were made" in lines


def test_markdown_says_which_arm_has_fewer_seeds(control, runs):
    control.write(runs, "P", control.steps(".x"), seed=1)
    control.write(runs, "P", control.steps(".x"), seed=2)
    control.write(runs, "TextGrad", control.steps(".."), seed=1)
    lines = markdown_of(runs).splitlines()
    assert "| TextGrad | **100.0** \\* | 0.00 | 0.00 |" in lines
    assert "- \\* TextGrad, η = 0.1: 1 of 2 seeds." in lines


def test_a_comparison_over_fewer_seeds_than_others_says_so(control, runs):
    for seed in (1, 2):
        control.write(runs, "Mine (ours)", control.steps(".."), seed=seed)
        control.write(runs, "P", control.steps(".x"), seed=seed)
    control.write(runs, "TextGrad", control.steps(".x"), seed=1)
    page = page_of(runs)
    assert "η = 0.1, 2 common seeds where nothing else is said" in page
    assert "TextGrad <small>1 seed</small>" in page


def test_reference_editors_are_explained_where_there_are_any(control, runs):
    control.write(runs, "P", control.steps(".."))
    assert "reference editor, which is arithmetic" not in page_of(runs)
    control.write(runs, "P", control.steps(".."), params={"editor": "majority"})
    assert "reference editor, which is arithmetic" in page_of(runs)


def test_the_line_of_a_chart_of_numbers_is_explained_below_it(control, runs):
    control.write(runs, "P", control.steps("x", answer="50", golds=["51"]), task="guess")
    page = page_of(runs)
    assert "The dashed line is the error of the ideal tracker, who is told the noise" in page
    assert "The limit is the error of the ideal tracker, who is told the noise" in page
