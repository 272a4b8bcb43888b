"""Fetches one file over plain HTTPS, going on where an earlier try broke off.

What is fetched, where it goes and whether its bytes are the right ones is for `llm` and `data`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path

import httpx2
import tenacity

from learnloop.errors import FetchError

CHUNK = 1 << 20
TIMEOUT = httpx2.Timeout(30.0, connect=5.0)
TRIES = 3
"""How often a connection may break in a row without that a byte came."""

Progress = Callable[[int], None]
"""Told how many more bytes are done; a negative number takes some back."""


def fetch(
    url: str,
    partial: Path,
    progress: Progress,
    *,
    limit: int | None = None,
    transport: httpx2.BaseTransport | None = None,
) -> None:
    """Download into `partial`, from where its bytes end.

    Args:
        url: What to download.
        partial: Where to; it may hold the first bytes already.
        progress: Told how far it is.
        limit: Most bytes that are taken; `None` is any number.
        transport: Replaces the network, for tests.

    Raises:
        FetchError: The server cannot be reached, does not have the file, broke off for good, or
            gave more than the limit.
    """
    partial.touch()
    progress(partial.stat().st_size)
    attempts = tenacity.Retrying(
        retry=tenacity.retry_if_exception(_broke_off),
        stop=_Stalled(partial),
        reraise=True,
    )
    with httpx2.Client(timeout=TIMEOUT, follow_redirects=True, transport=transport) as client:
        try:
            attempts(_go_on, client, url, partial, progress, limit)
        except httpx2.HTTPStatusError as error:
            raise FetchError(f"{url} answered {error.response.status_code}") from error
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
            host = httpx2.URL(url).host
            raise FetchError(f"https://{host} cannot be reached: {error}") from error
        except httpx2.TransportError as error:
            raise FetchError(
                f"{url} broke off ({error}); run it again to go on from there"
            ) from error


def file_sha256(path: Path, *, progress: Progress | None = None) -> str:
    """Return the sha256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            if progress is not None:
                progress(len(chunk))
    return digest.hexdigest()


class _Stalled:
    """Says when to give up: after some tries in a row that brought nothing new."""

    def __init__(self, partial: Path) -> None:
        self.partial = partial
        self._size = partial.stat().st_size
        self._left = TRIES

    def __call__(self, state: tenacity.RetryCallState) -> bool:
        size = self.partial.stat().st_size
        self._left = TRIES if size > self._size else self._left - 1
        self._size = max(size, self._size)
        return self._left <= 0


def _broke_off(error: BaseException) -> bool:
    unreachable = httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError
    return isinstance(error, httpx2.TransportError) and not isinstance(error, unreachable)


def _go_on(
    client: httpx2.Client, url: str, partial: Path, progress: Progress, limit: int | None
) -> None:
    have = partial.stat().st_size
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with client.stream("GET", url, headers=headers) as answer:
        if answer.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            return
        answer.raise_for_status()
        _refuse_a_page(url, answer)
        goes_on = answer.status_code == HTTPStatus.PARTIAL_CONTENT
        if have and not goes_on:
            progress(-have)
        with partial.open("ab" if goes_on else "wb") as file:
            for chunk in answer.iter_bytes():
                file.write(chunk)
                progress(len(chunk))
                if limit is not None and file.tell() > limit:
                    raise FetchError(f"{url} gives more than {limit:,} bytes")


def _refuse_a_page(url: str, answer: httpx2.Response) -> None:
    """File hosts answer with a page, and a good status, where they will not give the file."""
    if answer.headers.get("content-type", "").startswith("text/html"):
        raise FetchError(f"{url} answered with a web page in place of the file")
