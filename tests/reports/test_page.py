import base64
import hashlib
import json
from html.parser import HTMLParser

import pytest

from learnloop.errors import RecordError
from learnloop.reports.groups import make_sections
from learnloop.reports.page import render, show_section, write_report
from learnloop.types import Bullet, Event, Feedback, Policy

VOID = {"meta", "link", "input", "line", "br", "img"}
HOSTILE = "</script><script>alert(1)</script><!--<script> \u2028 \"'&amp;"


class Page(HTMLParser):
    """Reads a page: its tags in order, what each script holds, and whether tags are balanced."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.scripts = {}
        self.words = []
        self._open = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self._open.pop()[0] == tag

    def handle_data(self, data):
        if self._open and self._open[-1][0] == "script":
            self.scripts[self._open[-1][1].get("id", len(self.scripts))] = data
        else:
            self.words.append(data)

    def json(self, name):
        return json.loads(self.scripts[name])


def page_of(runs, command="learnloop report runs"):
    sections = [show_section(section) for section in make_sections(runs.load())]
    return Page(render(sections, command=command))


def write_hostile(runs, step):
    feedback = Feedback(id="f", target_id="q0", correct=False, comment=HOSTILE, correction=HOSTILE)
    policy = Policy(bullets=(Bullet(text=HOSTILE),), writer=HOSTILE)
    runs.write("zero_shot", [0.0])
    runs.write(
        "drpg",
        [
            step(
                0,
                0.0,
                query=HOSTILE,
                answer=HOSTILE,
                why=HOSTILE,
                gold=HOSTILE,
                group=HOSTILE,
                feedback=(feedback,),
                policy=policy,
                events=(Event(kind="policy_refused", text=HOSTILE),),
            )
        ],
        metric=HOSTILE,
        machine={"system": HOSTILE},
    )


def test_the_page_loads_nothing_from_anywhere(runs):
    runs.write("zero_shot", [0.0, 1.0])
    runs.write("drpg", [1.0, 1.0])
    page = page_of(runs)
    for tag, attrs in page.tags:
        assert "src" not in attrs, tag
        assert (attrs.get("href") or "#").startswith(("#", "data:,")), attrs
        assert "on" not in {name[:2] for name in attrs}, attrs
    policy = next(a["content"] for t, a in page.tags if t == "meta" and "http-equiv" in a)
    assert policy.startswith("default-src 'none'")


def test_the_policy_lets_exactly_our_scripts_run(runs):
    runs.write("drpg", [1.0])
    page = page_of(runs)
    policy = next(a["content"] for t, a in page.tags if t == "meta" and "http-equiv" in a)
    code = [text for name, text in page.scripts.items() if isinstance(name, int)]
    assert len(code) == 2
    for text in code:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.count("sha256-") == 2


def test_what_a_model_wrote_stays_text(runs, step):
    write_hostile(runs, step)
    page = page_of(runs)
    assert len([tag for tag, _ in page.tags if tag == "script"]) == 4
    assert HOSTILE in " ".join(page.words)
    step_shown = page.json("runs-data")[1]["steps"][0]
    for field in ("query", "answer", "why", "gold"):
        assert step_shown[field] == HOSTILE
    assert step_shown["feedback"][0]["comment"] == HOSTILE


def test_embedded_data_cannot_end_its_script(runs, step):
    write_hostile(runs, step)
    page = page_of(runs)
    for name in ("runs-data", "charts-data"):
        assert "<" not in page.scripts[name]


def test_every_step_of_every_run_is_in_the_page(runs):
    runs.write("zero_shot", [0.0, 1.0])
    runs.write("drpg", [1.0, 1.0, 0.0])
    data = page_of(runs).json("runs-data")
    assert [[one["verdict"] for one in run["steps"]] for run in data] == [
        ["wrong", "right"],
        ["right", "right", "wrong"],
    ]


def test_the_footer_says_how_the_page_was_made(runs):
    runs.write("drpg", [1.0])
    words = " ".join(page_of(runs, command="learnloop report 'my runs'").words)
    for part in ("learnloop report 'my runs'", "ab" * 32, "cd" * 32, "learnloop 0.1.0", "Linux"):
        assert part in words


def test_each_environment_has_a_section_and_the_page_one_first_heading(runs):
    runs.write("drpg", [1.0])
    runs.write("drpg", [1.0], environment_id="spider-v1")
    page = page_of(runs)
    sections = [a["id"] for t, a in page.tags if t == "section" and a.get("class") == "environment"]
    assert sections == ["house-rules-v1-database-shop", "spider-v1-database-shop"]
    assert [tag for tag, _ in page.tags].count("h1") == 1
    names = [a["id"] for _, a in page.tags if "id" in a]
    assert len(names) == len(set(names))


def test_each_feedback_mode_has_its_chart(runs):
    for feedback in ("binary", "comment,correction=0.5"):
        runs.write("drpg", [1.0] * 6, feedback=feedback)
    page = page_of(runs)
    places = [a["data-chart"] for _, a in page.tags if "data-chart" in a]
    charts = page.json("charts-data")
    assert sorted(places) == sorted(charts)
    assert all(set(kinds) == {"rolling", "cumulative"} for kinds in charts.values())


def test_a_run_without_steps_has_a_page_too(runs):
    runs.write("drpg", [], steps=4)
    assert "no steps yet" in " ".join(page_of(runs).words)


def test_the_report_is_a_page_and_png_charts(runs, tmp_path):
    runs.write("zero_shot", [0.0] * 6)
    runs.write("drpg", [1.0] * 6)
    page = write_report(runs.load(), out=tmp_path / "a" / "report", command="learnloop report")
    assert page == tmp_path / "a" / "report" / "index.html"
    images = sorted(page.parent.glob("*.png"))
    assert [image.name for image in images] == [
        "curves-comment-dark.png",
        "curves-comment-light.png",
        "gains-dark.png",
        "gains-light.png",
    ]
    assert all(image.read_bytes().startswith(b"\x89PNG") for image in images)


def test_the_same_records_give_the_same_page(runs):
    runs.write("zero_shot", [0.0, 1.0] * 5)
    runs.write("drpg", [1.0, 1.0] * 5)
    sections = [[show_section(s) for s in make_sections(runs.load())] for _ in range(2)]
    assert render(sections[0], command="x") == render(sections[1], command="x")


def test_a_folder_that_cannot_be_written_is_named(runs, tmp_path):
    runs.write("drpg", [1.0])
    taken = tmp_path / "taken"
    taken.write_text("a file")
    with pytest.raises(RecordError, match="taken.*give another --out"):
        write_report(runs.load(), out=taken, command="learnloop report")
