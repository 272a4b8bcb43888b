from hypothesis import given
from hypothesis import strategies as st

from learnloop.seen import REMEMBERED, Seen

IDS = st.lists(st.sampled_from("abcdefgh"), max_size=40)


@given(ids=IDS, most=st.integers(1, 10))
def test_it_remembers_the_newest_ids_and_no_more(ids, most):
    seen = Seen(most=most)
    kept = []
    for one in ids:
        seen.add(one)
        if one not in kept:
            kept = [*kept, one][-most:]
        assert list(seen.ids) == kept
        assert one in seen


@given(ids=IDS, most=st.integers(1, 10))
def test_it_can_be_made_again_from_its_ids(ids, most):
    seen = Seen(ids, most=most)
    assert Seen(seen.ids, most=most).ids == seen.ids


def test_no_stream_of_a_benchmark_is_longer():
    assert REMEMBERED > 2147
