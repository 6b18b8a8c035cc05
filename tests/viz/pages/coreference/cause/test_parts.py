"""Parts of the tab, drawn from numbers made up by hand: what stands on which card, map and line."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import streamlit as st
import torch

from model.analysis.interventions.head_effects import HeadEffects, RemovalEffect
from model.analysis.metrics.head_metrics import HeadName
from tests.viz.pages.coreference.cause.test_heads_ranked import ES, HEADS, SIE
from tests.viz.sent import unlinked
from viz.access import head_verdict as access
from viz.access import models
from viz.pages.coreference import cause, heads_ranked, heads_together
from viz.pages.coreference.data import causes
from viz.selection import state
from viz.selection.branch_codes import EditHead
from viz.selection.selection import Selection
from viz.text.written import CROSS, DECODER
from viz.ui import attribution, controls, finding, frame, long_work, present

TEXTS = ("Tom was late.", "Anna was early.")
ASKED: Any = SimpleNamespace(name="", texts=TEXTS, tokens=("▁es", "▁sie"))


@dataclass
class Drawn:
    """What parts drew, in order."""

    html: list[str] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    starts: list[bool] = field(default_factory=list)


@pytest.fixture
def drawn(chosen: Selection, monkeypatch: pytest.MonkeyPatch) -> Drawn:
    """Where the session has the tests' model chosen, what is drawn from now on; long work has no result."""
    found = Drawn()

    def chart(figure: object, key: str, name: str, _alt: str) -> None:
        found.figures[key] = figure
        found.names.append(name)

    def outcome(_task: object, _label: str, *, key: str, start: bool) -> None:
        found.starts.append(start)

    monkeypatch.setattr(st, "session_state", {"selection": chosen})
    monkeypatch.setattr(st, "html", found.html.append)
    monkeypatch.setattr(frame, "chart", chart)
    monkeypatch.setattr(frame, "chart_of_heads", chart)
    monkeypatch.setattr(long_work, "outcome", outcome)
    monkeypatch.setattr(controls, "table_button", lambda _label, _make, name: found.names.append(name))
    return found


def every(off: list[float], swapped: list[float] | None = None, *, right: bool = True) -> access.EveryHead:
    both = [None if changes is None else np.array(changes) for changes in (off, swapped)]
    assert both[0] is not None
    return access.EveryHead(before=2.0, prefers_right=right, in_b=-1.5, off=both[0], swapped=both[1])


@pytest.mark.parametrize(("more", "unasked"), [(0, True), (1, False)])
def test_the_three_maps_show_losses_on_one_scale_and_a_large_model_is_pointed_when_asked(
    drawn: Drawn, monkeypatch: pytest.MonkeyPatch, more: int, unasked: bool
) -> None:
    heads = (HeadName(CROSS, 0, 0), HeadName(CROSS, 0, 1))
    pointed = SimpleNamespace(changes=np.array([np.nan, -4.0]), keys=["▁a", "▁b"])

    def outcome(_task: object, _label: str, *, key: str, start: bool) -> object:
        drawn.starts.append(start)
        return pointed

    monkeypatch.setattr(long_work, "outcome", outcome)
    monkeypatch.setattr(access, "all_heads", lambda _reader: heads)
    monkeypatch.setattr(access, "every_head_pointed", lambda *_asked: None)
    # 128 MB of weights.
    monkeypatch.setattr(models, "weights_bytes", lambda _model: 128 * 2**20 + more)
    reader: Any = None
    cause._maps(reader, ASKED, every([-1.0, -2.5], [0.5, 3.0]), (CROSS, 0, 1))
    assert drawn.starts == [unasked]
    maps = {key.split("-")[1]: figure.data for key, figure in drawn.figures.items()}
    assert {kind: data[0].z.tolist()[0] for kind, data in maps.items()} == {
        "off": [1.0, 2.5], "point": [pytest.approx(np.nan, nan_ok=True), 4.0], "swap": [-0.5, -3.0],
    }  # fmt: skip
    assert {(data[0].zmin, data[0].zmax) for data in maps.values()} == {(-4.0, 4.0)}
    assert {kind: data[0].text.tolist()[0] for kind, data in maps.items()} == {
        "off": ["", "×"], "point": ["", "×"], "swap": ["", ""],
    }  # fmt: skip
    # The token is said where a head is pointed at it. Files are named after the sentence.
    assert {kind: data[2].customdata[1][5] for kind, data in maps.items()} == {"off": "", "point": " → ▁b", "swap": ""}
    assert all("late" in name for name in drawn.names)


@pytest.mark.parametrize(("right", "in_a", "in_b"), [(True, "es", "sie"), (False, "sie", "es")])
def test_both_texts_say_which_word_the_model_prefers_in_them(drawn: Drawn, right: bool, in_a: str, in_b: str) -> None:
    cause._texts(ASKED, every([0.0], right=right))
    (shown,) = drawn.html
    assert f"→ “{in_a}” rather than “{in_b}”, 2.0 nats" in shown
    assert f"→ “{in_b}” rather than “{in_a}”, 1.5 nats" in shown
    assert shown.count('lang="en"') == 2
    # However little it prefers it.
    drawn.html.clear()
    cause._texts(ASKED, access.EveryHead(2.0, right, 0.5, np.zeros(1), None))
    assert drawn.html[0].count(f"→ “{in_a}” rather than “{in_b}”") == 2


@pytest.mark.parametrize("count", [0, 1, 2])
def test_what_is_written_stands_on_the_card_of_its_intervention(
    drawn: Drawn, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    cards: list[tuple[object, object]] = []
    monkeypatch.setattr(attribution, "tried", lambda _stated: ("off", "pointed", "swapped"))
    monkeypatch.setattr(cause, "_written_under", lambda _stated, _text: ("no head", "a pointed head")[:count])
    monkeypatch.setattr(cause, "_card", lambda tried, _stated, written: cards.append((tried, written)))
    stated: Any = SimpleNamespace(token="▁es", against="▁sie")
    cause._interventions(stated, TEXTS[0])
    first, second = [*("no head", "a pointed head")[:count], None, None][:2]
    assert cards == [("off", first), ("pointed", second), ("swapped", None)]


def test_an_edit_that_begins_after_the_last_word_is_not_written_under(
    drawn: Drawn, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[object] = []
    monkeypatch.setattr(cause, "_written", lambda _text, _key: SimpleNamespace(steps=[0, 1, 2], rows_before=0))
    monkeypatch.setattr(access, "first_step", lambda edit, _rows: 2 if edit.edit == "off" else 3)
    monkeypatch.setattr(access, "edited", lambda _writer, _text, begins, _rows: begun.extend(begins))
    stated: Any = SimpleNamespace(verdict=SimpleNamespace(head=HeadName(CROSS, 1, 2), key=4))
    assert cause._written_under(stated, TEXTS[0]) == ()
    assert begun == [(2, EditHead("off", CROSS, 1, 2))]


@pytest.mark.parametrize(
    ("site", "costliest", "count", "default"), [(DECODER, 2, 6, 2), (DECODER, 8, 6, 5), (CROSS, 8, 9, 8)]
)
def test_a_row_is_pointed_at_what_it_has_read_by_default_at_the_costliest(
    drawn: Drawn, monkeypatch: pytest.MonkeyPatch, site: str, costliest: int, count: int, default: int
) -> None:
    trace: Any = SimpleNamespace(axis_names=lambda _site: ("rows", tuple("abcdefghi")), rows_before=3)
    offered: list[dict[int, str]] = []

    def dropdown(_field: str, _label: str, labels: dict[int, str], *, shown: int, width: int) -> int:
        offered.append(labels)
        return shown

    monkeypatch.setattr(controls, "dropdown", dropdown)
    # The row of step 2 has read the three before the first step, and three of its own.
    assert cause._key(trace, 2, site, costliest) == default
    assert offered == [{number: f"{number + 1} · {token}" for number, token in enumerate("abcdefghi"[:count])}]


def test_while_heads_are_tested_the_head_of_the_first_text_is_proposed(
    drawn: Drawn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cause, "_written", lambda text, _key: text)
    monkeypatch.setattr(finding, "of", lambda text: SimpleNamespace(site=CROSS, layer=1, head=TEXTS.index(text) + 2))
    reader: Any = None
    cause._propose(reader, ASKED, None, None)
    common = state.current().common
    assert (common.site, common.layer, common.head) == (CROSS, 1, 2)


def test_attribution_of_a_pair_of_the_set_opens_with_both_its_texts(
    drawn: Drawn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(present, "open_page", lambda _page: None)
    pair: Any = SimpleNamespace(name="it-03", texts=TEXTS)
    cause._open_attribution(pair)
    selection = state.current()
    assert (selection.common.text, selection.coreference.other_text, selection.decoding.inside) == (
        *TEXTS,
        "Attribution",
    )


def effects(*changes: tuple[float, ...], intact: tuple[float, ...] = (4.0, 2.0)) -> HeadEffects:
    return HeadEffects(intact=torch.tensor(intact), changes=torch.tensor(changes))


@pytest.mark.parametrize(("by", "shown"), [("off", [1.5, -0.5, -4.0]), ("estimate", [0.0, 1.0, 2.0])])
def test_a_ranking_has_its_map_and_the_table_begins_with_the_head_that_matters_most(
    drawn: Drawn, monkeypatch: pytest.MonkeyPatch, by: str, shown: list[float]
) -> None:
    measured = effects((-2.0, 1.0, 4.0), (-1.0, 0.0, 4.0))
    estimated = effects((0.0, -1.0, -2.0), (0.0, -1.0, -2.0))
    tables: list[Any] = []
    monkeypatch.setattr(heads_ranked, "head_table", lambda table, key: tables.append(table))
    monkeypatch.setattr(heads_ranked, "_accuracy", lambda _heads: None)
    monkeypatch.setattr(causes, "words", lambda _asked: [ES, SIE])
    heads_ranked._show_effects((measured, estimated), HEADS[:3], (), by)
    heatmap = drawn.figures["cause-ranked-map"].data[0]
    assert heatmap.z.ravel()[:3].tolist() == shown
    # As wide as the choice itself, whose log-odds are 4 and 2, or as the largest change.
    assert heatmap.zmax == max(3.0, *map(abs, shown))
    (table,) = tables
    assert [(head.layer, head.head) for head in table.heads] == [(0, 2), (0, 0), (0, 1)]
    assert [column.values.tolist() for column in table.columns[:2]] == [[4.0, -1.5, 0.5], [4.0, 1.5, 0.5]]


@contextmanager
def buttons(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The buttons that are drawn meanwhile: what each is drawn with, by its key."""
    found: dict[str, Any] = {}
    with monkeypatch.context() as patch:
        patch.setattr(st, "button", lambda _label, *, key, **given: found.update({key: given}))
        patch.setattr(controls, "segmented", lambda *_given, **_more: False)
        yield found


def test_the_five_strongest_heads_are_one_click_away(drawn: Drawn, monkeypatch: pytest.MonkeyPatch) -> None:
    importance = np.zeros(24)
    importance[[3, 22, 10, 7, 15, 1]] = (6, 5, 4, 3, 2, 1)
    with buttons(monkeypatch) as drawn_buttons:
        heads_together._shortcuts(HEADS, importance)
    strongest = drawn_buttons["cause-strongest"]["kwargs"]["heads_off"]
    assert strongest == ("e-0-3", "c-1-2", "d-0-2", "e-1-3", "d-1-3")
    assert drawn_buttons["off-none"]["disabled"]


@pytest.mark.parametrize(("count", "more"), [(12, ""), (13, " and 1 more")])
def test_twelve_heads_are_named_and_the_others_counted(count: int, more: str) -> None:
    named = unlinked(heads_together.named(HEADS[:count]))
    assert named.count("L") == 12
    assert named.endswith(f"decoder self L1 H4{more}")


def test_every_head_of_a_row_of_the_grid_can_be_taken_and_those_of_others_stay(
    drawn: Drawn, monkeypatch: pytest.MonkeyPatch
) -> None:
    state.change(heads_off=("c-1-2", "e-0-0"))
    row = HEADS[:4]
    monkeypatch.setattr(heads_together, "sent", lambda _key: list(row))
    heads_together._take("off-e-0", row)
    assert state.current().coreference.heads_off == ("c-1-2", "e-0-0", "e-0-1", "e-0-2", "e-0-3")
    # What the row does not have is no head of it.
    monkeypatch.setattr(heads_together, "sent", lambda _key: [HEADS[7]])
    heads_together._take("off-e-0", row)
    assert len(state.current().coreference.heads_off) == 5


def rows_of(html: str) -> list[list[str]]:
    return [re.findall(r"<t[dh][^>]*>(?:<[^>]+>)*([^<]*)<", row) for row in re.findall(r"<tr>(.*?)</tr>", html)[1:]]


def test_the_table_tells_the_log_odds_with_and_without_heads_of_both_texts_or_their_means(
    drawn: Drawn, monkeypatch: pytest.MonkeyPatch
) -> None:
    one: Any = [ASKED]
    monkeypatch.setattr(causes, "words", lambda asked: [ES, SIE] if len(asked) == 1 else [ES] * 3)
    effect = RemovalEffect(intact=torch.tensor([1.0, 2.0]), removed=torch.tensor([-0.5, 2.25]))
    likeliest = (((("▁es", 0.75),), (("▁sie", 0.5),)), ((("▁er", 0.25),), (("▁ihr", 0.125),)))
    heads_together._show_removal(causes.Removal(effect, likeliest=likeliest), one)
    assert rows_of(drawn.html[-1]) == [
        ["A", "+1.00", "−0.50", "−1.50", "sie instead of es", "es 75.0%", "sie 50.0%"],
        ["B", "+2.00", "+2.25", "+0.25", "sie", "er 25.0%", "ihr 12.5%"],
    ]
    effect = RemovalEffect(intact=torch.tensor([1.0, -1.0, 3.0]), removed=torch.tensor([-2.0, -4.0, 0.0]))
    heads_together._show_removal(causes.Removal(effect), one * 3)
    # Two of three are right, then one is undecided.
    assert rows_of(drawn.html[-1]) == [["Mean of 3", "+1.00", "−2.00", "−3.00", "right in 17% instead of 67%"]]


def test_undecided_odds_are_no_choice_of_the_right_word() -> None:
    assert heads_together.chosen_words(ES, 0.0, 0.5) == ("sie", "es")
    assert heads_together.chosen_words(ES, 0.5, 0.0) == ("es", "sie")
