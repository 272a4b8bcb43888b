from learnloop.environments.house_rules.data import Rule
from learnloop.environments.house_rules.user import SimulatedUser
from learnloop.seeding import stream

ONE = Rule(statement="one", comments=("one a", "one b", "one c"), follows="one", stated=("one",))
TWO = Rule(statement="two", comments=("two a", "two b", "two c"), follows="two", stated=("two",))


def user(seed=1):
    return SimulatedUser(rng=stream(seed, "comment"))


def test_only_what_is_broken_is_named():
    speaker = user()
    said = {speaker.comment("SELECT two", needed=[ONE, TWO]) for _ in range(100)}
    assert said == set(ONE.comments)


def test_every_broken_convention_and_every_wording_comes_up():
    speaker = user()
    said = {speaker.comment("SELECT 0", needed=[ONE, TWO]) for _ in range(200)}
    assert said == {*ONE.comments, *TWO.comments}


def test_nothing_is_said_where_nothing_shows():
    assert user().comment("SELECT one, two", needed=[ONE, TWO]) is None
    assert user().comment("SELECT 1", needed=[]) is None


def test_what_was_answered_before_does_not_change_what_is_said_next():
    careful, careless = user(), user()
    careful.comment("SELECT one, two", needed=[ONE, TWO])
    careless.comment("SELECT 0", needed=[ONE, TWO])
    said = [each.comment("SELECT 0", needed=[ONE, TWO]) for each in (careful, careless)]
    assert said[0] == said[1]
