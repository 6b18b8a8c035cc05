"""Cards of samples: what they show, and how certain they are."""

from dataclasses import replace
from re import findall

from viz.pages.decoding.sampling import Card, card_html, steps_html
from viz.text.html import Marked

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
    assert first == "Step 1: 61% under the model, 100.0% as sampled"
    assert second == "Step 2: &lt; 0.1% under the model, 37% as sampled"
    greedy = steps_html(replace(CARD, filtered_log_probs=None))
    assert findall(r'<li title="([^"]*)"', greedy)[0] == "Step 1: 61% under the model"
