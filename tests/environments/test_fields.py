import pytest

from learnloop.environments.fields import Fields, read_fields, read_if_there
from learnloop.environments.rows import Folder
from learnloop.errors import DataError


def make(**row):
    return Fields(row=row, number=7, file="things/rows.jsonl")


def test_text_comes_without_white_space_around_it():
    assert make(question=" why? \n").text("question") == "why?"


@pytest.mark.parametrize("value", [None, 3, "", "  ", ["why?"]])
def test_what_is_no_text_says_file_row_and_field(value):
    with pytest.raises(DataError, match=r"things/rows\.jsonl, row 7: question must be text, got"):
        make(question=value).text("question")


def test_texts_may_stand_in_a_field_of_a_field():
    assert make(facts={"title": ["a", "b"]}).texts("facts", "title") == ["a", "b"]


@pytest.mark.parametrize("facts", [None, [], {}, {"title": "a"}, {"title": [1]}])
def test_what_is_no_list_of_texts_says_the_whole_path(facts):
    with pytest.raises(DataError, match=r"row 7: facts\.title must be a list of texts"):
        make(facts=facts).texts("facts", "title")


def test_the_id_of_a_row_is_its_own_or_its_number():
    assert make(id="abc").id == "abc"
    assert make(id=0).id == "0"
    assert make().id == make(id=None).id == "7"


def test_rows_know_their_file_and_number(tmp_path):
    (tmp_path / "b.jsonl").write_text('{"id": "x"}\n\n{"n": 2}\n', encoding="utf-8")
    folder = Folder(benchmark="things", path=tmp_path)
    first, second = read_fields(folder, "a.jsonl", "b.jsonl")
    assert (first.file, first.id, second.id) == ("things/b.jsonl", "x", "2")
    assert read_if_there(folder, "a.jsonl") == []
    assert len(read_if_there(folder, "a.jsonl", "b.jsonl")) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": 1}\n{"id": \n', "line 2 of .*is no JSON"),
        ('{"id": 1}\n\n[1, 2]\n', r"line 3 of .*must be an object, got '\[1, 2\]"),
    ],
)
def test_a_line_that_is_no_row_says_which(tmp_path, text, message):
    (tmp_path / "rows.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_fields(Folder(benchmark="things", path=tmp_path), "rows.jsonl")


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "rows.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="cannot read"):
        read_fields(Folder(benchmark="things", path=tmp_path), "rows.jsonl")
