"""Sampling on its page: the same seed, groups, numbers and marks of the cards, and what a link may ask for."""

import csv
from dataclasses import replace
from html import unescape
from re import findall, sub

import pytest
from streamlit.testing.v1 import AppTest

from model import SampledTranslation
from model.analysis.word_diff import word_diff
from tests.viz.pages.decoding.opening import TEXT, app_at, opened
from tests.viz.reading import traced
from viz.access import models
from viz.core import theme
from viz.core.html import Marked, visible
from viz.pages.decoding import tables as decoded_tables
from viz.pages.decoding.sampling import data
from viz.pages.decoding.sampling.cards import Card, card_html, percent, steps_html
from viz.pages.decoding.sampling.tab import grouped
from viz.selection.selection import Selection
from viz.ui import word_differences


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
    return " ".join(unescape(sub("<[^>]+>", "", text)).replace(word_differences.MISSING, "").split())


def drawn(token_ids: tuple[int, ...], text: str = "x") -> SampledTranslation:
    return SampledTranslation(
        token_ids=token_ids, log_probs=(-1.0,) * len(token_ids), filtered_log_probs=(-0.5,) * len(token_ids), text=text
    )


def samples_of(selection: Selection) -> tuple[SampledTranslation, ...]:
    return data.samples(models.writer(selection.model), TEXT, selection.decoding)


# ---- what is drawn ----


def test_the_settings_of_the_selection_are_those_of_the_model(chosen: Selection) -> None:
    selection = chosen.changed(num_samples=3, sampling_seed=5, temperature=150, top_k=7, top_p=80)
    found = samples_of(selection)
    from model import Sampling

    sampling = Sampling(temperature=1.5, top_k=7, top_p=0.8)
    expected = models.translator(chosen.model).sample(TEXT, n=3, sampling=sampling, seed=5)
    assert [one.token_ids for one in found] == [one.token_ids for one in expected]
    assert [one.filtered_log_prob for one in found] == [one.filtered_log_prob for one in expected]


def test_0_and_100_switch_the_filters_off(chosen: Selection) -> None:
    for one in samples_of(chosen.changed(top_k=0, top_p=100)):
        assert one.filtered_log_probs == pytest.approx(one.log_probs, abs=1e-5)


def test_a_group_wrote_the_same_tokens_and_the_largest_comes_first() -> None:
    series = [drawn((1, 2)), drawn((3,)), drawn((4,)), drawn((3,)), drawn((1, 2, 2))]
    assert grouped(series) == [[1, 3], [0], [2], [4]]


# ---- marks ----


def test_words_that_the_other_text_lacks_are_marked_and_gaps_are_shown() -> None:
    assert word_differences.pieces(word_diff("a b c d", "a x c")) == (
        ("a", False),
        ("x", True),
        ("c", False),
        (word_differences.MISSING, True),
    )
    assert word_differences.pieces(word_diff("a b", "a b")) == (("a b", False),)
    assert word_differences.pieces(word_diff("", "")) == ()


def test_marked_text_shows_html_as_it_is() -> None:
    html = word_differences.marked(word_diff("a", "a <b>x</b>")).html()
    assert html.startswith("a <mark ")
    assert "&lt;b&gt;x&lt;/b&gt;</mark>" in html
    assert "<b>" not in html


# ---- cards ----


CARD = Card(
    title="1 of 2", which="sample 1", text=Marked((("a\x07<i>", True),)), numbers=(("n", "1"),),
    tokens=("\u202e", "<b>"), log_probs=(-0.5, -8.0), filtered_log_probs=(0.0, -1.0),
)  # fmt: skip


def test_a_card_shows_text_as_it_is_and_what_cannot_be_seen() -> None:
    assert "a\u2407&lt;i&gt;</mark>" in card_html(CARD, "de")
    steps = steps_html(CARD)
    assert "\\u202e" in steps
    assert "&lt;b&gt;" in steps
    assert "\u202e" not in steps
    assert "<b>" not in steps


def test_the_steps_tell_both_probabilities_of_each_token() -> None:
    first, second = findall(r'<li title="([^"]*)"', steps_html(CARD))
    assert first == "Step 1: 61 % under the model, 100.0 % as drawn"
    assert second == "Step 2: &lt; 0.1 % under the model, 37 % as drawn"
    greedy = steps_html(replace(CARD, filtered_log_probs=None))
    assert findall(r'<li title="([^"]*)"', greedy)[0] == "Step 1: 61 % under the model"


@pytest.mark.parametrize(
    ("probability", "shown"),
    [(0.0, "0.0 %"), (0.0004, "< 0.1 %"), (0.0949, "9.5 %"), (0.5, "50 %"), (0.9951, "99.5 %"),
     (0.9999, "> 99.9 %"), (1.0, "100.0 %")],
)  # fmt: skip
def test_what_is_not_certain_never_reads_as_certain_nor_what_is_possible_as_impossible(
    probability: float, shown: str
) -> None:
    assert percent(probability) == shown


def test_every_colour_of_a_probability_can_be_written_on() -> None:
    def luminance(colour: str) -> float:
        parts = (part / 255 for part in bytes.fromhex(colour[1:]))
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(part * weight for part, weight in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))

    for step in range(101):
        low, high = sorted(map(luminance, theme.sequential(step / 100)))
        assert (high + 0.05) / (low + 0.05) > 4
    assert theme.sequential(0.0)[0] == theme.NIGHT
    assert theme.sequential(1.0)[0] == theme.LIGHT


# ---- the page ----


def test_the_greedy_translation_stands_first_and_every_sample_is_on_a_card(app: AppTest, chosen: Selection) -> None:
    opened(app, samples=6, top_k=3)
    first, *others = cards(app)
    assert '<p lang="de"' in first
    trace = traced(TEXT, chosen)
    assert (said(first)[0], text_of(first)) == ("Greedy", trace.translation)
    samples = samples_of(chosen.changed(num_samples=6, top_k=3))
    assert sum(int(said(card)[0].split(" of ")[0]) for card in others) == 6
    assert {text_of(card) for card in others} == {visible(" ".join(one.text.split())) or "(nothing)" for one in samples}
    assert findall(r"<dt[^>]*>([^<]*)<", others[0]) == ["Log-probability", "as drawn", "Tokens"]


def test_steps_are_drawn_only_for_a_card_that_is_open(app: AppTest) -> None:
    opened(app, samples=2)
    assert not [element for element in app.html if "<ol" in element.value]
    key = app.expander[1].proto.id.rpartition("-sample-")[2]
    app.session_state[f"sample-{key}"] = True
    app.run()
    (steps,) = (element.value for element in app.html if "<ol" in element.value)
    number = findall(r"Tokens</dt><dd[^>]*>(\d+)<", cards(app)[1])
    assert [str(steps.count("<li"))] == number


def test_the_same_seed_shows_the_same_texts_and_another_one_others(app: AppTest) -> None:
    opened(app, samples=4, draw=3)
    before = cards(app)
    app.number_input(key="sampling_seed").set_value(4).run()
    assert cards(app) != before
    assert app.query_params["draw"] == "4"
    app.number_input(key="sampling_seed").set_value(3).run()
    assert cards(app) == before
    next(button for button in app.button if button.label == "Draw anew").click().run()
    assert app.query_params["draw"] == "4"


def test_more_samples_keep_the_first_ones(chosen: Selection) -> None:
    few, many = (samples_of(chosen.changed(num_samples=count)) for count in (2, 5))
    assert [one.token_ids for one in few] == [one.token_ids for one in many[:2]]


def test_equal_samples_share_a_card_that_counts_them(app: AppTest) -> None:
    # At the lowest temperature everything is what greedy search writes.
    opened(app, samples=5, temperature=1)
    _, *others = cards(app)
    assert [said(card)[:2] for card in others] == [["5 of 5", "samples 1, 2, 3, 4, 5"]]
    assert said(others[0])[-1].endswith("The same text as the greedy translation.")


def test_settings_that_do_not_exist_become_the_nearest_and_nothing_is_lost(app: AppTest) -> None:
    opened(app, samples=0, temperature=0, top_p=0, top_k=99999)
    said = [element.value for element in app.info]
    assert said == [
        "A number of samples of 0 does not exist here: it can be 1 to 64. This shows 1.",
        "A temperature of 0.00 does not exist here: it can be 0.01 to 3.00. This shows 0.01.",
        "A top k of 99999 does not exist here: it can be 0 to 370. This shows 370.",
        "A top p of 0.00 does not exist here: it can be 0.01 to 1.00. This shows 0.01.",
    ]
    assert (app.query_params["samples"], app.query_params["temperature"], app.query_params["top_p"]) == ("1", "1", "1")
    assert app.query_params["text"] == TEXT
    assert len(cards(app)) == 2


def test_sliders_speak_in_numbers_and_the_link_in_hundredths(app: AppTest) -> None:
    opened(app)
    app.slider(key="temperature").set_value(0.7)
    app.slider(key="top_p").set_value(0.29).run()
    assert (app.query_params["temperature"], app.query_params["top_p"]) == ("70", "29")
    assert app.slider(key="top_p").value == pytest.approx(0.29)


# ---- tables ----


def test_the_tables_hold_every_sample_and_every_token(chosen: Selection) -> None:
    samples = samples_of(chosen.changed(num_samples=3))
    vocabulary = models.vocabulary(models.reader(chosen.model))
    lines = list(csv.DictReader(decoded_tables.samples(samples).decode("utf-8-sig").splitlines()))
    assert [float(line["log_prob"]) for line in lines] == [one.log_prob for one in samples]
    tokens = decoded_tables.sampled_tokens(samples, vocabulary).decode("utf-8-sig").splitlines()
    lines = list(csv.DictReader(tokens))
    assert len(lines) == sum(len(one.token_ids) for one in samples)
    of_second = [int(line["token_id"]) for line in lines if line["sample"] == "1"]
    assert tuple(of_second) == samples[1].token_ids


def test_a_text_that_is_a_formula_is_none_in_a_table() -> None:
    (line,) = csv.DictReader(decoded_tables.samples([drawn((1,), "=1+1")]).decode("utf-8-sig").splitlines())
    assert line["text"] == "'=1+1"
