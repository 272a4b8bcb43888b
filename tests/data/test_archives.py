import struct

import pytest

from learnloop.data.archives import extract_databases, read_json_rows
from learnloop.data.catalog import find
from learnloop.errors import DataError

ARCHIVE = find("spider").archive
ENCRYPTED_BIT = 1


@pytest.fixture
def extract(tmp_path, zip_of):
    """Extract databases from a zip file into `deep/out`; returns all that is then there."""

    def call(content, *names, archive=ARCHIVE, **options):
        path = tmp_path / "a.zip"
        path.write_bytes(content if isinstance(content, bytes) else zip_of(content))
        out = tmp_path / "deep" / "out"
        extract_databases(path, archive, out, names=names, progress=lambda n: None, **options)
        return sorted(
            p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()
        )

    return call


@pytest.mark.parametrize(
    "member",
    [
        "pets/pets.sqlite",
        "any/where/pets/pets.sqlite",
        "../../../pets/pets.sqlite",
        "/etc/pets/pets.sqlite",
    ],
)
def test_a_database_lands_in_its_place_whatever_the_path_in_the_archive(extract, pets, member):
    assert extract({member: pets}, "pets") == ["a.zip", "deep/out/pets/pets.sqlite"]


def test_only_databases_that_are_asked_for_are_taken(extract, pets):
    members = {"x/pets/pets.sqlite": pets, "x/pets/run.sh": b"rm", "x/more/more.sqlite": pets}
    assert extract(members, "pets") == ["a.zip", "deep/out/pets/pets.sqlite"]


@pytest.mark.parametrize("name", ["../evil", "a/b", "..", "", ".hidden", "a\x00b", "x" * 101])
def test_a_name_that_leads_elsewhere_is_refused(extract, pets, name):
    with pytest.raises(DataError, match="not the name of a database"):
        extract({f"{name}/{name}.sqlite": pets}, name)


def test_what_is_no_database_is_refused(extract):
    with pytest.raises(DataError, match=r"pets\.sqlite is no SQLite database"):
        extract({"pets/pets.sqlite": b"#!/bin/sh"}, "pets")


def test_a_database_that_is_missing_is_named(extract, pets):
    with pytest.raises(DataError, match="no database 'ships'; is it the right one"):
        extract({"pets/pets.sqlite": pets}, "pets", "ships")


@pytest.mark.parametrize(("limit", "why"), [(100, "too large"), (10_000, "too large")])
def test_no_more_is_unpacked_than_the_limit(extract, pets, limit, why):
    members = {"a/a.sqlite": pets, "b/b.sqlite": pets}
    with pytest.raises(DataError, match=why):
        extract(members, "a", "b", limit=limit)


def test_an_archive_that_says_less_than_it_holds_is_refused(extract, zip_of):
    bomb = bytearray(zip_of({"pets/pets.sqlite": b"SQLite format 3\x00" + bytes(1 << 20)}))
    central = bomb.rindex(b"PK\x01\x02")
    struct.pack_into("<L", bomb, central + 24, 16)
    with pytest.raises(DataError, match="no whole zip file"):
        extract(bytes(bomb), "pets")


def test_an_encrypted_member_is_refused(extract, zip_of, pets):
    content = bytearray(zip_of({"pets/pets.sqlite": pets}))
    struct.pack_into("<H", content, content.rindex(b"PK\x01\x02") + 8, ENCRYPTED_BIT)
    with pytest.raises(DataError, match="is encrypted"):
        extract(bytes(content), "pets")


@pytest.mark.parametrize("content", [b"", b"<html>quota</html>", b"PK\x03\x04 and then nothing"])
def test_what_is_no_zip_file_is_refused(extract, content):
    with pytest.raises(DataError, match="no whole zip file"):
        extract(content, "pets")


def test_a_damaged_member_is_refused(extract, zip_of, pets):
    content = bytearray(zip_of({"pets/pets.sqlite": pets}))
    content[60] ^= 0xFF
    with pytest.raises(DataError, match="no whole zip file"):
        extract(bytes(content), "pets")


@pytest.mark.parametrize(("text", "why"), [(b"{}", "no list of rows"), (b"[1", "not JSON")])
def test_rows_in_an_archive_must_be_rows(tmp_path, zip_of, text, why):
    (tmp_path / "a.zip").write_bytes(zip_of({"x/dev.json": text}))
    with pytest.raises(DataError, match=why):
        read_json_rows(tmp_path / "a.zip", "dev.json")


def test_rows_of_an_archive_are_those_of_the_shortest_path(tmp_path, zip_of):
    members = {"x/y/dev.json": b"[]", "x/dev.json": b'[{"a": 1}]'}
    (tmp_path / "a.zip").write_bytes(zip_of(members))
    assert list(read_json_rows(tmp_path / "a.zip", "dev.json")) == [{"a": 1}]
