import json
import re
from pathlib import Path

import pytest

from learnloop.server.config import read_config

TEMPLATE = "learnloop.toml"


def test_the_file_that_is_written_can_be_read(learnloop):
    result = learnloop("init")
    assert result.exit_code == 0
    assert "learnloop serve --config learnloop.toml" in result.stdout
    config = read_config(Path(TEMPLATE))
    assert list(config.tasks) == ["assistant"]


def test_every_setting_that_is_commented_out_is_one(learnloop):
    learnloop("init")
    path = Path(TEMPLATE)
    path.write_text(re.sub(r"^# (?=\[|[a-z_]+ = )", "", path.read_text(), flags=re.MULTILINE))
    config = read_config(path)
    assert list(config.endpoints) == ["house"]
    assert dict(config.tasks["assistant"].params) == {"k": 4}
    assert config.tasks["assistant"].feedback.weight("model") == 0.5


def test_what_is_commented_out_is_what_holds_without_it(learnloop):
    learnloop("init")
    path = Path(TEMPLATE)
    before = read_config(path)
    path.write_text(re.sub(r"^# (?=\[|[a-z_]+ = )", "", path.read_text(), flags=re.MULTILINE))
    after = read_config(path)
    assert after.server == before.server


def test_a_file_that_is_there_stays(learnloop, tmp_path):
    path = tmp_path / "mine" / "server.toml"
    made = learnloop("init", path, "--json")
    assert json.loads(made.stdout) == {"path": str(path)}
    path.write_text("# mine")
    again = learnloop("init", path)
    assert again.exit_code == 2
    assert "stays as it is" in again.stderr
    assert path.read_text() == "# mine"
    assert learnloop("init", path.parent).exit_code == 0


@pytest.mark.parametrize("text", ["[server]\nport = 'x'", "[tasks.sql]"])
def test_serve_says_what_is_wrong_with_a_config(learnloop, text):
    Path(TEMPLATE).write_text(text)
    result = learnloop("serve")
    assert result.exit_code == 2
    assert "config file 'learnloop.toml'" in result.stderr


def test_serve_does_not_listen_to_others_without_a_key(learnloop):
    Path(TEMPLATE).write_text("")
    result = learnloop("serve", "--host", "0.0.0.0")
    assert result.exit_code == 2
    assert "keys create" in result.stderr
