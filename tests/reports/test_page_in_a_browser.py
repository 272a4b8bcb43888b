"""The report in a real browser: nothing loads, nothing overflows, the keyboard is enough."""

import shutil

import pytest
from playwright.sync_api import sync_playwright

from learnloop.reports.page import write_report
from learnloop.settings import read_settings
from learnloop.types import Bullet, Event, Feedback, Policy

CHROMIUM = shutil.which("chromium")
INSTALL = "no chromium here; install it with: apt-get update && apt-get install -y chromium"
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        if read_settings().ci:
            pytest.fail(INSTALL)
        pytest.skip(INSTALL)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def report(runs_in, step, tmp_path_factory):
    """Write a report with hostile text, long words and three verdicts; return its address."""
    runs = runs_in(tmp_path_factory.mktemp("runs"))
    long = "a_very_long_identifier_without_any_space_" * 8
    policy = Policy(bullets=(Bullet(text=HOSTILE, sources=("q0",)),), writer="rules")
    correction = Feedback(id="c", target_id="q0", correct=False, correction="SELECT corrected")
    steps = [
        step(0, 0.0, answer=HOSTILE, gold=long, feedback=(correction,)),
        step(1, 1.0, examples=("q0:correction", "q0"), policy=policy, query=long),
        step(2, 0.0, failed="ModelTimeoutError: no answer in 60 s"),
        *[step(n, 1.0) for n in range(3, 60)],
    ]
    out = tmp_path_factory.mktemp("report")
    for feedback in ("comment", "binary"):
        runs.write("zero_shot", [0.0, 1.0] * 30, feedback=feedback)
        runs.write("drpg", steps, feedback=feedback)
    return write_report(runs.load(), out=out, command="learnloop report").as_uri()


class Visit:
    """An open page, and what went wrong on it."""

    def __init__(self, browser, address, *, width=1440, scheme="light"):
        self.page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.problems = []
        self.requests = []
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", lambda message: self.problems.append(message.text))
        self.page.on("dialog", lambda dialog: self.problems.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(address)
        self.page.wait_for_function(
            "[...document.querySelectorAll("
            "'[data-chart], [data-panel], [data-score], .trajectory')]"
            ".every((one) => one.dataset.drawn)"
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_it_draws_without_errors_requests_or_sideways_scrolling(browser, report, width, scheme):
    with Visit(browser, report, width=width, scheme=scheme) as visit:
        assert visit.page.locator(".curves .chart svg").count() == 2
        assert visit.page.locator("#study .chart svg").count() == 2
        visit.page.locator(".step > summary").nth(1).click()
        wide = visit.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width
        assert visit.problems == []
        loaded = [url for url in visit.requests if not url.startswith(("file:", "data:"))]
        assert loaded == []


def test_hostile_text_is_shown_and_never_run(browser, report):
    with Visit(browser, report) as visit:
        visit.page.locator(".step > summary").first.click()
        assert visit.page.locator(".step pre").first.text_content() == HOSTILE
        assert visit.page.locator("img").count() == 0
        assert visit.problems == []


def test_the_filter_shows_what_it_says(browser, report):
    with Visit(browser, report) as visit:
        counts = {}
        for name in ("all", "wrong", "right", "failed"):
            visit.page.locator(f"#verdicts input[value={name}]").check()
            while visit.page.locator("#more").is_visible():
                visit.page.locator("#more").click()
            counts[name] = visit.page.locator("#steps .step").count()
        assert counts == {"all": 60, "wrong": 1, "right": 58, "failed": 1}


def test_a_retrieved_correction_resolves_to_its_text_and_step(browser, report):
    with Visit(browser, report) as visit:
        visit.page.locator("#step-2 > summary").click()
        example = visit.page.locator("#step-2 .episode").first
        example.locator("summary").click()
        assert example.locator("pre").text_content() == "SELECT corrected"
        example.locator("a").click()
        assert visit.page.locator("#step-1").get_attribute("open") is not None


def test_steps_open_by_keyboard_alone(browser, report):
    with Visit(browser, report) as visit:
        visit.page.locator("#verdicts input[value=all]").focus()
        visit.page.keyboard.press("ArrowRight")
        assert visit.page.locator("#verdicts input[value=wrong]").is_checked()
        visit.page.keyboard.press("Tab")
        visit.page.keyboard.press("Enter")
        assert visit.page.locator(".step[open]").count() == 1


def test_the_other_curve_is_drawn_when_asked_for(browser, report):
    with Visit(browser, report) as visit:
        before = visit.page.locator(".chart svg").first.inner_html()
        visit.page.locator(".curves input[value=cumulative]").check()
        visit.page.wait_for_function(
            "(old) => document.querySelector('.chart svg')?.innerHTML !== old", arg=before
        )
        assert visit.problems == []


def test_choosing_a_run_shows_its_steps(browser, report):
    with Visit(browser, report) as visit:
        assert "method: drpg" in visit.page.locator("#run-facts").text_content()
        visit.page.locator("#run-choice").select_option(index=0)
        assert "method: zero_shot" in visit.page.locator("#run-facts").text_content()
        assert visit.page.locator("[data-count=wrong]").text_content() == "30"


@pytest.fixture(scope="module")
def control_report(runs_in, control, tmp_path_factory):
    """Write a report of two arms of a control task, one of them with hostile prompts."""
    runs = runs_in(tmp_path_factory.mktemp("control"))
    hostile = Event(kind="prompt_changed", text=HOSTILE, refs=("1", "0"))
    for noise in (0, 0.1):
        for seed in (1, 2):
            for label, edit in (("P", hostile), ("Mine with a long name (ours)", control.EDITED)):
                events = {0: (control.FIRST,), 4: (control.CALLED, edit), 8: (control.RECALLED,)}
                made = control.steps("..xxx..xx" + "." * 111, events=events, changes=(2, 7))
                control.write(runs, label, made, noise=noise, seed=seed)
    out = tmp_path_factory.mktemp("control_report")
    return write_report(runs.load(), out=out, command="learnloop report").as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_a_control_task_draws_without_errors_requests_or_sideways_scrolling(
    browser, control_report, width, scheme
):
    with Visit(browser, control_report, width=width, scheme=scheme) as visit:
        assert visit.page.locator("[data-panel] svg").count() == 3
        assert visit.page.locator(".trajectory svg").count() == 1
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
        drawn = visit.page.locator(".trajectory svg").bounding_box()["width"]
        assert drawn > 0.75 * visit.page.locator(".trajectory").bounding_box()["width"]
        assert visit.problems == []
        assert [one for one in visit.requests if not one.startswith(("file:", "data:"))] == []


def test_the_run_that_is_chosen_is_shown_with_its_prompts_as_text(browser, control_report):
    with Visit(browser, control_report) as visit:
        assert visit.page.locator(".run-choice option:checked").text_content().startswith("Mine")
        before = visit.page.locator(".trajectory svg").inner_html()
        visit.page.locator(".run-choice").select_option(label="P, η = 0.1, seed 1")
        visit.page.wait_for_function(
            "(old) => document.querySelector('.trajectory svg')?.innerHTML !== old", arg=before
        )
        visit.page.locator(".versions summary").click()
        assert visit.page.locator(".versions pre").nth(1).text_content() == HOSTILE
        assert (
            visit.page.locator(".trajectory").get_attribute("aria-label").startswith("P, η = 0.1")
        )
        assert visit.page.locator("img").count() == 0
        assert visit.problems == []


def test_a_drawn_chart_keeps_its_words(browser, report, control_report):
    with Visit(browser, report) as visit:
        words = visit.page.locator("[data-chart]").first.get_attribute("aria-label")
        assert words.startswith("Accuracy over the last")
    with Visit(browser, control_report) as visit:
        words = visit.page.locator("[data-panel]").first.get_attribute("aria-label")
        assert words.startswith("accuracy at η = 0: P ")


def test_a_run_is_walked_by_keyboard_alone(browser, control_report):
    with Visit(browser, control_report) as visit:
        visit.page.locator(".run-choice").focus()
        visit.page.keyboard.press("Tab")
        assert visit.page.locator(".number-of").text_content() == "5 of 120"
        assert "the gate opened" in visit.page.locator(".reading").text_content()
        visit.page.keyboard.press("ArrowRight")
        assert visit.page.locator(".number-of").text_content() == "6 of 120"
        assert "right" in visit.page.locator(".reading").text_content()
        assert visit.problems == []
