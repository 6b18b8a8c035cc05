"""The whole app in a real browser: what a person does first.

The `page` fixture also asserts that nothing went to the console as an error and nothing was asked of another host.
"""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import settled, visit


def opened(page: Page, url: str, query: str = "") -> None:
    visit(page, f"{url}/{query}")
    expect(page.locator("[data-ready='1']").first).to_be_visible()


def typed(page: Page, text: str) -> Locator:
    field = page.get_by_role("textbox", name="English sentence")
    field.fill(text)
    field.press("Control+Enter")
    return field


def turned_to(page: Page, name: str) -> None:
    page.get_by_role("link", name=name, exact=True).click()
    expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()


def sentence(page: Page, language: str) -> Locator:
    # On the attention page as words in the page's head, to be clicked; on the others as text.
    places = (f"{place} span[lang='{language}']" for place in (".st-key-page-head", "[data-testid='stHtml']"))
    return page.locator(", ".join(places)).first


# ---- what a person does first ----


def test_the_app_starts_with_a_sentence_its_translation_exact_weights_and_heads_to_open(page: Page, url: str) -> None:
    opened(page, url)
    expect(page.get_by_role("heading", name="Attention", level=1)).to_be_visible()
    expect(sentence(page, "en")).to_have_text("The animal didn't cross the street because it was too tired.")
    expect(sentence(page, "de")).not_to_be_empty()
    expect(page.get_by_role("gridcell")).to_have_count(2 * 4)
    # Pointing at a cell tells its tokens and its exact weight.
    picture = page.locator(".matrix-picture[data-exact='1']")
    picture.locator("canvas").hover(position={"x": 5, "y": 5})
    first = picture.locator(".row-label").first.text_content()
    expect(picture.locator(".tooltip-pair")).to_have_text(f"{first} attends to {first}")
    expect(picture.locator(".tooltip-value")).to_have_text(re.compile(r"^weight 0\.\d{4}$"))
    # Heads are opened by a click, by keyboard and by quick clicks, and “Back” closes them.
    title = picture.locator(".matrix-title")
    proposed = title.inner_text().split(" ·")[0]
    page.get_by_role("gridcell", name="L2 H3").click()
    expect(page).to_have_url(re.compile("head=L2H3"))
    expect(title).to_have_text("L2 H3")
    expect(page.get_by_role("gridcell", name="L2 H3, open")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("gridcell", name=re.compile(f"^{proposed}.*, open"))).to_be_visible()
    # Without a mouse.
    page.get_by_role("gridcell", name="L1 H1").focus()
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(page).to_have_url(re.compile("head=L2H2"))
    # Of quick clicks none is taken back.
    for name in ("L1 H2", "L2 H1", "L1 H4", "L2 H3"):
        page.get_by_role("gridcell", name=name).click()
    expect(title).to_have_text("L2 H3")
    expect(page).to_have_url(re.compile("head=L2H3"))
    expect(page.get_by_role("gridcell", name="L2 H3, open")).to_be_visible()


# ---- links and pages ----


@pytest.mark.long
def test_a_link_reopens_the_view_and_bertviz_draws_its_head(page: Page, url: str) -> None:
    opened(page, url, "?checkpoint=en-de&text=It+is+late.&site=decoder.cross&layer=1&head=3")
    expect(sentence(page, "en")).to_have_text("It is late.")
    expect(page.get_by_role("gridcell", name="L2 H4, open")).to_be_visible()
    expect(page.get_by_role("radio", name="Decoder cross")).to_be_checked()
    page.get_by_role("radio", name="bertviz").click()
    expect(page.frame_locator("iframe").first.locator("svg").first).to_be_visible()


@pytest.mark.long
def test_a_link_for_a_class_shows_the_chosen_tabs_alone_until_that_is_undone(page: Page, url: str) -> None:
    visit(page, f"{url}/experiments?claim=Ablations")
    page.get_by_role("button", name="Settings").click()
    first, second = "learn-lessons", r"learn-lessons\.experiments-ablations"
    for tab, chosen in (("Learn › Lessons", first), ("Experiments › Ablations", second)):
        settled(page)
        page.get_by_role("combobox", name="Tabs shown").fill(tab)
        # Until the list is as short as what was typed leaves it, "Select all" stands in its first place.
        expect(page.get_by_role("option")).to_have_text([tab])
        page.get_by_role("option", name=tab).click()
        expect(page).to_have_url(re.compile(f"only={chosen}(&|$)"))
    page.goto(page.url.replace("learn-lessons", "no-such-tab.learn-lessons"))
    navigation = page.get_by_test_id("stTopNavLink")
    expect(navigation).to_have_text(["Learn", "Experiments"])
    expect(page.get_by_role("tab")).to_have_text(["Ablations"])
    page.goto(f"{url}/experiments?claim=Ablations")
    expect(navigation).to_have_count(7)
