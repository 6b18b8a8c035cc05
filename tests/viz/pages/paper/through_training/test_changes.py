"""What changes most in a training, and since when a head is what it has become."""

import numpy as np

from viz.pages.paper.through_training.data import arrivals, nearest_frame, opening


def heads(*lines: list[float]) -> np.ndarray:
    """Frame · layer · head of one layer, a line of frames for each head."""
    return np.array(lines, np.float32).T[:, None, :]


FLAT = [0.1, 0.1, 0.1, 0.1]
RISING = [0.1, 0.2, 0.6, 0.7]


def test_the_head_whose_alignment_grows_most_comes_first_at_the_frame_after_its_largest_step() -> None:
    encoder = {"previous": heads([0.0, 0.0, 0.9, 0.9], FLAT)}
    cross = {"word_in": heads(FLAT, FLAT), "word_out": heads(FLAT, RISING)}
    found = opening({"encoder.self": encoder, "decoder.cross": cross})
    assert (found.site, found.layer, found.head, found.metric, found.frame) == ("decoder.cross", 0, 1, "word_out", 2)
    cross["word_out"] = heads(FLAT, [0.1, 0.1, 0.1, 0.2])
    found = opening({"encoder.self": encoder, "decoder.cross": cross})
    assert (found.site, found.head, found.metric) == ("encoder.self", 0, "previous")


def test_the_decoders_last_key_and_what_is_no_share_are_never_what_changes_most() -> None:
    decoder = {"last": heads([0.0, 0.0, 0.0, 1.0]), "entropy": heads([0.0, 0.0, 0.0, 5.0]), "same": heads(RISING)}
    assert opening({"decoder.self": decoder}).metric == "same"


def test_a_film_of_one_frame_opens_at_it() -> None:
    assert opening({"encoder.self": {"first": heads([0.3])}}).frame == 0


def test_a_head_that_loses_its_job_for_a_while_has_it_since_it_came_back() -> None:
    job = (0, 1, "previous")
    metrics = {"previous": heads(FLAT, RISING)}
    (found,) = arrivals("encoder.self", metrics, [{job}, set(), {job}, {job}])
    assert (found.layer, found.head, found.since) == (0, 1, 2)
    assert abs(found.value - 0.7) < 1e-6
    assert not arrivals("encoder.self", metrics, [{job}, {job}, {job}, set()])


def test_alignment_counts_from_its_share_on() -> None:
    metrics = {"word_in": heads(FLAT, FLAT), "word_out": heads(FLAT, RISING)}
    (found,) = arrivals("decoder.cross", metrics, [set()] * 4)
    assert (found.head, found.metric, found.since) == (1, "word_out", 2)


def test_a_step_between_two_frames_becomes_the_nearest() -> None:
    assert [nearest_frame((0, 10, 100), step) for step in (0, 4, 6, 80, 10**9)] == [0, 0, 1, 2, 2]
