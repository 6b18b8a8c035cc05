"""How few clicks lead to the head that links two words: none for the pronoun, two for any other."""

import re

from playwright.sync_api import Page, expect

from tests.browser.pointing import box_of

PATIENCE = 60_000


def test_which_word_it_stands_for_and_in_which_head_is_there_without_a_click(page: Page, shipped_url: str) -> None:
    page.goto(shipped_url)
    said = "“it” → L4 H2 of the cross-attention puts 0.9998 of its weight on “animal” while it writes “es”"
    expect(page.get_by_text(said)).to_be_visible(timeout=PATIENCE)
    expect(page.locator(".matrix-picture[data-title^='L4 H2']")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_role("gridcell", name=re.compile("L4 H2.*, open"))).to_be_visible()


def test_any_two_words_head_takes_two_clicks(page: Page, shipped_url: str) -> None:
    page.goto(f"{shipped_url}/?site=decoder.cross&layer=0&head=0")
    picture = page.locator(".matrix-picture[data-exact='1']")
    expect(picture).to_be_visible(timeout=PATIENCE)
    cells = picture.locator("canvas")
    box = box_of(cells)
    # The last cell: what the row that ends the translation gives the end of the sentence.
    cells.click(position={"x": box["width"] - 5, "y": box["height"] - 5})
    expect(page.get_by_text("Which heads link", exact=False)).to_be_visible(timeout=PATIENCE)
    best = page.locator(".st-key-linked-0 button")
    label = best.text_content() or ""
    best.click()
    head = re.fullmatch(r"cross (L\d+ H\d+) · [01]\.\d{4}", label)
    assert head is not None, label
    expect(page.locator(f".matrix-picture[data-title^='{head[1]}']")).to_be_visible(timeout=PATIENCE)
