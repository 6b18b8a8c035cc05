"""The story of one row: which keys are drawn, its numbers and its sentences."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from tests.viz.pages.learn.transformer.invented import origin_of
from viz.pages.learn.transformer.head_story import MAX_COLUMNS, changed, shown_keys, steps, story, strongest, summary
from viz.text.written import ENCODER


def test_a_short_row_shows_every_key_sums_up_and_compares_nothing() -> None:
    payload: dict[str, Any] = story(origin_of())
    assert [column["key"] for column in payload["columns"]] == list(range(6))
    assert not any(column["gap"] for column in payload["columns"])
    assert (payload["restCount"], payload["note"], payload["restDots"], payload["restWeighted"]) == (0, "", None, None)
    assert len(shown_keys(origin_of(keys=MAX_COLUMNS + 1))) == MAX_COLUMNS + 1
    assert len(shown_keys(origin_of(keys=MAX_COLUMNS + 2))) == MAX_COLUMNS
    origin = origin_of()
    assert changed(origin) == ""
    assert [line["name"] for line in summary(origin)] == ["Largest weight on", "Entropy"]
    assert (story(origin)["other"], story(origin)["otherLength"]) == (None, None)


def test_a_long_row_shows_the_strongest_keys_in_reading_order() -> None:
    origin = origin_of(keys=100, row=99)
    weights = origin.real.weights.numpy()
    expected = sorted(np.argsort(-weights)[:MAX_COLUMNS])
    assert shown_keys(replace(origin, followed=strongest(origin.real))) == expected
    # The followed key is drawn, however weak.
    weakest = int(origin.real.weights.argmin())
    origin = replace(origin, followed=weakest)
    assert weakest in shown_keys(origin)
    assert len(shown_keys(origin)) == MAX_COLUMNS
    payload: dict[str, Any] = story(origin)
    assert payload["columns"][payload["followed"]]["key"] == weakest
    # With a switch thrown, keys that are strong in either row are drawn.
    origin = origin_of(keys=100, row=30, masked=False)
    assert origin.other is not None
    assert {strongest(origin.real), strongest(origin.other)} <= set(shown_keys(origin))
    assert any(key > 30 for key in shown_keys(origin))


def test_drawn_and_summed_up_keys_make_the_whole_row() -> None:
    origin = origin_of(keys=100, row=99)
    payload: dict[str, Any] = story(origin)
    assert payload["restCount"] == 100 - MAX_COLUMNS
    assert sum(payload["real"]["weights"]) + payload["real"]["restWeight"] == pytest.approx(1.0, abs=1e-5)
    assert sum(payload["real"]["shares"]) + payload["real"]["restShares"] == pytest.approx(
        payload["real"]["sharesSum"], rel=1e-4
    )
    whole = np.sum(payload["weighted"], axis=0) + payload["restWeighted"]
    np.testing.assert_allclose(whole, payload["output"], atol=1e-5)
    left_out = sorted(set(range(100)) - {column["key"] for column in payload["columns"]})
    low, high = payload["restDots"]
    assert (low, high) == pytest.approx(
        (float(origin.real.dots[left_out].min()), float(origin.real.dots[left_out].max()))
    )
    gaps = [column["key"] for column in payload["columns"] if column["gap"]]
    keys = [column["key"] for column in payload["columns"]]
    assert gaps == [key for key in keys if key and key - 1 not in keys]


def test_without_the_mask_the_keys_ahead_are_marked_and_told() -> None:
    origin = origin_of(masked=False)
    payload: dict[str, Any] = story(origin)
    assert payload["ahead"] == [False] * 4 + [True] * 2
    assert payload["other"]["cut"] == [False] * 6
    assert payload["real"]["cut"] == [False] * 4 + [True] * 2
    assert changed(origin) == "Without mask"
    assert steps(origin)[3]["title"] == "Mask left out"
    assert "sees 2 keys" in steps(origin)[3]["text"]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({}, "2 keys are masked"),
        ({"row": 4}, "1 key is masked"),
        ({"row": 5}, "no key is masked"),
        ({"causal": False, "site": "encoder.self"}, "allows every key"),
        ({"causal": False, "site": "decoder.cross"}, "allows every key"),
    ],
)
def test_the_mask_is_told_as_it_is(settings: dict[str, Any], sentence: str) -> None:
    assert sentence in steps(origin_of(**settings))[3]["text"]


def test_without_scaling_the_story_says_by_how_much_and_compares() -> None:
    origin = origin_of(scaled=False)
    assert origin.other is not None
    assert changed(origin) == "Without √dₖ"
    assert "2 times as large" in steps(origin)[2]["text"]
    lines: list[dict[str, Any]] = [*summary(origin)]
    strongest_line, entropy, change = lines
    assert [cell["text"] for cell in entropy["cells"]] == [
        f"{row.entropy:.2f} of at most 2.00 bits" for row in (origin.real, origin.other)
    ]
    assert len(strongest_line["cells"]) == 2
    assert f"{origin.real.entropy:.2f} → {origin.other.entropy:.2f} bits" in steps(origin)[4]["text"]
    moved = (origin.other.weights - origin.real.weights).abs()
    assert change["cells"][1]["token"] == f"▁{int(moved.argmax())}"
    assert float(change["cells"][1]["text"].replace("−", "-")) == pytest.approx(
        float((origin.other.weights - origin.real.weights)[moved.argmax()]), abs=5e-4
    )


def test_a_mask_that_hides_what_comes_first_is_a_window() -> None:
    for allowed, said in (
        ([False, True, True, False, False, False], "is a window"), ([False] * 6, "written after it"),
        ([True, True, False, True, False, False], "written after it"),
    ):  # fmt: skip
        origin, seen = origin_of(), torch.tensor(allowed)
        scores = torch.where(seen, 0.0, -torch.inf)
        cut = replace(origin, real=replace(origin.real, allowed=seen, scores=scores))
        assert said in steps(cut)[3]["text"]


@pytest.mark.parametrize("allowed", [[True, True, True, False, False, False], [False, True, True, True, False, False]])
def test_what_an_encoders_mask_hides_is_outside_a_window_on_both_sides_and_never_written_later(
    allowed: list[bool],
) -> None:
    seen = torch.tensor(allowed)
    given = replace(origin_of(), site=ENCODER)
    cut = replace(given, real=replace(given.real, allowed=seen, scores=torch.where(seen, 0.0, -torch.inf)))
    told = steps(cut)[3]["text"]
    assert f"a row may not attend to keys too far away. {allowed.count(False)} keys are masked" in told
    ahead = steps(replace(cut, other=replace(cut.real, scores=torch.zeros(6))))[3]["text"]
    assert f"sees {allowed.count(False)} keys outside its window" in ahead
    assert "written" not in told + ahead


def test_without_an_output_projection_the_last_step_speaks_of_none() -> None:
    *_, last = steps(replace(origin_of(), has_projection=False))
    assert "No matrix follows" in last["text"]
    assert "W_O" not in last["text"] + last["formula"]
    *_, last = steps(origin_of())
    assert "The contributions of all 2 heads are added" in last["text"]
    origin = origin_of()
    *_, last = steps(replace(origin, parts=origin.parts[:1]))
    assert "There is no other head" in last["text"]
