from learnloop.reports.groups import make_sections


def test_runs_that_only_seeds_tell_apart_are_one_group(runs):
    for seed in (2, 0, 1):
        runs.write("drpg", [1.0], seed=seed)
    (section,) = make_sections(runs.load())
    (group,) = section.groups
    assert (group.label, group.seeds) == ("drpg", (0, 1, 2))


def test_a_label_names_what_differs_between_variants_of_a_method(runs):
    runs.write("drpg", [1.0], spec={"method_params": {"writer": "rules", "k": 4}})
    runs.write("drpg", [1.0], spec={"method_params": {"writer": "contrastive", "k": 4}})
    runs.write("zero_shot", [1.0])
    (section,) = make_sections(runs.load())
    assert section.labels == ("zero_shot", "drpg (contrastive)", "drpg (rules)")


def test_numbers_and_several_parameters_keep_their_names(runs):
    runs.write("drpg", [1.0], spec={"method_params": {"writer": "rules", "k": 2}})
    runs.write("drpg", [1.0], spec={"method_params": {"writer": "other", "k": 8}})
    (section,) = make_sections(runs.load())
    assert section.labels == ("drpg (writer other, k 8)", "drpg (writer rules, k 2)")


def test_a_label_of_the_spec_is_what_the_report_says(runs):
    for label, writer in (("drpg-rules", "rules"), ("drpg-paper", "contrastive")):
        runs.write("drpg", [1.0], spec={"method_params": {"writer": writer}, "label": label})
    (section,) = make_sections(runs.load())
    assert section.labels == ("drpg-paper", "drpg-rules")


def test_one_label_for_two_variants_does_not_join_them(runs):
    for writer in ("rules", "contrastive"):
        runs.write("drpg", [1.0], spec={"method_params": {"writer": writer}, "label": "ours"})
    (section,) = make_sections(runs.load())
    assert section.labels == ("ours (contrastive)", "ours (rules)")


def test_another_model_makes_another_group(runs):
    runs.write("drpg", [1.0], spec={"model": "local/big"})
    runs.write("drpg", [1.0], spec={"model": "local/tiny"})
    (section,) = make_sections(runs.load())
    assert section.labels == ("drpg (model local/big)", "drpg (model local/tiny)")


def test_environments_and_their_parameters_are_never_mixed(runs):
    runs.write("drpg", [1.0])
    runs.write("drpg", [1.0], spec={"environment_params": {"database": "clinic"}})
    runs.write("drpg", [1.0], environment_id="spider-v1")
    titles = {section.title for section in make_sections(runs.load())}
    assert titles == {
        "house_rules-v1, database shop",
        "house_rules-v1, database clinic",
        "spider-v1, database shop",
    }


def test_zero_shot_is_the_baseline_even_under_other_feedback(runs):
    runs.write("zero_shot", [0.0], feedback="binary")
    runs.write("drpg", [1.0], feedback="comment")
    runs.write("self_stream_icl", [1.0], feedback="comment")
    (section,) = make_sections(runs.load())
    drpg = next(group for group in section.groups if group.method == "drpg")
    assert section.baseline_of(drpg).method == "zero_shot"


def test_self_stream_icl_is_the_baseline_where_nothing_plainer_ran(runs):
    runs.write("self_stream_icl", [0.0])
    runs.write("drpg", [1.0])
    (section,) = make_sections(runs.load())
    baselines = {group.method: section.baseline_of(group) for group in section.groups}
    assert baselines["self_stream_icl"] is None
    assert baselines["drpg"].method == "self_stream_icl"


def test_a_section_can_lead_with_one_feedback_mode(runs):
    runs.write("drpg", [1.0], feedback="binary")
    runs.write("drpg", [1.0], feedback="comment")
    (section,) = make_sections(runs.load())
    assert section.leading_with("comment").feedbacks == ("comment", "binary")


def test_a_baseline_has_the_same_model_and_no_method_is_measured_that_has_the_answers(runs):
    for model in ("small", "large"):
        for method in ("zero_shot", "drpg", "oracle"):
            runs.write(method, [1.0], model=model, spec={"model": model, "environment": "shop"})
    (section,) = make_sections(runs.load())
    for group in section.groups:
        baseline = section.baseline_of(group)
        if group.method == "drpg":
            assert (baseline.method, baseline.models) == ("zero_shot", group.models)
        else:
            assert baseline is None
