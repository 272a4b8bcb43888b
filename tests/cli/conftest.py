import pytest
from typer.testing import CliRunner

from learnloop.cli.main import app


@pytest.fixture
def learnloop(tmp_path, monkeypatch):
    """Call the command line in an empty folder; returns the result with `exit_code` and texts."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        return CliRunner().invoke(app, [str(word) for word in words])

    return call
