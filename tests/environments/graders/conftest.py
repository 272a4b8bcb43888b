"""A sandbox for Python, or the reason why the tests that need one do not run."""

import shutil

import pytest

from learnloop.environments.graders.python_sandbox import PythonSandbox
from learnloop.environments.graders.python_sandbox_command import INSTALL
from learnloop.settings import read_settings


@pytest.fixture(scope="session")
def sandbox():
    if shutil.which("bwrap") is None:
        message = f"needs bubblewrap: {INSTALL}"
        if read_settings().ci:
            pytest.fail(message)
        pytest.skip(message)
    made = PythonSandbox(preload=["numpy"])
    yield made
    made.close()
