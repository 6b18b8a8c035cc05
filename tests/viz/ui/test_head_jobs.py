"""What people read about the jobs of heads."""

from model.analysis.atlas.jobs import RULES as JOB_RULES
from model.analysis.atlas.jobs import Job
from viz.access.head_jobs import HeadJobs
from viz.ui.head_jobs import NAMES, named, on_tiles, sentence

FOLLOWS = Job("antecedent", 0.722, 0.651, 0.785)
MEASURED = HeadJobs({(0, 1): (FOLLOWS, Job("same", 0.41, 0.40, 0.42))}, 200)


def test_every_job_has_a_name() -> None:
    assert {rule.metric for rule in JOB_RULES} == set(NAMES)


def test_a_title_has_the_surest_job_and_none_where_there_is_none() -> None:
    assert named("L1 H2", (FOLLOWS,)) == "L1 H2 · follows antecedents 0.72"
    assert named("L1 H1", ()) == "L1 H1"


def test_the_sentence_has_all_jobs_with_their_intervals_and_says_what_was_measured() -> None:
    said = sentence(MEASURED, 0, 1)
    assert "**follows antecedents** 0.72 (0.65 to 0.79); **same token** 0.41 (0.40 to 0.42)" in said
    assert "over 200 sentences" in said
    assert "none" in sentence(MEASURED, 0, 0)
    alone = HeadJobs({(0, 0): (Job("next", 0.5),)}, 0)
    assert sentence(alone, 0, 0) == "Job, measured in this sentence alone: **next token** 0.50."


def test_tiles_carry_a_word_and_say_the_number_on_hover() -> None:
    tiles = on_tiles(MEASURED, (1, 2))
    assert tiles is not None
    assert tiles.short == ("", "follows")
    assert tiles.said == ("", "follows antecedents 0.72 (0.65 to 0.79)")
    assert on_tiles(HeadJobs({}, 200), (1, 2)) is None
    assert on_tiles(None, (1, 2)) is None
