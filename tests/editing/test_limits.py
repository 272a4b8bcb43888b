import inspect

import pytest

from learnloop.editing import EDITORS
from learnloop.editing.limits import check_limits
from learnloop.editing.parts import EditorParts
from learnloop.environments.parity import Parity
from learnloop.errors import ParameterError
from learnloop.llm.scripted import Scripted
from learnloop.params import check_params

LIMITS = {
    "rewriter": ("max_tokens", "max_characters"),
    "textgrad": ("words", "critique_tokens", "max_tokens", "max_characters"),
    "gepa": ("max_reflections", "metric_calls", "max_tokens"),
}


def made(name, **params):
    parts = EditorParts(
        task=Parity().task, model=Scripted([]), evaluate=lambda text, episode: 0.0, journal=None
    )
    return EDITORS.load(name).from_parts(parts, **params)


@pytest.mark.parametrize("name", list(EDITORS))
def test_an_editor_names_its_parameters_so_that_a_person_can_give_them(name):
    signature = inspect.signature(EDITORS.load(name).from_parts)
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds
    given = dict.fromkeys(LIMITS.get(name, ()), 7)
    check_params(f"editor {name}", EDITORS.load(name).from_parts, given, given=1)
    editor = made(name, **given)
    assert {limit: getattr(editor, limit) for limit in given} == given


@pytest.mark.parametrize(
    ("name", "limit"), [(name, limit) for name in LIMITS for limit in LIMITS[name]]
)
def test_a_limit_below_one_is_refused_by_name(name, limit):
    with pytest.raises(ParameterError, match=f"{limit} of the editor '{name}' is at least 1"):
        made(name, **{limit: 0})


def test_limits_of_one_are_taken():
    check_limits("rewriter", max_tokens=1, max_characters=1)


@pytest.mark.parametrize("temperature", [-0.1, float("nan"), float("inf")])
def test_a_temperature_that_is_none_is_refused(temperature):
    with pytest.raises(ParameterError, match="temperature of the editor 'gepa'"):
        made("gepa", temperature=temperature)
