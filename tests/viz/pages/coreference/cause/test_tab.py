"""One head put to three interventions, all heads by each of them, and edits of attention, by widget and by address."""

import re
from html import unescape

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import SwitchOff, Trace, Translator
from model.analysis.attribution.choice import TokenChoice
from model.analysis.interventions.edit_comparison import compare_edit
from model.analysis.interventions.head_verdict import point_heads
from model.analysis.metrics.head_metrics import all_heads
from tests.patience import PATIENCE
from tests.viz.page_run import app_of, healthy, run_page
from tests.viz.sent import charts, numbers_of, unlinked
from viz.access import head_verdict as access
from viz.pages.coreference.data import causes, curated_pairs
from viz.selection.selection import Selection
from viz.server.background_jobs import Job, Progress
from viz.ui.attribution import sentence, tried
from viz.ui.controls import markdown

TEXT, OTHER = "Tom was late again.", "Tom was here again."


def jobs_of(app: AppTest) -> list[Job[object]]:
    names = ("every", "verdict", "written", "pointed", "edited", "effects", "swapped", "direct", "removal")
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


def asked_of(**params: str) -> AppTest:
    app = run_page(app_of(**{"lab": "Cause", "text": TEXT, "other": OTHER, "step": "5"} | params), "coreference")
    return settled(healthy(app))


def html(app: AppTest) -> str:
    return "".join(one.proto.body for one in app.get("html"))


@pytest.fixture
def trace(saved: Translator) -> Trace:
    return saved.trace(TEXT)


def question(translator: Translator, trace: Trace, other: str = OTHER) -> access.Question:
    return access.at_step(translator, trace, 5, other)


def test_the_verdict_and_the_three_cards_are_the_models_own(saved: Translator, trace: Trace) -> None:
    app = asked_of(site="decoder.cross", layer="1", head="2")
    assert not app.get("skeleton")
    asked = question(saved, trace)
    assert asked.a.right == trace.steps[5].token_id
    stated = access.tested(saved, asked, ("decoder.cross", 1, 2)).compute(Progress(1, "heads"))
    assert unlinked(f"**{markdown(sentence(stated))}**") in [unlinked(one.value) for one in app.markdown]
    assert stated.verdict.swapped is not None
    cards = [
        [float(number) for number in numbers]
        for numbers in re.findall(r"([-+.\d]+) nats: ([-+.\d]+) → ([-+.\d]+)", html(app).replace("−", "-"))
    ]
    assert len(cards) == 3
    for each, (change, before, after) in zip(tried(stated), cards, strict=True):
        # Whoever takes one from the other gets what is shown.
        assert change == round(after - before, 2)
        assert (after, change) == pytest.approx((stated.verdict.before + each.change, each.change), abs=0.011)
    written = compare_edit(saved, TEXT, 0, [SwitchOff("decoder.cross", 1, 2)])
    assert "With the edit" in html(app) or written.original_text == written.edited_text


def test_it_opens_on_the_head_that_moves_the_choice_most_with_maps_of_all_heads(
    saved: Translator, trace: Trace, chosen: Selection
) -> None:
    app = asked_of()
    asked, heads = question(saved, trace), all_heads(saved.abilities.heads)
    known = access.every_head(saved, asked).compute(Progress(0, "runs"))
    head = heads[known.strongest]
    shown = app.selectbox(key="site").value, app.selectbox(key="layer").value, app.selectbox(key="head").value
    assert shown == tuple(head)
    # What the page proposes is in no address.
    assert not {"site", "layer", "head"} & set(app.query_params)
    # The maps show all heads by each intervention on one scale.
    maps = [chart["data"][0] for chart in charts(app)]
    assert len(maps) == 3
    assert len({(one["zmin"], one["zmax"]) for one in maps}) == 1
    token, other = (asked.a.right, asked.a.wrong) if known.prefers_right else (asked.a.wrong, asked.a.right)
    choice = TokenChoice(asked.a.place, token, other)
    run = saved.trace_tokens(TEXT, [*choice.prefix[1:], choice.token])
    pointed = point_heads(saved, choice, run)
    for shown, expected in zip(maps, (known.off, pointed.changes.numpy(), known.swapped), strict=True):
        assert expected is not None
        np.testing.assert_allclose(numbers_of(shown).ravel(), -expected, atol=1e-4)
    # Attribution of the same word is one press away.
    healthy(app.button(key="cause-attribution").click().run())
    assert app.title[0].value == "Decode"
    assert (app.query_params["inside"], app.query_params["step"]) == ("Attribution", "5")


def test_a_sentence_alone_is_asked_too_and_what_cannot_be_done_is_said(chosen: Selection) -> None:
    # A step beyond the last word is the last word's.
    app = asked_of(other=TEXT, step="999")
    assert app.selectbox(key="step").value == len(app.selectbox(key="step").options) - 1
    assert "There is no other sentence to take its output from." in html(app)
    assert len(charts(app)) == 2


def test_a_pair_of_the_set_is_asked_by_its_address_and_one_that_is_not_does_no_harm(chosen: Selection) -> None:
    app = asked_of(pair="it-03")
    pair = curated_pairs()["it-03"]
    assert pair.texts[1] in unescape(re.sub("<[^>]+>", "", html(app)))
    assert len(charts(app)) == 3
    assert asked_of(pair="no-such-pair").selectbox(key="pair-group").value == ""


def test_every_pair_of_the_set_asks_one_question_with_opposite_answers(saved: Translator) -> None:
    asked, pairs = causes.pronoun_questions(saved), curated_pairs()
    assert [each.name for each in asked] == [
        name
        for name, pair in pairs.items()
        if not pair.is_control and all(case is not None and case.german for case in pair.cases)
    ]
    assert len(asked) == 38
    for each in asked:
        pair = pairs[each.name]
        assert each.texts == pair.texts
        assert each.b is not None
        assert (each.a.right, each.a.wrong) == (each.b.right, each.b.wrong)
        right, wrong = each.tokens
        assert causes.words([each]) == [(right, wrong), (wrong, right)]
        answers = []
        for case in pair.cases:
            assert case is not None
            assert case.german is not None
            both = zip(case.german.right.split(), case.german.wrong.split(), strict=True)
            # Two letters tell er, es, sie, sein and ihr apart, whatever the ending.
            answers.append(next([right[:2], wrong[:2]] for right, wrong in both if right != wrong))
        assert answers[0] == answers[1][::-1]


def editing(**params: str) -> AppTest:
    chosen = {"site": "decoder.cross", "layer": "1", "head": "2", "edit": "off"}
    return asked_of(**chosen | params)


def test_an_edit_changes_what_is_written_as_the_models_own_comparison_says(saved: Translator) -> None:
    compared = compare_edit(saved, TEXT, 5, [SwitchOff("decoder.cross", 1, 2, since=5)])
    shown = next(unlinked(one.value) for one in editing().markdown if one.value.startswith("Log-probability"))
    shown = shown.replace("−", "-")
    assert f"{compared.log_prob_before:.3f} → **{compared.log_prob_after:.3f}**" in shown
    change = round(compared.log_prob_after, 3) - round(compared.log_prob_before, 3)
    assert f"**{change:+.3f}** nats" in shown or abs(change) < 0.0005
    before, after = (steps[5].token_id for steps in (compared.original_steps, compared.edited_steps))
    assert ("The model still writes it." in shown) == (before == after)


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"edit": "uniform", "once": "True"}, "0-5-uniform-c-1-2-once"),
        ({"edit": "point", "key_token": "3", "site": "decoder.self"}, "0-5-point-d-1-2-3"),
        ({"edit": "off", "once": "True", "site": "encoder.self"}, "0-5-off-e-1-2"),
    ],
)
def test_every_edit_can_be_kept_as_a_branch_of_the_page_that_decodes(
    chosen: Selection, params: dict[str, str], code: str
) -> None:
    app = editing(**params)
    healthy(app.button(key="keep-edit").click().run())
    assert app.title[0].value == "Decode"
    assert (app.query_params["branches"], app.query_params["branch"]) == (code, "1")
    assert app.query_params["step"] == "5"
    assert "studio" not in app.query_params
