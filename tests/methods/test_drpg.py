import pytest
from pydantic import ValidationError

from learnloop.errors import ModelTimeoutError
from learnloop.methods.drpg import DRPG, PUBLISHED, DRPGSettings
from learnloop.types import Query


@pytest.fixture
def taught(make_parts, teach):
    """A DRPG with two right and two wrong episodes, and the parts it was made of."""

    def make(*, answer="said", policy="POLICY:\n- Write the word.", **params):
        parts = make_parts(answer=answer, policy=policy)
        method = DRPG.from_parts(parts, **({"writer": "contrastive"} | params))
        for number in range(4):
            teach(method, number, correct=number % 2 == 0)
        return method, parts

    return make


def asked(parts, role):
    return [call.text for call in parts.model.heard if call.role == role]


def bullets(prediction):
    return [bullet.text for bullet in prediction.policy.bullets] if prediction.policy else None


def test_the_first_query_makes_one_call_and_has_no_policy(make_parts, teach):
    parts = make_parts()
    first = teach(DRPG.from_parts(parts, writer="contrastive"), 1, correct=True)
    assert (first.policy, first.examples) == (None, ())
    assert len(parts.model.heard) == 1


@pytest.mark.parametrize(
    ("cases", "found"),
    [
        ("contrastive", {"q0", "q1", "q2", "q3"}),
        ("correct", {"q0", "q2"}),
        ("wrong", {"q1", "q3"}),
    ],
)
def test_the_policy_writer_sees_the_cases_that_it_is_to_see(taught, teach, cases, found):
    method, _ = taught(policy_cases=cases)
    prediction = teach(method, 9, correct=True)
    assert set(prediction.evidence) == found
    assert set(prediction.examples) == {"q0", "q2"}


def test_cases_per_class_counts_each_outcome(taught, teach):
    method, _ = taught(cases_per_class=1)
    evidence = teach(method, 9, correct=True).evidence
    assert len(evidence) == 2
    assert len({"q0", "q2"} & set(evidence)) == 1


@pytest.mark.parametrize("previous", [True, False])
def test_the_policy_before_is_shown_only_where_asked_for(taught, teach, previous):
    method, parts = taught(previous_policy=previous)
    teach(method, 9, correct=True)
    assert ("The policy so far" in asked(parts, "policy")[-1]) is previous


def test_policy_only_shows_the_policy_and_no_examples(taught, teach):
    method, parts = taught(policy_only=True)
    prediction = teach(method, 9, correct=True)
    assert prediction.examples == ()
    assert bullets(prediction) == ["Write the word."]
    assert "<examples>" not in asked(parts, "answer")[-1]


def test_the_leap_prompt_asks_for_reasoning(taught, teach):
    method, parts = taught(policy_prompt="leap")
    teach(method, 9, correct=True)
    assert "REASONING:" in asked(parts, "policy")[-1]


def test_a_policy_has_at_most_five_bullets(taught, teach):
    method, _ = taught(policy="POLICY:\n" + "\n".join(f"- Rule {n}." for n in range(8)))
    assert len(bullets(teach(method, 9, correct=True))) == 5


@pytest.mark.parametrize("insertion", ["literal", "pattern"])
def test_a_backslash_in_a_policy_costs_examples_and_policy_only_as_published(
    taught, teach, insertion
):
    method, _ = taught(policy="POLICY:\n- Match \\d+.", insertion=insertion)
    prediction = teach(method, 9, correct=True)
    kept = insertion == "literal"
    assert (bullets(prediction) == ["Match \\d+."]) is kept
    assert bool(prediction.examples) is kept


@pytest.mark.parametrize("choice", ["omit", "keep"])
def test_an_empty_block_of_examples_is_shown_only_as_published(make_parts, teach, choice):
    parts = make_parts()
    method = DRPG.from_parts(parts, writer="contrastive", empty_examples=choice)
    for number in range(2):
        teach(method, number, correct=False)
    assert ("<examples>" in asked(parts, "answer")[-1]) is (choice == "keep")


def test_the_labelled_format_says_that_an_example_is_right(taught, teach):
    method, parts = taught(example_format="labelled")
    teach(method, 9, correct=True)
    assert "this answer is correct" in asked(parts, "answer")[-1]


def test_a_common_pool_loses_wrong_cases_that_a_pool_of_their_own_keeps(make_parts, teach):
    for pool, found in (("common", False), ("per_class", True)):
        method = DRPG.from_parts(make_parts(), writer="contrastive", pool=pool, k=2)
        teach(method, f"{pool} zero", correct=False)
        for number in range(21):
            teach(method, f"{pool} 7{number}", correct=True)
        evidence = teach(method, f"{pool} 7 7", correct=True).evidence
        assert any(one == f"q{pool} zero" for one in evidence) is found


def test_a_refused_policy_leaves_the_one_in_force_and_says_so(make_parts, teach):
    parts = make_parts(policy="POLICY:\n- Write the word.")
    method = DRPG.from_parts(parts, writer="contrastive")
    for number in range(2):
        teach(method, number, correct=False)
    parts.model.script = lambda heard: "no bullets here"
    parts.journal.drain()
    assert bullets(teach(method, 9, correct=True)) == ["Write the word."]
    assert [event.kind for event in parts.journal.drain()] == ["policy_refused"]


def test_a_failed_policy_call_leaves_the_query_answered(make_parts, teach):
    parts = make_parts(error=ModelTimeoutError("no answer"), fails_on=("policy",))
    method = DRPG.from_parts(parts, writer="contrastive")
    for number in range(2):
        assert teach(method, number, correct=False).text == "word"


def test_asking_leaves_the_policy_in_force_as_it_is(taught):
    method, parts = taught()
    before = dict(method._in_force)
    query = parts.memory.get("q1").query
    assert method.predict_one(query) == method.predict_one(query)
    assert method._in_force == before


def test_the_policy_model_may_be_another_one(make_parts, teach):
    parts = make_parts()
    other = make_parts(policy="POLICY:\n- From another.")
    both = type(parts)(
        **{name: getattr(parts, name) for name in parts.__slots__} | {"policy_model": other.model}
    )
    method = DRPG.from_parts(both, writer="contrastive")
    for number in range(2):
        last = teach(method, number, correct=False)
    assert bullets(last) == ["From another."]
    assert {call.role for call in parts.model.heard} == {"answer"}


@pytest.mark.parametrize("params", [{"k": 0}, {"kk": 1}, {"writer": "nobody"}])
def test_parameters_that_make_no_sense_are_refused(make_parts, params):
    with pytest.raises(ValidationError):
        DRPG.from_parts(make_parts(), **params)


@pytest.mark.parametrize(("scope", "shown"), [("group", False), ("stream", True)])
def test_the_policy_before_is_that_of_the_group_or_as_published_of_the_stream(
    make_parts, teach, scope, shown
):
    parts = make_parts()
    method = DRPG.from_parts(parts, writer="contrastive", previous_policy=True, policy_scope=scope)
    for number in range(3):
        teach(method, number, correct=False)
    method.predict_one(Query(id="q9", text="Which word is number 9?", group="another"))
    assert ("The policy so far" in asked(parts, "policy")[-1]) is shown


@pytest.mark.parametrize(("k", "found"), [(2, False), (3, True)])
def test_a_small_number_of_cases_still_comes_from_a_pool_of_ten_k(make_parts, teach, k, found):
    # 21 right episodes about 7 are nearer than the wrong one: the 20 nearest lose it, 30 do not.
    method = DRPG.from_parts(
        make_parts(), writer="contrastive", pool="common", k=k, cases_per_class=1
    )
    teach(method, "zero", correct=False)
    for number in range(21):
        teach(method, f"7{number}", correct=True)
    assert ("qzero" in teach(method, "7 7", correct=True).evidence) is found


def test_published_sets_every_switch_that_is_not_given():
    published = DRPGSettings(variant="published", layout="cache")
    assert published.layout == "cache"
    assert published.k == DRPGSettings().k
    for name, value in (PUBLISHED | {"layout": "cache"}).items():
        assert getattr(published, name) == value
        assert name == "layout" or getattr(DRPGSettings(), name) != value


def test_the_published_variant_shows_cases_and_examples_with_their_feedback(taught, teach):
    method, parts = taught(variant="published", writer="contrastive")
    teach(method, 9, correct=True)
    policy, answer = asked(parts, "policy")[-1], asked(parts, "answer")[-1]
    assert policy.count("this answer is not correct") == 2
    assert policy.count("this answer is correct") == 2
    assert answer.count("this answer is correct") == 2
