"""Heads switched off and patched: the page, its figures against the model's, the address, and files that are bad."""

import csv
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
import torch
from streamlit.testing.v1 import AppTest

from model import Translator
from model.analysis.interventions.contrast import ContrastCase
from model.analysis.interventions.head_effects import HeadEffects, measure_effects, remove_heads
from model.analysis.interventions.patching import Patching
from model.analysis.interventions.replacement import zero_outputs
from model.analysis.metrics.head_names import HeadName
from model.errors import DataError
from model.pairs import Pair as SentencePair
from tests.paths import ROOT
from tests.viz.sent import charts
from viz.access import models
from viz.core.background_jobs import Progress
from viz.core.numbers import signed
from viz.pages.coreference.cause import data, effects, switched_heads, tab, tables
from viz.pages.coreference.cause.figures import two_metrics
from viz.pages.coreference.data import Pair
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection
from viz.selection.url import parse, to_params

SITES = ("encoder.self", "decoder.self", "decoder.cross")


@pytest.fixture
def chosen(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> Selection:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    # What another test computed would be there already.
    st.cache_resource.clear()
    return Selection()


@pytest.fixture
def app(chosen: Selection) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.query_params["lab"] = "Cause"
    return app


def opened(app: AppTest, **params: str) -> AppTest:
    for name, value in params.items():
        app.query_params[name] = str(value)
    app.run()
    app.switch_page("viz/pages/coreference/page.py").run()
    return settled(app)


def settled(app: AppTest) -> AppTest:
    """Wait for whatever is under way."""
    keys = [f"long-work/cause-{name}" for name in ("removal", "effects", "patching")]
    assert all(app.session_state[key].wait(60) for key in keys if key in app.session_state)
    app.run()
    assert not app.exception, app.exception[0].value
    return app


def html(app: AppTest) -> str:
    return "".join(one.proto.body for one in app.get("html"))


def of_pair(pair: Pair) -> list[ContrastCase]:
    choices = [(case.sentence, case.german) for case in pair.cases]
    return [ContrastCase(sentence, german.right, german.wrong) for sentence, german in choices if german is not None]


def test_heads_switched_off_by_the_address_change_the_log_odds_as_the_model_says(
    app: AppTest, translator: Translator
) -> None:
    opened(app, off="c-1-2.e-0-1")
    heads = {HeadName("decoder.cross", 1, 2), HeadName("encoder.self", 0, 1)}
    cases = of_pair(data.choice_pairs()[0])
    effect = remove_heads(translator, cases, heads, zero_outputs(translator.config))
    for intact, without in zip(effect.intact.tolist(), effect.removed.tolist(), strict=True):
        assert signed(intact) in html(app)
        assert signed(without - intact) in html(app)
    assert any("encoder 1·2, cross 2·3" in one.value for one in app.caption)


def test_patching_of_the_pair_is_there_at_once_with_one_scale_for_three_maps(app: AppTest) -> None:
    maps = charts(opened(app))
    assert len(maps) == 3
    assert len({(one["data"][0]["zmin"], one["data"][0]["zmax"]) for one in maps}) == 1


def test_every_head_in_turn_gives_maps_rankings_and_a_way_to_switch_off_the_strongest(
    app: AppTest, translator: Translator
) -> None:
    opened(app)
    app.button(key="cause-effects-start").click().run()
    settled(app)
    assert len(charts(app)) == 7
    measured = measure_effects(translator, of_pair(data.choice_pairs()[0]), zero_outputs(translator.config))
    order = np.argsort(-measured.importance.numpy().ravel())[:5]
    app.button(key="cause-strongest").click().run()
    settled(app)
    heads = data.all_heads(models.translator(Selection().model))
    assert app.session_state["selection"].coreference.heads_off == tuple(switched_heads.code(heads[i]) for i in order)


def test_a_head_of_the_grid_is_switched_off_and_on_again(app: AppTest) -> None:
    opened(app)
    pills = app.pills(key="off-e-0")
    pills.set_value([HeadName("encoder.self", 0, 3)]).run()
    assert app.session_state["selection"].coreference.heads_off == ("e-0-3",)
    app.button(key="off-none").click().run()
    assert app.session_state["selection"].coreference.heads_off == ()


def test_a_head_that_the_model_lacks_and_a_pair_that_there_is_not_do_no_harm(app: AppTest) -> None:
    opened(app, off="c-99-1.x-0-0.e-0-0.--", pair="no-such-pair", scope="all", instead="nothing")
    assert not app.error
    assert any(one.value == "Off: encoder 1·1." for one in app.caption)
    assert data.choice_pairs()[0].cases[0].sentence in html(app)


def test_all_but_the_chosen_heads_are_all_others(chosen: Selection) -> None:
    heads = data.all_heads(models.translator(chosen.model))
    kept = heads[3:5]
    removed = data.removed_heads(models.translator(chosen.model), kept, others_off=True)
    assert removed == set(heads) - set(kept)
    assert data.removed_heads(models.translator(chosen.model), kept, others_off=False) == set(kept)


def test_the_address_keeps_what_is_switched_off() -> None:
    selection = Selection().changed(
        coreference_tab="Cause",
        pair="it-03",
        heads_off=("c-3-1", "e-0-2"),
        others_off=True,
        replacement="mean",
        cause_scope="set",
    )
    assert parse(to_params(selection), Selection()) == selection


def test_every_pair_asks_one_question_in_two_sentences_with_opposite_answers() -> None:
    pairs = data.choice_pairs()
    assert len(pairs) == 38
    for pair in pairs:
        assert pair.cases[0].sentence != pair.cases[1].sentence
        # Two letters tell er, es, sie, sein and ihr apart, whatever the ending.
        answers = [[word[:2] for word in tab._german_words(case)] for case in pair.cases]
        assert answers[0] == answers[1][::-1]


def test_mean_ablation_puts_in_the_mean_and_not_nothing(chosen: Selection) -> None:
    case = data.choice_pairs()[0].cases[0]
    off = frozenset(data.all_heads(models.translator(chosen.model))[:4])
    zero, mean = (
        data.removal(models.translator(chosen.model), [case], off, instead).compute(Progress(9, "sentences"))
        for instead in ("zero", "mean")
    )
    assert zero.intact == mean.intact
    assert zero.removed != mean.removed


def patched(values: np.ndarray, a: float = 2.0, b: float = -2.0) -> Patching:
    table = a + torch.tensor(values) * (b - a)
    return Patching(a=torch.tensor([a]), b=torch.tensor([b]), patched=table[None])


def test_the_sentence_names_the_head_that_carries_most_of_the_choice() -> None:
    values = np.zeros((3, 2, 4), dtype=np.float32)
    values[2, 1, 3] = 0.75
    told = tab.patching_sentence(patched(values))
    assert "head 4 of layer 2, decoder cross-attention: 75%" in told
    assert "+2.00 reading A, −2.00 reading B" in told


def test_the_sentence_says_when_nothing_is_carried() -> None:
    none = np.full((3, 2, 4), -0.5, dtype=np.float32)
    assert "No single head" in tab.patching_sentence(patched(none))
    assert "too close together" in tab.patching_sentence(patched(none, a=1.0, b=1.0))


def test_rankings_that_agree_correlate_and_sites_are_told_apart() -> None:
    first = np.arange(24, dtype=float).reshape(3, 2, 4)
    second = first.copy()
    second[1] = -first[1]
    _, rows = effects.correlations(first, second, None)
    assert rows[0][2:] == ("+1.00", "−1.00", "+1.00")
    attention = np.full_like(first, np.nan)
    attention[0] = first[0]
    _, rows = effects.correlations(first, second, attention)
    assert rows[1][1:] == ("+1.00", "+1.00", "–", "–")


def test_a_point_is_a_head_and_hangs_on_both_its_figures() -> None:
    first = np.arange(24, dtype=float).reshape(3, 2, 4)
    figure = two_metrics(first, first * 2, SITES, ("one", "two"))
    cross = figure.data[3]
    assert list(cross.x) == list(first[2].ravel())
    assert list(cross.y) == list(2 * first[2].ravel())
    assert cross.customdata[-1] == "2·4"


def test_the_table_of_effects_holds_the_figures_of_every_head(chosen: Selection) -> None:
    heads = data.all_heads(models.translator(chosen.model))
    changes = torch.arange(float(len(heads))).view(1, 3, 2, 4)
    off = HeadEffects(intact=torch.zeros(1), changes=changes)
    rows = list(csv.DictReader(tables.effects(off, off, heads).decode("utf-8-sig").splitlines()))
    assert [float(row["mean_change"]) for row in rows] == list(range(24))
    assert (rows[-1]["site"], rows[-1]["layer"], rows[-1]["head"]) == ("decoder.cross", "1", "3")


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "no pair"), (b"no tab here", "line 1"), (b"\xff\xfe\x00", "UTF-8"), (b"A\tB\n\tC", "line 2")],
    ids=["empty", "no tab", "binary", "half a pair"],
)
def test_sentence_pairs_that_cannot_be_read_are_refused_with_a_reason(content: bytes, said: str) -> None:
    with pytest.raises(DataError, match=said):
        data.uploaded_pairs(content)


def test_no_more_sentence_pairs_are_read_than_promised() -> None:
    assert len(data.uploaded_pairs(b"A\tB\n" * 300)) == data.MOST_PAIRS


def test_bleu_without_heads_is_told_beside_that_with_all(chosen: Selection) -> None:
    pairs = (SentencePair("Tom was late.", "Tom war spät."),)
    off = frozenset(data.all_heads(models.translator(chosen.model)))
    done = Progress(9, "sentences")
    intact, _ = data.bleu_change(models.translator(chosen.model), pairs, off, "zero").compute(done)
    assert done.done == 2
    without_none = data.bleu_change(models.translator(chosen.model), pairs, frozenset(), "zero").compute(done)
    assert without_none == (intact, intact)
