"""The film's tab: what a link asks for is shown or put right with a sentence, and what a person wishes is done."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz import page_run
from tests.viz.page_run import app_of
from viz.pages.decoding import translations
from viz.pages.decoding.film import tab as film
from viz.pages.decoding.film.component import Draw, Force, HeadNames, PlayerData, PlayerState, Wished
from viz.selection.catalogue import ROOT_VARIABLE

Wish = Draw | Force
#: What makes the browser say something in the next run, and all that the player was asked to show.
Says = tuple[Callable[..., None], list[PlayerState]]
CHOICES = {
    "step": "3",
    "head": "L2H3",
    "also": "0.3",
    "candidates": "15",
    "temperature": "80",
    "top_k": "5",
    "top_p": "90",
}


@pytest.fixture
def app(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    return app_of()


@pytest.fixture
def says(monkeypatch: pytest.MonkeyPatch) -> Says:
    """`says(state, wish)` makes the browser say this once, in the next run."""
    waiting: list[tuple[PlayerState, Wish | None]] = []
    asked: list[PlayerState] = []

    def player(
        data: PlayerData, state: PlayerState, *, key: str, name: str, note: str, head_names: HeadNames
    ) -> PlayerState | None:
        asked.append(state)
        said, wish = waiting.pop() if waiting else (None, None)
        return None if wish is not None else said

    def wished(data: PlayerData, *, key: str) -> Wished | None:
        if not waiting:
            return None
        state, wish = waiting[-1]
        return None if wish is None else Wished(wish, state)

    monkeypatch.setattr(film, "decode_player", player)
    monkeypatch.setattr(film, "wished", wished)

    def say(state: PlayerState, wish: Wish | None = None) -> None:
        waiting.append((state, wish))

    return say, asked


def opened(app: AppTest) -> AppTest:
    return page_run.opened(app, "decoding", checkpoint="en-de")


def test_a_link_with_every_choice_reaches_the_player_and_stays(app: AppTest, says: Says) -> None:
    for name, value in CHOICES.items():
        app.query_params[name] = value
    opened(app)
    assert says[1][-1] == PlayerState(3, 1, 2, (0, 3), 15, 80, 5, 90)
    assert {name: app.query_params[name] for name in CHOICES} == CHOICES


def test_what_the_player_reports_is_in_the_address(app: AppTest, says: Says) -> None:
    say, _ = says
    opened(app)
    say(PlayerState(3, 1, 2, (0, 3), 15, 80, 5, 90))
    app.run()
    assert {name: app.query_params[name] for name in CHOICES} == CHOICES


def test_a_step_that_does_not_exist_is_answered_with_a_sentence_and_the_last_step(app: AppTest) -> None:
    app.query_params["step"] = "999"
    app.query_params["layer"] = "1"
    opened(app)
    messages = " ".join(element.value for element in (*app.info, *app.warning))
    assert "names step 1000" in messages
    assert int(app.query_params["step"]) < 100
    assert app.query_params["head"] == "L2H1"


@pytest.mark.parametrize(
    ("wish", "done"),
    [(Force(2, 17), ("write", 2, (17,))), (Draw(1, 80, 5, 90), ("draw", 1, 80, 5, 90))],
    ids=["force", "draw"],
)
def test_a_wish_is_handed_on_and_the_page_stands_where_it_was_changed(
    app: AppTest, says: Says, monkeypatch: pytest.MonkeyPatch, wish: Wish, done: tuple[object, ...]
) -> None:
    calls: list[tuple[object, ...]] = []
    monkeypatch.setattr(translations, "write", lambda *arguments: calls.append(("write", *arguments)))
    monkeypatch.setattr(translations, "draw", lambda *arguments: calls.append(("draw", *arguments)))
    say, asked = says
    opened(app)
    say(PlayerState(4), wish)
    app.run()
    assert calls == [done]
    assert asked[-1].step == wish.step


def test_a_branch_stands_beside_the_models_own_translation_with_the_words_that_differ(app: AppTest, says: Says) -> None:
    app.query_params.update({"branches": "0-2-t40", "branch": "1"})
    opened(app)
    change = next(element.proto.body for element in app.get("html") if "Branch 1" in element.proto.body)
    assert "The model’s own" in change
    assert "<del" in change or "<ins" in change
    page_run.healthy(app.selectbox(key="branch").set_value(0).run())
    assert not [element for element in app.get("html") if "Branch 1" in element.proto.body]
