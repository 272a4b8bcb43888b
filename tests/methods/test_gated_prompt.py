import json
import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

from learnloop.checks.list_environment import TASK
from learnloop.checks.listening_model import ListeningModel
from learnloop.control.sensors import NoisySensor, PartialSensor
from learnloop.environments.guess import Guess
from learnloop.environments.parity import Parity
from learnloop.environments.track import Track
from learnloop.errors import EditingError, ModelServerError, ParameterError, UnknownNameError
from learnloop.methods.gated_prompt import GatedPrompt
from learnloop.methods.parts import Parts
from learnloop.records.reader import read_run
from learnloop.seeding import stream

STEPS = 120
FLIPS = 3
NOISE = (0.0, 0.1, 0.2)
RUNS = 60
PUBLISHED_RUNS = 1500


class Counting:
    """A journal that counts."""

    def __init__(self):
        self.kinds = Counter()

    def record(self, event):
        self.kinds[event.kind] += 1

    def decided(self, error, decision):
        pass


class Late:
    """A sensor whose feedback arrives some steps late."""

    def __init__(self, steps):
        self.waiting = [()] * steps

    def sense(self, feedback, *, step):
        self.waiting.append((feedback,))
        return self.waiting.pop(0)


@dataclass(frozen=True)
class Course:
    accuracy: float
    calls: int
    kinds: Counter


def course(seed, noise, *, late=0, environment=None, **params):
    """One run on a task that needs no model, by hand: the method, the environment, the sensor."""
    environment = environment or Parity()
    query, journal = environment.reset(seed=seed), Counting()
    parts = Parts(
        task=environment.task,
        model=None,
        policy_model=None,
        memory=None,
        embedder=None,
        journal=journal,
        seed=seed,
    )
    method = GatedPrompt.from_parts(parts, **params)
    arriving = Late(late) if late else PartialSensor(rng=stream(seed, "sensor"))
    sensor = NoisySensor(
        rate=noise, distort=environment.distort, then=arriving, rng=stream(seed, "noise")
    )
    answered, score = {}, 0.0
    for number in range(len(environment)):
        prediction = method.predict_one(query)
        answered[query.id] = (query, prediction)
        step = environment.step(prediction)
        score += step.score.value
        for feedback in sensor.sense(step.feedback, step=number):
            method.learn_one(*answered[feedback.target_id], feedback)
        query = step.query
    return Course(score / len(environment), journal.kinds["editor_called"], journal.kinds)


def courses(noise, **params):
    return [course(seed, noise, **params) for seed in range(RUNS)]


SIMULATED = {
    "cadence, majority of 8": (
        {"gate": "fixed", "editor": "majority", "evidence": "recent"},
        [(0.625, 4.3), (0.628, 7.2), (0.620, 7.9)],
    ),
    "D, majority of 8": (
        {"gate": "derivative", "editor": "majority", "evidence": "recent"},
        [(0.875, 12.0), (0.858, 11.7), (0.830, 11.9)],
    ),
    "CUSUM 3, majority of 8": (
        {"gate": "cusum", "editor": "majority", "evidence": "recent"},
        [(0.850, 6.0), (0.831, 5.8), (0.813, 5.9)],
    ),
    "CUSUM 3, majority since the change": (
        {"gate": "cusum", "editor": "majority"},
        [(0.925, 3.0), (0.910, 3.2), (0.878, 4.2)],
    ),
    "CUSUM 3, flip": (
        {"gate": "cusum", "editor": "obedient"},
        [(0.925, 3.0), (0.910, 3.2), (0.878, 4.2)],
    ),
    "CUSUM 2 with rollback, flip": (
        {"gate": "cusum", "gate.threshold": 2, "editor": "obedient", "rollback": "sprt"},
        [(0.950, 3.0), (0.927, 3.9), (0.866, 6.1)],
    ),
    "Bayes, flip": (
        {"gate": "bayes", "editor": "obedient"}
        | {"gate.threshold": 0.8, "gate.hazard": 1 / 30, "gate.fast_share": 0.0},
        [(0.966, 3.0), (0.916, 3.7), (0.870, 3.9)],
    ),
}


@pytest.mark.parametrize(("params", "rows"), SIMULATED.values(), ids=SIMULATED)
def test_the_closed_loop_reaches_the_simulated_accuracy_and_calls(params, rows):
    for noise, row in zip(NOISE, rows, strict=True):
        made = courses(noise, **params)
        found = ([one.accuracy for one in made], [one.calls for one in made])
        for values, published, digit in zip(found, row, (0.001, 0.1), strict=True):
            spread = np.std(values, ddof=1) * math.sqrt(1 / len(values) + 1 / PUBLISHED_RUNS)
            assert abs(np.mean(values) - published) <= digit / 2 + 4.5 * spread + 1e-9


@pytest.mark.parametrize("noise", NOISE)
def test_p_with_an_editor_that_flips_follows_the_last_observation(noise):
    # Right at step 0; then where the last observation was true and the rule stayed, or both not.
    # It edits where two observations in a row differ, the first before being the known rule.
    q = noise
    accuracy = (1 + (STEPS - 1 - FLIPS) * (1 - q) + FLIPS * q) / STEPS
    differ = 2 * q * (1 - q)
    edits = q + (STEPS - 1 - FLIPS) * differ + FLIPS * (1 - differ)
    made = courses(noise, gate="proportional", editor="obedient")
    for values, expected in (
        ([one.accuracy for one in made], accuracy),
        ([one.calls for one in made], edits),
    ):
        error = np.std(values, ddof=1) / math.sqrt(len(values))
        assert abs(np.mean(values) - expected) <= 4.5 * error + 1e-9


def test_an_editor_that_is_never_called_is_right_half_of_the_time():
    # The rule holds 30 steps, then the other for 30, and so on, each flip up to 3 steps off.
    for one in courses(0.1, gate="never", editor="obedient"):
        assert abs(one.accuracy - 0.5) <= 9 / STEPS
        assert one.calls == 0


@pytest.mark.parametrize("late", [1, 5, 20])
def test_feedback_that_comes_late_costs_its_delay_and_nothing_more(late):
    # Each flip is wrong until its third error has arrived: 2 + late more steps. The old prompt's
    # errors that arrive after the edit are those of a prompt no longer in force.
    one = course(0, 0.0, late=late, gate="cusum", editor="obedient")
    assert one.calls == FLIPS
    assert one.accuracy == pytest.approx(1 - FLIPS * (3 + late) / STEPS)


def test_recall_serves_a_rule_that_returns_without_a_call_and_loses_no_accuracy():
    for noise in NOISE:
        plain = courses(noise, gate="bayes", editor="obedient")
        recalling = courses(noise, gate="bayes", editor="obedient", recall="best")
        assert [one.accuracy for one in recalling] == [one.accuracy for one in plain]
        changed = [one.kinds["prompt_changed"] + one.kinds["recalled"] for one in recalling]
        assert changed == [one.calls for one in plain]
        assert max(one.calls for one in recalling) <= 2 < np.mean([one.calls for one in plain])


def test_with_a_budget_of_one_call_recall_goes_on_for_ever():
    one = course(0, 0.0, gate="cusum", editor="obedient", recall="best", budget=1)
    assert (one.calls, one.kinds["recalled"]) == (1, 2)
    assert one.accuracy == pytest.approx(0.925)


@pytest.mark.parametrize("budget", [0, 1, 2])
def test_the_budget_ends_the_edits(budget):
    assert course(0, 0.2, gate="proportional", editor="obedient", budget=budget).calls == budget


@pytest.mark.parametrize("task", [Guess, Track])
@pytest.mark.parametrize("rollback", ["none", "sprt", "betting"])
def test_a_hidden_number_is_followed_with_every_part_switched_on(task, rollback):
    kept = course(1, 0.1, environment=task(), gate="never", editor="obedient")
    params = {"gate": "cusum", "gate.threshold": 1.0, "editor": "majority", "recall": "best"}
    followed = course(1, 0.1, environment=task(), rollback=rollback, **params)
    assert followed.kinds["prompt_changed"] > 2
    if rollback == "none":
        assert followed.accuracy > kept.accuracy


def parts_of(task):
    return Parts(
        task=task, model=None, policy_model=None, memory=None, embedder=None, journal=Counting()
    )


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"rollback": "sprt"}, ParameterError, "read without a model"),
        ({"recall": "best"}, ParameterError, "read without a model"),
        ({"predictor": "structured"}, ParameterError, "predictor=llm"),
        ({"editor": "majority"}, ParameterError, "free text; use the editor 'rewriter'"),
        ({"gate": "cusumm"}, UnknownNameError, "did you mean 'cusum'"),
        ({"rollback": "sprtt"}, UnknownNameError, "no rollback named 'sprtt'"),
        ({"recall": "bestt"}, UnknownNameError, "no recall named 'bestt'"),
        ({"max_interval": 3, "pause": 3}, ParameterError, "longer than the pause"),
        ({"gate": "cusum", "gate.high": 3}, ParameterError, "'high'; it has setpoint, threshold"),
        ({"gate": "never", "gate.high": 3}, ParameterError, "'never' has no parameter .* none"),
        ({"editor.k": 3}, ParameterError, "'rewriter' has no parameter 'k'; it has max_char"),
        ({"rollback.margin": 3}, ParameterError, "rollback is 'none' and takes no .*'margin'"),
    ],
)
def test_what_does_not_go_together_is_refused(params, error, message):
    with pytest.raises(error, match=message):
        GatedPrompt.from_parts(parts_of(TASK), **params)


@pytest.mark.parametrize(("k", "kept"), [(8, 64), (64, 64), (100, 100)])
def test_as_many_episodes_are_kept_as_the_editor_is_to_see(k, kept):
    assert GatedPrompt.from_parts(parts_of(TASK), k=k).loop.memory == kept


def test_the_model_answers_under_the_prompt_that_the_editor_wrote(make_parts, teach, memory):
    parts = make_parts(policy=json.dumps({"prompt": "In capitals."}))
    method = GatedPrompt.from_parts(parts, gate="proportional")
    assert method.loop.prompts.current.text == TASK.instructions
    assert teach(method, 0, correct=False).prompt_version == 0
    assert teach(method, 1, correct=True).prompt_version == 1
    roles = [call.role for call in parts.model.heard]
    assert roles == ["answer", "edit", "answer"]
    assert "<prompt>\nIn capitals.\n</prompt>" in parts.model.heard[-1].text
    assert len(memory) == 0


def test_a_failed_editor_halts_the_run_which_then_goes_on_as_if_nothing_had_been(bench, tmp_path):
    gated = {"method": "gated_prompt", "method_params": {"gate": "proportional"}}
    answers = ListeningModel(lambda heard: bench.script(heard.messages, heard))
    bench.run(tmp_path / "whole", model=answers, **gated)
    edits = []

    def fails(heard):
        if heard.role == "edit":
            edits.append(heard)
            if len(edits) == 2:
                raise ModelServerError("gone")
        return bench.script(heard.messages, heard)

    halted = tmp_path / "halted"
    with pytest.raises(EditingError, match="gone"):
        bench.run(halted, model=ListeningModel(fails), **gated)
    run = read_run(halted)
    assert not run.info.complete
    assert 0 < len(run.steps) < 6
    kinds = Counter(event.kind for step in run.steps for event in step.events)
    assert kinds == {"prompt_initial": 1, "editor_called": 1, "prompt_changed": 1}
    bench.run(halted, resume=True, model=answers, **gated)
    whole, resumed = (
        (tmp_path / name / "steps.jsonl").read_bytes() for name in ("whole", "halted")
    )
    assert whole == resumed
    assert read_run(halted).info.complete
