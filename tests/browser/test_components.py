"""The components in a real browser, each alone on a page with invented data: what a person sees and what keys do."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Serve
from tests.browser.pointing import box_of, until

HERE = Path(__file__).parent


def opened(page: Page, serve: Serve, script: str, query: str = "") -> Locator:
    page.goto(serve(HERE / script) + query)
    root = page.locator("[data-ready='1']")
    root.wait_for()
    return root


def grid(page: Page, serve: Serve, case: str = "small") -> Locator:
    return opened(page, serve, "demo_head_grid.py", f"/?case={case}")


def pixels_of(canvas: Locator) -> dict[str, float]:
    """How many colours a canvas shows, and its size in device and CSS pixels."""
    shown: dict[str, float] = canvas.evaluate(
        """canvas => {
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          const box = canvas.getBoundingClientRect();
          return { colours: new Set(new Uint32Array(data.buffer)).size, width: canvas.width, cssWidth: box.width };
        }"""
    )
    return shown


# ---- the grid of heads ----


@pytest.mark.long
def test_every_head_has_a_labelled_cell_that_names_what_is_pointed_at_and_opens_by_a_click(
    page: Page, serve: Serve
) -> None:
    root = grid(page, serve)
    expect(root.get_by_role("gridcell")).to_have_count(48)
    expect(root.get_by_role("columnheader")).to_have_text(["", *(f"Head {i}" for i in range(1, 9))])
    expect(root.get_by_role("rowheader")).to_have_text([f"Layer {i}" for i in range(1, 7)])
    until(lambda: pixels_of(root.locator("canvas"))["colours"] > 50, "the tiles are painted")
    cell = root.get_by_role("gridcell", name="L4 H3")
    box = box_of(cell)
    # The weight in row 10 (▁it), column 1 (▁animal) of 20 × 20.
    cell.hover(position={"x": box["width"] * 1.5 / 20, "y": box["height"] * 9.5 / 20})
    tooltip = root.locator(".tooltip")
    expect(tooltip.locator(".tooltip-title")).to_have_text("L4 H3")
    expect(tooltip.locator(".tooltip-pair")).to_have_text("▁it attends to ▁animal")
    expect(tooltip.locator(".tooltip-value")).to_have_text(re.compile(r"^(0\.\d{3}|< 0\.001)$"))
    page.mouse.move(5, 5)
    expect(tooltip).to_be_hidden()
    # A click opens a head, and Python hears of it.
    root.get_by_role("gridcell", name="L2 H6").click()
    expect(page.get_by_text("open: (1, 5)")).to_be_visible()
    expect(root.locator(".cell.open")).to_have_attribute("aria-label", "L2 H6, open")
    expect(root.locator(".cell.open")).to_have_count(1)
    # Opening another one paints no tile again.
    root.locator("canvas").evaluate("canvas => canvas.getContext('2d').fillRect(0, 0, 5, 5)")
    root.get_by_role("gridcell", name="L1 H1").click()
    expect(page.get_by_text("open: (0, 0)")).to_be_visible()
    expect(root.locator(".cell.open")).to_have_attribute("aria-label", "L1 H1, open")
    corner = root.locator("canvas").evaluate("canvas => [...canvas.getContext('2d').getImageData(1, 1, 1, 1).data]")
    assert corner == [0, 0, 0, 255]


@pytest.mark.long
def test_cells_lie_over_their_tiles_arrow_keys_move_and_enter_opens(page: Page, serve: Serve) -> None:
    root = grid(page, serve, "cross")
    cells = root.get_by_role("gridcell")

    def are_corners_of_the_picture() -> bool:
        canvas, first, last = map(box_of, (root.locator("canvas"), cells.first, cells.last))
        ends = [(box["x"] + box["width"], box["y"] + box["height"]) for box in (last, canvas)]
        begins = (first["x"], first["y"]) == pytest.approx((canvas["x"], canvas["y"]), abs=0.5)
        return begins and ends[0] == pytest.approx(ends[1], abs=0.5)

    until(are_corners_of_the_picture, "the first and the last cell are at the corners of the picture")
    root.locator(".cell[tabindex='0']").focus()
    for key in (
        "ArrowUp",
        "ArrowDown",
        "ArrowDown",
        "ArrowRight",
        "ArrowRight",
        "ArrowLeft",
        "End",
        "Home",
        "ArrowRight",
    ):
        page.keyboard.press(key)
    expect(root.locator(".cell:focus")).to_have_attribute("aria-label", "L3 H2")
    expect(root.get_by_role("status")).to_have_text(re.compile(r"^L3 H2: largest weight 0\.\d{3}, from .+ to .+$"))
    page.keyboard.press("Enter")
    expect(page.get_by_text("open: (2, 1)")).to_be_visible()
    expect(root.locator(".cell:focus")).to_have_attribute("aria-label", "L3 H2, open")
