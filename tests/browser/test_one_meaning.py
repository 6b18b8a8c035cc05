"""One meaning of a word's row in a real browser: what the page says of words and heads is what is computed here again.

Drawn by a seed, over three kinds of models: a head is opened and two words are clicked. Sentence and cell
then say one number, that of `tests.recomputed`; the head stays open, and nothing moves.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Locator, Page, expect

from model.opening import open_reader
from tests.browser.conftest import settled, visit
from tests.browser.pointing import box_of
from tests.model.adapters import zoo
from tests.recomputed import head_weights, linked_words, word_weight
from viz.access import texts
from viz.text.written import head_label

TEXT = "The animal didn't cross the street because it was too tired."
#: How many draws of two words and a head on each model.
DRAWS = {"shipped": 9, "bart": 9, "gpt2": 6}


@pytest.fixture(scope="module", params=DRAWS)
def model(request: pytest.FixtureRequest, checkpoints: Path, shipped: str) -> Iterator[str]:
    """The name of a model in the app's list: what ships, an encoder–decoder of the library, and a decoder alone."""
    name: str = request.param
    if name != shipped:
        changes = {"max_position_embeddings": 40} if name == "bart" else {}
        zoo.tiny(name, changes=changes).save_pretrained(checkpoints / name)
        zoo.save_tokenizer(checkpoints / name, "metaspace")
    yield name
    # The first of the list is what the app opens with.
    if name != shipped:
        shutil.rmtree(checkpoints / name)


def word(page: Page, number: int) -> Locator:
    return page.locator(".word-picker[data-ready='1'] .word").nth(number)


def measured(page: Page) -> list[tuple[int, ...]]:
    """Where the pictures are, in whole pixels."""
    parts = (".head-grid .board", ".head-grid .cell >> nth=0", ".matrix-picture .stage", ".word-picker")
    boxes = [box_of(page.locator(part)) for part in parts]
    return [(round(box["x"]), round(box["y"]), round(box["width"]), round(box["height"])) for box in boxes]


def as_printed(weight: float) -> re.Pattern[str]:
    """The number as a page prints it, whose last digit the rounding of float32 may turn."""
    return re.compile("|".join({re.escape(f"{max(0.0, weight + by):.4f}") for by in (-1e-6, 0.0, 1e-6)}))


@pytest.mark.long
def test_the_page_says_of_any_two_words_and_head_what_is_computed_again(
    url: str, page: Page, checkpoints: Path, model: str
) -> None:
    trace, draw = open_reader(checkpoints / model).trace(TEXT), Random(f"one meaning {model}")
    known = texts.words(trace)
    for site in trace.sites:
        visit(page, f"{url}/?checkpoint={model}&site={site}&layer=0&head=0&text={TEXT.replace(' ', '+')}")
        settled(page)
        weights = [head_weights(trace, site, layer) for layer in range(trace.layers_of(site))]
        pairs = [pair for pair in linked_words(trace, site) if pair[0] != pair[1]]
        for _ in range(-(-DRAWS[model] // len(trace.sites))):
            layer, head = (draw.randrange(count) for count in trace.shapes[site])
            looking, looked_at = draw.choice(pairs)
            weight = float(word_weight(weights[layer], trace, site, looking, looked_at)[head])
            opened = page.locator(f".head-grid .cell[data-layer='{layer}'][data-head='{head}']")
            opened.click()
            expect(opened).to_have_attribute("aria-selected", "true")
            settled(page)
            before = measured(page)
            for number in (looking, looked_at):
                word(page, number).click()
            expect(page).to_have_url(re.compile(rf"from={looking}&to={looked_at}\b"))
            page.mouse.move(2, 2)
            sentence = page.locator(".headline")
            expect(sentence.locator("b").filter(has_text=as_printed(weight)).first).to_be_visible()
            said = sentence.text_content() or ""
            assert said.startswith(head_label(layer, head))
            for named in (looking, looked_at):
                assert known.labels[named].replace("▁", "") in said
            expect(page.locator(".matrix-picture .kept-number")).to_have_text(as_printed(weight))
            # The heads are listed beside it; the one that was open still is, and nothing has moved.
            expect(opened).to_have_attribute("aria-selected", "true")
            assert measured(page) == before
            page.keyboard.press("Escape")
            expect(page).not_to_have_url(re.compile("from="))


@pytest.mark.long
def test_escape_gives_back_what_was_kept_also_after_another_page_and_a_third_word_begins_anew(
    page: Page, shipped_url: str
) -> None:
    visit(page, shipped_url)
    headline = page.locator(".headline")
    expect(headline).to_contain_text("Worth seeing:")
    said = headline.text_content() or ""
    words = page.locator(".word-picker[data-ready='1']")
    for name, address in (
        ("Straße", r"from=\d+\b(?!.*to=)"),
        ("because", r"from=\d+&to=\d+"),
        ("animal", r"from=1\b(?!.*to=)"),
    ):
        words.get_by_role("button", name=name, exact=True).click()
        expect(page).to_have_url(re.compile(address))
    for name in ("Decode", "Attention"):
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        settled(page)
    expect(headline).to_be_visible()
    expect(words.get_by_role("button", name="animal", exact=True)).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Escape")
    page.mouse.move(2, 2)
    expect(page).not_to_have_url(re.compile("from="))
    expect(headline).to_have_text(said)
