"""bertviz's two views in a real browser: offline, with hostile tokens, in both themes, by mouse and by keyboard.

The `page` fixture also asserts that nothing went to the console as an error and nothing was asked of another host.
"""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import FrameLocator, Locator, Page, expect

from tests.browser.conftest import Serve
from tests.browser.demo_bertviz import HOSTILE
from tests.browser.pointing import box_of, until

DEMO = Path(__file__).parent / "demo_bertviz.py"


def opened(page: Page, serve: Serve, view: str, site: str = "encoder.self", **more: int | str) -> FrameLocator:
    query = "&".join(f"{name}={value}" for name, value in {"view": view, "site": site, **more}.items())
    page.goto(f"{serve(DEMO)}/?{query}")
    frame = page.frame_locator("iframe[title='bertviz']")
    frame.locator("#vis line").first.wait_for(state="attached")
    return frame


def colour(locator: Locator, name: str) -> str:
    return str(locator.evaluate(f"shape => getComputedStyle(shape)['{name}']"))


@pytest.mark.long
def test_hostile_tokens_stay_tokens_in_the_head_view_and_it_is_saved(
    own_page: Page, serve: Serve, tmp_path: Path
) -> None:
    frame = opened(own_page, serve, "Head view", "encoder.self", saved="SVG")
    assert_captive(own_page, frame)
    assert_saved(own_page, frame, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize(
    ("dark", "text", "paper"),
    [({}, "rgb(26, 32, 51)", "rgb(253, 252, 249)"), ({"dark": 1}, "rgb(235, 232, 222)", "rgb(23, 28, 41)")],
    ids=["light", "dark"],
)
def test_hostile_tokens_stay_tokens_in_the_model_view_it_has_the_colours_of_the_page_and_is_saved(
    own_page: Page, serve: Serve, dark: dict[str, int], text: str, paper: str, tmp_path: Path
) -> None:
    # Beside the tiles there is no room for bertviz's own width.
    own_page.set_viewport_size({"width": 660, "height": 900})
    frame = opened(own_page, serve, "Model view", "encoder.self", saved="SVG", **dark)
    room, drawn = box_of(own_page.locator("iframe[title='bertviz']")), box_of(frame.locator("#vis svg"))
    assert drawn["x"] + drawn["width"] <= room["x"] + room["width"]
    assert 0 <= room["y"] + room["height"] - drawn["y"] - drawn["height"] < 50
    assert_saved(own_page, frame, tmp_path)
    frame.get_by_role("button", name="L1 H2", exact=True).click()
    assert_captive(own_page, frame)
    detail = frame.locator("rect.detail")
    # Its tokens are pointed at, and a click on the rest closes it: it may cover its own picture.
    frame.locator("g.detail text").first.click(force=True)
    expect(detail).to_have_count(1)
    detail.click(position={"x": 4, "y": 4})
    expect(detail).to_have_count(0)
    frame.get_by_role("button", name="L2 H1", exact=True).click()
    assert {colour(label, "fill") for label in frame.locator("text").all()} == {text}
    closed = frame.locator("#attn_background_0_0")
    assert colour(closed, "fill") == paper
    assert colour(detail, "fill") == paper
    assert room["x"] <= box_of(detail)["x"]
    assert colour(frame.locator("#attn_background_1_0"), "fill") not in (paper, text)


def assert_captive(page: Page, frame: FrameLocator) -> None:
    """Tokens that look like markup are shown, and do nothing."""
    for token in HOSTILE[:3]:
        expect(frame.locator("text", has_text=token.replace(" ", "␣")).first).to_be_attached()
    assert page.title() != "broken out"
    expect(frame.locator("img, #vis script")).to_have_count(0)


def assert_saved(page: Page, frame: FrameLocator, folder: Path) -> None:
    """The picture is saved as its page says: as shapes, then as pixels, then printed."""
    button, saved = frame.get_by_role("button", name="Save this picture", exact=True), {}
    for form in ("SVG", "PNG"):
        with page.expect_download() as download:
            button.click()
        saved[form] = folder / download.value.suggested_filename
        download.value.save_as(saved[form])
        button.evaluate("() => { globalThis.headlightFormat = 'PNG'; }")
    assert saved["PNG"].read_bytes().startswith(b"\x89PNG")
    shapes = ElementTree.fromstring(saved["SVG"].read_bytes())
    lines = shapes.findall(".//{http://www.w3.org/2000/svg}line")
    assert len(lines) == frame.locator("#vis line").count()
    assert "bertviz" in saved["SVG"].name
    page.add_init_script("window.print = () => { top.printed = document.title; }")
    button.evaluate("() => { globalThis.headlightFormat = 'PDF'; }")
    button.click()
    page.wait_for_function(f"window.printed === '{saved['SVG'].stem}'")


@pytest.mark.long
def test_tokens_and_heads_of_the_head_view_are_reached_by_keyboard_also_after_another_layer(
    page: Page, serve: Serve
) -> None:
    frame = opened(page, serve, "Head view", "decoder.self")
    frame.get_by_role("combobox", name="Layer").select_option("3")
    frame.get_by_role("img", name="Lines of <s>").first.focus()
    page.keyboard.press("ArrowDown")
    lines = frame.locator("line[visibility='visible']")
    expect(lines).to_have_count(8 * 6)
    square = frame.get_by_role("button", name="Head 2, on or off")
    before = colour(square, "fill")
    square.focus()
    expect(lines).to_have_count(0)
    page.keyboard.press("Enter")
    until(lambda: colour(square, "fill") != before, "the head is off")
