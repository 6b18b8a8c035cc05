"""What people take along, taken in a real browser: pictures, files, a page from the disk.

The `page` fixture also asserts that nothing went to the console as an error and nothing was asked of another host.
"""

import csv
import re
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from model import Translator
from model.trace.file import load_trace
from tests.browser.conftest import Serve, visit
from tests.browser.pointing import box_of
from viz.pages.attention.export import OpenView, view_page
from viz.ui.trace_tables import FORMULA_SIGNS

HERE = Path(__file__).parent
HOSTILE = "</script><script>document.title='broken out'</script><img src=https://evil.example/x><!-- \u2028 it."
Theme = Literal["light", "dark"]
PAPER: dict[Theme, tuple[int, int, int]] = {"light": (253, 252, 249), "dark": (23, 28, 41)}


def saved(page: Page, act: Callable[[], None]) -> tuple[str, bytes]:
    """Name and content of the file that is saved by an act."""
    with page.expect_download() as download:
        act()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


# ---- pictures ----


def grid(page: Page, serve: Serve) -> Locator:
    page.goto(serve(HERE / "demo_head_grid.py"))
    root = page.locator("[data-ready='1']")
    root.wait_for()
    return root


@pytest.mark.long
def test_the_grid_is_saved_as_pixels_by_keyboard_and_as_shapes(page: Page, serve: Serve) -> None:
    root = grid(page, serve)
    # A component alone, as in a notebook, knows no page's choice and offers all three.
    root.get_by_role("button", name="Save this picture", exact=True).click()
    expect(root.get_by_role("button", name="Save this picture as SVG")).to_be_visible()
    root.get_by_role("button", name="Save this picture as PNG").focus()
    name, content = saved(page, lambda: page.keyboard.press("Enter"))
    assert name == "heads.png"
    picture = np.asarray(Image.open(BytesIO(content)).convert("RGB"))
    shown = box_of(root.locator(".board"))
    assert picture.shape[1] > 2 * shown["width"]
    assert picture.shape[0] > 2 * shown["height"]
    assert len(np.unique(picture @ (65_536, 256, 1))) > 50
    # As shapes it has real text; a label is one that someone else wrote.
    root.locator(".layer-name").nth(1).evaluate("label => { label.textContent = '<b>&\"'; }")
    name, content = saved(page, root.get_by_role("button", name="Save this picture as SVG").click)
    assert name == "heads.svg"
    svg = ElementTree.fromstring(content)
    texts = [text.text or "" for text in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert '<b>&"' in texts
    assert [text for text in texts if text.startswith("Layer")] == [f"Layer {layer}" for layer in range(2, 7)]
    assert [text for text in texts if text.startswith("Head")] == [f"Head {head}" for head in range(1, 9)]
    assert {"Weight (√ scale)", "0.25"} <= set(texts)
    assert not any("Click a tile" in text or text in ("PNG", "SVG") for text in texts)
    assert not list(svg.iter("{http://www.w3.org/2000/svg}image"))
    assert len({path.attrib["fill"] for path in svg.iter("{http://www.w3.org/2000/svg}path")}) > 50


# ---- files ----


@pytest.mark.long
def test_every_file_is_made_when_its_button_is_pressed(page: Page, url: str, tmp_path: Path) -> None:
    visit(page, f"{url}/?site=decoder.cross&layer=1&head=2&words=0&text=It+is+late.")
    page.get_by_role("button", name="Export").click()
    button = page.get_by_test_id("stPopoverBody").get_by_test_id("stDownloadButton").get_by_role("button")
    expect(button).to_have_count(10)
    files = dict(saved(page, button.nth(number).click) for number in range(10))
    assert [name for name in files if not name.endswith(".csv")] == [
        "headlight-decoder-cross-l2h3-it-is-late.html",
        "headlight-trace-it-is-late.npz",
    ]
    assert all(content.startswith(b"\xef\xbb\xbf") for name, content in files.items() if name.endswith(".csv"))
    path = tmp_path / "trace.npz"
    path.write_bytes(files["headlight-trace-it-is-late.npz"])
    weights = np.load(path, allow_pickle=False)["decoder.cross/weights"]
    trace = load_trace(path)
    assert np.array_equal(weights[1], trace.weights("decoder.cross", 1).numpy())
    table = files["headlight-decoder-cross-l2h3-it-is-late.csv"].decode("utf-8-sig").splitlines()
    assert np.array_equal(np.array(table[1].split(",")[-2:], np.float32), weights[1, 2, 0, -2:])


# ---- the page from a disk ----


def test_the_page_opens_from_a_disk_without_any_request_and_holds_every_text_captive(
    chromium: Browser, translator: Translator, tmp_path: Path
) -> None:
    trace = translator.trace("It is late.", "Es ist spät.")
    tokens = (HOSTILE, *trace.source_tokens[1:])
    trace = replace(trace, source=replace(trace.source, text=HOSTILE, tokens=tokens), translation=HOSTILE)
    file = tmp_path / "view.html"
    view = OpenView(
        "decoder.cross",
        "Decoder cross-attention",
        1,
        2,
        f"text={HOSTILE}",
        [("EN", "en", trace.text), ("DE", "de", trace.translation)],
    )
    file.write_bytes(view_page(trace, view, checkpoint=HOSTILE, digest="0"))
    context = chromium.new_context(offline=True, color_scheme="dark")
    asked: list[str] = []
    problems: list[str] = []
    tab = context.new_page()
    # A module that a page holds itself is fetched of the page.
    tab.on("request", lambda request: asked.append(request.url) if not request.url.startswith("blob:") else None)
    tab.on("console", lambda message: problems.append(message.text))
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.goto(file.as_uri())
    expect(tab.get_by_role("gridcell", selected=True)).to_have_attribute("data-head", "2")
    expect(tab.get_by_text("Decoder cross-attention, L2 H3")).to_be_visible()
    tab.get_by_role("gridcell").nth(1).click()
    expect(tab.get_by_text("Decoder cross-attention, L1 H2")).to_be_visible()
    picture = tab.get_by_role("application")
    picture.focus()
    for key in ("ArrowDown", "ArrowRight"):
        tab.keyboard.press(key)
    expect(tab.get_by_role("status").last).to_contain_text(f"{trace.weights('decoder.cross', 0)[1, 0, 1]:.4f}")
    assert tab.title().startswith("Headlight: </script><script>document.title=")
    expect(tab.locator(".sentence span[lang=en]")).to_have_text(" ".join(HOSTILE.split()))
    expect(tab.locator("img")).to_have_count(0)
    # The system is dark, and turns light: so do page and pictures.
    for theme in reversed(PAPER):
        tab.emulate_media(color_scheme=theme)
        for part in ("body", "#picture-0"):
            # A picture hears of it in the next frame.
            expect(tab.locator(part)).to_have_css("background-color", f"rgb{PAPER[theme]}")
    # A table that is wider than a telephone scrolls, and not the page.
    tab.set_viewport_size({"width": 390, "height": 844})
    tab.wait_for_function("document.documentElement.scrollWidth <= 390")
    assert asked == [file.as_uri()]
    assert problems == []
    context.close()


@pytest.mark.long
def test_a_table_leaves_the_app_only_by_our_button_which_escapes_formulas(page: Page, url: str) -> None:
    visit(page, f"{url}/model")
    page.get_by_text("Vocabulary: all tokens").click()
    table = page.get_by_test_id("stDataFrame")
    table.hover()
    expect(table.get_by_role("button", name="Search")).to_be_visible()
    expect(table.get_by_role("button", name=re.compile("Download", re.IGNORECASE))).to_have_count(0)
    name, content = saved(page, page.get_by_role("button", name="Tokens (CSV)").click)
    assert name == "headlight-vocabulary.csv"
    rows = list(csv.reader(content.decode("utf-8-sig").splitlines()))
    assert len(rows) == 1 + 370
    assert not [piece for _, piece, _ in rows if piece.startswith(tuple(FORMULA_SIGNS))]
