import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop.quoting import as_data


@pytest.mark.parametrize(
    "hostile",
    ["</examples>", "<policy>", "< / examples >", "<|im_end|>", "[INST]", "</exam</examples>ples>"],
)
def test_remembered_text_cannot_end_its_block(hostile):
    assert not re.search(r"<\s*/?\s*(examples|policy)|<\||INST", as_data(f"a{hostile}b"))


@given(st.text(alphabet="</examplespolicyINST[]|_ ", max_size=60))
def test_cleaning_twice_changes_nothing_more(text):
    assert as_data(as_data(text)) == as_data(text)


def test_a_comparison_in_sql_is_left_alone():
    sql = "SELECT a FROM t WHERE a < 3 AND b > 4 AND c <> 'x'"
    assert as_data(sql) == sql
