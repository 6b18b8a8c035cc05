"""The grid of heads with figures and ranked, in a real browser. In the demo the last head of a layer is the highest."""

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Serve
from tests.browser.pointing import box_of, until

HERE = Path(__file__).parent


def grid(page: Page, serve: Serve, query: str) -> Locator:
    page.goto(serve(HERE / "demo_head_grid.py") + query)
    root = page.locator("[data-ready='1']")
    root.wait_for()
    return root


def names(root: Locator) -> list[str]:
    return [name.removeprefix("Layer ") for name in root.locator(".cell-name").all_inner_texts()]


def test_figures_stand_under_tiles_that_stay_in_place(page: Page, serve: Serve) -> None:
    root = grid(page, serve, "/?order=layers")
    cell = root.get_by_role("gridcell", name="L2 H8, Invented 8.01")
    expect(cell.locator(".number")).to_have_text("8.01")
    below = root.get_by_role("gridcell", name="L3 H8")

    def are_figures_below() -> bool:
        parts = (cell, cell.locator(".bar"), cell.locator(".number"), below)
        tile, bar, number, next_tile = map(box_of, parts)
        is_in_order = tile["y"] + tile["height"] <= bar["y"] < number["y"] <= next_tile["y"] - number["height"]
        return is_in_order and bar["width"] <= tile["width"] + 1

    def are_tiles_in_place() -> bool:
        canvas, last = box_of(root.locator("canvas")), box_of(root.get_by_role("gridcell").last)
        return abs(last["y"] + last["height"] - canvas["y"] - canvas["height"]) <= 0.5

    until(are_figures_below, "bar and number stand between a tile and the next")
    until(are_tiles_in_place, "the last cell ends where the picture does")
    expect(root).to_contain_text("The number of the head.")


def test_ranked_tiles_name_their_heads_and_open_them_by_click_and_by_keyboard(page: Page, serve: Serve) -> None:
    root = grid(page, serve, "/?order=highest&keep=8")
    ranked = [*(f"L{layer} H8" for layer in range(6, 0, -1)), "L6 H7", "L5 H7"]
    until(lambda: names(root) == ranked, "from the highest to the lowest")
    expect(root).to_contain_text("from the highest to the lowest")
    first = root.get_by_role("gridcell").first
    first.click()
    expect(page.get_by_text("open: (5, 7)")).to_be_visible()
    expect(root.locator(".cell.open .cell-name")).to_have_text("L6 H8")
    # Arrow keys move in what is on the screen, and Enter opens.
    root.locator(".cell[tabindex='0']").focus()
    for key in ("Home", "ArrowRight", "ArrowDown", "ArrowDown", "End", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
    expect(root.locator(".cell:focus .cell-name")).to_have_text("L6 H7")
    expect(root.get_by_role("status")).to_have_text(re.compile("^L6 H7: largest weight "))
    page.keyboard.press("Enter")
    expect(page.get_by_text("open: (5, 6)")).to_be_visible()
    expect(root.locator(".cell:focus")).to_have_attribute("aria-label", "L6 H7, Invented 7.05, open")


def test_a_narrow_page_holds_ranked_heads_without_cut_off_names(page: Page, serve: Serve) -> None:
    page.set_viewport_size({"width": 480, "height": 900})
    root = grid(page, serve, "/?case=big&order=highest")
    rights = "cells => cells.slice(0, 20).map((cell) => cell.getBoundingClientRect().right)"
    until(lambda: max(root.get_by_role("gridcell").evaluate_all(rights)) <= 480, "the tiles are on the page")
    wider = """names => names.slice(0, 20).filter((name) =>
      name.scrollWidth > name.closest("[role=gridcell]").getBoundingClientRect().width + 1).length"""
    until(lambda: root.locator(".cell-name").evaluate_all(wider) == 0, "names are no wider than their tiles")
