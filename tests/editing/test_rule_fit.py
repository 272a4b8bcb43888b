import numpy as np
import pytest

from learnloop.editing.rule import Rule, strengthened
from learnloop.editing.rule_fit import REMEMBERED, RuleFit
from learnloop.memory.embedders.wordllama import WordLlamaEmbedder

RULE = Rule(
    id=1,
    text="Leave out customers with kind = 'T'.",
    group="shop",
    complaints=(),
    queries=("How many customers are in Bonn?",),
    sources=("q1",),
)


def score(query, *, answer=None, group="shop"):
    fit = RuleFit(embedder=WordLlamaEmbedder())
    if answer is not None:
        fit.keep("Customers in Mainz?", answer, group=group)
    (one,) = fit.scores(query, [RULE])
    return one


def test_a_rule_fits_better_where_similar_right_answers_follow_it():
    query = "How many customers are in Kiel?"
    assert score(query, answer="SELECT 1 WHERE kind <> 'T'") > score(query, answer="SELECT 1")


def test_right_answers_of_another_group_say_nothing():
    query = "How many customers are in Kiel?"
    assert score(query, answer="SELECT 1", group="clinic") == score(query)


def test_a_rule_fits_the_query_it_was_missed_in_better_than_an_unrelated_one():
    near = score("How many customers are in Ulm?")
    far = score("When was the last review written?")
    assert near > far


def test_the_score_stays_within_what_its_parts_allow():
    # a chance of at most 1 and a cosine of at most 1
    assert 1 < score("How many customers are in Bonn?") <= 2


def test_without_rules_there_are_no_scores():
    assert RuleFit(embedder=WordLlamaEmbedder()).scores("How many?", []) == []


def test_the_score_is_the_one_worked_out_by_hand():
    # one missed query, which is the query itself: weight e^((1 - .5) / .2) = 12.18, needed 1;
    # the prior weighs .3 and says one half: chance = (12.18 + .15) / (12.18 + .3) = .98798
    fit = RuleFit(embedder=Flat())
    (one,) = fit.scores("How many customers are in Bonn?", [RULE])
    assert one == pytest.approx(0.98798 + 1.0, abs=1e-5)


class Flat:
    """An embedder for which all texts mean the same."""

    name = "flat"
    dimension = 2

    def embed(self, texts):
        return np.tile(np.array([1.0, 0.0], dtype=np.float32), (len(texts), 1))


def test_a_score_is_the_same_whether_or_not_it_was_asked_for_before():
    asked, query = RuleFit(embedder=WordLlamaEmbedder()), "How many customers are in Kiel?"
    rule, answers = RULE, []
    for number in range(REMEMBERED + 30):
        answers.append((f"Customers in town {number}?", f"kind <> '{'TX'[number % 2]}'"))
        asked.keep(*answers[-1], group="shop")
        if number % 70 == 9:
            rule = strengthened(
                rule,
                complaint=f"kind = 'X' in {number}",
                query=answers[-1][0],
                source="q",
                text=f"{RULE.text} {number}",
            )
        if number % 10 == 9:
            fresh = RuleFit(embedder=WordLlamaEmbedder())
            for one, answer in answers:
                fresh.keep(one, answer, group="shop")
            assert asked.scores(query, [rule]) == fresh.scores(query, [rule])


def test_right_answers_can_be_written_down_and_read_again():
    fit, other = (RuleFit(embedder=WordLlamaEmbedder()) for _ in range(2))
    fit.keep("Customers in Mainz?", "SELECT 1 WHERE kind <> 'T'", group="shop")
    other.keep("Forgotten?", "SELECT 2", group="shop")
    other.restore(fit.right_answers)
    assert other.right_answers == fit.right_answers
    assert other.scores("Customers in Kiel?", [RULE]) == fit.scores("Customers in Kiel?", [RULE])
