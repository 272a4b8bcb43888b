from hypothesis import given
from hypothesis import strategies as st

from learnloop.reports.label_places import Frame, Spot, name_box, place_names

FRAME = Frame(width=300, height=300)


def spots_at(places):
    return [Spot(name=f"arm {n}", x=x, y=y) for n, (x, y) in enumerate(places)]


def overlap(one, other):
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return wide > 0.5 and high > 0.5


def test_a_name_alone_stands_right_beside_its_point():
    (place,) = place_names([Spot(name="P", x=150, y=150)], frame=FRAME)
    assert (place.dy, place.align, place.is_led) == (0, "left", False)


@given(
    st.lists(st.tuples(st.floats(40, 260), st.floats(40, 260)), min_size=1, max_size=7, unique=True)
)
def test_no_name_covers_another_or_leaves_the_frame(places):
    spots = spots_at(places)
    boxes = [
        name_box(spot, place)
        for spot, place in zip(spots, place_names(spots, frame=FRAME), strict=True)
    ]
    for number, box in enumerate(boxes):
        assert not any(overlap(box, other) for other in boxes[:number])
        assert box[0] > -1
        assert box[1] > -1
        assert box[2] < 301
        assert box[3] < 301


def test_points_on_one_another_keep_their_names_apart():
    spots = spots_at([(150, 150)] * 8)
    boxes = [
        name_box(spot, place)
        for spot, place in zip(spots, place_names(spots, frame=FRAME), strict=True)
    ]
    pairs = [(a, b) for n, a in enumerate(boxes) for b in boxes[:n]]
    assert not any(overlap(a, b) for a, b in pairs)


def test_a_line_is_crossed_only_if_need_be():
    line = [Spot(name="", x=x, y=150) for x in range(155, 300, 5)]
    (place,) = place_names([Spot(name="P", x=150, y=150)], frame=FRAME, avoid=line)
    assert place.align != "left" or abs(place.dy) > 5
