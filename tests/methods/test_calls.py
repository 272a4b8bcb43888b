"""What a method says that it will call, beside the calls that it leaves on record."""

import pytest

from learnloop.methods import METHODS
from learnloop.methods.calls import Outlook, Span, exactly, up_to

DETERMINED = [
    ("oracle", {}, 0),
    ("zero_shot", {}, 6),
    ("few_shot", {"k": 2}, 6),
    ("chain_of_thought", {}, 6),
    ("grow_prompt", {}, 6),
    ("mem_prompt", {}, 6),
    ("self_stream_icl", {"k": 16}, 6),
    ("mam_stream_icl", {}, 6),
    ("self_refine", {"rounds": 0}, 6),
    ("dynamic_cheatsheet", {}, 12),
    ("dynamic_cheatsheet", {"variant": "retrieval_synthesis"}, 11),
    ("drpg", {"writer": "rules"}, 6),  # there are no comments to make rules of
    ("drpg", {"writer": "contrastive"}, 11),
    ("drpg", {"variant": "published", "k": 16}, 11),
    ("drpg", {"variant": "published", "cases_per_class": 1}, 11),
    ("drpg_no_feedback", {}, 11),
    ("drpg_no_feedback", {"variant": "published"}, 11),
    ("gated_prompt", {"gate": "never"}, 6),
]
"""Method, parameters, and the calls on six queries with a verdict each, counted by hand."""

RANGED = [
    ("self_refine", {}, 2 * 6, 9 * 6),
    ("self_refine", {"rounds": 1}, 2 * 6, 3 * 6),
    ("drpg", {"writer": "contrastive", "k": 1}, 6, 11),
    ("drpg", {"writer": "contrastive", "policy_cases": "wrong"}, 6, 11),
    ("drpg", {"writer": "contrastive", "policy_cases": "correct"}, 6, 11),
    ("posthoc_policy", {}, 6, 12),
    ("gated_prompt", {"gate": "proportional"}, 6, 12),
    ("gated_prompt", {"gate": "proportional", "budget": 2}, 6, 8),
]


def total(method, params, **outlook):
    kinds = METHODS.load(method).calls_a_stream(Outlook(**outlook), **params)
    return sum((kind.count for kind in kinds), exactly(0))


def roles(method, params, **outlook):
    kinds = METHODS.load(method).calls_a_stream(Outlook(**outlook), **params)
    return {kind.role: kind.count for kind in kinds}


def on_record(bench, directory, method, params, **fields):
    records = bench.run(
        directory, method=method, method_params=params, **({"feedback": "binary"} | fields)
    )
    assert len(records) == 6
    assert not any(record.failed for record in records)
    return [call.role for record in records for call in record.calls]


@pytest.mark.parametrize(("method", "params", "calls"), DETERMINED)
def test_a_determined_number_is_the_one_on_record(bench, tmp_path, method, params, calls):
    expected = roles(method, params, length=6)
    assert sum(expected.values(), exactly(0)) == exactly(calls)
    recorded = on_record(bench, tmp_path / "run", method, params)
    assert {role: recorded.count(role) for role in expected} == {
        role: span.expected for role, span in expected.items()
    }
    assert len(recorded) == calls


@pytest.mark.parametrize(("method", "params", "least", "most"), RANGED)
def test_a_number_that_answers_decide_is_in_its_range(bench, tmp_path, method, params, least, most):
    span = total(method, params, length=6)
    assert (span.at_least, span.at_most) == (least, most)
    assert least <= span.expected <= most
    assert least <= len(on_record(bench, tmp_path / "run", method, params)) <= most


@pytest.mark.parametrize(
    ("says", "calls"), [("I see nothing amiss: NO NEED TO REFINE", 2), ("The words are wrong.", 9)]
)
def test_both_ends_of_the_range_of_self_refine_are_reached(bench, tmp_path, says, calls):
    bench.script = lambda messages, options: says if options.role == "judge" else "word"
    assert len(on_record(bench, tmp_path / "run", "self_refine", {})) == calls * 6


def test_both_ends_of_the_range_of_posthoc_policy_are_reached(bench, tmp_path):
    def right(messages, options):
        return "word" + messages[-1].content.rpartition("number ")[2].split()[0]

    bench.script = right
    assert len(on_record(bench, tmp_path / "right", "posthoc_policy", {})) == 6
    bench.script = lambda messages, options: "POLICY:\n- Say what is right."
    assert len(on_record(bench, tmp_path / "wrong", "posthoc_policy", {})) == 12


def test_each_complaint_may_become_a_rule(bench, tmp_path):
    span = total("drpg", {"writer": "rules"}, length=6, explained=True)
    assert (span.at_least, span.at_most) == (6, 12)
    recorded = on_record(bench, tmp_path / "run", "drpg", {"writer": "rules"}, feedback="comment")
    assert 6 < len(recorded) <= 12


def test_without_a_verdict_on_each_answer_cases_may_be_long_in_coming(bench, tmp_path):
    span = total("drpg", {"writer": "contrastive"}, length=6, judged=False)
    assert (span.at_least, span.at_most) == (6, 11)
    params = {"writer": "contrastive"}
    recorded = on_record(bench, tmp_path / "run", "drpg", params, feedback="correct=0")
    assert len(recorded) == 6


def test_a_prompt_with_a_form_is_read_without_calls_and_edits_have_their_budget():
    span = total("gated_prompt", {"budget": 16}, length=150, has_form=True)
    assert span == Span(at_least=0, expected=16, at_most=16)
    assert total("gated_prompt", {"budget": 16}, length=150) == exactly(150) + span
    span = total("gated_prompt", {"editor": "textgrad"}, length=10, has_form=True)
    assert span.at_most == 30
    span = total("gated_prompt", {"editor": "gepa"}, length=10, has_form=True)
    assert span.at_most == 30
    span = total(
        "gated_prompt", {"editor": "gepa", "editor.max_reflections": 5}, length=10, has_form=True
    )
    assert span.at_most == 50


@pytest.mark.parametrize("editor", ["majority", "obedient"])
def test_editors_of_theory_call_nothing(editor):
    assert total("gated_prompt", {"editor": editor}, length=150, has_form=True) == exactly(0)


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("length", [1, 2, 50])
def test_every_method_says_what_it_calls(method, length):
    span = total(method, {}, length=length)
    assert span.at_most is not None
    assert span.at_least <= span.expected <= span.at_most


def test_of_a_sum_with_an_unknown_limit_the_limit_is_unknown():
    unknown = Span(at_least=1, expected=2, at_most=None)
    assert unknown + up_to(4, expected=2.4) == Span(at_least=1, expected=4, at_most=None)
