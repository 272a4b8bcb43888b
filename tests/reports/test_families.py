import pytest

from learnloop.reports.families import family_of, gains_by_family
from learnloop.reports.grid import make_grid
from learnloop.reports.standings import compare_configurations


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("gemini-2.0-flash-lite", "Gemini"),
        ("google/gemma-4-31b-it", "Gemma"),
        ("meta/llama-4-maverick-17b-128e-instruct", "Llama"),
        ("mistralai/mistral-medium-3-instruct", "Mistral"),
        ("Qwen2.5-Coder-1.5B-Instruct-Q4_K_M", "Qwen"),
        ("llama3.2:1b", "Llama"),
        ("somebody/unheard-of-7b", "somebody/unheard-of-7b"),
    ],
)
def test_a_family_is_read_from_the_beginning_of_a_name(model, family):
    assert family_of(model) == family


def test_gains_are_means_over_the_configurations_of_a_family(runs):
    gains = {"llama-3": [1.0, 1.0], "llama-4": [1.0, 0.0], "qwen": [0.0, 0.0]}
    for model, scores in gains.items():
        for method, given in (("zero_shot", [0.0, 0.0]), ("drpg", scores)):
            runs.write(method, given, model=model, spec={"model": model})
    found = gains_by_family(compare_configurations(make_grid(runs.load())))
    assert {(one.family, one.gain, one.configurations) for one in found} == {
        ("Llama", 0.75, 2),
        ("Qwen", 0.0, 1),
    }
