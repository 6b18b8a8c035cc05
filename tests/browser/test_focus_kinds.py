"""Each gesture for a model that reads, one that writes on, and one of pictures; `test_focus` has a translator."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import transformers
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import visit
from tests.browser.pointing import at_rest, box_of, until
from tests.model.adapters import zoo

Sent = Callable[[], int]
TEXT = "The animal was tired"
#: Kind → the checkpoint; all heads of all of them have random weights.
TEXTS = {"encoder": "focus-bert", "decoder": "focus-gpt2"}
PICTURES = "focus-vit"
SHARES = "words => words.map((word) => Number(word.style.getPropertyValue('--share')))"


@pytest.fixture(scope="module")
def app(url: str, checkpoints: Path) -> Iterator[str]:
    """The whole app, with a model of each kind."""
    made = [checkpoints / name for name in (*TEXTS.values(), PICTURES)]
    for folder in made:
        zoo.save_model(folder, folder.name.removeprefix("focus-"))
    transformers.ViTImageProcessorPil(size={"height": 24, "width": 24}).save_pretrained(checkpoints / PICTURES)
    yield url
    for folder in made:
        shutil.rmtree(folder)


@pytest.fixture(params=TEXTS)
def words(request: pytest.FixtureRequest, page: Page, app: str) -> Locator:
    """The words of the page Attention of a model that reads text, whose second head is open."""
    visit(page, f"{app}/?checkpoint={TEXTS[request.param]}&text={TEXT.replace(' ', '+')}&layer=0&head=1")
    expect(picture(page)).to_be_visible()
    expect(page.locator(".head-grid[data-ready='1']")).to_be_visible()
    at_rest(page)
    return page.locator(".word-picker[data-ready='1'] .word")


def picture(page: Page) -> Locator:
    return page.locator(".matrix-picture[data-exact='1']")


def headline(page: Page) -> Locator:
    return page.locator(".headline[data-ready='1']")


def expect_that_every_view_answers_a_word(words: Locator, sent: Sent) -> None:
    page, before = words.page, sent()
    said = headline(page).inner_text()
    words.nth(1).hover()
    expect(headline(page)).to_contain_text(re.compile(r"In L1 H2 the largest weight of ▁?animal"))
    expect(words.nth(1)).to_have_class(re.compile(r"\blooks\b"))
    # The others are tinted by degrees, and lines lead to them.
    until(lambda: len({share for share in words.evaluate_all(SHARES) if 0 < share <= 1}) > 1, "degrees of tint")
    expect(page.locator(".word-links path").first).to_be_attached()
    # The row that reads the word, whatever it predicts; and the same in every tile.
    frame = picture(page).locator(".pointed-frame").first
    label = picture(page).locator(".row-label").filter(has_text=re.compile("^▁?an")).first

    def is_framed() -> bool:
        framed, row = box_of(frame), box_of(label)
        return framed["y"] <= row["y"] + row["height"] / 2 <= framed["y"] + framed["height"]

    until(is_framed, "the frame is around the row of the word")
    expect(page.locator(".head-grid .marks")).to_be_visible()
    page.mouse.move(5, 500)
    expect(headline(page)).to_have_text(said)
    expect(page.locator(".head-grid .marks")).to_have_count(0)
    assert sent() == before
    words.nth(1).click()
    expect(page).to_have_url(re.compile(r"from=1\b"))
    until(lambda: sent() > before, "messages are counted")


def expect_that_a_tile_is_shown_in_full(words: Locator, sent: Sent) -> None:
    page, before = words.page, sent()
    page.get_by_role("gridcell", name="L1 H1", exact=False).hover()
    expect(page.locator(".matrix-picture")).to_have_attribute("data-title", re.compile("^L1 H1"))
    expect(headline(page)).to_contain_text("L1 H1 gives")
    page.mouse.move(5, 500)
    expect(picture(page)).to_have_attribute("data-title", re.compile("^L1 H2"))
    assert sent() == before


def expect_that_a_click_chooses_and_lets_go(words: Locator) -> None:
    page = words.page
    expect(words.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_url(re.compile(r"from=1\b"))
    page.mouse.move(5, 500)
    expect(headline(page)).to_contain_text(re.compile(r"In L1 H2 the largest weight of ▁?animal"))
    # The row that reads the word, whatever it predicts.
    expect(picture(page).locator(".row-label.kept")).to_have_text(re.compile("^▁?an"))
    words.nth(1).click()
    expect(page).not_to_have_url(re.compile("from="))
    expect(words.nth(1)).to_have_attribute("aria-pressed", "false")
    expect(picture(page).locator(".row-label.kept")).to_have_count(0)
    # By keyboard: arrows lead on, Enter chooses, with Shift one more, Escape lets go of all.
    page.mouse.move(5, 500)
    words.nth(0).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"from=1\b"))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+Enter")
    expect(page).to_have_url(re.compile(r"from=1\.2\b"))
    page.mouse.move(5, 500)
    page.locator("h1").click()
    expect(headline(page)).to_contain_text("In L1 H2 the weights of animal + was are summed")
    words.nth(2).focus()
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("from="))


def expect_that_two_words_ask_for_their_heads(words: Locator) -> None:
    page = words.page
    words.nth(2).click()
    expect(page).to_have_url(re.compile(r"from=2\b"))
    words.nth(1).click()
    expect(page).to_have_url(re.compile(r"from=2&to=1\b"))
    expect(page.locator(".link-question")).to_contain_text("Which heads link was to animal?")
    expect(page.locator(".head-grid .cell-rank").first).to_be_visible()
    expect(page.locator(".head-grid .layer-name").nth(1)).to_have_text("Layer 1")


def expect_that_the_choice_goes_along(words: Locator) -> None:
    page = words.page
    words.nth(1).click()
    expect(page).to_have_url(re.compile(r"from=1\b"))
    others = ["Compare"] if "bert" in page.url else ["Decode", "Compare"]
    for name in others:
        page.get_by_role("link", name=name, exact=True).click()
        expect(page).to_have_url(re.compile(f"/{name.lower()}"))
        if name == "Compare":
            # A sentence of one's own has a twin when it is given one.
            page.get_by_role("textbox", name="Compare with").fill("The animal was old")
            page.get_by_role("textbox", name="Compare with").press("Enter")
        chosen = page.locator(".word-picker[data-ready='1'] .word.from")
        expect(chosen.first).to_have_text(re.compile("^▁?animal"))
        expect(page).to_have_url(re.compile(r"from=1\b"))
    # Both sentences look from the word that was chosen.
    expect(chosen).to_have_count(2)
    page.get_by_role("link", name="Attention", exact=True).click()
    expect(words.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(picture(page)).to_have_attribute("data-title", re.compile("^L1 H2"))


@pytest.mark.long
def test_each_gesture_on_words_is_answered_without_the_server_and_what_is_chosen_is_kept(
    words: Locator, sent: Sent
) -> None:
    expect_that_a_tile_is_shown_in_full(words, sent)
    expect_that_every_view_answers_a_word(words, sent)
    expect_that_a_click_chooses_and_lets_go(words)
    expect_that_the_choice_goes_along(words)
    words.nth(2).focus()
    words.page.keyboard.press("Escape")
    expect(words.page).not_to_have_url(re.compile("from="))
    expect_that_two_words_ask_for_their_heads(words)


@pytest.mark.long
def test_a_patch_of_a_picture_is_pointed_at_chosen_and_reached_by_keyboard(page: Page, app: str, sent: Sent) -> None:
    visit(page, f"{app}/?checkpoint={PICTURES}&layer=0&head=1")
    expect(picture(page)).to_be_visible()
    expect(page.locator(".picture-attention[data-ready='1']")).to_be_visible()
    at_rest(page)
    before, patches = sent(), page.locator(".picture-attention canvas")
    page.mouse.move(box_of(patches)["x"] + 5, box_of(patches)["y"] + 5)
    expect(headline(page)).to_contain_text("L1 H2 gives")
    expect(picture(page).locator(".pointed-frame").first).to_be_visible()
    expect(page.locator(".head-grid .marks")).to_be_visible()
    page.get_by_role("gridcell", name="L1 H1", exact=False).hover()
    expect(headline(page)).to_contain_text("L1 H1 gives")
    page.mouse.move(5, 500)
    expect(page.locator(".head-grid .marks")).to_have_count(0)
    assert sent() == before
    page.mouse.click(box_of(patches)["x"] + 5, box_of(patches)["y"] + 5)
    expect(page).to_have_url(re.compile(r"token="))
    until(lambda: sent() > before, "messages are counted")
    chosen = page.url
    page.locator(".picture-attention .stage").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page).not_to_have_url(chosen)
