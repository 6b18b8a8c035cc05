"""The film in a real browser: what keys and pointer do, what is shown of a step, and what Python hears."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import Serve, watched_tab
from tests.browser.pointing import box_of, until

HERE = Path(__file__).parent


def player(page: Page, serve: Serve, query: str = "/") -> Locator:
    page.goto(serve(HERE / "demo_decode_player.py") + query)
    root = page.locator("[data-ready='1'][data-step]")
    root.wait_for()
    return root


def step_of(root: Locator) -> int:
    return int(root.get_attribute("data-step") or "-1")


@pytest.fixture(scope="module")
def opened_once(profile: BrowserContext, serve: Serve) -> Iterator[Locator]:
    """A player that several tests move."""
    with watched_tab(profile) as tab:
        yield player(tab, serve)


@pytest.fixture
def started(opened_once: Locator) -> Locator:
    """That player at its first step."""
    opened_once.get_by_role("slider", name="Step").press("Home")
    expect(opened_once).to_have_attribute("data-step", "0")
    return opened_once


@pytest.fixture(scope="module")
def read(profile: BrowserContext, serve: Serve) -> Iterator[Locator]:
    """A player that several tests read and point at, at a step and layer of a link."""
    with watched_tab(profile) as tab:
        yield player(tab, serve, "/?step=2&layer=2")


# ---- moving ----


@pytest.mark.long
def test_the_step_reaches_the_url_once_and_the_page_is_not_run_again(started: Locator) -> None:
    root, page = started, started.page
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.wait_for_url("**step=5**")
    expect(page.get_by_text("reported: PlayerState(step=5, layer=0")).to_be_visible()
    expect(page.get_by_text("runs of the page: 1")).to_be_visible()
    # Stepping on while the server still answers the report before is never undone.
    for press in range(12):
        page.keyboard.press("ArrowLeft" if press % 3 == 2 else "ArrowRight", delay=90)
    expect(root).to_have_attribute("data-step", "9")
    page.wait_for_url("**step=9**")
    expect(page.get_by_text("reported: PlayerState(step=9,")).to_be_visible()
    expect(root).to_have_attribute("data-step", "9")


def test_a_link_opens_at_its_step_which_shows_what_is_read_and_written_and_every_head(read: Locator) -> None:
    expect(read).to_have_attribute("data-step", "2")
    expect(read.get_by_role("combobox", name="Layer")).to_have_value("2")
    # A step shows what is read above what is written.
    columns = read.locator(".columns .column:not(.names):visible")
    expect(columns.locator(".read")).to_have_text(["<s>", "▁Das", "▁Tier"])
    expect(columns.locator(".written")).to_have_text(["▁Das", "▁Tier", "▁überquerte"])
    expect(read.locator(".caption")).to_have_text(
        "Row 3: the decoder reads ▁Tier and predicts ▁der; ▁überquerte is written instead."
    )
    # Every head of every layer has a row over both sentences.
    for strip in read.locator(".strip").all():
        names = [f"L{layer} H{head}" for layer in range(1, 5) for head in range(1, 9)]
        expect(strip.locator(".row-name")).to_have_text(names)
        expect(strip.locator("canvas")).to_have_count(4)
    expect(read.locator(".strip canvas").nth(2)).to_have_attribute("aria-label", re.compile(r"^Layer 3.*L3 H8: "))
    # Hovering says layer, head, tokens and weight, and the future stays silent.
    prefix = read.locator(".strip").last.locator("canvas").nth(1)
    # The strips of the other layers come on demand.
    expect(prefix).to_be_hidden()
    read.get_by_role("button", name="All layers").click()
    box = box_of(prefix)
    prefix.hover(position={"x": 3, "y": 2.5 * box["height"] / 8})
    expect(read.locator(".tooltip-title")).to_have_text("L2 H3")
    expect(read.locator(".tooltip-pair")).to_have_text("▁Tier → ▁überquerte attends to <s>")
    expect(read.locator(".tooltip-value")).to_have_text(re.compile(r"^weight (0\.\d{3}|< 0\.001)$"))
    prefix.hover(position={"x": box["width"] - 5, "y": 5})
    expect(read.locator(".tooltip")).to_be_hidden()
    # Markup and bidirectional controls in tokens are shown as text.
    expect(read.locator(".bars").get_by_text("<script>alert(1)</script>")).to_be_visible()
    expect(read.locator(".bars").get_by_text("\\u202eabc")).to_be_visible()
    expect(read.locator("script")).to_have_count(0)


def test_the_page_can_move_the_player(started: Locator) -> None:
    root, page = started, started.page
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**step=1**")
    page.get_by_role("button", name="Jump to step 4").click()
    expect(root).to_have_attribute("data-step", "3")
    page.keyboard.press("ArrowRight")
    expect(root).to_have_attribute("data-step", "4")
    page.wait_for_url("**step=4**")


def test_a_shorter_decoding_takes_the_place_of_a_longer_one(page: Page, serve: Serve) -> None:
    root = player(page, serve, "/?repeat=3&step=38")
    expect(root.locator(".position")).to_have_text("Step 39 of 40")
    page.get_by_role("button", name="The sentence once").click()
    expect(root.locator(".position")).to_have_text("Step 14 of 14")
    page.keyboard.press("ArrowLeft")
    expect(root.locator(".position")).to_have_text("Step 13 of 14")


def test_keys_that_belong_to_others_are_left_alone(page: Page, serve: Serve) -> None:
    root = player(page, serve, "/?step=5")
    for key in ("Shift+ArrowRight", "Control+ArrowRight", "End", "ArrowDown", " "):
        page.keyboard.press(key)
    page.get_by_label("Some text").focus()
    page.keyboard.press("ArrowRight")
    root.get_by_text("Sampling instead of greedy decoding").click()
    root.get_by_role("slider", name="Temperature").focus()
    page.keyboard.press("ArrowLeft")
    expect(root.locator(".filter output").first).to_have_text("0.95")
    expect(root).to_have_attribute("data-step", "5")
    expect(root).to_have_attribute("data-layer", "0")


def test_buttons_scrubber_curve_sentence_and_keys_step(started: Locator) -> None:
    root, page = started, started.page
    root.get_by_role("button", name="Step forward").click()
    root.get_by_role("button", name="Step forward").click()
    root.get_by_role("button", name="Step back").click()
    expect(root).to_have_attribute("data-step", "1")
    page.keyboard.press("End")
    expect(root).to_have_attribute("data-step", "13")
    expect(root.get_by_role("button", name="Step forward")).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    expect(root).to_have_attribute("data-step", "0")
    expect(root).to_have_attribute("data-layer", "1")
    root.get_by_role("slider", name="Step").fill("8")
    root.get_by_role("slider", name="Step").press("ArrowRight")
    expect(root).to_have_attribute("data-step", "9")
    root.locator(".columns .column").nth(3).click()
    expect(root).to_have_attribute("data-step", "2")
    curve = root.locator(".curve")
    curve.click(position={"x": box_of(curve)["width"] - 30, "y": 30})
    expect(root).to_have_attribute("data-step", "13")


@pytest.mark.long
def test_space_plays_to_the_end_and_pauses(page: Page, serve: Serve) -> None:
    root = player(page, serve, "/?step=9")
    root.get_by_label("Speed").select_option("8")
    root.get_by_role("slider", name="Step").focus()
    page.keyboard.press(" ")
    expect(root.get_by_role("button", name="Pause")).to_be_visible()
    expect(root).to_have_attribute("data-step", "13")
    expect(root.get_by_role("button", name="Play")).to_be_visible()
    page.wait_for_url("**step=13**")
    # At its end it begins anew; a second press pauses. Slowly, for a busy machine may look once in many steps.
    root.get_by_label("Speed").select_option("1")
    root.get_by_role("slider", name="Step").focus()
    page.keyboard.press(" ")
    expect(root).not_to_have_attribute("data-step", "13")
    page.keyboard.press(" ")
    expect(root.get_by_role("button", name="Play")).to_be_visible()
    stopped = step_of(root)
    page.wait_for_url(f"**step={stopped}**")
    assert step_of(root) == stopped < 13


# ---- what is shown ----


def test_clicking_rows_chooses_heads_of_one_layer_and_python_hears_of_them(page: Page, serve: Serve) -> None:
    root = player(page, serve, "/?step=3")
    root.get_by_role("button", name="All layers").click()
    rows = root.locator(".strip").first.locator(".row-name")
    rows.nth(2 * 8 + 4).click()
    rows.nth(2 * 8 + 1).click()
    expect(root).to_have_attribute("data-layer", "2")
    expect(root).to_have_attribute("data-heads", "1 4")
    expect(root.locator(".strip").last.locator(".row-frame")).to_have_count(2)
    expect(page.get_by_text("layer=2, head=1, also=(4,)")).to_be_visible()
    rows.nth(2 * 8 + 1).click()
    rows.nth(2 * 8 + 4).click()
    # The last head stays.
    expect(root).to_have_attribute("data-heads", "4")
    root.get_by_role("button", name="Head 7").click()
    expect(root).to_have_attribute("data-heads", "6 4")
    # After a click arrows step on; by keyboard heads are one stop of Tab, with arrows from head to head.
    page.keyboard.press("ArrowRight")
    expect(root).to_have_attribute("data-step", "4")
    root.get_by_role("combobox", name="Layer").focus()
    for key in ("Tab", "ArrowLeft", "Enter"):
        page.keyboard.press(key)
    expect(root).to_have_attribute("data-heads", "5 6 4")
    expect(root).to_have_attribute("data-step", "4")
    page.keyboard.press("Tab")
    expect(root.get_by_role("button", name="All layers")).to_be_focused()


def test_the_source_is_tinted_by_the_heads_of_the_step_and_by_the_one_pointed_at(page: Page, serve: Serve) -> None:
    root = player(page, serve, "/?step=3")
    chips = root.locator(".chip.source")
    shares = "chips => chips.map((chip) => Number(chip.style.getPropertyValue('--share')))"

    def is_a_row() -> bool:
        return abs(sum(chips.evaluate_all(shares)) - 1) <= 0.02

    until(is_a_row, "a row of one head")
    before = chips.evaluate_all(shares)
    expect(root.locator(".word-links path").first).to_be_attached()
    # Another head of the open layer, while the pointer is on its row.
    row = root.locator(".strip").first.locator(".layer-block.open .row-name:not(.chosen)").first
    row.hover()
    until(lambda: chips.evaluate_all(shares) != before, "the row of another head")
    until(is_a_row, "a row of one head")
    # A token of the source is named in the strip, too.
    chips.nth(1).hover()
    until(lambda: chips.evaluate_all(shares) == before, "the row of the chosen head again")
    expect(root.locator(".strip").first.locator(".key-label.now")).to_have_text(chips.nth(1).inner_text())
    page.keyboard.press("ArrowRight")
    until(lambda: chips.evaluate_all(shares) != before, "the row of the next step")


def test_a_long_decoding_scrolls_together_and_follows_the_step(page: Page, serve: Serve) -> None:
    root = player(page, serve, "/?repeat=8&step=60")
    panels = root.locator(".panel")
    share = "panel => panel.scrollLeft / (panel.scrollWidth - panel.clientWidth)"
    for step, width in ((60, 1400), (61, 800)):
        page.set_viewport_size({"width": width, "height": 1000})
        if step > 60:
            page.keyboard.press("ArrowRight")
        page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)
        until(lambda: abs(panels.first.evaluate(share) - panels.last.evaluate(share)) <= 0.02, "both scrolled alike")
        now = root.locator(".strip").last.locator(".key-label").nth(step)

        def is_in_sight(now: Locator = now) -> bool:
            label, panel = box_of(now), box_of(panels.last)
            return panel["x"] < label["x"] < panel["x"] + panel["width"]

        until(is_in_sight, "the step is in sight")
        panels.last.evaluate("panel => { panel.scrollLeft = 0; }")
        until(lambda: panels.first.evaluate("panel => panel.scrollLeft <= 2"), "the other panel has followed")
