"""Several heads switched off together: what becomes of the choice, what is then written, and how they are chosen."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from model import Translator
from model.analysis.interventions.head_effects import RemovalEffect, remove_heads
from model.analysis.metrics.head_metrics import HeadName, all_heads
from model.pairs import Pair as SentencePair
from tests.viz import page_run
from tests.viz.pages.coreference.cause.test_tab import asked_of, html, question, settled
from tests.viz.sent import unlinked
from viz.pages.coreference import heads_together
from viz.pages.coreference.data import causes
from viz.selection.choices import OthersOf
from viz.server.background_jobs import Progress
from viz.text.written import SITES, signed

ES, SIE = ("▁es", "▁sie"), ("▁sie", "▁es")


def test_heads_switched_off_by_the_address_change_the_log_odds_as_the_model_says(saved: Translator) -> None:
    app = asked_of(off="c-1-2.e-0-1")
    heads = {HeadName("decoder.cross", 1, 2), HeadName("encoder.self", 0, 1)}
    asked = question(saved, saved.trace("Tom was late again."))
    effect = remove_heads(saved, causes.choices([asked]), heads)
    for intact, without in zip(effect.intact.tolist(), effect.removed.tolist(), strict=True):
        assert signed(intact) in html(app)
        assert signed(without - intact) in html(app)
    assert any("2 of 24 heads** are off: encoder L1 H2, cross L2 H3." in unlinked(one.value) for one in app.markdown)
    assert "Most probable, every head" in html(app)
    assert "without these" in html(app) or any("the translation stays" in unlinked(one.value) for one in app.caption)


def test_one_head_a_layer_leaves_six_of_24_on_and_a_click_chooses_five(saved: Translator) -> None:
    app = asked_of(off="c-1-2")
    settled(app.button(key="cause-single").click().run())
    assert app.query_params["of"] == "layer"
    assert any("18 of 24 heads** are off: all but" in unlinked(one.value) for one in app.markdown)
    settled(app.button(key="cause-strongest").click().run())
    assert len(app.session_state["selection"].coreference.heads_off) == 5
    assert any("5 of 24 heads** are off: " in unlinked(one.value) for one in app.markdown)


def test_a_head_of_the_grid_is_switched_off_and_on_again_and_one_that_is_not_does_no_harm(saved: Translator) -> None:
    app = asked_of(
        off="c-99-1.x-0-0.e-0-0.--", site="encoder.self", layer="0", head="0", scope="all", instead="nothing"
    )
    assert any("1 of 24 heads** is off: encoder L1 H1." in unlinked(one.value) for one in app.markdown)
    assert app.pills(key="off-e-0").options == ["1", "2", "3", "4"]
    settled(app.pills(key="off-e-0").set_value([HeadName("encoder.self", 0, 3)]).run())
    assert "e-0-3" in app.session_state["selection"].coreference.heads_off
    settled(app.button(key="off-none").click().run())
    assert app.session_state["selection"].coreference.heads_off == ()


@pytest.mark.parametrize("off", ["x-9-9", "c-1-2"])
def test_bleu_on_pairs_of_ones_own_needs_heads_that_are_chosen(saved: Translator, off: str) -> None:
    app = asked_of(off=off)
    lines = "Tom was late.\tTom war spät.\nShe reads.\tSie liest.\n".encode()
    app.file_uploader(key="cause-pairs").set_value(("pairs.tsv", lines, "text/plain"))
    page_run.healthy(app.run())
    is_chosen = off == "c-1-2"
    assert ("First choose heads to switch off." in [one.value for one in app.info]) == (not is_chosen)
    assert ("Translate 2 sentences twice" in [one.label for one in app.button]) == is_chosen


def said_of(removed: Sequence[float], words: Sequence[tuple[str, str]]) -> str:
    effect = RemovalEffect(intact=torch.ones(len(removed)), removed=torch.tensor(removed))
    return heads_together.removal_sentence(causes.Removal(effect), words)


def test_of_two_words_the_likelier_one_decides_and_of_many_sentences_flips_are_counted() -> None:
    assert said_of([-0.5, 0.5], [ES, SIE]) == (
        "**The choice flips. More probable now: “sie” instead of “es” in A and “sie” as before in B.**"
    )
    assert said_of([0.5], [ES]) == "**The choice does not flip. More probable now: “es” as before in A.**"
    assert said_of([-0.5, 0.5, 0.5], [ES, SIE, ES]) == "**The choice flips in 1 of 3 sentences.**"
    assert said_of([0.5, 0.5, 0.1], [ES, SIE, ES]) == "**No choice flips.**"


def test_all_but_the_chosen_heads_are_all_others(translator: Translator) -> None:
    heads = all_heads(translator.abilities.heads)
    kept = heads[3:5]
    assert causes.removed_heads(heads, kept, others_off=True) == set(heads) - set(kept)
    assert causes.removed_heads(heads, kept, others_off=False) == set(kept)
    # One head of each layer is its strongest.
    importance = np.zeros((3, 2, 4))
    importance[0, 1, 2] = importance[2, 0, 3] = 1.0
    kept = causes.strongest_of_each_layer(all_heads(translator.abilities.heads), importance.ravel())
    assert [(head.site, head.layer) for head in kept] == [(s, layer) for s in SITES for layer in range(2)]
    assert {HeadName("encoder.self", 1, 2), HeadName("decoder.cross", 0, 3)} <= set(kept)
    # Where none is stronger, its first.
    assert [head.head for head in kept] == [0, 2, 0, 0, 3, 0]


@pytest.mark.parametrize(("others_of", "count"), [("model", 22), ("attention", 14), ("layer", 6)])
def test_all_others_are_those_of_the_model_of_the_attentions_or_of_the_layers(
    translator: Translator, others_of: OthersOf, count: int
) -> None:
    kept = [HeadName("encoder.self", 1, 2), HeadName("decoder.cross", 0, 0)]
    heads = all_heads(translator.abilities.heads)
    removed = causes.removed_heads(heads, kept, others_off=True, others_of=others_of)
    assert len(removed) == count
    assert not removed & set(kept)
    if others_of == "layer":
        assert {(head.site, head.layer) for head in removed} == {("encoder.self", 1), ("decoder.cross", 0)}


def test_mean_ablation_puts_in_the_mean_and_not_nothing(saved: Translator) -> None:
    of_set = causes.pronoun_questions(saved)
    off = frozenset(all_heads(saved.abilities.heads)[:4])
    zero, mean = (
        causes.removal(saved, of_set[:1], of_set, instead, off).compute(Progress(9, "sentences")).effect
        for instead in ("zero", "mean")
    )
    assert zero.intact.tolist() == mean.intact.tolist()
    assert zero.removed.tolist() == remove_heads(saved, causes.choices(of_set[:1]), off).removed.tolist()
    assert zero.removed.tolist() != mean.removed.tolist()


def test_bleu_without_heads_is_told_beside_that_with_all(saved: Translator) -> None:
    pairs, of_set = (SentencePair("Tom was late.", "Tom war spät."),), causes.pronoun_questions(saved)[:1]
    done = Progress(9, "sentences")
    off = frozenset(all_heads(saved.abilities.heads))
    task = causes.bleu_change(saved, saved, pairs, of_set, "zero", off)
    intact, _ = task.compute(done)
    assert done.done == task.total == 2
    assert causes.bleu_change(saved, saved, pairs, of_set, "zero", frozenset()).compute(done) == (intact, intact)
