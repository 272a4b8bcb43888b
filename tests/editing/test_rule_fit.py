import pytest

from learnloop.editing.rule_fit import RuleFit, Solved
from learnloop.memory.embedders.wordllama import WordLlamaEmbedder

TEXTS = ("Leave out customers with kind = 'T'.",)
MISSED = ("How many customers are in Bonn?",)


@pytest.fixture(scope="module")
def fit():
    return RuleFit(embedder=WordLlamaEmbedder())


def test_a_rule_fits_better_where_similar_right_answers_follow_it(fit):
    query = "How many customers are in Kiel?"
    follows = Solved(query="Customers in Mainz?", answer="SELECT 1 WHERE kind <> 'T'")
    ignores = Solved(query="Customers in Mainz?", answer="SELECT 1")
    with_it = fit.score(query, texts=TEXTS, missed=MISSED, solved=[follows])
    without = fit.score(query, texts=TEXTS, missed=MISSED, solved=[ignores])
    assert with_it > without


def test_a_rule_fits_the_query_it_was_missed_in_better_than_an_unrelated_one(fit):
    near = fit.score("How many customers are in Ulm?", texts=TEXTS, missed=MISSED, solved=[])
    far = fit.score("When was the last review written?", texts=TEXTS, missed=MISSED, solved=[])
    assert near > far


def test_the_score_stays_within_what_its_parts_allow(fit):
    # a chance of at most 1 and a cosine of at most 1
    score = fit.score(TEXTS[0], texts=TEXTS, missed=(TEXTS[0],), solved=[])
    assert 1.5 < score <= 2.0
