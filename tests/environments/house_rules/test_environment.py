import pytest

from learnloop.environments import ENVIRONMENTS
from learnloop.environments.house_rules.data import database_names, load_database
from learnloop.environments.house_rules.environment import HouseRules, house_rules_drift
from learnloop.errors import ParameterError
from learnloop.types import Prediction

QUESTIONS = {
    question.id: question for name in database_names() for question in load_database(name).questions
}


def walk(environment, answer, *, seed=1):
    query = environment.reset(seed=seed)
    steps = []
    while query is not None:
        steps.append((query, environment.step(Prediction(query_id=query.id, text=answer(query)))))
        query = steps[-1][1].query
    return steps


def accuracy(steps):
    return sum(step.score.value for _, step in steps) / len(steps)


def gold(query):
    return QUESTIONS[query.id].sql


def after(query):
    return QUESTIONS[query.id].gold(drifted=True)


def naive(query):
    return QUESTIONS[query.id].naive


@pytest.mark.parametrize("database", [*database_names(), None])
def test_who_knows_every_convention_is_always_right_and_who_knows_none_hardly_ever(database):
    environment = HouseRules(database=database)
    assert accuracy(walk(environment, gold)) == 1.0
    assert accuracy(walk(environment, naive)) <= 0.1


def test_one_database_and_all_of_them():
    assert {query.group for query, _ in walk(HouseRules(database="shop"), naive)} == {"shop"}
    assert {query.group for query, _ in walk(HouseRules(), naive)} == set(database_names())


def test_the_seed_gives_the_order():
    environment = HouseRules(database="shop")
    orders = [[q.id for q, _ in walk(environment, naive, seed=seed)] for seed in (1, 1, 2)]
    assert orders[0] == orders[1]
    assert orders[0] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])


def test_wrong_answers_get_a_comment_on_a_needed_convention_and_the_gold_sql():
    shop = load_database("shop")
    comments = {text: entry.id for entry in shop.conventions for text in entry.comments}
    for query, step in walk(HouseRules(database="shop"), naive):
        if step.feedback.correct:
            continue
        assert comments[step.feedback.comment] in QUESTIONS[query.id].conventions
        assert step.feedback.correction == QUESTIONS[query.id].sql
        assert step.score.tags
        assert set(step.score.tags) == set(QUESTIONS[query.id].conventions)


def test_right_answers_get_no_comment_and_no_correction():
    for _, step in walk(HouseRules(database="shop"), gold):
        assert (step.feedback.correct, step.feedback.comment, step.feedback.correction) == (
            True,
            None,
            None,
        )


def test_a_wrong_answer_that_breaks_no_convention_gets_no_comment():
    environment = HouseRules(database="shop")
    for _, step in walk(environment, lambda query: gold(query).replace("SELECT ", "SELECT 0, ", 1)):
        assert step.feedback.correct is False
        assert step.feedback.comment is None


def test_no_gold_sql_comment_or_statement_stands_in_a_query_or_the_task():
    environment = HouseRules()
    task = environment.task
    seen = [task.role, task.instructions, task.answer_format]
    seen += [text for q, _ in walk(environment, naive) for text in (q.text, q.context)]
    everything = "\n".join(seen)
    for name in database_names():
        database = load_database(name)
        for question in database.questions:
            assert question.sql not in everything
        for entry in database.conventions:
            assert not any(text in everything for text in (entry.statement, *entry.comments))


def test_what_is_right_changes_in_the_middle_of_a_stream_that_drifts():
    steps = walk(house_rules_drift(database="shop"), gold)
    half = len(steps) // 2
    assert all(step.score.value == 1 for _, step in steps[:half])
    wrong = [query.id for query, step in steps[half:] if step.score.value == 0]
    assert wrong == [q.id for q, _ in steps[half:] if QUESTIONS[q.id].after is not None]
    assert len(wrong) >= 10


def test_feedback_after_the_drift_follows_the_new_rules():
    shop = load_database("shop")
    fresh = {text for entry in shop.conventions if entry.drift for text in entry.drift.comments}
    steps = walk(house_rules_drift(database="shop", drift_at=0.0), gold)
    for query, step in steps:
        if step.feedback.correct is False:
            assert step.feedback.comment in fresh
            assert step.feedback.correction == QUESTIONS[query.id].after
    assert accuracy(walk(house_rules_drift(database="shop", drift_at=0.0), after)) == 1.0


def test_the_two_variants_have_ids_of_their_own():
    names = ("house_rules", "house_rules_drift")
    made = {name: ENVIRONMENTS.create(name, database="shop").id for name in names}
    assert made == {"house_rules": "house_rules-v1", "house_rules_drift": "house_rules_drift-v1"}


def test_bullets_that_state_needed_conventions_are_recognised():
    environment = HouseRules(database="shop")
    environment.reset(seed=1)
    wanted = next(q for q in QUESTIONS.values() if q.conventions == ("live", "euros"))
    bullets = ["Exclude orders whose status is cancelled or refunded.", "Be careful."]
    assert environment.stated(bullets, wanted.id) == ("live",)
    assert environment.stated([*bullets, "Divide cents by 100.0."], wanted.id) == ("live", "euros")
    assert environment.stated([], wanted.id) == ()


def test_after_the_drift_an_old_bullet_no_longer_states_the_rule():
    old = ["Leave out cancelled and refunded orders: status NOT IN ('cancelled', 'refunded')."]
    question = next(q for q in QUESTIONS.values() if q.conventions == ("live",))
    before = house_rules_drift(database="shop", drift_at=1.0)
    behind = house_rules_drift(database="shop", drift_at=0.0)
    assert before.stated(old, question.id) == ("live",)
    assert behind.stated(old, question.id) == ()


def test_mistakes_of_the_caller_are_named():
    environment = HouseRules(database="shop")
    with pytest.raises(ParameterError, match="reset"):
        environment.step(Prediction(query_id="shop-001", text=""))
    environment.reset(seed=1)
    with pytest.raises(ParameterError, match="'other'"):
        environment.step(Prediction(query_id="other", text=""))
    with pytest.raises(ParameterError, match="'other'"):
        environment.stated([], "other")
    with pytest.raises(ParameterError, match="drift_at"):
        HouseRules(drift_at=1.5)
    with pytest.raises(ParameterError, match="did you mean 'clinic'"):
        HouseRules(database="clinik")


def test_the_built_databases_are_removed_with_the_environment(tmp_path):
    environment = HouseRules(database="shop")
    folder = next(iter(environment._graders.values())).path.parent
    assert folder.is_dir()
    environment._folder_removal()
    assert not folder.exists()


def test_a_user_reads_only_the_beginning_of_an_answer_without_end():
    def comments(answer):
        return [step.feedback.comment for _, step in walk(HouseRules(database="shop"), answer)]

    assert comments(lambda q: "x" * 20_000 + gold(q)) == comments(lambda q: "x" * 20_000)
