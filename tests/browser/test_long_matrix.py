"""A matrix too large to be sent whole, in a real browser: overview, exact tiles, keyboard, moving, saved pictures."""

import re
import statistics
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Serve
from tests.browser.pointing import box_of, until
from tests.browser.saving import save_button

HERE = Path(__file__).parent
# Twenty frames, in each of which the matrix is dragged on, or not: the milliseconds between them, and those from the
# beginning of each until it was drawn.
FRAMES = """(stage, isDragged) => new Promise((resolve) => {
  const box = stage.querySelector("canvas").getBoundingClientRect();
  const send = (type, i) => isDragged && stage.dispatchEvent(new PointerEvent(type, {
    clientX: box.left + box.width / 2 + 4 * i,
    clientY: box.top + box.height / 2 + 3 * i,
    pointerId: 1,
    bubbles: true,
  }));
  stage.setPointerCapture = () => {};
  send("pointerdown", 0);
  const [times, drawn] = [[], []];
  const step = (now) => {
    times.push(now);
    // What was asked for in the frame before is drawn in this one, before this is called.
    drawn.push(performance.now() - now);
    if (times.length <= 20) {
      send("pointermove", times.length);
      return requestAnimationFrame(step);
    }
    send("pointerup", 20);
    resolve([times.slice(1).map((time, place) => time - times[place]), drawn.slice(1)]);
  };
  requestAnimationFrame(step);
})"""


def picture(page: Page, serve: Serve) -> Locator:
    page.goto(serve(HERE / "demo_long_matrix.py"))
    root = page.locator(".matrix-picture[data-ready='1']")
    root.wait_for()
    page.locator(".tile-server[data-serves='invented']").wait_for(state="attached")
    return root


def zoom_in(page: Page, root: Locator, times: int = 5, across: float = 0.5, down: float = 0.5) -> None:
    box = box_of(root.locator("canvas"))
    page.mouse.move(box["x"] + box["width"] * across, box["y"] + box["height"] * down)
    page.keyboard.down("Control")
    for _ in range(times):
        page.mouse.wheel(0, -300)
    page.keyboard.up("Control")


def test_from_afar_it_shows_maxima_of_blocks_and_zoomed_in_every_exact_number(page: Page, serve: Serve) -> None:
    root = picture(page, serve)
    expect(root.locator(".extent")).to_have_text(
        "Queries 1–1,500 of 1,500, keys 1–1,400 of 1,400; each point shows the largest of up to 3 × 3 values."
    )
    # Only labels that can be read are on the page.
    until(lambda: 20 < root.locator(".row-label").count() < 80, "some rows are named")
    box = box_of(root.locator("canvas"))
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 4)
    expect(root.locator(".tooltip-value")).to_contain_text("(max of a block)")
    zoom_in(page, root, times=8)
    expect(root).to_have_attribute("data-block", "1 1")
    expect(root.locator(".extent")).to_contain_text("every number is exact")
    page.mouse.move(box["x"] + box["width"] / 2 + 30, box["y"] + box["height"] / 2 + 90)

    def is_the_number_of_its_pair() -> bool:
        query, key = root.locator(".tooltip-pair").inner_text().split(" attends to ")
        row, column = int(query.removeprefix("row")), int(key.removeprefix("column"))
        number = 0.9 if row == column else (7 * row + column) % 997 / 10_000
        return root.locator(".tooltip-value").inner_text() == f"weight {number:.4f}"

    until(is_the_number_of_its_pair, "what is pointed at has its exact number")


@pytest.mark.long
def test_by_keyboard_one_walks_pages_zooms_where_one_stands_and_keeps(page: Page, serve: Serve) -> None:
    root = picture(page, serve)
    root.get_by_role("application").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(root.get_by_role("status")).to_have_text("row1 attends to column3: weight 0.0019 (max of a block)")
    for _ in range(7):
        page.keyboard.press("+")
    expect(root.get_by_role("status")).to_have_text("row1 attends to column3: weight 0.0010")
    page.keyboard.press("PageDown")
    expect(root.get_by_role("status")).to_have_text(re.compile(r"^row\d{2,} attends to column3: weight"))
    page.keyboard.press("Enter")
    expect(page.get_by_text(", 3)")).to_be_visible()
    page.keyboard.press("0")
    expect(root.get_by_role("button", name="Show the whole matrix")).to_be_hidden()


def test_moving_asks_for_what_comes_into_view_is_drawn_from_what_is_here_and_saved(page: Page, serve: Serve) -> None:
    root = picture(page, serve)
    zoom_in(page, root)
    expect(root).to_have_attribute("data-block", "1 1")
    before = root.locator(".extent").inner_text()
    _, drawn = root.locator(".stage").evaluate(FRAMES, True)
    expect(root.locator(".extent")).not_to_have_text(before)
    # A few milliseconds on a quiet machine; no frame waits for Python.
    assert statistics.median(drawn) < 100
    expect(root).to_have_attribute("data-block", "1 1")
    # A saved picture says what it shows.
    with page.expect_download() as download:
        save_button(root, "SVG").click()
    drawing = ElementTree.fromstring(Path(download.value.path()).read_bytes())
    text = " ".join("".join(node.itertext()) for node in drawing.iter() if node.tag.endswith("text"))
    assert "of 1,500, keys" in text
    assert "every number is exact" in text


# Asks for a tile as a picture does, and waits until it has come.
ASK = """(row) => new Promise((resolve, reject) => {
  const counter = globalThis.headlightTileRequests;
  const tiles = [{ level: 0, row, column: 0 }];
  counter.addEventListener("delivered", ({ detail }) => detail.tiles.some((tile) => tile.row === row) && resolve(row));
  counter.dispatchEvent(new CustomEvent("asked", { detail: { address: "invented", tiles } }));
  setTimeout(reject, 15_000, new Error(`tile ${row} never came`));
})"""


@pytest.mark.long
def test_a_server_that_comes_back_answers_at_once(page: Page, serve: Serve) -> None:
    picture(page, serve)
    assert page.evaluate(ASK, 0) == 0
    server = page.locator(".tile-server[data-serves='invented']")
    toggle = page.locator("label").filter(has_text="Serve")
    toggle.click()
    server.wait_for(state="detached")
    toggle.click()
    server.wait_for(state="attached")
    for row in (1, 2, 3):
        assert page.evaluate(ASK, row) == row


def test_a_token_is_found_by_typing_it_and_the_next_one_by_enter(page: Page, serve: Serve) -> None:
    root = picture(page, serve)
    field = root.get_by_role("searchbox")
    # No token is “row120” alone without others that begin so: the one that is it counts.
    field.fill("row120")
    expect(root.locator(".matrix-found")).to_have_text("1 found")
    field.press("Enter")
    expect(root.locator(".matrix-found")).to_have_text("1 of 1")
    expect(root.locator(".extent")).to_contain_text("every number is exact")
    expect(root.get_by_role("status")).to_contain_text("row120 attends to column112: weight")
    # Of a beginning all that have it, forwards, backwards and around.
    field.fill("column13")
    field.press("Enter")
    expect(root.get_by_role("status")).to_contain_text("attends to column13: weight")
    field.fill("column139")
    field.press("Shift+Enter")
    expect(root.locator(".matrix-found")).to_have_text("1 of 1")
    field.fill("nothing")
    expect(root.locator(".matrix-found")).to_have_text("0 found")
    field.press("Enter")
    expect(field).to_be_focused()
