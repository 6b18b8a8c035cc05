"""The gallery, opened from a folder and from a plain file server: nothing is fetched from elsewhere, and it answers."""

import threading
from collections.abc import Iterator
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pointing import until
from viz.gallery.__main__ import main

if TYPE_CHECKING:
    from playwright.sync_api import Browser

TEXTS = ("Tom told me.", "Mary sings <!--<script> songs.")
EDGE = "scrollWidth <= document.documentElement.clientWidth"


class _Quiet(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        """A file; for the icon, which a browser asks every server for, no content."""
        if self.path == "/favicon.ico":
            self.send_response(HTTPStatus.NO_CONTENT)
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def site(tiny_checkpoints: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gallery") / "site"
    model = str(tiny_checkpoints / "en-de")
    assert main(["--out", str(folder), "--text", TEXTS[0], "--text", TEXTS[1], "--model", model]) == 0
    return folder


@pytest.fixture(scope="module")
def served(site: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def root(request: pytest.FixtureRequest, site: Path, served: str) -> str:
    return site.as_uri() if request.param == "folder" else served


@pytest.fixture
def tab(chromium: "Browser", root: str) -> Iterator[Page]:
    """A tab that ends without an error, and that asked for files of the site alone."""
    context: Any = chromium.new_context(reduced_motion="reduce", offline=root.startswith("file"))
    page, problems = context.new_page(), list[str]()
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    foreign = ("http", "file", "ws")
    page.on(
        "request",
        lambda request: (
            problems.append(request.url)
            if request.url.startswith(foreign) and not request.url.startswith(f"{root}/")
            else None
        ),
    )
    yield page
    context.close()
    assert problems == []


def opened(tab: Page, address: str) -> Page:
    tab.goto(address)
    tab.locator("body[data-ready]").wait_for()
    return tab


@pytest.mark.long
@pytest.mark.parametrize(
    ("root", "width"), [("folder", 1400), ("folder", 800), ("folder", 390), ("server", 1400)], indirect=["root"]
)
def test_one_comes_from_the_start_page_to_a_trace_and_to_the_other_language(tab: Page, root: str, width: int) -> None:
    tab.set_viewport_size({"width": width, "height": 844})
    tab.emulate_media(color_scheme="dark" if width == 800 else "light")
    opened(tab, f"{root}/index.html")
    expect(tab.get_by_role("heading", level=1)).to_have_text("See what every attention head does")
    tab.wait_for_function(f"document.documentElement.{EDGE}")
    tab.get_by_role("link", name="Tom told me.").click()
    expect(tab.get_by_role("gridcell", selected=True)).to_have_count(3)
    tab.wait_for_function(f"document.documentElement.{EDGE}")
    tab.get_by_role("link", name="简体中文").click()
    expect(tab.locator("html")).to_have_attribute("lang", "zh")
    expect(tab.get_by_role("heading", name="影片")).to_be_visible()
    expect(tab.locator(".position")).to_contain_text("第 1 步，共")
    tab.get_by_role("link", name="下一页").click()
    expect(tab.get_by_role("heading", level=1)).to_have_text(TEXTS[1])
    tab.get_by_role("link", name="Headlight").click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("看清每一个注意力头在做什么")


@pytest.mark.long
@pytest.mark.parametrize("root", ["server"], indirect=True)
def test_a_page_answers_as_in_the_app(tab: Page, root: str, site: Path) -> None:
    tab.set_viewport_size({"width": 1400, "height": 1000})
    page = next(path for path in site.glob("01-*.html") if ".zh" not in path.name)
    opened(tab, f"{root}/{page.name}")
    found = tab.locator("#picture-1")
    # Pointing: the sentence above says what the open head does with the word.
    tab.locator(".word", has_text="told").first.hover()
    expect(tab.locator(".headline")).to_contain_text("the largest weight on")
    # Opening: heatmap and lines follow the tile.
    found.get_by_role("gridcell").nth(6).click()
    expect(found.locator(".matrix-title")).to_contain_text("L2 H3")
    expect(found.locator(".chip[aria-pressed=true]")).to_have_text("3")
    # Keeping: a row of the heatmap is kept in the lines too, and in the next head.
    stage = found.get_by_role("application")
    stage.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Enter"):
        tab.keyboard.press(key)
    expect(found.locator(".kept-frame:visible")).to_have_count(2)
    kept = found.locator(".lines-board [aria-selected=true]")
    expect(kept).to_have_count(1)
    word = kept.inner_text()
    found.get_by_role("gridcell").nth(1).click()
    expect(found.locator(".matrix-title")).to_contain_text("L1 H2")
    expect(found.locator(".kept-frame:visible")).to_have_count(2)
    expect(kept).to_have_text(word)
    # What is kept in the lines is kept in the heatmap; a further head stays on.
    found.locator(".chip").nth(3).click()
    kept.click()
    expect(kept).to_have_count(0)
    expect(found.locator(".chip[aria-pressed=true]")).to_have_count(2)
    # Zooming.
    found.get_by_role("button", name="Zoom in").click()
    expect(found.get_by_role("button", name="Show the whole matrix")).to_be_visible()
    # Stepping.
    tab.get_by_role("button", name="Step forward (→)").click()
    expect(tab.locator(".position")).to_contain_text("Step 2 of")


@pytest.mark.long
@pytest.mark.parametrize(("root", "width"), [("folder", 390)], indirect=["root"])
def test_why_is_followed_from_the_question_to_its_end_and_back(tab: Page, root: str, site: Path, width: int) -> None:
    tab.set_viewport_size({"width": width, "height": 900})
    page = next(path for path in site.glob("01-*.html") if ".zh" not in path.name)
    opened(tab, f"{root}/{page.name}")
    why = tab.locator(".why")
    expect(why).to_have_attribute("data-ready", "question")
    tab.wait_for_function(f"document.documentElement.{EDGE}")
    expect(why.get_by_role("heading", level=2)).to_contain_text("Why")
    expect(why.get_by_role("button", name="Make a twin")).to_be_hidden()
    # What is tinted follows the bar that is chosen; a click asks why of it, and of what that read.
    crumbs = why.locator(".crumb")
    ahead = why.locator(".crumb.ahead")
    last = crumbs.last.inner_text()
    while ahead.count():
        left = ahead.count()
        ahead.first.click()
        expect(ahead).to_have_count(left - 1)
        # The picture of the trail comes along.
        name, _, _ = why.locator(".crumb[aria-current]").inner_text().rpartition(" ")
        expect(tab.locator(".trail-picture .step.here")).to_contain_text(name.strip())
    expect(crumbs.last).to_have_text(last.strip())
    expect(why.locator(".because")).to_contain_text("The trail ends here")
    for left in range(crumbs.count() - 1, 0, -1):
        expect(why.get_by_role("heading", level=2)).to_be_focused()
        tab.keyboard.press("Escape")
        expect(crumbs.nth(left - 1)).to_have_attribute("aria-current", "step")
    expect(why).to_have_attribute("data-ready", "question")
    why.locator(".bar", has_text="Why?").first.click()
    expect(why).not_to_have_attribute("data-ready", "question")


@pytest.mark.long
@pytest.mark.parametrize(
    ("root", "width", "language"), [("folder", 1400, "en"), ("server", 390, "zh")], indirect=["root"]
)
def test_the_walk_opens_steps_and_zooms_as_in_the_app(
    tab: Page, root: str, site: Path, width: int, language: str
) -> None:
    tab.set_viewport_size({"width": width, "height": 900})
    page = next(path for path in site.glob("01-*.html") if (".zh" in path.name) == (language == "zh"))
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    opened(tab, f"{root}/{page.name}")
    assert not any("walk" in address for address in asked)
    tab.locator("details[data-scripts] > summary").click()
    walk = tab.locator(".walk[data-ready]")
    expect(walk.locator(".model-scene")).to_be_visible()
    until(lambda: any("walk" in address for address in asked), "its scripts are asked for")
    tab.wait_for_function(f"document.documentElement.{EDGE}")
    # Stepping, and the film.
    walk.focus()
    tab.keyboard.press("Home")
    hidden = walk.locator(".unborn")
    first = until(hidden.count, "later steps are hidden")
    tab.keyboard.press("ArrowRight")
    expect(hidden).not_to_have_count(first)
    second = hidden.count()
    walk.locator(".play").click()
    expect(hidden).not_to_have_count(second)
    walk.focus()
    tab.keyboard.press("End")
    expect(hidden).to_have_count(0)
    walk.locator("[data-node='encoder 1 1']").click()
    expect(walk.locator(".walk-crumb")).to_have_count(2)


@pytest.mark.long
@pytest.mark.parametrize(("group", "language"), [("walk", "en"), ("walk", "zh"), ("picture", "en")])
def test_a_page_says_so_where_a_data_file_is_missing(
    chromium: "Browser", served: str, site: Path, group: str, language: str
) -> None:
    name = next(path.name for path in site.glob("01-*.html") if (".zh" in path.name) == (language == "zh"))
    with chromium.new_page() as tab:
        tab.route(f"**/data/*-{group}.js", lambda route: route.abort())
        tab.goto(f"{served}/{name}")
        if group == "walk":
            tab.locator("body[data-ready]").wait_for()
            expect(tab.get_by_role("alert")).to_have_count(0)
            tab.locator("details[data-scripts] > summary").click()
        told = {"en": "a data file could not be loaded", "zh": "有数据文件未能加载"}[language]
        expect(tab.get_by_role("alert")).to_contain_text(told)
        place = tab.get_by_role("alert").evaluate("alert => alert.nextElementSibling.id")
    assert place == f"{group}-0"
