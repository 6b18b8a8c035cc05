"""Attention → Why, in a browser: from the first page to the word that decided, in four clicks, and back."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import visit


@pytest.mark.long
def test_a_stranger_gets_in_four_clicks_from_the_first_page_to_the_word_that_was_read(
    page: Page, shipped_url: str
) -> None:
    visit(page, shipped_url)
    page.locator(".headline").get_by_role("link", name="Why?").click()
    why = page.locator(".why[data-ready]")
    expect(why.get_by_role("heading", level=2)).to_contain_text("Why animal and not")
    why.locator(".bar", has_text="cross L4").click()
    expect(page.locator(".why[data-ready='c4']")).to_be_visible()
    why.get_by_role("button", name=re.compile(r"^it, .*why\?$")).first.click()
    expect(page.locator(".why[data-ready='c4.s10']")).to_be_visible()
    why.locator(".bar", has_text="encoder L4").click()
    expect(why.locator(".because")).to_contain_text("Because “it” had read “tired”")
    expect(page).to_have_url(re.compile(r"trail=c4\.s10\.e4"))
    # Escape returns one step, as the browser's Back does.
    expect(why.get_by_role("heading", level=2)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".why[data-ready='c4.s10']")).to_be_visible()
    expect(page).to_have_url(re.compile(r"trail=c4\.s10(&|$)"))
    page.go_back()
    expect(page.locator(".why[data-ready='c4.s10.e4']")).to_be_visible()
    # The trail of one cell is none of another's.
    page.get_by_role("tab", name="All heads").click()
    page.get_by_role("gridcell", name="L6 H1", exact=False).click()
    expect(page.locator(".matrix-picture[data-exact='1']")).to_have_attribute("data-title", re.compile("^L6 H1"))
    page.get_by_role("tab", name="Why").click()
    expect(page.locator(".why[data-ready='question']")).to_be_visible()


#: Where "Why?" of a cell is → address, and what asks.
OFFERED = {
    "a kept cell": ("?", ".kept-why .why-link"),
    "a tile": ("?", ".head-grid .status .why-link"),
    "a line": ("?drawn=Lines&", ".head-lines .status .why-link"),
    "the film's row": ("decode?", ".decode-player .fan .why-link"),
    "a cell of the picture": ("learn?learn=The+Transformer&depth=cell&", ".cell-scene .why-link"),
}


@pytest.mark.long
@pytest.mark.parametrize("place", OFFERED)
def test_why_is_one_press_from_a_cell_and_asks_about_exactly_that_cell(
    page: Page, url: str, shipped: str, place: str
) -> None:
    address, link = OFFERED[place]
    visit(page, f"{url}/{address}checkpoint={shipped}")
    if place == "a tile":
        expect(page.locator(".matrix-picture[data-exact='1']")).to_be_visible()
        height = page.locator(".head-grid").evaluate("grid => grid.offsetHeight")
        page.get_by_role("gridcell", name="L6 H5", exact=False).click()
        expect(page.locator(".matrix-picture[data-exact='1']")).to_have_attribute("data-title", re.compile("^L6 H5"))
        expect(page.locator(link)).to_have_attribute("href", re.compile("L6H5"))
        assert page.locator(".head-grid").evaluate("grid => grid.offsetHeight") == height
    if place == "a line":
        # By keyboard to another token, which is kept, and on to the link, which is there while the focus comes to it.
        kept = page.locator(".head-lines .column.query [aria-selected='true']")
        kept.focus()
        page.keyboard.press("ArrowUp")
        expect(page.locator(link)).to_have_count(0)
        page.keyboard.press("Enter")
        expect(kept).to_be_focused()
        expect(page.locator(link)).to_be_visible()
        for _column in range(2):
            page.keyboard.press("Tab")
        expect(page.locator(link)).to_be_focused()
    href = page.locator(link).get_attribute("href") or ""
    named = re.fullmatch(r"#why-([a-z.]+)-L(\d)H(\d)-R(\d+)K(\d+)", href)
    assert named is not None, href
    site, layer, head, row, key = named.groups()
    page.locator(link).press("Enter")
    expect(page.locator(".why[data-ready='question']")).to_be_visible()
    for part in (f"site={site}", f"head=L{layer}H{head}", f"token={int(row) - 1}", f"key_token={int(key) - 1}"):
        expect(page).to_have_url(re.compile(rf"[?&]{re.escape(part)}(&|$)"))


@pytest.mark.long
@pytest.mark.parametrize(
    ("button", "key", "rival", "twin"),
    [("First sentence: why?", "animal", "street", "wide"), ("Second sentence: why?", "street", "animal", "tired")],
)
def test_each_sentence_of_a_pair_is_asked_about_with_the_other_as_its_twin(
    page: Page, url: str, shipped: str, button: str, key: str, rival: str, twin: str
) -> None:
    visit(page, f"{url}/compare?checkpoint={shipped}&site=decoder.cross&head=L5H2")
    page.get_by_role("button", name=button).press("Enter")
    why = page.locator(".why[data-ready='question']")
    expect(why.get_by_role("heading", level=2)).to_contain_text(f"Why {key} and not")
    expect(why.get_by_role("combobox").locator("option:checked")).to_have_text(rival)
    expect(page).to_have_url(re.compile(rf"head=L5H2&.*other=The\+animal.*{twin}"))


@pytest.mark.long
def test_words_are_tested_together_with_the_weights_and_the_german_that_follow(page: Page, shipped_url: str) -> None:
    visit(page, f"{shipped_url}&view=Why")
    why, rows = page.locator(".why[data-ready]"), page.locator(".why .test tbody tr")
    # Every bar has two numbers before anybody asks for a run.
    expect(why.locator(".bar", has_text="cross L4").locator(".left")).to_contain_text("◇ +1")
    expect(rows.nth(3)).to_contain_text("not tested yet")

    def word(name: str) -> Locator:
        return why.get_by_role("button", name=re.compile(rf"^{name}, .*with others$"))

    why.get_by_role("button", name="Several words").click()
    for name in ("it", "tired"):
        word(name).click()
    page.keyboard.press("t")
    expect(rows.nth(0)).to_contain_text("7.58“es zu müde war.”", timeout=60_000)
    expect(rows.nth(3)).to_contain_text("−7.75“sie zu breit war.”")
    expect(why.get_by_role("button", name="tested")).to_be_disabled()
    expect(word("tired")).to_be_focused()
    # Of the nouns themselves nothing depends.
    for name in ("it", "tired", "animal", "street"):
        word(name).click()
    why.get_by_role("button", name="Test it", exact=True).click()
    expect(rows.nth(3)).to_contain_text("7.99", timeout=60_000)
    expect(rows.nth(3)).to_contain_text("7.60“es zu müde war.”")
    # A word of the twin is taken out of the twin's run.
    why.get_by_role("button", name="One at a time").click()
    why.get_by_role("button", name=re.compile(r"^it, .*why\?$")).last.focus()
    expect(why.locator(".test h3")).to_contain_text("“it” in the twin")
    page.keyboard.press("t")
    expect(rows.nth(0)).to_contain_text("“sie zu breit war.”", timeout=60_000)
    # The bars that are not drawn have a test together.
    rest = why.locator(".bar.rest").last
    rest.focus()
    expect(why.locator(".test h3")).to_contain_text("Without the other")
    expect(rest.locator(".left")).to_contain_text("◇")
    page.keyboard.press("t")
    expect(rest.locator(".left")).to_contain_text("●", timeout=60_000)
    expect(why.locator(".test .note")).to_contain_text("Not removed")
    # What belongs to both texts cannot be taken out of one, and says so.
    visit(page, f"{shipped_url}&view=Why&trail=c4.s10")
    why.locator(".bar.rest").click()
    why.locator(".bar", has_text="difference in reading").focus()
    expect(why.locator(".test .refused")).to_contain_text("cannot be removed from one of them")
