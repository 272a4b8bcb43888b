"""Every error that this package raises on purpose.

LearnloopError
├── InputError                  the caller can mend it: a clear line, exit code 2
│   ├── UnknownNameError        no such name in a registry
│   ├── ParameterError          a parameter that does not exist or is out of range
│   ├── ConfigError             a settings, spec or study file that cannot be read
│   ├── DataError               benchmark data that is not there or not what it should be
│   ├── FetchError              a file that a server did not give
│   ├── ModelFileError          a model file that is missing, corrupt or not the right bytes
│   ├── MissingExtraError       an optional dependency that is not installed
│   └── ResumeError             a run that cannot be gone on with as asked
├── LanguageModelError          a call that gave no answer; never an answer, never feedback
│   ├── ModelConnectionError    nobody there
│   ├── ModelTimeoutError       no answer in time
│   ├── RateLimitError          asked to wait (`retry_after` seconds)
│   ├── ModelServerError        the server failed (5xx)
│   ├── ModelRequestError       the server refused the request (4xx)
│   ├── ContextLengthError      the messages do not fit the model
│   └── BadReplyError           a reply that is empty or cannot be read
├── EditingError                an editor that failed: the run stops, the prompt stays
├── ProposalError               a proposed prompt that is not valid; the old one stays
├── StoreError                  memory that cannot be read or written
│   ├── StoreLockedError        another process holds the database
│   ├── EmbedderMismatchError   vectors of another embedder or dimension
│   ├── ConflictError           other content under an id that is taken
│   └── UnknownEpisodeError     feedback on an episode that is not there
├── RecordError                 a record that cannot be written (disk full) or read
├── ReplayError                 a replayed step differs from the recorded one
├── RequestRefusedError         a request that the server refuses (`status`, `code`)
└── BudgetError                 a call that would pass a limit
"""


class LearnloopError(Exception):
    """Base of them all."""


class InputError(LearnloopError):
    """Something that the caller gave and can mend."""


class UnknownNameError(InputError, LookupError):
    """No such name in a registry."""


class ParameterError(InputError, ValueError):
    """A parameter that does not exist or is out of range."""


class ConfigError(InputError):
    """A settings, spec or study file that cannot be read."""


class DataError(InputError):
    """Benchmark data that is not there or not what it should be."""


class FetchError(InputError):
    """A file that a server did not give."""


class ModelFileError(InputError):
    """A model file that is missing, corrupt, or not the right bytes."""


class MissingExtraError(InputError, ImportError):
    """An optional dependency that is not installed."""


class ResumeError(InputError):
    """A run that cannot be gone on with as asked."""


class LanguageModelError(LearnloopError):
    """A call that gave no answer."""


class ModelConnectionError(LanguageModelError):
    """Nobody answered at the address."""


class ModelTimeoutError(LanguageModelError):
    """No answer in time."""


class RateLimitError(LanguageModelError):
    """The server asked to wait, for `retry_after` seconds where it said how long."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelServerError(LanguageModelError):
    """The server failed (5xx)."""


class ModelRequestError(LanguageModelError):
    """The server refused the request (4xx)."""


class ContextLengthError(LanguageModelError):
    """The messages do not fit into the model's context."""


class BadReplyError(LanguageModelError):
    """A reply that is empty or cannot be read."""


class EditingError(LearnloopError):
    """An editor's model or library failed; never taken for a proposal or for none."""


class ProposalError(LearnloopError):
    """A proposed prompt that is not valid."""


class StoreError(LearnloopError):
    """Memory that cannot be read or written."""


class StoreLockedError(StoreError):
    """Another process holds the database."""


class EmbedderMismatchError(StoreError):
    """The store holds vectors of another embedder or dimension."""


class ConflictError(StoreError):
    """Other content is already there under the same id."""


class UnknownEpisodeError(StoreError, LookupError):
    """There is no episode of that id."""


class RecordError(LearnloopError):
    """A record that cannot be written (disk full) or read."""


class ReplayError(LearnloopError):
    """A replayed step differs from the recorded one."""


class RequestRefusedError(LearnloopError):
    """The server refuses a request, with an HTTP status and a fixed word for programs.

    `retry_after` is in seconds, where it makes sense to try again.
    """

    def __init__(
        self, message: str, *, status: int, code: str, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.retry_after = retry_after


class BudgetError(LearnloopError):
    """A call that would pass a limit."""
