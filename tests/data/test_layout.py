"""What `get` leaves is what the environments read."""

import pytest

from learnloop.data.download import get
from learnloop.environments import ENVIRONMENTS

STREAMS = {"spider": 3, "cosql": 3, "bird": 1, "hotpotqa": 1500}


@pytest.mark.parametrize("name", [name for name in STREAMS if name in ENVIRONMENTS])
def test_an_environment_reads_what_was_got(tmp_path, monkeypatch, hub, benchmark_of, name):
    monkeypatch.setenv("LEARNLOOP_DATA", str(tmp_path))
    get(benchmark_of(name), root=tmp_path, transport=hub.transport)
    environment = ENVIRONMENTS.create(name)
    assert len(environment) == STREAMS[name]
    query = environment.reset(seed=42)
    assert query.text
    assert environment.gold(query)
    assert environment.demonstrations(k=1)
