"""Gets a model file from the Hugging Face hub over plain HTTPS; goes on where it was broken off."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path

import httpx2
import tenacity

from learnloop.errors import ModelFileError
from learnloop.llm.catalog import CHUNK, CatalogEntry, Progress

HUB = "https://huggingface.co"
TIMEOUT = httpx2.Timeout(30.0, connect=5.0)
TRIES = 3


def fetch_from_hub(
    entry: CatalogEntry,
    partial: Path,
    progress: Progress,
    *,
    transport: httpx2.BaseTransport | None = None,
) -> None:
    """Download into `partial`, from where its bytes end.

    Raises:
        ModelFileError: The hub cannot be reached or does not have the file.
    """
    url = f"{HUB}/{entry.hub_repo}/resolve/main/{entry.hub_file}"
    partial.touch()
    progress(partial.stat().st_size)
    attempts = tenacity.Retrying(
        retry=tenacity.retry_if_exception(_broke_off),
        stop=tenacity.stop_after_attempt(TRIES),
        reraise=True,
    )
    with httpx2.Client(timeout=TIMEOUT, follow_redirects=True, transport=transport) as client:
        try:
            attempts(_go_on, client, url, partial, progress)
        except httpx2.HTTPStatusError as error:
            raise ModelFileError(f"{url} answered {error.response.status_code}") from error
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise ModelFileError(f"{HUB} cannot be reached: {error}") from error
        except httpx2.TransportError as error:
            raise ModelFileError(
                f"{url} broke off ({error}); run it again to go on from there"
            ) from error


def _broke_off(error: BaseException) -> bool:
    unreachable = httpx2.ConnectError | httpx2.ConnectTimeout
    return isinstance(error, httpx2.TransportError) and not isinstance(error, unreachable)


def _go_on(client: httpx2.Client, url: str, partial: Path, progress: Progress) -> None:
    have = partial.stat().st_size
    headers = {"Range": f"bytes={have}-"} if have else {}
    with client.stream("GET", url, headers=headers) as answer:
        if answer.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            return
        answer.raise_for_status()
        goes_on = answer.status_code == HTTPStatus.PARTIAL_CONTENT
        if have and not goes_on:
            progress(-have)
        with partial.open("ab" if goes_on else "wb") as file:
            for chunk in answer.iter_bytes(CHUNK):
                file.write(chunk)
                progress(len(chunk))
