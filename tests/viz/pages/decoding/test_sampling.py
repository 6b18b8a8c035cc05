"""Sampling: groups, cards, the same seed, and settings that do not exist."""

from dataclasses import replace
from html import unescape
from math import log
from re import findall, sub

import pytest
from streamlit.testing.v1 import AppTest

from model import SampledTranslation
from model.trace.steps import Candidate, DecodingStep
from tests.viz.page_run import as_read, traced
from tests.viz.pages.decoding.opening import TEXT, app_at, opened
from tests.viz.sent import unlinked
from viz.access import models
from viz.pages.decoding.data import searches
from viz.pages.decoding.sampling import Card, card_html, steps_html, why_derailing
from viz.selection.choices import NO_FILTER
from viz.selection.selection import Selection
from viz.text.html import Marked, visible
from viz.ui import long_work, token_labels

CARD = Card(
    title="1 of 2", which="sample 1", text=Marked((("a\x07<i>", True),)), numbers=(("n", "1"),),
    tokens=("\u202e", "<b>"), log_probs=(-0.5, -8.0), filtered_log_probs=(0.0, -1.0),
)  # fmt: skip


def drawn(token_ids: tuple[int, ...], text: str = "x") -> SampledTranslation:
    return SampledTranslation(
        token_ids=token_ids, log_probs=(-1.0,) * len(token_ids), filtered_log_probs=(-0.5,) * len(token_ids), text=text
    )


def samples_of(selection: Selection) -> tuple[SampledTranslation, ...]:
    return long_work.in_this_thread(searches.drawing(models.writer(selection.model), TEXT, selection.decoding))


@pytest.fixture
def app(chosen: Selection) -> AppTest:
    return app_at("Sampling")


def cards(app: AppTest) -> list[str]:
    return [element.value for element in app.html if element.value.startswith("<article")]


def said(html: str) -> list[str]:
    """The texts of a card, piece by piece: its title first, then which it is, then its own."""
    return [unescape(text) for text in findall(r">([^<]+)<", html)]


def text_of(html: str) -> str:
    (text,) = findall(r"<p lang=.*?</p>", html)
    return " ".join(unescape(sub("<[^>]+>", "", text)).replace(token_labels.MISSING, "").split())


def test_the_greedy_translation_stands_first_and_every_sample_is_on_a_card(app: AppTest, chosen: Selection) -> None:
    opened(app, samples=6, top_k=3)
    first, *others = cards(app)
    assert '<p lang="de"' in first
    trace = traced(TEXT, chosen)
    assert (said(first)[0], text_of(first)) == ("Greedy", trace.translation)
    samples = samples_of(chosen.changed(num_samples=6, top_k=3))
    assert sum(int(said(card)[0].split(" of ")[0]) for card in others) == 6
    assert {text_of(card) for card in others} == {visible(" ".join(one.text.split())) or "(nothing)" for one in samples}
    assert findall(r"<dt[^>]*>([^<]*)<", others[0]) == ["Log-probability", "as sampled", "Tokens"]


def test_the_same_seed_shows_the_same_texts_and_another_one_others(app: AppTest) -> None:
    opened(app, samples=4, draw=3)
    before = cards(app)
    app.number_input(key="sampling_seed").set_value(4).run()
    assert cards(app) != before
    assert app.query_params["draw"] == "4"
    app.number_input(key="sampling_seed").set_value(3).run()
    assert cards(app) == before
    next(button for button in app.button if button.label == "Sample again").click().run()
    assert app.query_params["draw"] == "4"


def test_equal_samples_share_a_card_that_counts_them(app: AppTest) -> None:
    # At the lowest temperature everything is what greedy search writes.
    opened(app, samples=5, temperature=1)
    assert app.slider(key="top_p").value == pytest.approx(1.0), "a temperature alone samples from all tokens"
    _, *others = cards(app)
    assert [said(card)[:2] for card in others] == [["5 of 5", "samples 1, 2, 3, 4, 5"]]
    assert said(others[0])[-1].endswith("The same text as the greedy translation.")
    assert says_all_are_equal(app)
    assert not says_all_are_equal(opened(app_at("Sampling"), samples=1, temperature=300))


def says_all_are_equal(app: AppTest) -> bool:
    return any(
        unlinked(caption.value).startswith("All samples equal the greedy translation") for caption in app.caption
    )


def test_settings_that_do_not_exist_become_the_nearest_and_nothing_is_lost(app: AppTest) -> None:
    opened(app, samples=0, temperature=0, top_p=0, top_k=99999)
    said = [as_read(element.value) for element in app.info]
    assert said == [
        "Number of samples 0 is out of range (1 to 64); 1 is shown.",
        "Temperature 0.00 is out of range (0.01 to 3.00); 0.01 is shown.",
        "Top-k 99999 is out of range (0 to 370); 370 is shown.",
        "Top-p 0.00 is out of range (0.01 to 1.00); 0.01 is shown.",
    ]
    assert (app.query_params["samples"], app.query_params["temperature"], app.query_params["top_p"]) == ("1", "1", "1")
    assert app.query_params["text"] == TEXT
    assert len(cards(app)) == 2


def test_it_opens_on_likely_tokens_a_change_leaves_the_others_and_all_tokens_are_one_click_away(app: AppTest) -> None:
    opened(app)
    assert "temperature" not in app.query_params
    assert [app.slider(key=key).value for key in ("temperature", "top_p")] == pytest.approx([0.7, 0.9])
    app.slider(key="temperature").set_value(0.5).run()
    assert app.slider(key="top_p").value == pytest.approx(0.9)
    assert app.query_params["top_p"] == "90"
    # Sliders speak in numbers, and the link in hundredths.
    app.slider(key="temperature").set_value(0.7)
    app.slider(key="top_p").set_value(0.29).run()
    assert (app.query_params["temperature"], app.query_params["top_p"]) == ("70", "29")
    assert app.slider(key="top_p").value == pytest.approx(0.29)
    app.segmented_control(key="sampling-preset").set_value(NO_FILTER).run()
    assert [app.slider(key=key).value for key in ("temperature", "top_p")] == pytest.approx([1.0, 1.0])
    assert (app.query_params["temperature"], app.query_params["top_p"]) == ("100", "100")


def test_why_all_tokens_derail_is_computed_from_the_steps() -> None:
    candidates = tuple(Candidate(i, "x", log(0.045)) for i in range(20))
    steps = [DecodingStep(i, 0, "x", log(0.045), 1.0, candidates) for i in range(10)]
    said = why_derailing(steps, 8_000)
    # 10% beyond the list in each of ten steps: 1 − 0.9¹⁰
    assert "the 7,980 tokens below the 20 most probable ones of each step together have 10% of the probability" in said
    assert "65% contain" in said
    assert why_derailing(steps, 20) == ""
    # One token in a hundred is nothing to be told of, ten are.
    for share, told in ((0.048, False), (0.044, True)):
        one = replace(steps[0], candidates=tuple(Candidate(i, "x", log(share)) for i in range(20)))
        assert bool(why_derailing([one], 8_000)) == told


def test_a_card_shows_text_as_it_is_and_what_cannot_be_seen() -> None:
    assert "a\u2407&lt;i&gt;</mark>" in card_html(CARD, "de")
    steps = steps_html(CARD)
    assert "\\u202e" in steps
    assert "&lt;b&gt;" in steps
    assert "\u202e" not in steps
    assert "<b>" not in steps
