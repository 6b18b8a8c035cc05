"""The heatmap of one matrix in a real browser: numbers, a kept row and column, zoom, signs."""

from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Serve
from tests.browser.pointing import box_of, until

HERE = Path(__file__).parent


def picture(page: Page, serve: Serve, case: str = "small") -> Locator:
    page.goto(f"{serve(HERE / 'demo_matrix_picture.py')}/?case={case}")
    root = page.locator(".matrix-picture[data-ready='1']")
    root.wait_for()
    return root


def centre_of(root: Locator, row: int, column: int, rows: int = 8, columns: int = 9) -> tuple[float, float]:
    """The middle of a cell, in the page's pixels."""
    box = box_of(root.locator("canvas"))
    return box["x"] + box["width"] * (column + 0.5) / columns, box["y"] + box["height"] * (row + 0.5) / rows


def colour(root: Locator, row: int, column: int, rows: int = 8, columns: int = 9) -> tuple[int, ...]:
    script = """(canvas, [x, y]) =>
      [...canvas.getContext("2d").getImageData(x * canvas.width, y * canvas.height, 1, 1).data]"""
    return tuple(root.locator("canvas").evaluate(script, [(column + 0.5) / columns, (row + 0.5) / rows]))


def test_labels_colours_and_numbers_stand_there_and_a_click_keeps_row_and_column_until_the_next(
    page: Page, serve: Serve
) -> None:
    root = picture(page, serve)
    expect(root.locator(".row-label")).to_have_count(8)
    expect(root.locator(".column-label")).to_have_count(9)
    expect(root.locator(".row-label").nth(5)).to_have_text("<b>שלום</b>")
    until(lambda: colour(root, 2, 2)[:3] > (200, 200, 100), "a large weight is light")
    until(lambda: colour(root, 0, 1)[0] < 40, "a small one is dark")
    page.mouse.move(*centre_of(root, 2, 4))
    expect(root.locator(".tooltip-pair")).to_have_text("▁was attends to ▁tired")
    # (2 · 9 + 4) / (20 · 8 · 9)
    expect(root.locator(".tooltip-value")).to_have_text("weight 0.0153")
    # A click keeps row and column, Python hears, and a second click lets go.
    page.mouse.click(*centre_of(root, 2, 4))
    expect(page.get_by_text("kept: (2, 4)")).to_be_visible()
    expect(root.locator(".kept-frame:visible")).to_have_count(2)
    expect(root.locator(".kept-number")).to_have_text("0.0153")
    expect(root.locator(".row-label.kept")).to_have_text("▁was")
    expect(root.locator(".column-label.kept")).to_have_text("▁tired")
    page.mouse.click(*centre_of(root, 2, 4))
    expect(page.get_by_text("kept: (None, None)")).to_be_visible()
    expect(root.locator(".kept-frame:visible, .kept-number:visible")).to_have_count(0)
    # A label alone keeps its row.
    box = box_of(root.locator(".row-label").nth(3))
    page.mouse.click(box["x"] + 2, box["y"] + 8)
    expect(page.get_by_text("kept: (3, None)")).to_be_visible()


def test_by_keyboard_and_by_dragging_one_moves_keeps_zooms_and_lets_go(page: Page, serve: Serve) -> None:
    root = picture(page, serve)
    root.get_by_role("application").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    expect(root.get_by_role("status")).to_have_text("▁animal attends to ▁animal: weight 0.9000")
    page.keyboard.press("Enter")
    expect(page.get_by_text("kept: (1, 1)")).to_be_visible()
    page.keyboard.press("+")
    expect(root.get_by_role("button", name="Show the whole matrix")).to_be_enabled()
    page.keyboard.press("0")
    expect(root.get_by_role("button", name="Show the whole matrix")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.get_by_text("kept: (None, None)")).to_be_visible()
    # Dragging zooms, then moves; a double click shows the whole.
    page.mouse.move(*centre_of(root, 0, 0))
    page.mouse.down()
    page.mouse.move(*centre_of(root, 4, 4), steps=3)
    expect(root.locator(".rubber")).to_be_visible()
    page.mouse.up()
    expect(root.locator(".row-label").last).to_have_text("▁tired")
    rows = root.locator(".row-label").count()
    page.mouse.move(*centre_of(root, 6, 6))
    page.mouse.down()
    page.mouse.move(*centre_of(root, 1, 1), steps=3)
    page.mouse.up()
    expect(root.locator(".row-label").last).not_to_have_text("▁tired")
    until(lambda: 0 < root.locator(".row-label").count() <= rows + 1, "as many rows as before")
    expect(page.get_by_text("kept: (None, None)")).to_be_visible()
    page.mouse.dblclick(*centre_of(root, 3, 3))
    expect(root.locator(".row-label")).to_have_count(8)


def test_a_long_matrix_keeps_every_strong_number_thins_its_labels_and_the_wheel_zooms_with_ctrl_only(
    page: Page, serve: Serve
) -> None:
    root = picture(page, serve, "long")
    until(lambda: box_of(root.locator("canvas"))["height"] <= 721, "it fits a screen")
    until(lambda: 20 < root.locator(".row-label").count() < 80, "some rows are named")
    script = """canvas => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const isLight = (x, y) => data[4 * (y * canvas.width + x)] > 150;
      return Array.from({ length: Math.floor((canvas.height * 2) / 3) }, (_, y) =>
        Array.from({ length: canvas.width }, (_, x) => x).some((x) => isLight(x, y))).filter((lit) => !lit).length;
    }"""
    # 200 of 300 rows have a strong cell: each shows in at least one pixel of every line of the upper two thirds.
    until(lambda: root.locator("canvas").evaluate(script) <= 2, "every strong number is seen")
    page.mouse.move(*centre_of(root, 150, 100, 300, 200))
    page.mouse.wheel(0, -200)
    expect(root.get_by_role("button", name="Zoom out")).to_be_hidden()
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    expect(root.get_by_role("button", name="Zoom out")).to_be_visible()
    # It fits a narrow page.
    page.set_viewport_size({"width": 800, "height": 900})
    page.wait_for_function("document.documentElement.scrollWidth <= 800")
    lefts = "labels => labels.map((label) => label.getBoundingClientRect().x)"

    def are_labels_within() -> bool:
        box, labels = box_of(root), root.locator(".column-label").evaluate_all(lefts)
        return bool(labels) and max(labels) <= box["x"] + box["width"]

    until(are_labels_within, "the labels of the columns stand within the picture")


def test_a_signed_matrix_is_dark_at_zero_has_signs_and_leaves_out_what_has_no_number(page: Page, serve: Serve) -> None:
    root = picture(page, serve, "signed")
    page.mouse.move(*centre_of(root, 1, 1))
    expect(root.locator(".tooltip-value")).to_have_text("difference +0.4500")
    page.mouse.move(*centre_of(root, 0, 1))
    expect(root.locator(".tooltip-value")).to_have_text("difference –")
    until(lambda: colour(root, 0, 1)[3] == 0, "what has no number has no colour")

    def are_signs_told_apart() -> bool:
        warm, cold = colour(root, 1, 1), colour(root, 3, 4)
        return warm[0] > warm[2] and cold[2] > cold[0]

    until(are_signs_told_apart, "positive numbers are warm, negative ones cold")
