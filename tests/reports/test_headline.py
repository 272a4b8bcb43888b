from learnloop.reports.comparisons import compare
from learnloop.reports.groups import make_sections
from learnloop.reports.headline import caution, lead, measured, sentence, tiles, title
from learnloop.reports.tables import make_table
from learnloop.reports.wording import NARROW


def top(runs):
    (section,) = make_sections(runs.load())
    return section, compare(section), make_table([section])


def test_a_clear_gain_is_said_with_its_numbers(runs):
    for seed in range(3):
        runs.write("zero_shot", [0.0] * 40, seed=seed)
        runs.write("drpg", [0.0] * 20 + [1.0] * 15 + [0.0] * 5, seed=seed)
    section, comparisons, rows = top(runs)
    assert title(section, comparisons, rows) == "drpg gained 75 points over zero_shot"
    words = sentence(lead(comparisons), first=21).replace(NARROW, " ")
    assert "right on 75 % of the queries from step 21 on, zero_shot on 0 %: +75 points" in words
    assert "45 became right and 0 became wrong (exact McNemar test, p < 0.001)" in words
    assert "chance" not in words
    assert caution(lead(comparisons), rows) == ""


def test_a_difference_that_may_be_chance_is_called_that(runs):
    runs.write("zero_shot", [0.0, 1.0] * 10)
    runs.write("drpg", [1.0, 1.0] + [0.0, 1.0] * 8 + [1.0, 1.0])
    section, comparisons, rows = top(runs)
    assert title(section, comparisons, rows) == "No clear difference between drpg and zero_shot"
    assert sentence(comparisons[0], first=11).endswith("This difference may be chance.")
    assert "1 seed and 10 pairs only" in caution(comparisons[0], rows)


def test_an_incomplete_run_under_the_headline_is_warned_about(runs):
    runs.write("zero_shot", [0.0] * 4, steps=4)
    runs.write("drpg", [1.0] * 3, steps=4, complete=False)
    _, comparisons, rows = top(runs)
    assert caution(comparisons[0], rows).endswith("drpg: incomplete (seed 0: 3 of 4 steps).")


def test_no_difference_is_called_that(runs):
    runs.write("zero_shot", [0.0] * 4)
    runs.write("drpg", [0.0] * 4)
    _, comparisons, _ = top(runs)
    assert sentence(comparisons[0], first=3).endswith("That is no difference.")


def test_a_loss_is_called_a_loss(runs):
    runs.write("zero_shot", [1.0] * 40)
    runs.write("drpg", [0.0] * 40)
    section, comparisons, rows = top(runs)
    assert title(section, comparisons, rows) == "drpg lost 100 points to zero_shot"


def test_a_clear_gain_leads_before_a_larger_one_from_one_seed(runs):
    for seed in range(3):
        runs.write("zero_shot", [0.0] * 40, seed=seed)
        runs.write("drpg", [0.0, 1.0] * 20, seed=seed)
    runs.write("drpg", [1.0] * 40, feedback="binary")
    _, comparisons, _ = top(runs)
    assert comparisons[0].feedback == "binary"
    assert lead(comparisons).feedback == "comment"


def test_without_a_baseline_the_best_row_is_told(runs):
    runs.write("drpg", [0.0, 0.0, 1.0, 1.0])
    section, comparisons, rows = top(runs)
    assert title(section, comparisons, rows).replace(NARROW, " ") == (
        "drpg: 100 % right in the second half"
    )


def test_nothing_yet_is_told_as_that(runs):
    runs.write("drpg", [], steps=4)
    section, comparisons, rows = top(runs)
    assert title(section, comparisons, rows).endswith("no steps yet")


def test_what_was_measured_names_environment_model_steps_seeds_and_feedback(runs):
    runs.write("zero_shot", [0.0] * 4, seed=0)
    runs.write("zero_shot", [0.0] * 3, seed=1)
    section, _, _ = top(runs)
    assert measured(section) == (
        "house_rules-v1, database shop; model local; 2 runs of 3 to 4 steps; seeds 0 and 1; "
        "feedback comment; score: execution accuracy."
    )


def test_the_tiles_hold_the_numbers_against_the_baseline(runs):
    runs.write("zero_shot", [0.0, 0.0, 0.0, 1.0])
    runs.write("drpg", [0.0, 0.0, 1.0, 1.0])
    _, comparisons, rows = top(runs)
    shown = [(tile.number, tile.against.replace(NARROW, " ")) for tile in tiles(comparisons, rows)]
    assert shown[1:] == [
        ("100", "zero_shot 50 %"),
        ("1.00", "zero_shot 1.00"),
        ("2.0", "zero_shot 2.0 s"),
    ]
    assert shown[0][0] == "+50"
