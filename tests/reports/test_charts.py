import json
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.reports.charts import ROOM, curve_chart, spread_out, to_png, to_spec
from learnloop.reports.curves import CurvePoint
from learnloop.reports.themes import DARK, LIGHT, THEMES, strokes

LABELS = ("zero_shot", "drpg (rules)")
POINTS = [
    CurvePoint(label=label, step=step, mean=0.5, low=0.4, high=0.6, seeds=3)
    for label in LABELS
    for step in (1, 2)
]


def spec_of(theme, **size):
    drawn = strokes(LABELS, baselines=frozenset({"zero_shot"}))
    chart = curve_chart(POINTS, strokes=drawn, theme=theme, length=2)
    return to_spec(chart, theme=theme, **({"width": 300, "height": 200} | size))


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_a_spec_names_no_address(theme):
    assert "http" not in json.dumps(spec_of(theme, width="container"))


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_a_png_is_a_png_of_the_size_asked_for(theme):
    image = to_png(spec_of(theme), theme=theme)
    assert image.startswith(b"\x89PNG")
    width, height = int.from_bytes(image[16:20]), int.from_bytes(image[20:24])
    assert width >= 2 * 300
    assert height >= 2 * 200


def test_the_page_and_the_charts_have_the_same_colours():
    style = files("learnloop.reports").joinpath("page.css").read_text("utf-8")
    light, dark = style.split("prefers-color-scheme: dark", maxsplit=1)
    for theme, css in ((LIGHT, light), (DARK, dark)):
        for name in ("paper", "ink", "muted", "line"):
            assert f"--{name}: {getattr(theme, name)};" in css
        assert f"--accent: {theme.palette[0]};" in css


def test_the_baseline_is_grey_and_dashed_and_the_leading_method_has_the_accent():
    baseline, other, best = strokes(
        ("zero_shot", "self_stream_icl", "drpg"),
        baselines=frozenset({"zero_shot", "self_stream_icl"}),
        leading="drpg",
    )
    assert (baseline.light, baseline.dark) == (LIGHT.baseline, DARK.baseline)
    assert best.light == LIGHT.palette[0]
    assert other.light == LIGHT.palette[1]
    assert baseline.dash != best.dash


def test_many_methods_stay_apart_by_colour_and_dash():
    drawn = strokes(tuple(f"method {n}" for n in range(18)), baselines=frozenset())
    assert len({(stroke.light, stroke.dash) for stroke in drawn}) == 18


def contrast(one, other):
    """Return the contrast of two colours as the accessibility guidelines define it."""
    bright, dim = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def luminance(colour):
    shares = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_words_and_lines_stand_out_from_the_paper(theme):
    assert contrast(theme.ink, theme.paper) >= 7
    assert contrast(theme.muted, theme.paper) >= 4.5
    assert all(contrast(colour, theme.paper) >= 3 for colour in (*theme.palette, theme.baseline))


@given(st.lists(st.floats(0, 1), max_size=16))
def test_labels_are_moved_apart_in_their_order(places):
    moved = spread_out(places, ROOM)
    order = sorted(range(len(places)), key=lambda place: (places[place], place))
    gaps = [moved[high] - moved[low] for low, high in zip(order, order[1:], strict=False)]
    assert all(-1e-9 <= place <= 1 for place in moved)
    assert all(gap >= ROOM - 1e-9 for gap in gaps)


def test_labels_too_many_for_their_room_are_spaced_evenly():
    assert spread_out([0.5] * 21, ROOM) == pytest.approx([place / 20 for place in range(21)])
