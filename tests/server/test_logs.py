import json
import logging
import logging.config

import pytest

from learnloop.server.config import Logs
from learnloop.server.logs import HIDDEN, JsonFormatter, TextFormatter, hide_secrets, log_config

SECRETS = [
    "ll_" + "a1-_" * 10,
    "sk-proj-" + "Ab3" * 10,
    "nvapi-" + "x" * 30,
    "AIza" + "y" * 30,
    "hf_" + "z" * 30,
]


def record(message, **extra):
    made = logging.makeLogRecord({"name": "learnloop.x", "levelname": "INFO", "msg": message})
    made.__dict__.update(extra)
    return made


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("formatter", [JsonFormatter(), TextFormatter()])
def test_a_key_does_not_get_into_a_log(formatter, secret):
    line = formatter.format(record(f"refused {secret}.", fields={"tenant": secret}))
    assert secret not in line
    assert HIDDEN in line


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Authorization: Bearer abc.def=", f"Authorization: Bearer {HIDDEN}"),
        ('{"api_key": "abc"}', f'{{"api_key": "{HIDDEN}"}}'),
        ("api-key=abc&x=1", f"api-key={HIDDEN}&x=1"),
        ("all_of_the_words_that_are_long skill sk-1", "all_of_the_words_that_are_long skill sk-1"),
    ],
)
def test_only_what_looks_like_a_key_is_taken_out(text, left):
    assert hide_secrets(text) == left


def test_a_line_of_json_has_the_fields_and_the_error():
    try:
        raise ValueError("no")
    except ValueError as error:
        made = record("it failed", fields={"status": 500}, exc_info=(ValueError, error, None))
    content = json.loads(JsonFormatter().format(made))
    assert (content["message"], content["status"], content["level"]) == ("it failed", 500, "info")
    assert "ValueError: no" in content["error"]
    assert content["time"].endswith("Z")


@pytest.mark.parametrize("shape", ["json", "text"])
def test_the_config_of_logs_is_one_that_python_takes(shape):
    config = log_config(Logs(level="debug", format=shape))
    configurator = logging.config.DictConfigurator(config)
    formatter = configurator.configure_formatter(config["formatters"]["chosen"])
    assert "hello" in formatter.format(record("hello"))
