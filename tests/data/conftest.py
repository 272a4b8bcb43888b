"""A small hub, with rows and databases written for the tests, behind a transport."""

import io
import sqlite3
import zipfile
from dataclasses import dataclass, field, replace

import httpx2
import pyarrow
import pyarrow.parquet
import pytest

from learnloop.data.catalog import BENCHMARKS, find

SQL = [
    {"db_id": "pets", "question": "How many pets?", "SQL": "SELECT count(*) FROM pet"},
    {"db_id": "pets", "question": "Which names?", "SQL": "SELECT name FROM pet"},
    {"db_id": "ships", "question": "How many ships?", "SQL": "SELECT count(*) FROM ship"},
]
BIRD = [
    {
        "question_id": 7,
        "db_id": "pets",
        "question": "How many cats?",
        "evidence": "cats are pets named Tom",
        "SQL": "SELECT count(*) FROM pet WHERE name = 'Tom'",
        "difficulty": "simple",
    }
]
HOTPOTQA = [
    {
        "id": f"h{number}",
        "question": "Which is higher?",
        "answer": "Mount One",
        "type": "comparison",
        "level": "hard",
        "supporting_facts": {"title": ["Two", "One", "One"], "sent_id": [0, 0, 1]},
        "context": {
            "title": ["One", "Two"],
            "sentences": [["Mount One is high.", " It is 9 km."], ["Mount Two is low."]],
        },
    }
    for number in range(1502)
]
DDXPLUS = [{"PATIENT_PROFILE": "I cough.", "PATHOLOGY": "Bronchitis"}]
DS1000 = [
    {
        "prompt": "Add one.",
        "reference_code": "result = x + 1",
        "metadata": {"problem_id": 0, "library": "Numpy"},
        "code_context": "import numpy as np",
    }
]
ROWS = {
    "spider/test": SQL,
    "spider/train": SQL[:1],
    "cosql/test": SQL,
    "cosql/train": SQL[:2],
    "bird/test": BIRD,
    "bird/train": [{key: BIRD[0][key] for key in ("db_id", "question", "evidence", "SQL")}],
    "hotpotqa_distract/test": HOTPOTQA,
    "hotpotqa_distract/train": HOTPOTQA[:4],
    "ddxplus/test": DDXPLUS,
    "ddxplus/validate": DDXPLUS,
    "ds_1000/test": DS1000,
}


def parquet(rows):
    file = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    return file.getvalue()


def zipped(members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def database(table, names):
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE {table} (name TEXT)")
    connection.executemany(f"INSERT INTO {table} VALUES (?)", [(name,) for name in names])
    connection.commit()
    return connection.serialize()


PETS = database("pet", ["Tom", "Rex"])
SHIPS = database("ship", ["Argo"])
SPIDER_ZIP = zipped(
    {
        "spider_data/database/pets/pets.sqlite": database("pet", ["Old"]),
        "spider_data/test_database/pets/pets.sqlite": PETS,
        "spider_data/test_database/ships/ships.sqlite": SHIPS,
        "spider_data/database/ships/ships.sqlite": SHIPS,
        "__MACOSX/spider_data/test_database/pets/pets.sqlite": b"not a database",
        "spider_data/README.txt": b"read me",
        "spider_data/test.json": b'[{"db_id": "pets", "question": "Own?", "query": "SELECT 1"}]',
    }
)
BIRD_ZIP = zipped(
    {
        "dev_20240627/dev_databases.zip": zipped({"dev_databases/pets/pets.sqlite": PETS}),
        "dev_20240627/dev.json": b"[]",
    }
)


class Breaking(httpx2.SyncByteStream):
    """Gives some bytes and then breaks off."""

    def __init__(self, content):
        self.content = content

    def __iter__(self):
        yield self.content
        raise httpx2.ReadError("connection reset")


@dataclass(kw_only=True)
class Hub:
    """Serves every file of the catalog. `breaks` says where, by file name, an answer breaks off."""

    files: dict = field(default_factory=dict)
    breaks: dict = field(default_factory=dict)
    asked: list = field(default_factory=list)

    def __call__(self, request):
        path = request.url.path
        start = int(request.headers.get("range", "bytes=0-")[len("bytes=") : -1])
        self.asked.append((path.rpartition("/")[2], start))
        if path not in self.files:
            return httpx2.Response(404)
        content = self.files[path]
        if start >= len(content):
            return httpx2.Response(416)
        end = self.breaks.get(path.rpartition("/")[2])
        status = 206 if start else 200
        if end is not None:
            return httpx2.Response(status, stream=Breaking(content[start:end]))
        return httpx2.Response(status, content=content[start:])

    @property
    def transport(self):
        return httpx2.MockTransport(self)


def without_checksums(benchmark):
    """The benchmark as if nothing were published of its files, which here are others."""

    def bare(download):
        return replace(download, bytes=None, sha256=None)

    archive = benchmark.archive
    return replace(
        benchmark,
        rows=tuple(replace(rows, download=bare(rows.download)) for rows in benchmark.rows),
        archive=archive and replace(archive, download=bare(archive.download)),
    )


@pytest.fixture
def benchmark_of():
    return lambda name: without_checksums(find(name))


@pytest.fixture
def zip_of():
    """Makes a zip file of members, as bytes."""
    return zipped


@pytest.fixture
def pets():
    """A database of two pets, as bytes."""
    return PETS


@pytest.fixture
def hub():
    files = {"/download": SPIDER_ZIP, "/dev.zip": BIRD_ZIP}
    for benchmark in BENCHMARKS:
        for rows in benchmark.rows:
            path = httpx2.URL(rows.download.url).path
            config, file = path.split("/")[-2:]
            files[path] = parquet(ROWS[f"{config}/{file.partition('-')[0]}"])
    return Hub(files=files)


@pytest.fixture
def archives(tmp_path):
    """A folder with the archives as a user would have downloaded them."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "spider_data.zip").write_bytes(SPIDER_ZIP)
    (folder / "dev.zip").write_bytes(BIRD_ZIP)
    return folder
