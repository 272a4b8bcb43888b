import math

import faiss
import numpy as np
import pytest

from learnloop.errors import EmbedderMismatchError, ParameterError
from learnloop.memory.vector_index import VectorIndex, check_vectors


def unit_vectors(count, dimension, seed):
    rows = np.random.default_rng(seed).standard_normal((count, dimension), dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def filled(rows):
    index = VectorIndex(dimension=rows.shape[1])
    index.extend(rows, verdicts=[None] * len(rows), groups=[""] * len(rows))
    return index


@pytest.mark.parametrize(("dimension", "k"), [(8, 1), (256, 10), (768, 33)])
def test_top_k_equals_faiss(dimension, k):
    rows, asked = unit_vectors(3000, dimension, 1), unit_vectors(20, dimension, 2)
    index = filled(rows)
    exact = faiss.IndexFlatIP(dimension)
    exact.add(rows)
    for vector in asked:
        similarities, positions = exact.search(vector[np.newaxis], k)
        hits = index.nearest(vector, k=k, outcome=None, group=None)
        assert [hit.position for hit in hits] == positions[0].tolist()
        assert [hit.similarity for hit in hits] == pytest.approx(similarities[0], abs=1e-6)


def test_equal_vectors_are_equally_similar_wherever_they_stand():
    row = unit_vectors(1, 256, 3)
    asked = unit_vectors(1, 256, 4)[0]
    hits = filled(np.repeat(row, 1237, axis=0)).nearest(asked, k=1237, outcome=None, group=None)
    assert len({hit.similarity for hit in hits}) == 1
    assert [hit.position for hit in hits] == list(range(1237))


def test_rows_added_between_two_equal_searches_are_found():
    rows = unit_vectors(50, 16, 5)
    index = filled(rows[:30])
    assert index.nearest(rows[40], k=1, outcome=None, group=None)[0].position < 30
    index.extend(rows[30:], verdicts=[None] * 20, groups=[""] * 20)
    assert index.nearest(rows[40], k=1, outcome=None, group=None)[0].position == 40


def test_a_vector_changed_in_place_is_a_new_question():
    index = filled(np.eye(4, dtype=np.float32))
    asked = np.array([1, 0, 0, 0], dtype=np.float32)
    assert index.nearest(asked, k=1, outcome=None, group=None)[0].position == 0
    asked[:] = [0, 0, 1, 0]
    assert index.nearest(asked, k=1, outcome=None, group=None)[0].position == 2


def test_similarity_never_leaves_minus_one_to_one():
    rows = unit_vectors(500, 256, 6)
    index = filled(np.concatenate([rows, -rows]))
    for row in rows[:50]:
        hits = index.nearest(row, k=1000, outcome=None, group=None)
        assert hits[0].similarity <= 1.0
        assert hits[-1].similarity >= -1.0


def test_differences_below_single_precision_decide_nothing_wrongly():
    dimension, count = 64, 2000
    rng = np.random.default_rng(9)
    around = unit_vectors(1, dimension, 10) + 3e-8 * rng.standard_normal((count, dimension))
    rows = around.astype(np.float32)
    asked = unit_vectors(1, dimension, 11)[0]
    products = rows.astype(np.float64) * asked.astype(np.float64)
    exact = [math.fsum(row) for row in products]
    hits = filled(rows).nearest(asked, k=25, outcome=None, group=None)
    expected = sorted(exact, reverse=True)[:25]
    assert len(set(expected)) > 5
    assert [exact[hit.position] for hit in hits] == pytest.approx(expected, abs=1e-15)


def test_vectors_of_another_dimension_are_refused():
    with pytest.raises(EmbedderMismatchError, match="dimension 3, this one has 4"):
        check_vectors(np.eye(4), dimension=3, count=4)


@pytest.mark.parametrize("first", [0.0, 2.0, float("nan"), float("inf")])
def test_vectors_that_are_not_of_length_one_are_refused(first):
    with pytest.raises(ParameterError, match="length 1"):
        check_vectors(np.array([[first, 0.0]]), dimension=2, count=1)


def test_each_episode_needs_a_vector():
    with pytest.raises(ParameterError, match="2 episodes came with 1 vectors"):
        check_vectors(np.array([[1.0, 0.0]]), dimension=2, count=2)
