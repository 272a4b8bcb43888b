"""What `learnloop.toml` says: where the server listens, its endpoints, and its tasks."""

from __future__ import annotations

import ipaddress
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, ValidationError

from learnloop.errors import ConfigError, InputError
from learnloop.llm.endpoints import NAME_PATTERN, Endpoint
from learnloop.server.config_checks import check_endpoints, check_hosted, check_model, near

CONFIG_FILE = "learnloop.toml"
TASK_NAME = r"^[a-z][a-z0-9_-]{0,62}$"

Value = bool | int | float | str
LogFormat = Literal["json", "text"]
LogLevel = Literal["debug", "info", "warning", "error"]
SourceKind = Literal["user", "reviewer", "model", "code", "environment"]
Share = Annotated[float, Field(ge=0, le=1)]

_FROZEN = ConfigDict(frozen=True, extra="forbid", strict=True)


class Limits(BaseModel):
    """What one key, and the server as a whole, may ask for.

    Attributes:
        max_body_bytes: Largest request.
        requests_per_minute: Of one key; a burst of as many is let through.
        concurrent_requests: Of one key at the same time.
        upstream_timeout: Seconds that an answering model has for one answer.
        advice_timeout: Seconds to find what was learnt for a request; then it goes on without.
    """

    model_config = _FROZEN

    max_body_bytes: PositiveInt = 2 * 1024 * 1024
    requests_per_minute: PositiveInt = 6000
    concurrent_requests: PositiveInt = 64
    upstream_timeout: Annotated[float, Field(gt=0)] = 600.0
    advice_timeout: Annotated[float, Field(gt=0)] = 0.05


class Logs(BaseModel):
    """How much is logged to standard error, and in which shape."""

    model_config = _FROZEN

    level: LogLevel = "info"
    format: LogFormat = "json"


class Listening(BaseModel):
    """Where the server listens and keeps what it knows.

    Attributes:
        database: The SQLite file; a relative path begins at the folder of the config file.
        embedder: What turns queries into vectors, for every task.
        embeddings: The model that `/v1/embeddings` passes requests on to; `""` for none.
        sync: `normal`: what was acknowledged survives the end of the process at any point;
            `full`: also a power cut, for a write to the disk each time.
    """

    model_config = _FROZEN

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8321
    database: Annotated[str, Field(min_length=1)] = "learnloop.sqlite"
    embedder: str = "wordllama"
    embeddings: str = ""
    sync: Literal["normal", "full"] = "normal"
    limits: Limits = Field(default_factory=Limits)
    log: Logs = Field(default_factory=Logs)


class Learning(BaseModel):
    """What learning may spend. Calls are those that write policies and edit prompts.

    Attributes:
        enabled: Whether the task learns at all; what it has learnt is used either way.
        calls_per_hour: Most calls in any hour.
        max_calls: Most calls ever; `None` for no such limit.
    """

    model_config = _FROZEN

    enabled: bool = True
    calls_per_hour: NonNegativeInt = 120
    max_calls: NonNegativeInt | None = None


class FeedbackRules(BaseModel):
    """How feedback is read.

    Attributes:
        threshold: A number counts as right from here on.
        weights: How far each kind of source is believed, 0 to 1; a kind that is not named is
            believed wholly.
    """

    model_config = _FROZEN

    threshold: float = 0.5
    weights: dict[SourceKind, Share] = Field(default_factory=dict)

    def weight(self, kind: str) -> float:
        """Return how far a kind of source is believed."""
        return next((weight for named, weight in self.weights.items() if named == kind), 1.0)


class TaskConfig(BaseModel):
    """One application: what it does, who answers, and how it learns.

    Attributes:
        description: What the application does, in a sentence or two: for those who write policies
            and edit prompts. It never reaches the answering model.
        instructions: The rules that an answer must keep, for the same readers.
        model: Who answers; a model name as everywhere (`local`, `openai/NAME`, `ENDPOINT/NAME`,
            `URL#NAME`).
        policy_model: Who writes policies and edits; `None`: the same model.
        method: How it learns.
        params: Parameters of the method.
        control_share: Share of requests answered without learning, to measure the gain by.
        examples_budget: Limit on learnt examples in a request, in estimated tokens.
        policy_budget: Limit on a learnt policy or prompt, in estimated tokens.
        query_label: What a query is called in the learnt block.
        answer_label: What an answer is called there.
        keep_texts: Whether the messages of requests are stored, beside the query and the answer.
    """

    model_config = _FROZEN

    description: str = ""
    instructions: str = ""
    model: str
    policy_model: str | None = None
    method: str = "drpg"
    params: dict[str, Value] = Field(default_factory=dict)
    control_share: Share = 0.0
    examples_budget: NonNegativeInt = 2000
    policy_budget: NonNegativeInt = 400
    query_label: str = "Question"
    answer_label: str = "Answer"
    keep_texts: bool = True
    learning: Learning = Field(default_factory=Learning)
    feedback: FeedbackRules = Field(default_factory=FeedbackRules)


class ServerConfig(BaseModel):
    """All of a config file. `path` is the file it was read from.

    Examples:
        >>> config = make_config({"tasks": {"sql": {"model": "local"}}})
        >>> config.tasks["sql"].method, config.server.port, config.database.name
        ('drpg', 8321, 'learnloop.sqlite')
    """

    model_config = _FROZEN

    server: Listening = Field(default_factory=Listening)
    endpoints: dict[Annotated[str, Field(pattern=NAME_PATTERN)], Endpoint] = Field(
        default_factory=dict
    )
    tasks: dict[Annotated[str, Field(pattern=TASK_NAME)], TaskConfig] = Field(default_factory=dict)
    path: Annotated[Path, Field(exclude=True)] = Path(CONFIG_FILE)

    @property
    def database(self) -> Path:
        """Where the SQLite file is."""
        return self.path.parent / self.server.database

    @property
    def on_loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return is_loopback(self.server.host)


def read_config(path: Path) -> ServerConfig:
    """Read a config file and check all of it that needs no model.

    Raises:
        ConfigError: The file is not there, or something in it is not good; the message names the
            file and the field.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(
            f"there is no config file {str(path)!r}; write one with `learnloop init`"
        ) from error
    except OSError as error:
        raise ConfigError(f"cannot read config file {str(path)!r}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"config file {str(path)!r} is not valid TOML: {error}") from error
    return make_config(content, path=path)


def make_config(content: dict[str, Any], *, path: Path = Path(CONFIG_FILE)) -> ServerConfig:
    """Make a config of what a file, or a test, says.

    Raises:
        ConfigError: Something in it is not good; the message names the field.
    """
    place = f"config file {str(path)!r}"
    if "path" in content:
        raise ConfigError(f"{place}: path: no such field here")
    try:
        config = ServerConfig.model_validate({**content, "path": path})
    except ValidationError as error:
        raise ConfigError(f"{place}: {_explain(error)}") from error
    try:
        _check(config)
    except InputError as error:
        raise ConfigError(f"{place}: {error}") from error
    return config


def with_address(config: ServerConfig, *, host: str | None, port: int | None) -> ServerConfig:
    """Return the config with another host or port, where one is given.

    Raises:
        ConfigError: There is no such port.
    """
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    try:
        listening = Listening.model_validate(config.server.model_dump() | given)
    except ValidationError as error:
        raise ConfigError(_explain(error)) from error
    return config.model_copy(update={"server": listening})


def is_loopback(host: str) -> bool:
    """Say whether a host name or address is one that only this machine can reach.

    Examples:
        >>> is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
        (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check(config: ServerConfig) -> None:
    check_endpoints(config.endpoints)
    if config.server.embeddings:
        check_model("server.embeddings", config.server.embeddings, config.endpoints)
    for name, task in config.tasks.items():
        place = f"tasks.{name}"
        check_model(f"{place}.model", task.model, config.endpoints)
        if task.policy_model is not None:
            check_model(f"{place}.policy_model", task.policy_model, config.endpoints)
        check_hosted(place, task.method, task.params)


def _explain(error: ValidationError) -> str:
    """Say of each field what is wrong; of one that may be several things, what the last wants."""
    lines = {_place(problem["loc"]): problem for problem in error.errors()}
    return "; ".join(_say(where, problem["loc"], problem) for where, problem in lines.items())


def _place(loc: tuple[int | str, ...]) -> str:
    return ".".join(
        str(part) for part in loc if part not in {"bool", "int", "float", "str", "[key]"}
    )


def _say(where: str, loc: tuple[int | str, ...], problem: Any) -> str:
    if problem["type"] == "extra_forbidden":
        return f"{where}: no such field; {near(str(loc[-1]), _fields(loc[:-1]))}"
    if problem["type"] == "missing":
        return f"{where}: is missing"
    return f"{where}: {problem['msg'].lower()}, got {problem['input']!r}"


def _fields(loc: tuple[int | str, ...]) -> list[str]:
    """Return the names that a table of the file may hold."""
    model: type[BaseModel] = ServerConfig
    for part in loc:
        field = model.model_fields.get(str(part))
        if field is not None:
            model = _model_in(field.annotation)
    return [name for name in model.model_fields if name != "path"]


def _model_in(annotation: Any) -> type[BaseModel]:
    """Return the model that a field holds, or holds by name."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    held: type[BaseModel] = get_args(annotation)[-1]
    return held
