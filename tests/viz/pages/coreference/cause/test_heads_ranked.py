"""All heads ranked over a pair or a set: by their loss, by gradients, by what they carry."""

import numpy as np
import torch
from streamlit.testing.v1 import AppTest

from model import Translator
from model.analysis.interventions.head_effects import HeadEffects, measure_effects
from model.analysis.interventions.patching import ChoicePair, Patching, patch_paths
from model.analysis.metrics.head_metrics import HeadName
from tests.viz.page_run import app_of, run_page
from tests.viz.pages.coreference.cause.test_tab import OTHER, TEXT, question, settled
from tests.viz.sent import charts, numbers_of, unlinked
from viz.pages.coreference import heads_ranked
from viz.pages.coreference.data import causes
from viz.text.written import SITES

HEADS = tuple(HeadName(site, layer, head) for site in SITES for layer in range(2) for head in range(4))
ES, SIE = ("▁es", "▁sie"), ("▁sie", "▁es")


def ranked(by: str, **params: str) -> AppTest:
    app = app_of(lab="Cause", text=TEXT, other=OTHER, step="5", by=by, **params)
    app.session_state["cause-ranked"] = True
    return settled(run_page(app, "coreference"))


def test_a_map_of_each_ranking_is_what_the_model_says(saved: Translator) -> None:
    asked = question(saved, saved.trace(TEXT))
    measured = -measure_effects(saved, causes.choices([asked])).mean_changes.numpy()
    assert asked.b is not None
    direct = patch_paths(saved, [ChoicePair(asked.a, asked.b)]).overall.numpy()
    apps = {by: ranked(by) for by in ("off", "direct")}
    for app, expected in zip(apps.values(), (measured, direct), strict=True):
        shown = numbers_of(charts(app)[-1]["data"][0]).ravel()
        np.testing.assert_allclose(shown, expected, atol=2e-3, rtol=1e-3)
    assert apps["direct"].query_params["by"] == "direct"
    # Nothing has been measured yet.
    assert any("first measure the curated set" in caption.value for caption in apps["off"].caption)


def test_over_the_whole_set_it_waits_for_a_press(saved: Translator) -> None:
    app = ranked("off", scope="set")
    assert any(button.label == "Switch off each head in turn" for button in app.button)


def effects(changes: dict[tuple[int, int], float], intact: tuple[float, ...] = (4.0, 2.0)) -> HeadEffects:
    table = torch.zeros(len(intact), 24)
    for (case, head), change in changes.items():
        table[case, head] = change
    return HeadEffects(intact=torch.tensor(intact), changes=table)


def sweep(table: HeadEffects, words: list[tuple[str, str]]) -> str:
    return unlinked(heads_ranked.sweep_sentence(table, HEADS, words))


def test_the_head_that_flips_a_choice_is_named_or_that_none_does_and_many_are_counted() -> None:
    said = sweep(effects({(0, 21): -4.5, (1, 21): -1.0, (0, 1): -3.0}), [ES, SIE])
    assert "cross L2 H2 flips the choice: A changes from “es” to “sie”" in said
    assert "B changes" not in said
    assert "No other head does" in said
    # Of several, the one that moves it most comes first.
    said = sweep(effects({(0, 1): -4.5, (0, 21): -6.0, (0, 6): -4.25}), [ES, SIE])
    assert "cross L2 H2 flips the choice" in said
    assert "So do encoder L1 H2, encoder L2 H3." in said
    # That no head flips the choice is said with the one that moves it most.
    said = sweep(effects({(0, 4): -3.0, (1, 4): -1.0}), [ES, SIE])
    assert "None of the 24 heads flips the choice when it alone is switched off" in said
    assert "−2.00" in said
    # Of many sentences the flips are counted.
    table = effects({(0, 2): -9.0, (1, 2): -9.0, (2, 3): -9.0}, intact=(1.0, 1.0, 1.0, 1.0))
    said = sweep(table, [ES, SIE, ES, SIE])
    assert "flips the most choices: 2 of 4" in said
    assert "Of 24 heads, 2 flip at least one" in said


def patched(values: np.ndarray, a: float = 2.0, b: float = -2.0) -> Patching:
    table = a + torch.tensor(values) * (b - a)
    return Patching(a=torch.tensor([a]), b=torch.tensor([b]), patched=table.flatten()[None])


def test_the_sentence_names_the_head_that_carries_most_of_the_choice() -> None:
    values = np.zeros((3, 2, 4), dtype=np.float32)
    values[2, 1, 3] = 0.75
    sentence = unlinked(heads_ranked.patching_sentence(patched(values), HEADS))
    assert "Swapping cross L2 H4 alone moves the choice 75% of the way from A to B" in sentence
    assert "+2.00 when reading A, −2.00 when reading B" in sentence
    assert "distinguish" not in sentence
