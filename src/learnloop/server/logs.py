"""How the server logs: one JSON object, or one line of text, with secrets taken out."""

from __future__ import annotations

import json
import logging
import re
from datetime import UTC, datetime
from typing import Any

from learnloop.server.config import Logs
from learnloop.server.moments import stamp

HIDDEN = "[hidden]"


def log_config(logs: Logs) -> dict[str, Any]:
    """Return what `logging.config.dictConfig` is to be given; uvicorn takes it too."""
    level = logs.level.upper()
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"chosen": {"()": _FORMATTERS[logs.format]}},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "chosen",
                "stream": "ext://sys.stderr",
            }
        },
        "root": {"handlers": ["stderr"], "level": "WARNING"},
        "loggers": {
            "learnloop": {"level": level},
            "uvicorn": {"level": level},
            "uvicorn.access": {"level": "WARNING"},
        },
    }


def hide_secrets(text: str) -> str:
    """Take out what looks like a key.

    Examples:
        >>> hide_secrets("sent Authorization: Bearer abc.def")
        'sent Authorization: Bearer [hidden]'
    """
    return _SECRET.sub(lambda found: (found["before"] or "") + HIDDEN, text)


class JsonFormatter(logging.Formatter):
    """Writes a record as one JSON object; `extra={"fields": {...}}` adds to it."""

    def format(self, record: logging.LogRecord) -> str:
        content: dict[str, object] = {
            "time": _time_of(record),
            "level": record.levelname.lower(),
            "logger": record.name.removesuffix(".error"),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            content["error"] = self.formatException(record.exc_info)
        return hide_secrets(json.dumps(content, ensure_ascii=False, default=str))


class TextFormatter(logging.Formatter):
    """Writes a record as a line for people."""

    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "fields", {})
        words = [f"{name}={value}" for name, value in fields.items() if name in _SHOWN]
        line = " ".join([_time_of(record), record.levelname.lower(), record.getMessage(), *words])
        if record.exc_info:
            line = f"{line}\n{self.formatException(record.exc_info)}"
        return hide_secrets(line)


def _time_of(record: logging.LogRecord) -> str:
    return stamp(datetime.fromtimestamp(record.created, UTC))


_SHOWN = frozenset({"seconds", "request_id", "tenant", "task"})
"""Fields that a line of text has beside its message."""

_SECRET = re.compile(
    r"(?P<before>\bbearer\s+|\bapi[-_]?key\W{1,4})?"
    r"(?(before)[^\s\"',;&]+|(?:\bll_|\bsk-|\bnvapi-|\bAIza|\bhf_|\bgh[ps]_)[\w-]{16,})",
    re.IGNORECASE,
)

_FORMATTERS = {"json": JsonFormatter, "text": TextFormatter}
