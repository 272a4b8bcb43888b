"""Gets a model file from the Hugging Face hub over plain HTTPS; goes on where it was broken off."""

from __future__ import annotations

from pathlib import Path

import httpx2

from learnloop.errors import FetchError, ModelFileError
from learnloop.fetching import Progress, fetch
from learnloop.llm.catalog import CatalogEntry

HUB = "https://huggingface.co"


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
    try:
        fetch(url, partial, progress, transport=transport)
    except FetchError as error:
        raise ModelFileError(str(error)) from error
