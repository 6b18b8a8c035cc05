"""Heads switched off and patched on the page, by widget and by address."""

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from model import Translator
from model.analysis.interventions.head_effects import measure_effects, remove_heads
from model.analysis.interventions.patching import Patching
from model.analysis.metrics.head_names import HeadName
from model.word_choice import TextChoice
from tests.paths import ROOT
from tests.patience import PATIENCE
from tests.viz import page_run
from tests.viz.sent import charts, numbers_of
from viz.access import models
from viz.pages.coreference.cause import switched_heads, tab, verdicts
from viz.pages.coreference.cause.data import pronouns
from viz.pages.coreference.cause.data.asked import all_heads
from viz.pages.coreference.data import Pair
from viz.selection.selection import Selection
from viz.selection.url import parse, to_params
from viz.server.background_jobs import Job, Progress
from viz.text.numbers import signed
from viz.text.sites import SITES
from viz.ui.controls import plain
from viz.ui.head_verdict import sentence


@pytest.fixture
def app(chosen: Selection) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE)
    app.query_params["lab"] = "Cause"
    return app


def opened(app: AppTest, **params: str) -> AppTest:
    return settled(page_run.opened(app, "coreference", **params))


def jobs_of(app: AppTest) -> list[Job[object]]:
    names = ("removal", "effects", "patching", "paths", "verdict", "patched-verdict", "attribution")
    keys = [f"long-work/cause-{name}" for name in names]
    return [app.session_state[key] for key in keys if key in app.session_state]


def settled(app: AppTest) -> AppTest:
    """Wait for whatever is under way, and for what begins after it."""
    before = None
    while (jobs := jobs_of(app)) != before:
        assert all(job.wait(PATIENCE) for job in jobs)
        before = jobs
        app.run()
        assert not app.exception, app.exception[0].value
    return app


def html(app: AppTest) -> str:
    return "".join(one.proto.body for one in app.get("html"))


def of_pair(translator: Translator, pair: Pair) -> list[TextChoice]:
    choices = [(case.sentence, case.german) for case in pair.cases]
    return [translator.text_choice(text, german.right, german.wrong) for text, german in choices if german is not None]


def test_heads_switched_off_by_the_address_change_the_log_odds_as_the_model_says(
    app: AppTest, translator: Translator
) -> None:
    opened(app, off="c-1-2.e-0-1")
    heads = {HeadName("decoder.cross", 1, 2), HeadName("encoder.self", 0, 1)}
    effect = remove_heads(translator, of_pair(translator, pronouns.choice_pairs()[0]), heads)
    for intact, without in zip(effect.intact.tolist(), effect.removed.tolist(), strict=True):
        assert signed(intact) in html(app)
        assert signed(without - intact) in html(app)
    assert any("2 of 24 heads** are off: encoder L1 H2, cross L2 H3." in one.value for one in app.markdown)


def test_each_head_switched_off_and_patched_is_there_at_once_with_one_scale_for_three_maps(app: AppTest) -> None:
    maps = charts(opened(app))
    assert len(maps) == 6 + 2  # the last two explain the words
    for three in (maps[:3], maps[3:6]):
        assert len({(one["data"][0]["zmin"], one["data"][0]["zmax"]) for one in three}) == 1


def test_a_head_that_helps_is_as_warm_as_one_that_carries_the_choice(app: AppTest, translator: Translator) -> None:
    shown = np.array([numbers_of(one["data"][0]) for one in charts(opened(app))[:3]])
    measured = measure_effects(translator, of_pair(translator, pronouns.choice_pairs()[0]))
    assert shown.ravel() == pytest.approx(-measured.mean_changes.numpy(), abs=1e-3)


def test_what_the_strongest_head_does_is_there_before_one_is_chosen_and_a_click_chooses_five(
    app: AppTest, translator: Translator
) -> None:
    opened(app)
    settled(app)
    assert any("1 of 24 heads** is off" in one.value for one in app.markdown)
    measured = measure_effects(translator, of_pair(translator, pronouns.choice_pairs()[0]))
    order = np.argsort(-measured.importance.numpy())[:5]
    app.button(key="cause-strongest").click().run()
    settled(app)
    heads = all_heads(models.translator(Selection().model))
    assert app.session_state["selection"].coreference.heads_off == tuple(switched_heads.code(heads[i]) for i in order)


def test_the_head_that_a_sentence_names_is_put_to_all_three_tests(app: AppTest, chosen: Selection) -> None:
    settled(opened(app))
    asked = pronouns.asked(models.translator(chosen.model), [pronouns.choice_pairs()[0]], "zero")
    measured, _ = asked.effects.compute(Progress(0, "runs"))
    carried = asked.patching.compute(Progress(0, "runs"))
    named = verdicts.strongest(measured), int(np.nanargmax(carried.overall.numpy()))
    for head in (asked.heads[number] for number in named):
        stated = asked.tested(head).compute(Progress(1, "heads"))
        assert f"**{plain(sentence(stated))}**" in [one.value for one in app.markdown]


def test_one_head_a_layer_leaves_six_of_24_on_and_shows_what_is_written_then(app: AppTest) -> None:
    opened(app)
    settled(app).button(key="cause-single").click().run()
    settled(app)
    assert app.query_params["of"] == "layer"
    assert any("18 of 24 heads** are off: all but" in one.value for one in app.markdown)
    assert "without these" in html(app) or any("the translation stays" in one.value for one in app.caption)


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
    assert any("1 of 24 heads** is off: encoder L1 H1." in one.value for one in app.markdown)
    assert app.selectbox(key="pair").value == pronouns.choice_pairs()[0].name


def test_of_a_translator_of_another_language_what_it_writes_itself_is_asked(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "languages", lambda _: ("en", "fr"))
    opened(app, other="The animal didn't cross the street because it was too wide.")
    settled(app)
    assert "against" in html(app)
    assert len(charts(app)) == 9 + 2


def test_the_address_keeps_what_is_switched_off() -> None:
    selection = Selection().changed(
        coreference_tab="Cause",
        pair="it-03",
        heads_off=("c-3-1", "e-0-2"),
        others_off=True,
        others_of="layer",
        replacement="mean",
        cause_scope="set",
    )
    assert parse(to_params(selection), Selection()) == selection


def patched(values: np.ndarray, a: float = 2.0, b: float = -2.0) -> Patching:
    table = a + torch.tensor(values) * (b - a)
    return Patching(a=torch.tensor([a]), b=torch.tensor([b]), patched=table.flatten()[None])


HEADS = [HeadName(site, layer, head) for site in SITES for layer in range(2) for head in range(4)]


def test_the_sentence_names_the_head_that_carries_most_of_the_choice() -> None:
    values = np.zeros((3, 2, 4), dtype=np.float32)
    values[2, 1, 3] = 0.75
    sentence = tab.patching_sentence(patched(values), HEADS)
    assert "cross L2 H4: 75\N{NO-BREAK SPACE}%" in sentence
    assert "+2.00 reading A, −2.00 reading B" in sentence


def test_the_sentence_says_when_nothing_is_carried() -> None:
    none = np.full((3, 2, 4), -0.5, dtype=np.float32)
    assert "No single head" in tab.patching_sentence(patched(none), HEADS)
    assert "too close together" in tab.patching_sentence(patched(none, a=1.0, b=1.0), HEADS)


@pytest.mark.parametrize("off", ["", "c-1-2"])
def test_bleu_on_pairs_of_ones_own_needs_heads_that_are_chosen(app: AppTest, off: str) -> None:
    opened(app, **({"off": off} if off else {}))
    lines = "Tom was late.\tTom war spät.\nShe reads.\tSie liest.\n".encode()
    app.file_uploader(key="cause-pairs").set_value(("pairs.tsv", lines, "text/plain"))
    page_run.healthy(app.run())
    assert ("Choose heads to switch off first." in [one.value for one in app.info]) == (not off)
    assert ("Translate 2 sentences twice" in [one.label for one in app.button]) == bool(off)
