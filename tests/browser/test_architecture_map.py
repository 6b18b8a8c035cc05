"""The Transformer as a map, in a real browser: the film lights boxes, and the keyboard opens what a box stands for."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import visit
from tests.browser.saving import save_button


def the_map(page: Page, url: str, query: str = "") -> Locator:
    visit(page, f"{url}/learn?learn=The+Transformer{query}")
    player = page.locator(".architecture-player[data-ready]")
    player.wait_for()
    return player


def test_the_film_lights_the_boxes_from_the_source_to_the_written_token_and_plays(page: Page, url: str) -> None:
    player = the_map(page, url)
    about = player.locator(".box.about")
    expect(about).to_have_attribute("data-box", "encoder.embedding")
    expect(player.locator(".tag-text")).to_have_text(re.compile(r"\d+ tokens"))
    player.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(about).to_have_attribute("data-box", "encoder.self")
    expect(player.locator(".frame.running .now")).to_have_text("layer 1")
    page.keyboard.press("PageDown")
    expect(about).to_have_attribute("data-box", "decoder.embedding")
    expect(player.locator(".position")).to_have_text(re.compile("Token 1 of"))
    while about.get_attribute("data-box") != "decoder.softmax":
        page.keyboard.press("ArrowRight")
    written = player.locator(".chip.new")
    expect(player.locator(".tag-text")).to_have_text(written.text_content() or "?")
    # Where it stands is in the address.
    expect(page).to_have_url(re.compile(r"map=\d+"))
    # It plays and pauses.
    page.keyboard.press("Home")
    expect(about).to_have_attribute("data-box", re.compile("encoder"))
    player.locator("select.speed").select_option("8")
    player.get_by_role("button", name="Play (Space)").click()
    expect(about).to_have_attribute("data-box", re.compile("decoder"))
    player.get_by_role("button", name="Pause (Space)").click()


def test_tab_reaches_a_box_arrows_lead_on_and_enter_opens_its_page(page: Page, url: str) -> None:
    player = the_map(page, url, "&map=4")
    save_button(player, "PDF").focus()
    page.keyboard.press("Tab")
    focused = player.locator(".box:focus")
    expect(focused).to_have_attribute("data-box", "encoder.inputs")
    for _ in range(4):
        page.keyboard.press("ArrowUp")
    expect(focused).to_have_attribute("data-box", "encoder.self")
    page.keyboard.press("ArrowRight")
    expect(focused).to_have_attribute("data-box", "decoder.self")
    for _ in range(3):
        page.keyboard.press("ArrowUp")
    expect(focused).to_have_attribute("aria-label", re.compile("Cross-attention.*Opens its heads"))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/\?.*site=decoder\.cross"))
    expect(page.get_by_role("heading", name="Attention", level=1)).to_be_visible()
    # A norm opens the followed token in the layer of the film.
    page.go_back()
    expect(player).to_be_visible()
    player.locator("[data-box='encoder.feed_forward']").click()
    path = page.locator(".token-path[data-ready]")
    expect(path.locator(".stage[aria-pressed='true']")).to_have_text("Layer 2")
