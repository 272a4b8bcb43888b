import pytest

from learnloop.editing.details import details, lost, names, share_named, shared


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Leave out kind = 'T'.", {"t"}),
        ("Divide total_cents by 100.0.", {"total_cents", "100.0"}),
        ("From '2024-09-01' on.", {"2024-09-01"}),
        ("The customer's name isn't shown.", set()),
        ("Join with ', ' between them.", set()),
        ("", set()),
    ],
)
def test_values_identifiers_and_numbers_are_details(text, found):
    assert details(text) == found


def test_a_detail_is_named_only_as_a_word_of_its_own():
    assert names("kind <> 'T'", "t")
    assert not names("total", "t")
    assert names("amount_cents / 100.0", "AMOUNT_CENTS")


def test_what_two_texts_share_is_counted_over_all_their_details():
    assert shared("a_b and c_d", "a_b and 7") == pytest.approx(1 / 3)
    assert shared("a_b", "nothing") == 0
    assert shared("nothing", "at all") is None


def test_a_rule_loses_the_details_that_it_does_not_name():
    assert lost("Leave out 'T' since '2024-01-01'.", "Leave out 'T'.") == ("2024-01-01",)
    assert lost("Leave out 'T'.", "kind <> 'T'") == ()


def test_an_answer_follows_a_rule_as_far_as_it_names_its_details():
    assert share_named("SELECT total_cents / 100.0", "Divide total_cents by 100.0.") == 1
    assert share_named("SELECT total_cents", "Divide total_cents by 100.0.") == 0.5
    assert share_named("SELECT 1", "Be kind.") == 0


@pytest.mark.parametrize(
    ("text", "detail", "named"),
    [
        ("SELECT KIND", "kind", True),
        ("kinds", "kind", False),
        ("total", "t", False),
        ("4 \u212a", "k", True),  # the sign of the kelvin is a K to a pattern
        ("a.b", "a.b", True),
        ("axb", "a.b", False),
    ],
)
def test_a_detail_is_named_as_a_word_of_its_own_in_any_case(text, detail, named):
    assert names(text, detail) is named
