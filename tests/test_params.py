from typing import Literal

import pytest
from pydantic import BaseModel, PositiveInt

from learnloop.errors import ParameterError
from learnloop.params import check_params


class Method:
    @classmethod
    def from_parts(
        cls,
        parts: object,
        *,
        k: int = 4,
        share: float = 0.5,
        layout: Literal["cache", "paper"] = "cache",
    ) -> "Method":
        return cls()


class World:
    def __init__(self, *, database: str | None = None) -> None:
        self.database = database


@pytest.mark.parametrize("params", [{}, {"k": 2}, {"share": 1}, {"layout": "paper"}])
def test_good_parameters_pass(params):
    check_params("method drpg", Method.from_parts, params, given=1)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"kk": 2}, "method drpg has no parameter 'kk'; did you mean 'k'"),
        ({"zebra": 2}, "method drpg has no parameter 'zebra'; it has k, layout, share"),
        ({"parts": 2}, "method drpg has no parameter 'parts'"),
        ({"k": "four"}, "method drpg, parameter k: .*integer, got 'four'"),
        ({"k": True}, "method drpg, parameter k: .* got True"),
        ({"layout": "papr"}, "method drpg, parameter layout: .*'paper', got 'papr'"),
    ],
)
def test_a_bad_parameter_is_named_with_what_is_known(params, message):
    with pytest.raises(ParameterError, match=message):
        check_params("method drpg", Method.from_parts, params, given=1)


def test_a_class_is_checked_by_its_constructor():
    check_params("environment shop", World, {"database": "shop"})
    with pytest.raises(ParameterError, match="parameter database"):
        check_params("environment shop", World, {"database": 3})


def test_a_factory_without_parameters_says_so():
    with pytest.raises(ParameterError, match="it has none"):
        check_params("environment empty", object, {"database": 3})


class WithSettings:
    class Settings(BaseModel):
        k: PositiveInt = 4

    @classmethod
    def from_parts(cls, parts: object, **params: object) -> "WithSettings":
        return cls()


def test_a_method_with_settings_is_checked_by_their_fields():
    check_params("method m", WithSettings.from_parts, {"k": 1}, given=1)
    with pytest.raises(ParameterError, match="method m, parameter k: .*greater than 0, got 0"):
        check_params("method m", WithSettings.from_parts, {"k": 0}, given=1)
    with pytest.raises(ParameterError, match="method m has no parameter 'q'; it has k"):
        check_params("method m", WithSettings.from_parts, {"q": 0}, given=1)
