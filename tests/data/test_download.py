import hashlib
import json
import sqlite3
import sys
from contextlib import closing
from dataclasses import replace

import httpx2
import pytest

from learnloop.data.catalog import find
from learnloop.data.checking import check
from learnloop.data.download import get, present
from learnloop.errors import DataError, MissingExtraError

TEXT = "Mount One is high. It is 9 km."
EXPECTED = {
    "spider": (
        "test.jsonl",
        3,
        {
            "id": 0,
            "db_id": "pets",
            "question": "How many pets?",
            "query": "SELECT count(*) FROM pet",
        },
    ),
    "cosql": (
        "stream.jsonl",
        3,
        {
            "id": 0,
            "db_id": "pets",
            "question": "How many pets?",
            "query": "SELECT count(*) FROM pet",
        },
    ),
    "bird": (
        "dev.jsonl",
        1,
        {
            "question_id": 7,
            "db_id": "pets",
            "question": "How many cats?",
            "evidence": "cats are pets named Tom",
            "SQL": "SELECT count(*) FROM pet WHERE name = 'Tom'",
            "difficulty": "simple",
        },
    ),
    "hotpotqa": (
        "stream.jsonl",
        1500,
        {
            "id": "h0",
            "question": "Which is higher?",
            "answer": "Mount One",
            "context": [["One", TEXT], ["Two", "Mount Two is low."]],
            "gold_titles": ["One", "Two"],
            "type": "comparison",
            "level": "hard",
        },
    ),
    "ddxplus": ("stream.jsonl", 1, {"PATIENT_PROFILE": "I cough.", "PATHOLOGY": "Bronchitis"}),
    "ds1000": (
        "ds1000.jsonl",
        1,
        {
            "prompt": "Add one.",
            "reference_code": "result = x + 1",
            "metadata": {"problem_id": 0, "library": "Numpy"},
            "code_context": "import numpy as np",
        },
    ),
}


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def names_in(path):
    with closing(sqlite3.connect(path)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM pet")}


def unreachable(request):
    raise httpx2.ConnectError("no route")


OFFLINE = httpx2.MockTransport(unreachable)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_benchmark_arrives_in_the_layout_that_environments_read(
    tmp_path, hub, benchmark_of, name
):
    file, count, first = EXPECTED[name]
    benchmark = benchmark_of(name)
    got = get(benchmark, root=tmp_path, transport=hub.transport)
    rows = lines(got.folder / file)
    assert (len(rows), rows[0]) == (count, first)
    assert got.manifest.rows == count
    assert check(benchmark, tmp_path).problems == ()
    assert not (tmp_path / f".{name}.partial").exists()


def test_demonstrations_come_with_the_stream(tmp_path, hub, benchmark_of):
    names = {"spider": "train", "cosql": "train", "bird": "train", "hotpotqa": "train"}
    for name, file in (names | {"ddxplus": "validate"}).items():
        got = get(benchmark_of(name), root=tmp_path, transport=hub.transport)
        assert lines(got.folder / f"{file}.jsonl")


def test_the_manifest_has_what_was_received_and_what_was_made(tmp_path, hub, benchmark_of):
    got = get(benchmark_of("spider"), root=tmp_path, transport=hub.transport)
    manifest = json.loads((got.folder / "manifest.json").read_text())
    stream = (got.folder / "test.jsonl").read_bytes()
    assert {
        "path": "test.jsonl",
        "bytes": len(stream),
        "sha256": hashlib.sha256(stream).hexdigest(),
        "rows": 3,
    } in manifest["files"]
    received = {source["url"]: source for source in manifest["sources"]}
    for download in find("spider").downloads:
        content = hub.files[httpx2.URL(download.url).path]
        assert received[download.url]["sha256"] == hashlib.sha256(content).hexdigest()
        assert received[download.url]["bytes"] == len(content)
    assert "published" not in manifest["sources"][0]


def test_the_databases_are_those_that_the_stream_asks_about(tmp_path, hub, benchmark_of):
    folder = get(benchmark_of("spider"), root=tmp_path, transport=hub.transport).folder
    found = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.sqlite"))
    assert found == ["database/pets/pets.sqlite", "database/ships/ships.sqlite"]
    assert names_in(folder / "database" / "pets" / "pets.sqlite") == {"Tom", "Rex"}


def test_databases_in_a_zip_within_a_zip_are_found(tmp_path, hub, benchmark_of):
    folder = get(benchmark_of("bird"), root=tmp_path, transport=hub.transport).folder
    assert names_in(folder / "database" / "pets" / "pets.sqlite") == {"Tom", "Rex"}


def test_what_was_broken_off_goes_on_and_what_is_whole_is_not_fetched_again(
    tmp_path, hub, benchmark_of
):
    benchmark = benchmark_of("spider")
    hub.breaks = {"download": 100}
    with pytest.raises(DataError, match="broke off"):
        get(benchmark, root=tmp_path, transport=hub.transport)
    assert present(benchmark, tmp_path) is None
    hub.breaks, hub.asked = {}, []
    get(benchmark, root=tmp_path, transport=hub.transport)
    assert hub.asked == [("download", 100)]


def test_bytes_that_are_not_the_published_ones_are_refused_and_nothing_changes(tmp_path, hub):
    with pytest.raises(DataError, match="other bytes than published, refused and deleted: sha256"):
        get(find("spider"), root=tmp_path, transport=hub.transport)
    assert not (tmp_path / "spider").exists()
    assert list(tmp_path.rglob("*.parquet*")) == []


def test_a_wrong_size_is_refused(tmp_path, hub, benchmark_of):
    benchmark = benchmark_of("bird")
    archive = replace(benchmark.archive, download=find("bird").archive.download)
    with pytest.raises(DataError, match="bytes, expected 346,207,293"):
        get(replace(benchmark, archive=archive), root=tmp_path, transport=hub.transport)


def test_without_a_network_the_error_says_what_to_do(tmp_path, benchmark_of):
    with pytest.raises(DataError) as caught:
        get(benchmark_of("ddxplus"), root=tmp_path, transport=OFFLINE)
    words = str(caught.value)
    assert "https://huggingface.co cannot be reached: no route" in words
    assert "learnloop data get ddxplus --from PATH" in words
    assert "LEARNLOOP_DATA" in words


def test_a_file_that_is_not_there_says_so(tmp_path, hub, benchmark_of):
    hub.files = {}
    with pytest.raises(DataError, match="answered 404"):
        get(benchmark_of("ds1000"), root=tmp_path, transport=hub.transport)


def test_a_page_in_place_of_an_archive_is_refused(tmp_path, benchmark_of):
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, html="Quota exceeded"))
    with pytest.raises(DataError, match="a web page in place of the file"):
        get(benchmark_of("ds1000"), root=tmp_path, transport=transport)


def test_too_little_disk_is_said_before_anything_is_fetched(tmp_path, hub):
    bird = find("bird")
    huge = replace(bird.archive.download, bytes=1 << 60)
    benchmark = replace(bird, archive=replace(bird.archive, download=huge))
    with pytest.raises(DataError, match="GB of disk"):
        get(benchmark, root=tmp_path, transport=hub.transport)
    assert hub.asked == []


def test_a_folder_that_is_there_is_moved_aside_whole(tmp_path, hub, benchmark_of):
    mine = tmp_path / "ds1000" / "ds1000.jsonl"
    mine.parent.mkdir()
    mine.write_text("mine\n")
    (tmp_path / "ds1000.old").mkdir()
    got = get(benchmark_of("ds1000"), root=tmp_path, transport=hub.transport)
    assert got.aside == tmp_path / "ds1000.old1"
    assert (got.aside / "ds1000.jsonl").read_text() == "mine\n"
    assert len(lines(got.folder / "ds1000.jsonl")) == 1


def test_bytes_that_differ_from_those_received_before_are_noted(tmp_path, hub, benchmark_of):
    benchmark = benchmark_of("ds1000")
    get(benchmark, root=tmp_path, transport=hub.transport)
    (path,) = [path for path in hub.files if "ds_1000" in path]
    hub.files[path] = hub.files[path.replace("ds_1000", "ddxplus")]
    again = replace(benchmark, rows=(replace(benchmark.rows[0], shape="as given"),))
    got = get(again, root=tmp_path, transport=hub.transport)
    assert any("is not what was received before" in note for note in got.manifest.notes)


def test_cosql_takes_databases_that_spider_has(tmp_path, hub, benchmark_of):
    get(benchmark_of("spider"), root=tmp_path, transport=hub.transport)
    hub.asked.clear()
    folder = get(benchmark_of("cosql"), root=tmp_path, transport=hub.transport).folder
    assert (folder / "database" / "ships" / "ships.sqlite").is_file()
    assert "download" not in [file for file, _ in hub.asked]


@pytest.mark.parametrize("path", ["mine", "mine/spider_data.zip"])
def test_an_archive_of_ones_own_is_used_and_the_rest_fetched(
    tmp_path, hub, archives, benchmark_of, path
):
    root = tmp_path / "data"
    get(benchmark_of("spider"), root=root, given=tmp_path / path, transport=hub.transport)
    assert [file.partition("-")[0] for file, _ in hub.asked] == ["test", "train"]
    assert names_in(root / "spider" / "database" / "pets" / "pets.sqlite") == {"Tom", "Rex"}


def test_an_archive_of_ones_own_with_other_bytes_is_used_and_noted(
    tmp_path, hub, archives, benchmark_of
):
    benchmark = replace(benchmark_of("spider"), archive=find("spider").archive)
    got = get(benchmark, root=tmp_path / "data", given=archives, transport=hub.transport)
    assert any("spider_data.zip is not the published file" in note for note in got.manifest.notes)


def test_an_archive_with_rows_is_enough_without_a_network(tmp_path, archives, benchmark_of):
    got = get(benchmark_of("spider"), root=tmp_path / "data", given=archives, transport=OFFLINE)
    assert [row["question"] for row in lines(got.folder / "test.jsonl")] == ["Own?"]
    assert any("those of your own archive" in note for note in got.manifest.notes)
    assert not (got.folder / "train.jsonl").exists()


def test_a_copy_of_the_hub_is_enough_without_a_network(tmp_path, hub, archives, benchmark_of):
    for path, content in hub.files.items():
        if path.endswith(".parquet"):
            config, file = path.split("/")[-2:]
            (archives / config).mkdir(exist_ok=True)
            (archives / config / file).write_bytes(content)
    for name, (file, count, _) in EXPECTED.items():
        got = get(benchmark_of(name), root=tmp_path / "data", given=archives, transport=OFFLINE)
        assert len(lines(got.folder / file)) == count


def test_an_unpacked_archive_is_enough_without_a_network(tmp_path, hub, benchmark_of):
    source = get(benchmark_of("spider"), root=tmp_path / "one", transport=hub.transport).folder
    unpacked = tmp_path / "spider_data"
    unpacked.mkdir()
    (source / "database").rename(unpacked / "test_database")
    (unpacked / "test.json").write_text(
        '[{"db_id": "ships", "question": "All?", "query": "SELECT name FROM ship"}]'
    )
    root = tmp_path / "two"
    got = get(benchmark_of("spider"), root=root, given=unpacked, transport=OFFLINE)
    assert (got.folder / "database" / "ships" / "ships.sqlite").is_file()
    assert check(benchmark_of("spider"), root).problems == ()


@pytest.mark.parametrize("below", ["", "spider"])
def test_a_folder_in_our_layout_is_copied(tmp_path, hub, benchmark_of, below):
    get(benchmark_of("spider"), root=tmp_path / "one", transport=hub.transport)
    root = tmp_path / "two"
    given = tmp_path / "one" / below
    got = get(benchmark_of("spider"), root=root, given=given, transport=OFFLINE)
    assert lines(got.folder / "test.jsonl") == lines(tmp_path / "one" / "spider" / "test.jsonl")
    assert got.manifest.sources == ()
    assert check(benchmark_of("spider"), root).problems == ()


def test_a_path_of_ones_own_must_be_there(tmp_path, benchmark_of):
    with pytest.raises(DataError, match="there is no file or folder"):
        get(benchmark_of("bird"), root=tmp_path, given=tmp_path / "none", transport=OFFLINE)


def test_rows_that_lack_a_column_are_refused(tmp_path, hub, benchmark_of):
    (path,) = [path for path in hub.files if "spider/test" in path]
    hub.files[path] = hub.files[path.replace("spider", "ddxplus")]
    with pytest.raises(
        DataError, match=r"row 0 of the source is not as expected: KeyError\('SQL'\)"
    ):
        get(benchmark_of("spider"), root=tmp_path, transport=hub.transport)


def test_what_is_no_parquet_file_is_refused(tmp_path, hub, benchmark_of):
    hub.files = dict.fromkeys(hub.files, b"PAR0")
    with pytest.raises(DataError, match="as Parquet"):
        get(benchmark_of("ds1000"), root=tmp_path, transport=hub.transport)


def test_without_the_library_for_parquet_the_error_says_what_to_install(
    tmp_path, hub, benchmark_of, monkeypatch
):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'learnloop\[data\]'"):
        get(benchmark_of("ds1000"), root=tmp_path, transport=hub.transport)
