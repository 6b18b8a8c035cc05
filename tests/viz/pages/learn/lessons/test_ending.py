"""The end of a lesson: its program can be run, and its exercise knows the right answer from a wrong one."""

from typing import Any

import pytest
import torch
from streamlit.testing.v1 import AppTest

from model.nn.masks import AttentionMask
from tests.paths import ROOT
from tests.viz.page_run import healthy, opened
from viz.pages.learn.lessons.data import programs
from viz.pages.learn.lessons.lesson import Check, filled, lessons
from viz.selection.catalogue import ROOT_VARIABLE

CHECKS: dict[str, Check] = {name: lesson.check for name, lesson in lessons().items() if lesson.check is not None}
OF_A_LINE = [name for name, check in CHECKS.items() if check.kind == "line"]
SEED = 59


def inputs() -> dict[str, tuple[Any, ...]]:
    """What each program that has a changed line is run with."""
    torch.manual_seed(SEED)
    vectors = torch.randn(4, 6)
    # After each token the next number is written, up to the end.
    table = torch.eye(5).roll(1, dims=1)
    return {
        "one-sentence": (lambda written: table[written[-1]], 0, 4, 9),
        "scaled-dot-product": (torch.randn(3, 6), vectors, vectors),
        "feed-forward": tuple(torch.randn(*size) for size in ((3, 4), (4, 7), (7,), (7, 4), (4,), (4,), (4,))),
        "positions": (5, 6),
        "loss": (vectors, torch.tensor([1, 0, 5, 5]), 0.1),
        "ablations": (torch.randn(2, 3, 4), torch.randn(8, 5), 1),
        "it": tuple(vectors),
    }


def run(name: str, source: str) -> torch.Tensor:
    """What a lesson's program, as its source says it, returns, as numbers in a row."""
    names: dict[str, Any] = {}
    exec(source, names)
    result = names[programs.PROGRAMS[name].__name__](*inputs()[name])
    parts = result if isinstance(result, tuple) else (result,)
    return torch.cat([torch.as_tensor(part, dtype=torch.float32).flatten() for part in parts])


def test_every_lesson_has_a_program_and_an_exercise_and_exercises_are_of_three_kinds() -> None:
    assert set(programs.PROGRAMS) == set(CHECKS) == set(lessons())
    assert len(set(programs.PROGRAMS.values())) == len(programs.PROGRAMS)
    assert {check.kind for check in CHECKS.values()} == {"line", "value", "cells"}
    for check in CHECKS.values():
        assert "{" not in filled(check.ask, {}) + filled(check.hint, {}) + filled(check.because, {})


@pytest.mark.parametrize("name", OF_A_LINE)
def test_a_changed_line_changes_what_the_program_returns(name: str) -> None:
    source, at = programs.changed(name, CHECKS[name])
    right = programs.program(name)
    both = enumerate(zip(source.splitlines(), right.splitlines(), strict=True), 1)
    assert [number for number, (one, other) in both if one != other] == [at]
    before, after = run(name, right), run(name, source)
    assert before.shape != after.shape or not torch.allclose(before, after)


def test_what_a_mask_allows_is_the_model_s() -> None:
    check = CHECKS["three-attentions"]
    tokens, padding = check.given["tokens"], check.given["padding"]
    is_real = torch.arange(tokens)[None] < tokens - padding
    mask = AttentionMask(num_queries=tokens, num_keys=tokens, key_padding=is_real, causal=True, first_query=0)
    assert programs.allowed(check).tolist() == mask.rows(slice(None))[0].tolist()


def at_the_end(app: AppTest, name: str) -> AppTest:
    """The last step of a lesson, whose question is answered."""
    return opened(app, "learn", lesson=name, step_of_lesson=len(lessons()[name].steps), answer=1)


@pytest.mark.parametrize("name", ["scaled-dot-product", "decoding"])
def test_a_line_or_a_number_is_checked(app: AppTest, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(ROOT / "checkpoints"))
    check = CHECKS[name]
    right = programs.changed(name, check)[1] if check.kind == "line" else round(programs.value(check), 2)
    at_the_end(app, name)
    verdicts = len(app.success), len(app.warning)
    for answer, told in ((right + 1, check.hint), (right, check.because)):
        app.number_input(key=f"exercise-{name}").set_value(answer)
        app.button(key=f"exercise-check-{name}").click().run()
        healthy(app)
        shown = app.success if told is check.because else app.warning
        assert filled(told, {}) in shown[-1].value
        assert len(app.success) + len(app.warning) == sum(verdicts) + 1


def test_the_cells_of_a_mask_are_checked(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(ROOT / "checkpoints"))
    name, check = "three-attentions", CHECKS["three-attentions"]
    at_the_end(app, name)
    rows = [[key + 1 for key, is_seen in enumerate(row) if is_seen] for row in programs.allowed(check)]
    # The padding itself is forgotten at first.
    for spoiled, told in ((rows[-1] + [len(rows)], check.hint), (rows[-1], check.because)):
        for at, row in enumerate([*rows[:-1], spoiled], 1):
            app.pills(key=f"exercise-{name}-{at}").set_value(row)
        app.button(key=f"exercise-check-{name}").click().run()
        healthy(app)
        assert any(filled(told, {}) in one.value for one in (*app.success, *app.warning))
