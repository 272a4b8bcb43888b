import pytest

from learnloop.errors import ConfigError
from learnloop.server.config import (
    ServerConfig,
    is_loopback,
    make_config,
    read_config,
    with_address,
)


def task(**fields):
    return {"tasks": {"sql": {"model": "local", **fields}}}


def test_what_a_file_leaves_out_has_a_value(tmp_path):
    path = tmp_path / "learnloop.toml"
    path.write_text("")
    config = read_config(path)
    assert (config.server.host, config.server.port) == ("127.0.0.1", 8321)
    assert config.database == tmp_path / "learnloop.sqlite"
    assert config.server.limits.max_body_bytes == 2 * 1024 * 1024
    assert dict(config.tasks) == {}


def test_all_of_a_file_is_read(tmp_path):
    path = tmp_path / "learnloop.toml"
    path.write_text(FULL)
    config = read_config(path)
    assert config.database.as_posix() == "/data/l.sqlite"
    assert config.endpoints["house"].api_key_env == "HOUSE_KEY"
    sql = config.tasks["sql"]
    assert (sql.model, sql.policy_model) == ("house/small", "http://127.0.0.1:8080/v1#large")
    assert (sql.method, dict(sql.params)) == ("drpg", {"k": 2})
    assert (sql.learning.calls_per_hour, sql.learning.max_calls) == (10, None)
    assert sql.control_share == 0.1
    assert [sql.feedback.weight(kind) for kind in ("user", "model", "code")] == [1.0, 0.5, 1.0]


FULL = """
[server]
database = "/data/l.sqlite"
[endpoints.house]
base_url = "http://127.0.0.1:9000/v1"
api_key_env = "HOUSE_KEY"
[tasks.sql]
model = "house/small"
policy_model = "http://127.0.0.1:8080/v1#large"
params = { k = 2 }
control_share = 0.1
learning.calls_per_hour = 10
feedback.weights = { user = 1, model = 0.5 }
"""


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"nonsense": 1}, "nonsense: no such field; there are server, endpoints, tasks"),
        ({"path": "x"}, "path: no such field"),
        ({"server": {"prot": 1}}, "server.prot: no such field; did you mean 'port'?"),
        ({"server": {"port": 70000}}, "server.port: .*less than or equal to 65535, got 70000"),
        ({"server": {"port": "80"}}, "server.port: .*got '80'"),
        ({"server": {"limits": {"max_body_bytes": 0}}}, "server.limits.max_body_bytes: .*got 0"),
        ({"server": 3}, "server: .*got 3"),
        ({"tasks": {"sql": {}}}, "tasks.sql.model: is missing"),
        ({"tasks": {"S Q": {"model": "local"}}}, r"tasks.S Q: .*got 'S Q'"),
        (task(control_share=3), "tasks.sql.control_share: .*got 3"),
        (task(learning={"call_per_hour": 3}), "did you mean 'calls_per_hour'"),
        (task(feedback={"weights": {"usr": 1}}), r"tasks.sql.feedback.weights.usr: .*'user'"),
        (task(params={"k": [3]}), r"tasks.sql.params.k: .*got \[3\]"),
        (task(params={"kk": 3}), "tasks.sql.params: method drpg has no parameter 'kk'.*'k'"),
        (task(params={"k": 0}), "tasks.sql.params: .*parameter k: .*greater than 0"),
        (task(params={"writer": "contrastive"}), "tasks.sql.method: .*take writer='rules'"),
        (task(method="drgp"), "tasks.sql.method: no method named 'drgp'; did you mean 'drpg'"),
        (task(method="self_refine"), "tasks.sql.method: 'self_refine' calls a model before"),
        (task(model="nope/x"), "tasks.sql.model: no model named 'nope/x'"),
        (task(model="none"), "tasks.sql.model: no model named 'none'"),
        (task(model="local/x"), "tasks.sql.model: no local model named 'x'"),
        (task(policy_model="http://127.0.0.1"), "tasks.sql.policy_model: no model named"),
        ({"endpoints": {"x": {"base_url": "ftp:"}}}, "endpoints.x.base_url"),
        ({"endpoints": {"local": {"base_url": "http://a"}}}, "endpoints.local: .*another name"),
    ],
)
def test_what_is_wrong_is_said_with_the_file_and_the_field(content, said):
    with pytest.raises(ConfigError, match=f"^config file 'learnloop.toml': .*{said}"):
        make_config(content)


def test_a_file_that_cannot_be_read_says_what_to_do(tmp_path):
    path = tmp_path / "learnloop.toml"
    with pytest.raises(ConfigError, match="learnloop init"):
        read_config(path)
    path.write_text("[server")
    with pytest.raises(ConfigError, match="not valid TOML"):
        read_config(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not valid TOML"):
        read_config(path)
    with pytest.raises(ConfigError, match="cannot read"):
        read_config(tmp_path)


def test_a_model_of_a_named_endpoint_is_known():
    config = make_config(task(model="house/x") | {"endpoints": {"house": {"base_url": "http://a"}}})
    assert isinstance(config, ServerConfig)


@pytest.mark.parametrize(
    ("host", "alone"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("localhost.example", False),
        ("", False),
    ],
)
def test_only_loopback_addresses_are_this_machine_alone(host, alone):
    assert is_loopback(host) is alone


def test_another_address_can_be_given():
    config = with_address(make_config(task()), host="0.0.0.0", port=None)
    assert (config.server.host, config.server.port, config.on_loopback) == ("0.0.0.0", 8321, False)
    with pytest.raises(ConfigError, match="port"):
        with_address(config, host=None, port=-1)
