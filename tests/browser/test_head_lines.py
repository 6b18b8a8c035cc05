"""The lines of several heads in a real browser: pointing, keeping, switching, by mouse and by keyboard."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Serve
from tests.browser.saving import save_button

HERE = Path(__file__).parent


def lines(page: Page, serve: Serve, case: str = "small") -> Locator:
    page.goto(f"{serve(HERE / 'demo_head_lines.py')}/?case={case}")
    root = page.locator(".head-lines[data-ready='1']")
    root.wait_for()
    expect(root.locator(".status")).not_to_be_empty()
    return root


def token(root: Locator, side: str, index: int) -> Locator:
    return root.locator(f".column.{side} .option").nth(index)


def chips_on(root: Locator) -> list[str]:
    return root.locator(".chip[aria-pressed='true']").all_inner_texts()


def lines_of(root: Locator) -> int:
    """How many lines the picture says it draws."""
    return int(root.get_attribute("data-lines") or "-1")


def expect_report(
    page: Page, heads: tuple[int, ...], query: int | None = None, key: int | None = None, threshold: int = 0
) -> None:
    expect(page.get_by_text(f"report: {(heads, query, key, threshold)}", exact=True)).to_be_visible()


def painted(root: Locator, layer: int) -> int:
    """How many colours a canvas shows, 0 if it is hidden."""
    return int(
        root.locator(".layer")
        .nth(layer)
        .evaluate(
            """canvas => {
          if (getComputedStyle(canvas).visibility === "hidden") return 0;
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          return new Set(new Uint32Array(data.buffer)).size - 1;
        }"""
        )
    )


BASE, TOP = 0, 1


def test_pointing_at_a_token_leaves_its_lines_alone_a_click_keeps_them_and_another_lets_them_go(
    page: Page, serve: Serve
) -> None:
    root = lines(page, serve)
    with page.expect_download() as download:
        save_button(root, "SVG").click()
    assert Path(download.value.path()).read_text(encoding="utf-8").count("<line ") == lines_of(root) > 0
    assert (painted(root, BASE) > 0, painted(root, TOP)) == (True, 0)
    token(root, "query", 1).hover()
    expect(root.locator(".status")).to_have_text(re.compile(r"^▁cat attends to .+ 0\.\d{3} \(L1 H1\)$"))
    assert (painted(root, BASE), painted(root, TOP) > 0) == (0, True)
    token(root, "key", 0).hover()
    expect(root.locator(".status")).to_have_text(re.compile(r"^▁the is attended to by .+ 0\.\d{3} \(L1 H1\)$"))
    page.mouse.move(2, 2)
    expect(root.locator(".status")).to_contain_text("Lines drawn")
    assert (painted(root, BASE) > 0, painted(root, TOP)) == (True, 0)
    token(root, "query", 2).click()
    expect_report(page, (0,), query=2)
    page.mouse.move(2, 2)
    expect(token(root, "query", 2)).to_have_attribute("aria-selected", "true")
    expect(root.locator(".status")).to_contain_text("<script>alert(1)</script> attends to")
    token(root, "key", 1).hover()
    expect(root.locator(".tooltip-title")).to_have_text("Invented")
    expect(root.locator(".tooltip-pair")).to_have_text("<script>alert(1)</script> attends to ▁cat")
    expect(root.locator(".tooltip-value")).to_have_text(re.compile(r"^L1 H1: weight (0\.\d{3}|< 0\.001)$"))
    token(root, "query", 2).click()
    expect_report(page, (0,))
    expect(root.locator("[aria-selected='true']")).to_have_count(0)


@pytest.mark.long
def test_quick_clicks_are_all_kept_the_page_can_move_the_picture_and_it_comes_back_as_it_was_left(
    page: Page, serve: Serve
) -> None:
    root = lines(page, serve)
    for head in (2, 3, 4, 2):
        root.get_by_role("button", name=f"L1 H{head}").click(no_wait_after=True)
    expect_report(page, (0, 2, 3))
    expect(root.locator(".chip[aria-pressed='true']")).to_have_text(["1", "3", "4"])
    root.get_by_role("button", name="L1 H2").dblclick()
    expect_report(page, (1,))
    # The last head stays on: without any there is no picture.
    root.get_by_role("button", name="L1 H2").click()
    assert chips_on(root) == ["2"]
    # The page moves the picture, hears of a click after that, and can move it to the same again.
    token(root, "query", 3).click()
    expect_report(page, (1,), query=3)
    page.get_by_role("button", name="Heads 2 and 3").click()
    expect(root.locator("[aria-selected='true']")).to_have_count(0)
    assert chips_on(root) == ["2", "3"]
    root.get_by_role("button", name="L1 H3").click()
    expect_report(page, (1,))
    page.get_by_role("button", name="Heads 2 and 3").click()
    expect(root.get_by_role("button", name="L1 H3")).to_have_attribute("aria-pressed", "true")
    # The threshold takes weak lines away, and is told once it is let go.
    before = lines_of(root)
    root.get_by_label("Minimum weight").fill("30")
    expect_report(page, (1, 2), threshold=30)
    expect(root.locator("output")).to_have_text("0.30")
    assert 0 < lines_of(root) < before
    # A picture that was away comes back as it was left.
    token(root, "key", 2).click()
    expect_report(page, (1, 2), key=2, threshold=30)
    toggle = page.get_by_text("Left out")
    toggle.click()
    expect(root).to_have_count(0)
    toggle.click()
    expect(token(root, "key", 2)).to_have_attribute("aria-selected", "true")
    assert chips_on(root) == ["2", "3"]


def test_everything_works_by_keyboard(page: Page, serve: Serve) -> None:
    root = lines(page, serve)
    root.get_by_role("button", name="L1 H1").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect_report(page, (0, 1))
    page.keyboard.press("Shift+Enter")
    expect_report(page, (1,))
    for _ in range(5):  # two chips, the threshold, one button, the first query
        page.keyboard.press("Tab")
    expect(token(root, "query", 0)).to_be_focused()
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "End", "ArrowDown", "ArrowRight", "Home", "ArrowDown"):
        page.keyboard.press(key)
    expect(token(root, "key", 1)).to_be_focused()
    expect(root.locator(".status")).to_contain_text(re.compile(r"▁cat is attended to by .+ \(L1 H2\)"))
    page.keyboard.press("Enter")
    expect_report(page, (1,), key=1)
    page.keyboard.press("Escape")
    expect_report(page, (1,))
