"""Heads over a picture in a real browser: a word, a patch and a rectangle, by mouse, finger and keyboard."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Serve
from tests.browser.pointing import box_of, until
from tests.browser.saving import save_button

HERE = Path(__file__).parent


@pytest.fixture
def root(page: Page, serve: Serve) -> Locator:
    page.goto(serve(HERE / "demo_picture_attention.py"))
    root = page.locator(".picture-attention[data-ready='1']")
    root.wait_for()
    expect(page.locator(".head-grid[data-ready='1'] .axes")).to_contain_text("weight that ▁house gives")
    return root


def middle_of(root: Locator, row: int, column: int) -> tuple[float, float]:
    """Of a patch, on the page; rows and columns count from 1."""
    box = box_of(root.locator(".stage canvas"))
    return box["x"] + (column - 0.5) / 6 * box["width"], box["y"] + (row - 0.5) / 4 * box["height"]


def lightest(page: Page, tile: int) -> tuple[int, int]:
    """The row and the column of the patch that is lightest in a tile, of which the picture is dark by itself."""
    script = """(board, tile) => {
      const canvas = board.querySelectorAll("canvas.tiles")[1];
      const [cell, first] = [tile, 0].map((at) => board.querySelectorAll(".cell")[at].getBoundingClientRect());
      const scale = canvas.width / canvas.getBoundingClientRect().width;
      const [x, y] = [cell.x - first.x, cell.y - first.y].map((at) => Math.round(at * scale));
      const [width, height] = [cell.width, cell.height].map((side) => Math.round(side * scale));
      const blue = (row, column) => canvas.getContext("2d").getImageData(
        x + ((column + 0.5) * width) / 6, y + ((row + 0.5) * height) / 4, 1, 1).data[2];
      const all = Array.from({ length: 24 }, (_, i) => [blue(Math.floor(i / 6), i % 6), i]);
      const best = all.sort((a, b) => b[0] - a[0])[0][1];
      return [Math.floor(best / 6) + 1, (best % 6) + 1];
    }"""
    row, column = page.locator(".head-grid .board").evaluate(script, tile)
    return row, column


def test_a_word_that_is_pointed_at_is_drawn_over_the_picture_in_all_tiles(page: Page, root: Locator) -> None:
    words, status, note = root.locator(".choice"), root.get_by_role("status"), page.locator(".head-grid .axes")
    # Word 2 gives most to patch 8 + the number of the head, counted from 0.
    assert [lightest(page, tile) for tile in range(6)] == [(2, 3), (2, 4), (2, 5), (2, 6), (3, 1), (3, 2)]
    expect(status).to_have_text("Query ▁house. Outside the picture: [CLS] 0.200, [PAD] × 2 0.100.")
    words.nth(4).hover()
    expect(note).to_contain_text("▁tree")
    until(lambda: lightest(page, 0) == (3, 5), "the tiles show the word that is pointed at")
    expect(status).to_contain_text("Query ▁tree.")
    words.nth(3).click()
    expect(page.get_by_text("kept: 3, area: []")).to_be_visible()
    page.mouse.move(5, 5)
    until(lambda: lightest(page, 5) == (3, 6), "the tiles show the word that is kept")
    page.get_by_role("button", name="Show matrices").click()
    expect(note).to_contain_text("queries run down")
    expect(page.locator(".head-grid canvas.tiles")).to_have_count(1)


def test_a_patch_says_which_words_attend_to_it_here_and_in_every_tile(page: Page, root: Locator) -> None:
    page.mouse.move(*middle_of(root, 2, 4))
    status = root.get_by_role("status")
    # The second head: word 2 gives 0.6 to patch 9, all others share 0.1 with 22 more.
    expect(status).to_contain_text(
        "▁house gives 0.600 to 2·4. The most weight on it comes from: ▁house 0.600, ▁a 0.004"
    )
    expect(page.locator(".head-grid .marks")).to_be_visible()
    shares = root.locator(".choice").evaluate_all("all => all.map(each => each.style.getPropertyValue('--weight'))")
    assert max(shares, key=lambda share: float(share.removesuffix("%"))) == shares[2]
    # In a tile the patch under the pointer is named.
    cell = box_of(page.locator(".head-grid .cell").nth(4))
    page.mouse.move(cell["x"] + cell["width"] / 12, cell["y"] + 5 * cell["height"] / 8)
    expect(page.locator(".head-grid .tooltip")).to_contain_text("3·1")
    expect(page.locator(".head-grid .tooltip")).to_contain_text("0.600")
    expect(status).to_contain_text("to 3·1.")


def test_a_rectangle_is_drawn_by_mouse_and_by_keyboard_saved_and_removed(page: Page, root: Locator) -> None:
    page.mouse.move(*middle_of(root, 1, 2))
    page.mouse.down()
    page.mouse.move(*middle_of(root, 2, 3))
    page.mouse.move(*middle_of(root, 2, 4))
    page.mouse.up()
    # Patches of 16 pixels: rows 1 and 2, columns 2 to 4.
    expect(page.get_by_text("kept: 2, area: [16, 0, 64, 32]")).to_be_visible()
    page.mouse.move(5, 5)
    status = root.get_by_role("status")
    expect(status).to_contain_text("▁house gives 0.622 to the rectangle of 6 patches.")
    with page.expect_download() as saved:
        save_button(root, "PNG").click()
    pixels = np.asarray(Image.open(saved.value.path()).convert("RGB")).astype(int)
    blue = np.abs(pixels - (0, 114, 178)).sum(-1) < 12
    assert blue.sum() > 200
    stage = root.get_by_role("application")
    stage.focus()
    stage.press("Escape")
    expect(page.get_by_text("kept: 2, area: []")).to_be_visible()
    # The keyboard is at the patch that was pointed at last.
    page.mouse.move(*middle_of(root, 2, 4))
    expect(status).to_contain_text("to 2·4")
    for key in ("Shift+ArrowLeft", "Shift+ArrowDown", "Enter"):
        stage.press(key)
    expect(page.get_by_text("kept: 2, area: [32, 16, 64, 48]")).to_be_visible()


def test_a_finger_draws_a_rectangle_once_it_is_asked_to(page: Page, root: Locator) -> None:
    stage = root.locator(".stage")
    assert stage.evaluate("stage => getComputedStyle(stage).touchAction") == "manipulation"
    root.get_by_role("button", name="Draw a rectangle").click()
    assert stage.evaluate("stage => getComputedStyle(stage).touchAction") == "none"
    for kind, place in (("pointerdown", (3, 2)), ("pointermove", (4, 3)), ("pointerup", (4, 3))):
        x, y = middle_of(root, *place)
        event = {"clientX": x, "clientY": y, "pointerType": "touch", "buttons": 1, "pointerId": 1, "bubbles": True}
        stage.dispatch_event(kind, event)
    expect(page.get_by_text("area: [16, 32, 48, 64]")).to_be_visible()
