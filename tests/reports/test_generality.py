import numpy as np
import pytest

from learnloop.memory.embedders.wordllama import WordLlamaEmbedder
from learnloop.reports.generality import measure_generality, rank_correlation
from learnloop.reports.grid import make_grid
from learnloop.reports.sameness import by_meaning, by_words
from learnloop.reports.standings import compare_configurations
from learnloop.types import Bullet, Policy

REWORDED = [
    ("Use the column names exactly as the schema has them.", "Always use exact schema columns."),
    ("Count distinct values with COUNT(DISTINCT col).", "Use COUNT(DISTINCT) for unique values."),
    ("Join tables on their foreign keys.", "Use JOIN on foreign key columns to combine tables."),
    ("For superlatives sort with ORDER BY and LIMIT 1.", "Use ORDER BY LIMIT 1 for the largest."),
]


def policy(*texts):
    return Policy(writer="w", bullets=tuple(Bullet(text=text) for text in texts))


def measured(runs, same):
    grid = make_grid(runs.load())
    return measure_generality(grid, compare_configurations(grid), same)


def test_bullets_recur_when_their_words_come_back_with_another_query(runs, step):
    policies = [None, policy("count rows", "use joins"), policy("count rows"), policy("sort it")]
    runs.write("zero_shot", [0.0] * 4)
    runs.write("drpg", [step(n, 1.0, policy=one) for n, one in enumerate(policies)])
    (one,) = measured(runs, by_words())
    assert (one.shown, one.distinct) == (4, 3)
    assert one.recurring == 0.5  # both showings of "count rows"
    assert one.reach == pytest.approx((1 + 1 + 0 + 0) / 4 / 2)
    assert (one.reference, one.gain) == ("zero_shot", 1.0)


def test_the_same_text_twice_in_one_policy_does_not_recur(runs, step):
    runs.write("drpg", [step(0, 1.0, policy=policy("count rows", "count rows"))])
    (one,) = measured(runs, by_words())
    assert (one.shown, one.recurring, one.reach) == (1, 0.0, 0.0)
    assert one.gain is None


def test_texts_are_matched_by_the_share_of_their_words():
    found = by_words().match(["sort the rows", "rows the sort", "sort rows", "name it", "?"])
    expected = np.eye(5, dtype=bool)
    expected[:3, :3] = True
    assert np.array_equal(found.toarray(), expected)


def test_texts_are_matched_by_the_cosine_of_their_vectors():
    vectors = {"a": (1.0, 0.0), "b": (0.8, 0.6), "c": (0.0, 1.0)}
    same = by_meaning(lambda texts: np.array([vectors[t] for t in texts]), name="ours", least=0.7)
    assert same.match(["a", "b", "c"]).toarray().tolist() == [
        [True, True, False],
        [True, True, False],
        [False, False, True],
    ]
    assert same.words == "by meaning (ours, cosine at least 0.7)"


def test_the_default_threshold_tells_rewordings_from_other_advice():
    texts = [text for pair in REWORDED for text in pair]
    texts.append("Do not join tables that are not needed.")
    found = by_meaning(WordLlamaEmbedder().embed, name="wordllama").match(texts).toarray()
    groups = [*(place // 2 for place in range(8)), -1]
    for one, row in enumerate(found):
        assert all(groups[other] == groups[one] for other in np.flatnonzero(row))
    assert sum(found[2 * pair, 2 * pair + 1] for pair in range(4)) >= 3


def test_rows_without_policies_are_left_out_and_few_rows_have_no_correlation(runs):
    runs.write("drpg", [1.0])
    assert measured(runs, by_words()) == []
    assert rank_correlation([]) is None
