from learnloop.reports.groups import make_sections
from learnloop.reports.policies import MOST, summarise_policies
from learnloop.types import Bullet, Event, Policy


def policy(*bullets):
    return Policy(bullets=bullets, writer="rules")


def summaries(runs):
    (section,) = make_sections(runs.load())
    return summarise_policies(section)


def test_bullets_are_counted_over_steps_and_runs(runs, step):
    for seed in (0, 1):
        early = Bullet(text="Divide by 100.", sources=("q0",))
        late = Bullet(text="Divide by 100.", sources=("q0", "q1"), helped=1, harmed=2)
        other = Bullet(text="Leave out tests.")
        runs.write(
            "drpg",
            [step(0, 0.0, policy=policy(early)), step(1, 1.0, policy=policy(other, late))],
            seed=seed,
        )
    (one,) = summaries(runs)
    first, second = one.bullets
    assert (first.text, first.shown, first.right) == ("Divide by 100.", 4, 2)
    assert (first.sources, first.helped, first.harmed) == (4, 2, 4)
    assert (second.text, second.shown) == ("Leave out tests.", 2)
    assert (one.steps_with_policy, one.steps) == (4, 4)


def test_only_the_most_shown_are_kept_and_the_rest_counted(runs, step):
    bullets = [Bullet(text=f"Rule {n}") for n in range(MOST + 3)]
    steps = [step(n, 0.0, policy=policy(bullet)) for n, bullet in enumerate(bullets)]
    runs.write("drpg", steps)
    (one,) = summaries(runs)
    assert (len(one.bullets), one.distinct) == (MOST, MOST + 3)


def test_refusals_are_counted_by_reason(runs, step):
    refused = [
        Event(kind="policy_refused", text=t)
        for t in ("no bullets", "too long: one", "too long: two")
    ]
    runs.write("drpg", [step(n, 0.0, events=(event,)) for n, event in enumerate(refused)])
    (one,) = summaries(runs)
    assert [(event.name, event.times) for event in one.events] == [("policy_refused", 3)]
    assert [(r.reason, r.times) for r in one.refusals] == [("too long", 2), ("no bullets", 1)]


def test_a_method_without_policies_has_no_summary(runs):
    runs.write("zero_shot", [0.0])
    assert summaries(runs) == []
