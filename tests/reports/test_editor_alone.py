import json

import pytest

from learnloop.errors import RecordError
from learnloop.reports.editor_alone import heat_maps, noise_maps, read_editor_alone
from learnloop.reports.load import load_material

ROW = {"task": "parity", "editor": "rewriter", "stale": 0, "error": 0.0, "width": 0.0}


@pytest.fixture
def file(tmp_path):
    rows = [
        ROW | {"new": 1, "corrupted": 0, "cases": 8, "right": 1.0, "invalid": 0.0},
        ROW | {"new": 2, "corrupted": 0, "cases": 8, "right": 0.75, "invalid": 0.5},
        ROW | {"new": 2, "corrupted": 1, "cases": 8, "right": 0.25, "invalid": 0.0},
        ROW | {"new": 2, "stale": 6, "corrupted": 0, "cases": 8, "right": 0.5, "invalid": 0.0},
        ROW | {"new": 0, "stale": 8, "corrupted": 1, "cases": 8, "right": 1.0, "invalid": 0.0},
    ]
    noise = [{"task": "parity", "editor": "rewriter", "new": 2, "noise": 0.1, "right": 0.7}]
    content = {"model": "local", "seeds": [1000, 8], "rows": rows, "by_noise": noise, "cost": {}}
    path = tmp_path / "editor_alone.json"
    path.write_text(json.dumps(content))
    return path


def test_a_map_has_a_row_for_each_number_of_false_observations_and_one_after_stale_ones(file):
    (made,) = heat_maps(read_editor_alone(file), "parity")
    assert made.columns == (1, 2)
    assert [(row.name, row.cells) for row in made.rows] == [
        ("all true", (1.0, 0.75)),
        ("one false", (None, 0.25)),
        ("after stale ones", (None, 0.5)),
    ]
    assert made.invalid == pytest.approx(0.1)


def test_a_map_by_noise_has_a_row_a_level(file):
    (made,) = noise_maps(read_editor_alone(file), "parity")
    assert [(row.name, row.cells) for row in made.rows] == [("η = 0.1", (0.7,))]


def test_a_folder_that_holds_only_a_measurement_can_be_reported(file):
    material = load_material([file.parent])
    assert material.runs == ()
    assert material.editors[0].model == "local"


def test_another_json_file_is_refused_with_its_name(tmp_path):
    path = tmp_path / "editor_alone.json"
    path.write_text('{"rows": 3}')
    with pytest.raises(RecordError, match=r"editor_alone\.json is no measurement"):
        read_editor_alone(path)
