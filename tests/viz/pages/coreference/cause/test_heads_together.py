"""Several heads switched off together: what becomes of the choice, what is then written, and how they are chosen."""

import numpy as np

from model import Translator
from model.analysis.interventions.head_effects import remove_heads
from model.analysis.metrics.head_metrics import HeadName, all_heads
from model.pairs import Pair as SentencePair
from tests.viz.pages.coreference.cause.test_tab import asked_of, html, question, settled
from tests.viz.sent import unlinked
from viz.pages.coreference.data import causes
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
    assert "Most probable, all heads" in html(app)
    stays = any("the translation remains" in unlinked(one.value) for one in app.caption)
    assert stays or "A with every head" in html(app)


def test_one_head_a_layer_leaves_six_of_24_on_and_a_click_chooses_five(saved: Translator) -> None:
    app = asked_of(off="c-1-2")
    settled(app.button(key="cause-single").click().run())
    assert app.query_params["of"] == "layer"
    assert any("18 of 24 heads** are off: all but" in unlinked(one.value) for one in app.markdown)
    settled(app.button(key="cause-strongest").click().run())
    assert len(app.session_state["selection"].coreference.heads_off) == 5
    assert any("5 of 24 heads** are off: " in unlinked(one.value) for one in app.markdown)


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
