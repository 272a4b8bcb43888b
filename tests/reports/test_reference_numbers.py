from learnloop.reports.reference_numbers import published_numbers
from learnloop.reports.statistics import sign_test

BENCHMARKS = ("spider", "cosql", "bird", "hotpotqa", "ddxplus", "ds1000")


def test_every_number_names_its_source_and_where_it_stands_there():
    found = published_numbers(BENCHMARKS)
    known = {one.source.id for one in found}
    assert known == {"streambench", "drpg", "course", "unidentified-coder", "unidentified-gemini"}
    for one in found:
        assert one.source.where
        assert one.lines or one.claims
        for line in one.lines:
            assert line.table
            assert set(line.scores) <= set(BENCHMARKS)
            assert all(0 < value < 100 for value in line.scores.values())


def test_only_the_benchmarks_of_the_report_are_shown():
    (course,) = [one for one in published_numbers(["bird"]) if one.source.id == "course"]
    assert course.benchmarks == ("bird",)
    assert published_numbers(["house_rules"]) == []


def test_the_remark_on_the_published_p_value_is_what_our_test_gives():
    drpg = next(one for one in published_numbers(["spider"]) if one.source.id == "drpg")
    claim = drpg.claims[0]
    assert "29 of 42" in claim.says
    assert f".{round(10_000 * sign_test([1] * 29 + [-1] * 13).p_value):04}" in claim.remark


def test_the_mean_of_a_published_table_is_that_of_its_three_models():
    (stream,) = [one for one in published_numbers(["spider"]) if one.source.id == "streambench"]
    single = {"gpt-3.5", "gemini-1.0-pro", "claude-3-haiku"}
    for method in ("zero_shot", "self_stream_icl"):
        there = [
            one.scores
            for one in stream.lines
            if one.method == method and one.model in single and one.table.startswith("Tables")
        ]
        (mean,) = [
            one.scores
            for one in stream.lines
            if one.method == method and one.model.startswith("mean of")
        ]
        for benchmark in BENCHMARKS:
            of_three = sum(scores[benchmark] for scores in there) / 3
            assert abs(of_three - mean[benchmark]) < 0.011
