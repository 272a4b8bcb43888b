from fractions import Fraction

import pytest

from learnloop.errors import UnknownNameError
from learnloop.registry import Registry

SHAPES: Registry[Fraction] = Registry(
    "shape", {"fraction": "fractions:Fraction", "big_square": "fractions:Fraction"}
)


@pytest.mark.parametrize("name", ["big_square", "big-square", "Big-Square"])
def test_dashes_capitals_and_underscores_name_the_same(name):
    assert SHAPES.resolve(name) == "big_square"
    assert SHAPES.create(name, numerator=2) == Fraction(2)


def test_a_misspelt_name_gets_a_suggestion():
    with pytest.raises(UnknownNameError, match=r"no shape named 'bigsquare'.*'big_square'"):
        SHAPES.load("bigsquare")


def test_a_strange_name_gets_the_list():
    with pytest.raises(UnknownNameError, match="known: big_square, fraction"):
        SHAPES.load("zzz")


def test_an_empty_registry_says_so():
    with pytest.raises(UnknownNameError, match="there is none yet"):
        Registry("gate", {}).load("pid")


def test_names_are_sorted():
    assert list(SHAPES) == ["big_square", "fraction"]
