"""The results of the study, on scripted records whose every number can be counted."""

import argparse
import json
from collections import Counter

import house_rules
import pytest
from house_rules_numbers import affordable, best_reach, gain, meets, numbers_of, reach
from house_rules_page import page
from house_rules_policies import (
    LearntRule,
    final_rules,
    listed,
    policy_numbers,
    stated_shares,
    twins,
)

from learnloop.environments.house_rules.data import load_database
from learnloop.environments.house_rules.environment import HouseRules
from learnloop.errors import DataError
from learnloop.records.encoding import INFO, STEP, TIMING, encode
from learnloop.records.schema import CallRecord, CallTiming, RunInfo, StepRecord, StepTiming
from learnloop.runner.study import expand, read_study
from learnloop.types import Bullet, Event, Policy, Prediction

SPECS = expand(read_study(house_rules.STUDY))
BOTH = "comment,correction=0.5"
SHOP = load_database("shop")
RULES, CONTRASTIVE = "drpg (rules)", "drpg (contrastive)"


@pytest.fixture(scope="module")
def streams():
    """The first 60 queries of the real stream of each seed, with the conventions they need."""
    return {seed: list(stream_of(seed)) for seed in (1, 2, 3)}


def stream_of(seed):
    environment = HouseRules(database="shop")
    query = environment.reset(seed=seed)
    for _ in range(60):
        step = environment.step(Prediction(query_id=query.id, text="SELECT 1"))
        yield query, step.score.tags
        query = step.query


def spec_of(method, seed=1, feedback=BOTH):
    found = [
        s for s in SPECS if (s.label or s.method, s.seed, s.feedback) == (method, seed, feedback)
    ]
    assert len(found) == 1
    return found[0]


class Records:
    """Writes runs of the study under a folder."""

    def __init__(self, folder, streams):
        self.folder = folder
        self.streams = streams

    def write(self, spec, right=(), *, steps=60, policy=None, events=None, policy_calls=()):
        """Write a run that is right at some steps, and asks a policy writer at some."""
        records = [
            StepRecord(
                step=n,
                query_id=query.id,
                query=query.text,
                group="shop",
                answer=f"SELECT {n}",
                score=float(n in right),
                tags=tags,
                policy=policy,
                events=(events or {}).get(n, ()),
                calls=(call("answer"), *[call("policy")] * (n in policy_calls)),
            )
            for n, (query, tags) in enumerate(self.streams[spec.seed][:steps])
        ]
        info = RunInfo(
            run_id=spec.run_id,
            spec=spec.model_dump(),
            spec_hash=spec.hash,
            environment_id="house_rules-v1",
            task="house_rules",
            metric="execution accuracy",
            method=spec.method,
            model="local/small@abcd",
            model_sha256="ef" * 32,
            packages={"learnloop": "0.1.0"},
            machine={"system": "Linux"},
            complete=steps == 60,
        )
        directory = self.folder / spec.run_id
        directory.mkdir(parents=True)
        (directory / "run.json").write_bytes(encode(INFO, info))
        lines = [encode(STEP, record) for record in records]
        (directory / "steps.jsonl").write_bytes(b"".join(lines))
        clocks = [encode(TIMING, timing(record)) for record in records]
        (directory / "timings.jsonl").write_bytes(b"".join(clocks))

    def read(self):
        return house_rules.read_records(self.folder)

    def rows(self):
        return [numbers_of(run) for run in self.read().finished]


def call(role):
    return CallRecord(role=role, model="local", tokens_in=100, tokens_out=10)


def timing(record):
    clocks = [
        CallTiming(role=c.role, seconds=1, tokens_cached=40, replayed=False) for c in record.calls
    ]
    return StepTiming(step=record.step, seconds=2.0, calls=tuple(clocks))


def policy_of(*texts):
    return Policy(bullets=tuple(Bullet(text=text) for text in texts), writer="rules")


def options(records, out, *, quick=False, as_json=True):
    return argparse.Namespace(runs=records.folder, out=out, quick=quick, json=as_json)


@pytest.fixture
def records(tmp_path, streams):
    return Records(tmp_path / "runs", streams)


@pytest.fixture
def three(records):
    """zero_shot 0 %, self_stream_icl 20 % and rules 60 % right in the second half, seed 1."""
    records.write(spec_of("zero_shot"), {0})
    records.write(spec_of("self_stream_icl"), range(30, 36))
    records.write(spec_of(RULES), range(30, 48), policy_calls=range(15))
    return records


def test_a_run_is_added_up_a_step(three):
    row = three.rows()[2]
    assert (row.method, row.seed, row.steps, row.planned) == (RULES, 1, 60, 60)
    assert row.accuracy == pytest.approx(18 / 60)
    assert row.second_half == pytest.approx(18 / 30)
    assert row.calls == {"answer": 1.0, "policy": 0.25}
    assert row.tokens_read == pytest.approx(75 * 60 / 60)
    assert row.tokens_cached == pytest.approx(50)
    assert row.tokens_out == pytest.approx(12.5)
    assert row.seconds == 2.0
    assert row.right == "0" * 30 + "1" * 18 + "0" * 12


def test_the_target_is_reached_at_its_very_edge(three):
    best = best_reach(reach(three.rows()))
    assert best.over_zero_shot == pytest.approx(0.6)
    assert best.over_icl == pytest.approx(0.4)
    assert best.calls == pytest.approx(1.25)
    assert best.reached


def test_one_call_more_than_the_target_allows_misses_it(records):
    records.write(spec_of("zero_shot"))
    records.write(spec_of("self_stream_icl"))
    records.write(spec_of(RULES), range(60), policy_calls=range(16))
    assert not best_reach(reach(records.rows())).reached
    text = page(house_rules.findings(records.read()))
    assert "**Missed so far" in text
    assert "takes 1.267 calls a query, more than 1.25" in text


@pytest.mark.parametrize(("found", "met"), [(0.35, True), (0.1 + 0.25, True), (0.3499, False)])
def test_the_last_digits_of_a_float_do_not_decide(found, met):
    assert meets(found, 0.35) is met
    assert affordable(1 + (13 / 60 + 16 / 60 + 16 / 60) / 3)
    assert not meets(None, 0.35)


def test_a_method_that_meets_the_target_goes_before_a_more_accurate_one(three):
    three.write(spec_of(CONTRASTIVE), range(30, 60), policy_calls=range(60))
    best = best_reach(reach(three.rows()))
    assert [one.method for one in reach(three.rows())] == [CONTRASTIVE, RULES]
    assert (best.method, best.reached) == (RULES, True)


def test_a_gain_pairs_only_seeds_that_both_have(three):
    three.write(spec_of("self_stream_icl", seed=2), range(60))
    assert gain(three.rows(), RULES, "self_stream_icl") == pytest.approx(0.4)
    assert gain(three.rows(), RULES, CONTRASTIVE) is None


def test_runs_that_are_missing_or_unfinished_are_named_and_not_counted(three):
    unfinished = spec_of("zero_shot", seed=2)
    three.write(unfinished, range(10), steps=10)
    text = page(house_rules.findings(three.read()))
    assert f"- {unfinished.run_id} (10 of 60 steps)" in text
    there = {(RULES, 1), ("zero_shot", 1), ("self_stream_icl", 1), ("zero_shot", 2)}
    for spec in SPECS:
        is_missing = (spec.label or spec.method, spec.seed) not in there or spec.feedback != BOTH
        assert (f"- {spec.run_id}\n" in text) is is_missing
    assert "| zero_shot | 1 | 2\u202f% | 0\u202f% | 1.00 |" in text


def test_runs_of_another_study_are_left_out(three):
    three.write(spec_of("zero_shot", seed=3).model_copy(update={"steps": 61}))
    assert len(three.read().finished) == 3


def test_the_page_tells_differences_from_both_baselines(three):
    text = page(house_rules.findings(three.read()))
    assert "**Reached so far (runs are missing, see below): drpg (rules) was right on 60" in text
    zero, icl = text.split("### Against self_stream_icl")
    assert f"| drpg (rules) | `{BOTH}` | +60 |" in zero
    assert "| 18 / 0 | p < 0.001 | 30 (1 seed) |" in zero
    assert f"| self_stream_icl | `{BOTH}` | +20 |" in zero
    assert f"| drpg (rules) | `{BOTH}` | +40 |" in icl
    assert "| 12 / 0 | p < 0.001 | 30 (1 seed) |" in icl


def test_a_writer_that_states_every_convention_scores_one_and_none_scores_zero(records):
    statements = [convention.statement for convention in SHOP.conventions]
    records.write(spec_of(RULES), policy=policy_of(*statements))
    records.write(spec_of(CONTRASTIVE))
    everything, nothing = (stated_shares(run) for run in records.read().finished)
    assert set(everything) - {None} == {1.0}
    assert set(nothing) - {None} == {0.0}


def test_the_share_stated_is_that_of_the_conventions_a_query_needs(records, streams):
    tests = next(one for one in SHOP.conventions if one.id == "tests")
    records.write(spec_of(RULES), range(60), policy=policy_of(tests.statement))
    [found] = policy_numbers(house_rules.section_of(records.read().finished))
    needs = [tags for _, tags in streams[1]]
    shares = [("tests" in tags) / len(tags) if tags else None for tags in needs]
    first = [share for share in shares[:10] if share is not None]
    assert len(found.shares) == 6
    assert found.shares[0] == pytest.approx(sum(first) / len(first))
    whole = sum(set(tags) == {"tests"} for tags in needs)
    assert (found.known.stated, found.known.right_stated) == (whole, 1.0)
    assert found.known.unstated == sum(bool(tags) for tags in needs) - whole


def test_records_of_another_version_of_the_stream_are_refused(records):
    spec = spec_of(RULES)
    records.write(spec)
    path = records.folder / spec.run_id / "run.json"
    path.write_text(path.read_text().replace("house_rules-v1", "house_rules-v0"))
    with pytest.raises(DataError, match="house_rules-v0"):
        house_rules.findings(records.read())


EVENTS = {
    0: (Event(kind="rule_added", text="Divide total by 100.0 to get euros."),),
    1: (Event(kind="rule_added", text="Leave out kind = 'T'."),),
    2: (Event(kind="rule_merged", text="Leave out kind = 'T'. <- No test accounts: kind = 'T'."),),
    3: (
        Event(kind="rule_refused", text="lost or bad: 100.0: Use euros."),
        Event(
            kind="rule_reworded",
            text="Divide total by 100.0 to get euros. <- Cents! Divide total by 100.0 for euros.",
        ),
    ),
}


def test_the_rules_at_the_end_follow_from_the_events(records):
    records.write(spec_of(RULES), events=EVENTS)
    [run] = records.read().finished
    euros, tests = final_rules(run)
    assert (euros.text, euros.complaints) == ("Cents! Divide total by 100.0 for euros.", 2)
    assert (tests.text, tests.complaints) == ("Leave out kind = 'T'.", 2)
    assert euros.conventions == ("euros",)


def test_a_rule_that_says_nothing_new_is_counted_as_repeated():
    stating = [("tests",), ("tests",), (), ("names", "tests"), ("names",)]
    rules = [LearntRule(text="x", complaints=1, conventions=one) for one in stating]
    said = listed(rules)
    assert "Of these 5, 2 state only what an earlier one states." in said
    assert "4. x *(1 complaint; states names and tests)*" in said
    assert "3. x *(1 complaint; states no convention)*" in said


def test_events_are_counted_over_the_runs_of_a_writer(records):
    records.write(spec_of(RULES), events=EVENTS)
    records.write(spec_of(RULES, seed=2), events=EVENTS)
    [found] = policy_numbers(house_rules.section_of(records.read().finished))
    assert found.events == Counter(rule_added=4, rule_merged=2, rule_reworded=2, rule_refused=2)


def test_a_writer_without_comments_is_said_to_have_learnt_nothing(records):
    for method in ("zero_shot", "self_stream_icl", RULES):
        records.write(spec_of(method, feedback="binary"))
    found = house_rules.findings(records.read())
    assert [(twin.same, twin.steps) for twin in found.twins] == [(60, 60)]
    said = page(found).partition("## What did not work")[2]
    assert "With `binary`, the policies of drpg (rules) stated no needed convention" in said
    assert "(0 rules learnt). 60 of its 60 answers are those of self_stream_icl" in said
    assert "drpg (rules) is not clearly better than self_stream_icl: 0 points" in said


def test_answers_are_compared_with_the_run_of_the_same_seed_only(records):
    records.write(spec_of("self_stream_icl", seed=2))
    records.write(spec_of(RULES, seed=1))
    assert twins(house_rules.section_of(records.read().finished)) == []


def test_page_curves_and_numbers_are_written_and_the_numbers_read_back(three, tmp_path, capsys):
    out = tmp_path / "results"
    three.write(spec_of("zero_shot", seed=2), steps=4)
    assert house_rules.report(options(three, out)) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (out / "house_rules" / "curves.png").read_bytes().startswith(b"\x89PNG")
    written = json.loads((out / "house_rules" / "runs.json").read_text())
    assert [row["complete"] for row in written] == [True, True, True, False]
    assert printed["target"]["reached"] is True
    assert len(printed["missing"]) == len(SPECS) - 3
    gone = argparse.Namespace(runs=tmp_path / "none", out=out, quick=True, json=True)
    assert house_rules.report(gone) == 0
    assert json.loads(capsys.readouterr().out)["target"] == printed["target"]


def test_quick_writes_nothing(three, tmp_path, capsys):
    out = tmp_path / "results"
    house_rules.report(options(three, out, quick=True, as_json=False))
    assert "Reached so far" in capsys.readouterr().out
    assert not out.exists()


def test_a_study_of_which_nothing_is_finished_says_so(records, tmp_path, capsys):
    records.write(spec_of("zero_shot"), steps=3)
    house_rules.report(options(records, tmp_path / "results"))
    text = (tmp_path / "results" / "house_rules.md").read_text()
    assert "Not decided" in text
    assert "curves.png" not in text


def test_a_whole_study_names_no_missing_run(records):
    for spec in SPECS:
        records.write(spec, range(60) if spec.method == "drpg" else (), policy_calls=range(9))
    text = page(house_rules.findings(records.read()))
    assert "**Reached: drpg" in text
    assert "No run of the study is missing." in text
    assert "(3 seeds)" in text
