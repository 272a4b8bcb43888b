"""The benchmarks that are known by name: licence, sources, and what lies where once they are here.

A size or a checksum stands here only where it was published; elsewhere it is `None`, and what was
received is written into the manifest. The catalog was written without reaching the sources.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Literal

from learnloop.errors import UnknownNameError

Shape = Literal["sql", "bird", "hotpotqa", "as given"]
"""How a row of the source becomes a row of ours; see `learnloop.data.rows`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Licence:
    """What may be done with the data.

    Attributes:
        name: Short name.
        url: Where its text is.
        condition: What it asks for, in one line.
    """

    name: str
    url: str
    condition: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """One file to fetch.

    Attributes:
        name: What it is called while it is here, and how it is recognised in a folder of one's own.
        url: Where it is.
        bytes: Its size; `None` where none is published.
        sha256: Its checksum; `None` where none is published.
    """

    name: str
    url: str
    bytes: int | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """One file of rows, made of one Parquet file.

    Attributes:
        file: Its name in the folder of the benchmark.
        download: The Parquet file.
        shape: How rows are turned into ours.
        limit: How many of the first rows are kept; `None` is all.
    """

    file: str
    download: Download
    shape: Shape
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """A zip file with SQLite databases.

    Attributes:
        download: The zip file.
        inner: Name of a zip file within it that holds the databases; `""` where it does itself.
        folders: Folders to look in first, where a database is there more than once.
        rows: Name of a JSON file within it with the rows of the stream; `""` where there is none.
    """

    download: Download
    inner: str = ""
    folders: tuple[str, ...] = ()
    rows: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """One benchmark.

    Attributes:
        name: What it is called on the command line, and its folder.
        title: What it is.
        home: Its page.
        licence: What may be done with it.
        length: Queries of the published stream.
        rows: Files of rows; the first is the stream.
        archive: Its databases, where it has any.
        streams: Files that an environment reads as the stream, the best first.
    """

    name: str
    title: str
    home: str
    licence: Licence
    length: int
    rows: tuple[Rows, ...]
    streams: tuple[str, ...]
    archive: Archive | None = None

    @property
    def downloads(self) -> tuple[Download, ...]:
        """All files to fetch."""
        archives = (self.archive.download,) if self.archive else ()
        return (*(rows.download for rows in self.rows), *archives)


def find(name: str) -> Benchmark:
    """Return the benchmark of that name; dashes, case and `_published` do not matter.

    Raises:
        UnknownNameError: There is none.

    Examples:
        >>> find("DS-1000").name, find("spider_published").name
        ('ds1000', 'spider')
    """
    known = {benchmark.name: benchmark for benchmark in BENCHMARKS}
    asked = name.lower().replace("-", "").replace("_", "").removesuffix("published")
    if asked not in known:
        near = difflib.get_close_matches(asked, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
        raise UnknownNameError(f"no benchmark named {name!r}; {hint}")
    return known[asked]


def _hub(config: str, split: str, sha256: str | None = None) -> Download:
    """Return a Parquet file of StreamBench, at a commit that cannot change."""
    file = f"{split}-00000-of-00001.parquet"
    return Download(
        name=f"{config}-{file}",
        url=f"{STREAM_BENCH}/resolve/{REVISION}/{config}/{file}",
        sha256=sha256,
    )


STREAM_BENCH = "https://huggingface.co/datasets/appier-ai-research/StreamBench"
REVISION = "a387d5d86c4fab1b7cff724a3cdea0299a716b91"
"""The commit of StreamBench's last upload: the HotpotQA rows as they are now."""

BY = Licence(
    name="CC BY 4.0",
    url="https://creativecommons.org/licenses/by/4.0/",
    condition="use and share it with credit to its authors, and say what you changed",
)
BY_SA = Licence(
    name="CC BY-SA 4.0",
    url="https://creativecommons.org/licenses/by-sa/4.0/",
    condition="use it with credit to its authors; what you share of it stays under this licence",
)
SPIDER_DATABASES = Download(
    name="spider_data.zip",
    url=(
        "https://drive.usercontent.google.com/download"
        "?id=1403EGqzIDoHMdQF4c9Bkyl7dZLZ5Wt6J&export=download&confirm=t"
    ),
    bytes=205_800_266,
    sha256="00636695dabed6b5f4b8328a16b13e069a2f16591d5efcce57660669c85b121b",
)
"""Spider's official archive. CoSQL asks about databases of Spider."""

BENCHMARKS = (
    Benchmark(
        name="spider",
        title="Spider: questions to many small databases, answered with SQL",
        home="https://yale-lily.github.io/spider",
        licence=BY_SA,
        length=2147,
        rows=(
            Rows(
                file="test.jsonl",
                download=_hub(
                    "spider",
                    "test",
                    "254d0e8538b7fda3d46f7ab4b3fdacdbdcf98b27aa120ba30f066d4dad326859",
                ),
                shape="sql",
            ),
            Rows(
                file="train.jsonl",
                download=_hub(
                    "spider",
                    "train",
                    "66ea2614ba55560adcb8dcf3c55bd681e006b4edbc0822cba0f83637451cf71f",
                ),
                shape="sql",
            ),
        ),
        streams=("test.jsonl", "dev.jsonl"),
        archive=Archive(
            download=SPIDER_DATABASES, folders=("test_database", "database"), rows="test.json"
        ),
    ),
    Benchmark(
        name="cosql",
        title="CoSQL: conversations with a database, a query a turn",
        home="https://yale-lily.github.io/cosql",
        licence=BY_SA,
        length=1007,
        rows=(
            Rows(
                file="stream.jsonl",
                download=_hub(
                    "cosql",
                    "test",
                    "164478dd79c7099dee2dd83d95c0963c634185dad26ebe7f844cec295cd55679",
                ),
                shape="sql",
            ),
            Rows(file="train.jsonl", download=_hub("cosql", "train"), shape="sql"),
        ),
        streams=("stream.jsonl", "dev.jsonl"),
        archive=Archive(download=SPIDER_DATABASES, folders=("database", "test_database")),
    ),
    Benchmark(
        name="bird",
        title="BIRD: questions to large, untidy databases",
        home="https://bird-bench.github.io/",
        licence=BY_SA,
        length=1534,
        rows=(
            Rows(file="dev.jsonl", download=_hub("bird", "test"), shape="bird"),
            Rows(file="train.jsonl", download=_hub("bird", "train"), shape="bird"),
        ),
        streams=("dev.jsonl",),
        archive=Archive(
            download=Download(
                name="dev.zip",
                url="https://bird-bench.oss-cn-beijing.aliyuncs.com/dev.zip",
                bytes=346_207_293,
                sha256="cdd6d19faeb45a23970b98d3ef6c40a87987c95459c2cf12076897a60cf5a630",
            ),
            inner="dev_databases.zip",
            rows="dev.json",
        ),
    ),
    Benchmark(
        name="hotpotqa",
        title="HotpotQA: questions over ten paragraphs, eight of them distractors",
        home="https://hotpotqa.github.io/",
        licence=BY_SA,
        length=1500,
        rows=(
            Rows(
                file="stream.jsonl",
                download=_hub("hotpotqa_distract", "test"),
                shape="hotpotqa",
                limit=1500,
            ),
            Rows(file="train.jsonl", download=_hub("hotpotqa_distract", "train"), shape="hotpotqa"),
        ),
        streams=("stream.jsonl", "distractor_dev500.jsonl", "distractor_dev100_exact.jsonl"),
    ),
    Benchmark(
        name="ddxplus",
        title="DDXPlus: a diagnosis out of 49 from a patient's answers",
        home="https://github.com/mila-iqia/ddxplus",
        licence=BY,
        length=1764,
        rows=(
            Rows(file="stream.jsonl", download=_hub("ddxplus", "test"), shape="as given"),
            Rows(file="validate.jsonl", download=_hub("ddxplus", "validate"), shape="as given"),
        ),
        streams=("stream.jsonl", "validate_588.jsonl"),
    ),
    Benchmark(
        name="ds1000",
        title="DS-1000: small programs with data libraries",
        home="https://ds1000-code-gen.github.io/",
        licence=BY_SA,
        length=1000,
        rows=(Rows(file="ds1000.jsonl", download=_hub("ds_1000", "test"), shape="as given"),),
        streams=("ds1000.jsonl",),
    ),
)
