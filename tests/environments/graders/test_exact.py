import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.environments.graders.exact import exact_match, f1, normalise, published_f1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Beatles", "beatles"),
        ("  a  cat,\tan owl and the\ndog. ", "cat owl and dog"),
        ("U.S.A.", "usa"),
        ("U. S. A.", "u s"),  # the A that is left alone is an article
        ("Theatre Anatomy", "theatre anatomy"),
        ("well-known", "wellknown"),
        ("the-end", "theend"),  # punctuation goes before articles
        ("1,000", "1000"),
        ("Café Noël", "café noël"),
        ("“quoted”", "“quoted”"),  # only the punctuation of ASCII goes
        ("rock 'n' roll", "rock n roll"),
        ("The", ""),
        ("", ""),
    ],
)
def test_squad_normalisation(text, expected):
    assert normalise(text) == expected


@given(st.text())
def test_what_is_normalised_is_lower_case_words_without_punctuation(text):
    normal = normalise(text)
    assert normal == " ".join(normal.split())
    assert not set(normal) & set("!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~\\ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    assert not set(normal.split()) & {"a", "an", "the"}


def test_exact_match_looks_through_case_articles_and_points():
    assert exact_match("the Eiffel Tower.", "Eiffel tower")
    assert not exact_match("Eiffel Tower, Paris", "Eiffel Tower")
    assert not exact_match("", "yes")


@pytest.mark.parametrize(
    ("answer", "gold", "counted"),
    [
        ("Neil Armstrong", "Neil Armstrong", 1.0),
        ("Armstrong", "Neil Armstrong", 2 / 3),  # precision 1, recall 1/2
        ("Neil A. Armstrong Jr", "Neil Armstrong", 4 / 5),  # the A. goes: 2 of 3, 2 of 2
        ("red red house", "red house", 4 / 5),  # 2 of 3, 2 of 2
        ("Buzz Aldrin", "Neil Armstrong", 0.0),
        ("", "Neil Armstrong", 0.0),
        ("the", "a", 1.0),  # both are nothing once normalised
        ("yes it was", "yes", 0.0),
        ("yes", "yes it was", 0.0),
        ("Yes.", "yes", 1.0),
        ("no", "yes", 0.0),
    ],
)
def test_f1_by_hand(answer, gold, counted):
    assert f1(answer, gold) == pytest.approx(counted)


@pytest.mark.parametrize(
    ("answer", "gold", "counted"),
    [
        ("red red house", "red house", 4 / 5),  # 2 kinds of word: 2 of 3, 2 of 2
        ("New York New York", "New York New York", 1 / 2),  # 2 kinds: 2 of 4, 2 of 4
        ("yes it was", "yes", 1 / 2),  # 1 of 3, 1 of 1
        ("Buzz Aldrin", "Neil Armstrong", 0.0),
        ("the", "a", 1.0),
    ],
)
def test_published_f1_counts_kinds_of_words_and_knows_no_yes(answer, gold, counted):
    assert published_f1(answer, gold) == pytest.approx(counted)


words = st.lists(st.sampled_from(["red", "blue", "house", "tree", "yes"]), max_size=6).map(" ".join)


@given(words, words)
def test_f1_is_symmetric_and_is_one_only_for_the_same_words(answer, gold):
    assert f1(answer, gold) == f1(gold, answer)
    assert (f1(answer, gold) == 1) == (sorted(answer.split()) == sorted(gold.split()))
    assert published_f1(answer, gold) <= 1
