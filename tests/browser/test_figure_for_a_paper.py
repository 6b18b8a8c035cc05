"""A figure for a paper: shapes and letters, with what a reader of the paper has to know."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import settled, visit
from tests.browser.saving import save_button
from tests.browser.test_app import opened

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.long
def test_a_vector_figure_takes_three_clicks(page: Page, url: str, tmp_path: Path) -> None:
    """On white, also where the page is dark."""
    page.emulate_media(color_scheme="dark")
    opened(page, url)
    # A menu that is opened while the page still comes is closed by what comes.
    settled(page)
    page.get_by_role("button", name="Export").click()
    page.get_by_role("radio", name="White").click(force=True)
    expect(page).to_have_url(f"{url}/?paper=white")
    page.keyboard.press("Escape")
    # What the page says last of how pictures are saved, the test changes.
    settled(page)
    root = page.locator(".matrix-picture[data-exact='1']")
    with page.expect_download() as download:
        save_button(root, "SVG").click()
    download.value.save_as(tmp_path / "figure.svg")
    figure = ElementTree.parse(tmp_path / "figure.svg").getroot()
    assert not list(figure.iter(f"{SVG}image"))
    texts = {text.text: text for text in figure.iter(f"{SVG}text")}
    assert {"query", "key", root.locator(".matrix-title").inner_text()} <= set(texts)
    assert any("attention" in str(said) for said in texts)
    assert all("textLength" in text.attrib for text in texts.values())
    assert texts["query"].attrib["fill"] == "#000000"
    assert figure.find(f"{SVG}rect").attrib["fill"] == "#ffffff"  # type: ignore[union-attr]


@pytest.mark.long
def test_a_picture_is_printed_on_one_sheet_of_its_size(own_page: Page, url: str) -> None:
    page = own_page
    page.add_init_script("window.print = () => { top.printed = document.documentElement.outerHTML; }")
    opened(page, url, "?paper=transparent")
    sheet = page.context.new_page()
    for picture in (".matrix-picture[data-exact='1']", ".head-lines"):
        if picture == ".head-lines":
            page.get_by_test_id("stButtonGroup").get_by_text("Lines").click()
            page.evaluate("window.printed = undefined")
        save_button(page.locator(picture), "PDF").click()
        page.wait_for_function("window.printed")
        printed = page.evaluate("window.printed")
        sheet.set_content(printed)
        assert "<title>headlight-encoder-self-l1" in printed
        assert sheet.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") == 1
        assert sheet.locator("svg > :first-child").evaluate("part => part.tagName") != "rect", "nothing lies below"


@pytest.mark.long
def test_a_chart_of_a_dark_page_is_saved_as_shapes_on_white_in_black_letters(page: Page, url: str) -> None:
    page.emulate_media(color_scheme="dark")
    visit(page, f"{url}/learn?lesson=positions&step_of_lesson=3&explore=1&paper=white&pictures=SVG")
    chart = page.locator(".st-key-encoding .js-plotly-plot:visible")
    expect(chart.locator("image")).to_have_count(1)
    chart.hover()
    with page.expect_download() as download:
        chart.locator(".modebar-btn").first.click()
    assert download.value.suggested_filename == "headlight-positions-encoding.svg"
    figure = ElementTree.parse(download.value.path()).getroot()
    assert not list(figure.iter(f"{SVG}image"))
    assert len(list(figure.iter(f"{SVG}path"))) > 50
    assert figure.find(f"{SVG}rect").attrib["fill"] == "#ffffff"  # type: ignore[union-attr]
    letters = {text.attrib["style"].split(";")[0] for text in figure.iter(f"{SVG}text")}
    assert letters == {"fill:rgb(0, 0, 0)"}
    # On the page's own paper they are shapes too.
    page.get_by_role("button", name="Export").click()
    page.get_by_role("radio", name="Page").click(force=True)
    expect(page).not_to_have_url(re.compile("paper="))
    page.keyboard.press("Escape")
    chart.hover()
    with page.expect_download() as download:
        chart.locator(".modebar-btn").first.click()
    figure = ElementTree.parse(download.value.path()).getroot()
    assert not list(figure.iter(f"{SVG}image"))
    assert figure.find(f"{SVG}rect").attrib["fill"] == "#171c29"  # type: ignore[union-attr]
