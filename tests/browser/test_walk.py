"""The picture of the Transformer in a real browser: into it and out again by click, key, wheel and touch."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Browser, FloatRect, Locator, Page, expect

from tests.browser.conftest import settled, visit
from tests.browser.pointing import box_of, until

TEXT = "It was late."
#: What the buttons are called that zoom.
NAMED = {"+": "Zoom in", "−": "Zoom out"}


def walk(page: Page, url: str, query: str = "", text: str = TEXT) -> Locator:
    visit(page, f"{url}/learn?learn=The+Transformer&text={quote(text)}{query}")
    picture = page.locator(".walk[data-ready]")
    depth = re.search(r"depth=(\w+)", query)
    scene = f".{depth[1] if depth else 'model'}-scene"
    expect(picture.locator(f"{scene}:not(.walk-kept, .walk-aside)")).to_have_count(1)
    expect(picture.locator(".walk-aside")).to_have_count(0)
    settled(page)
    # Until the page has come whole it is covered, and nothing takes the focus.
    expect(picture).to_be_visible()
    return picture


@pytest.mark.long
def test_clicks_lead_from_the_model_to_a_product_and_the_trail_and_escape_lead_back(page: Page, url: str) -> None:
    picture = walk(page, url, "&site=encoder.self")
    trail = picture.locator(".walk-crumb")
    picture.locator("[data-node='encoder 2 1']").click()
    expect(trail.last).to_contain_text("Layer 2")
    expect(page).to_have_url(re.compile("depth=layer"))
    picture.locator(".stratum").nth(2).click()
    expect(trail.last).to_have_text("Self-attention · L2 H3")
    expect(page).to_have_url(re.compile("head=L2H3"))
    # Another head is opened by keyboard, beside the open one.
    picture.locator(".stratum[tabindex='0']").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("head=L2H2"))
    expect(picture.locator(".walk-aside")).to_have_count(0)
    picture.locator(".stratum[data-head='2']").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("head=L2H3"))
    # The first number of the first key, in the lowest row.
    lowest = picture.locator(".steps .ground").first
    lowest.scroll_into_view_if_needed()
    key = box_of(lowest)
    page.mouse.move(key["x"] + key["width"] / 2, key["y"] + 4)
    expect(picture.locator(".tooltip")).to_contain_text("component 1:")
    picture.locator(".keys .key").nth(1).click()
    chain = picture.locator(".cell-chain b")
    expect(chain).to_have_count(6)
    picture.locator(".product").nth(3).click()
    expect(trail.last).to_have_text("Component 4")
    expect(picture.locator("tr.now td").first).to_have_text("4")
    expect(page).to_have_url(re.compile("depth=number.*dim=3|dim=3.*depth=number"))
    # Reloaded it is the same place.
    page.reload()
    expect(trail.last).to_have_text("Component 4")
    expect(picture).to_be_visible()
    picture.focus()
    for depth in ("→", "L2 H3", "Layer 2", "Model"):
        page.keyboard.press("Escape")
        expect(trail.last).to_contain_text(depth)
    picture.locator("[data-node='decoder 3 0']").click()
    expect(trail.last).to_contain_text("Output")
    trail.first.click()
    expect(picture.locator(".model-scene")).to_be_visible()
    # A turn of the wheel leads one depth at once where nothing moves, however many events it has.
    settled(page)
    picture.locator("[data-node='encoder 2 2']").hover()
    # Wait until the turn before has ended, so that this is a new one.
    page.wait_for_timeout(700)
    page.keyboard.down("Control")
    for _ in range(6):
        page.mouse.wheel(0, -2)
    page.keyboard.up("Control")
    expect(trail).to_have_count(2)
    settled(page)
    expect(trail).to_have_count(2)
    picture.locator(".stratum").nth(1).hover()
    expect(picture.locator(".tooltip")).to_contain_text("→")
    # The button that was pressed keeps the focus; where it leads nowhere, the one that leads back has it.
    for name, count, kept in (("+", 3, "+"), ("−", 2, "−"), ("−", 1, "+")):
        picture.get_by_role("button", name=NAMED[name]).focus()
        page.keyboard.press("Enter")
        expect(trail).to_have_count(count)
        settled(page)
        expect(picture.get_by_role("button", name=NAMED[kept])).to_be_focused()


@pytest.mark.long
def test_the_film_shows_what_is_computed_so_far_and_hovering_tells_python_nothing(
    page: Page, url: str, sent: Callable[[], int]
) -> None:
    picture = walk(page, url)
    hidden = picture.locator(".unborn")
    expect(hidden).to_have_count(0)
    picture.focus()
    page.keyboard.press("Home")
    expect(picture.locator(".position")).to_have_text("Encoder · Input")
    first = until(hidden.count, "later steps are hidden")
    page.keyboard.press("ArrowRight")
    expect(picture.locator(".position")).to_have_text("Encoder · Layer 1")
    until(lambda: 0 < hidden.count() < first, "one more step is shown")
    page.keyboard.press("End")
    expect(hidden).to_have_count(0)
    # Python hears of the last step a moment later.
    page.wait_for_timeout(500)
    settled(page)
    before = sent()
    assert before, "messages are counted"
    node = picture.locator("[data-node='encoder 1 0']")
    node.hover()
    expect(picture.locator(".tooltip")).to_contain_text("residual stream of norm")
    expect(node).to_have_class(re.compile("followed"))
    expect(picture.locator(".tooltip")).to_contain_text("adds a vector of norm")
    # One column of each stack is lit, and rivers run into it.
    expect(picture.locator(".model-lit")).to_have_count(2)
    expect(picture.locator(".model-line.river")).not_to_have_count(0)
    assert sent() == before
    # A token that is followed stays lit, by its name and by F.
    followed = picture.locator(".model-token.read.followed").first
    page.mouse.click(*picture.locator(".model-token.read[data-follow='encoder 2']").evaluate(MIDDLE_OF_LETTERS))
    picture.focus()
    expect(followed).to_have_attribute("data-follow", "encoder 2")
    node.focus()
    page.keyboard.press("f")
    picture.focus()
    expect(followed).to_have_attribute("data-follow", "encoder 0")


@pytest.mark.long
def test_a_reference_is_read_in_the_picture_and_a_clicker_walks_the_way_at_every_depth(page: Page, url: str) -> None:
    picture = walk(page, url, "&present=1&reference=Es+war+ein+Tier.")
    picture.get_by_role("button", name="Teacher forcing").click()
    expect(picture.locator(".walk-told")).to_contain_text("The decoder reads the reference “Es war ein Tier.”")
    expect(picture.locator(".model-token", has_text="←").first).to_be_visible()
    # What is known of the unchanged run alone is not said of this one.
    expect(picture.locator(".model-lens")).to_have_count(0)
    expect(picture.locator("[aria-label*='adds a vector of norm']")).to_have_count(0)
    picture.get_by_role("button", name="Free running").click()
    expect(picture.locator(".model-token", has_text="←")).to_have_count(0)
    picture.get_by_role("button", name="Walk through it").click()
    number = picture.locator(".walk-told b")
    for shown, key in ((1, "PageDown"), (2, "PageDown"), (3, "PageDown"), (4, "PageUp"), (3, "PageDown")):
        expect(number).to_contain_text(f"{shown} / 15")
        settled(page)
        page.keyboard.press(key)
    expect(picture.locator(".head-scene")).to_be_visible()


#: Notes whether the way to a layer was painted: begun before the wheel is turned, for on a busy machine a way is short.
PAINTED = """(scene) => {
  const look = () => {
    const way = scene.querySelector(":scope > .walk-moving");
    window.painted ||= way?.getContext("2d").getImageData(0, 0, way.width, way.height).data.some(Boolean);
    if (!window.painted) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""
#: Notes where parts of a scene lie in the frame in which it has come. Till then the wheel is turned on: once it stands
#: still, the scene slides into its frame.
ARRIVAL = """(scene, [clientX, clientY, deltaY, name, ...parts]) => {
  window.arrived = null;
  const look = () => {
    scene.dispatchEvent(new WheelEvent("wheel", { deltaY, ctrlKey: true, clientX, clientY }));
    const shown = scene.querySelector(`:scope > .${name}-scene:not(.walk-kept, .walk-aside)`);
    if (!shown || scene.querySelector(":scope > .walk-aside")) return requestAnimationFrame(look);
    window.arrived = parts.map((part) => shown.querySelector(part).getBoundingClientRect().toJSON());
  };
  requestAnimationFrame(look);
}"""
#: The rows of a head that make its weights of its scores, from above to below; and the one of a weight.
OF_HEAD, OF_WEIGHT = [f".steps > :nth-child({row})" for row in (5, 3)], [".steps > :nth-child(2)"] * 2


def test_the_wheel_scrolls_the_page_until_a_click_and_then_zooms_into_what_is_under_it(page: Page, url: str) -> None:
    page.emulate_media(reduced_motion="no-preference")
    page.set_viewport_size({"width": 1280, "height": 720})
    picture = walk(page, url, "&site=encoder.self")
    node = picture.locator("[data-node='encoder 2 2']")
    token = (node.get_attribute("aria-label") or "").split("”")[0][1:]
    box, slab = box_of(node), box_of(picture.locator(".model-slab.self").nth(1))
    # Away from the middle of what is under it.
    at = box["x"] + 0.3 * box["width"], slab["y"] + 0.3 * slab["height"]
    page.mouse.move(*at)
    page.mouse.wheel(0, 60)
    main = page.get_by_test_id("stMain")
    page.wait_for_function("() => document.querySelector('[data-testid=stMain]').scrollTop > 0")
    expect(picture.locator(".walk-crumb").last).to_have_text("Model")
    page.mouse.wheel(0, -300)
    page.wait_for_function("() => document.querySelector('[data-testid=stMain]').scrollTop === 0")
    # A pause ends the turn; the ground beside the columns takes the focus.
    picture.focus()
    page.wait_for_timeout(300)
    scene = picture.locator(".walk-scene")
    scene.evaluate(PAINTED)
    for _ in range(4):
        page.mouse.wheel(0, -50)
    scene.evaluate(ARRIVAL, [*at, -5, "layer", ".model-lit", ".model-slab.self"])
    page.wait_for_function("() => window.arrived")
    assert page.evaluate("window.painted"), "the way is painted"
    expect(picture.locator(".walk-moving")).to_have_count(0)
    lit, attention = page.evaluate("window.arrived")
    pitch = lit["width"] / 0.96
    there = lit["x"] + lit["width"] / 2 - 0.2 * pitch, attention["y"] + 0.3 * attention["height"]
    assert np.allclose(there, at, atol=4), "the place under the pointer has become the next depth there"
    expect(picture.locator(".walk-crumb").last).to_contain_text("Layer 2")
    expect(picture.locator(".walk-crumb").last).to_contain_text(token)
    until(lambda: main.evaluate("part => part.scrollTop") == 0, "the page is not scrolled")
    expect(picture.locator(".walk-aside")).to_have_count(0)
    page.keyboard.press("+")
    # From the rows of a head into one weight, and back: what is under the pointer stays there.
    page.keyboard.down("Control")
    for name, rows, other, after, by in (
        ("head", OF_HEAD, "cell", OF_WEIGHT, -50),
        ("cell", OF_WEIGHT, "head", OF_HEAD, 50),
    ):
        shown = scene.locator(f"> .{name}-scene:not(.walk-aside)")
        expect(shown).to_be_visible()
        expect(picture.locator(".walk-aside")).to_have_count(0)
        # A pause ends the turn, and the scene has slid into its frame.
        page.wait_for_timeout(1_000)
        # Below the head that stays in sight.
        shown.locator(rows[1]).evaluate("row => row.scrollIntoView({ block: 'center' })")
        before = [box_of(shown.locator(row)) for row in rows]
        x, y = before[1]["x"] + 0.4 * before[1]["width"], before[1]["y"] + 0.5 * before[1]["height"]
        page.mouse.move(x, y)
        for _ in range(4):
            page.mouse.wheel(0, by)
        scene.evaluate(ARRIVAL, [x, y, by / 10, other, *after])
        page.wait_for_function("() => window.arrived")
        lies = np.interp(y, reach(*before), reach(*page.evaluate("window.arrived")))
        assert abs(lies - y) < 4, f"the row under the pointer, from {name} to {other}"
        expect(picture.locator(".walk-moving")).to_have_count(0)
    page.keyboard.up("Control")


def reach(above: FloatRect, below: FloatRect) -> list[float]:
    """The top of the upper box, and the foot of the lower one."""
    return [above["y"], below["y"] + below["height"]]


#: The names of stages of which not every letter can be seen.
CUT_OFF = """(stages) => stages.filter((stage) => {
  const text = document.createRange();
  text.selectNodeContents(stage);
  const [letters, box] = [text.getBoundingClientRect(), stage.getBoundingClientRect()];
  const isCut = getComputedStyle(stage).overflow !== "visible" && letters.width > box.width;
  return isCut || letters.right > stage.parentElement.getBoundingClientRect().right + 1;
}).map((stage) => stage.textContent)"""


def test_on_a_narrow_page_the_name_of_each_stage_of_a_layer_can_be_read(page: Page, shipped_url: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    visit(page, shipped_url.replace("/?", "/learn?learn=The+Transformer&depth=layer&"))
    stages = page.locator(".stages .stage")
    expect(stages.last).to_have_text("Out")
    until(lambda: stages.evaluate_all(CUT_OFF) == [], "the name of each stage can be read")


#: Words over a drawing have no height of their own.
MIDDLE_OF_LETTERS = """(words) => {
  words.scrollIntoView({ block: "center" });
  const text = document.createRange();
  text.selectNodeContents(words);
  const { x, y, width, height } = text.getBoundingClientRect();
  return [x + width / 2, y + height / 2];
}"""

NUMBER = re.compile(r"−?\d+(?:\.\d+)?(?:e[-+−]\d+)?")


def told(scene: Locator) -> tuple[str, list[float]]:
    """The words of a scene, and its numbers; the link “Why?” leads to a page of the app, so a file has none."""
    text = scene.inner_text().replace(" Why?", "")
    return NUMBER.sub("#", text), [float(number.replace("−", "-")) for number in NUMBER.findall(text)]


@pytest.mark.long
def test_the_whole_walk_is_a_file_that_says_the_same_without_a_network(
    page: Page, url: str, chromium: Browser, tmp_path: Path
) -> None:
    picture = walk(page, url, "&site=decoder.cross&head=L2H2&token=1&key_token=2&dim=1")
    page.get_by_role("button", name="Export", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name=re.compile("HTML page")).click()
    file = tmp_path / "walk.html"
    download.value.save_as(file)
    page.keyboard.press("Escape")
    context = chromium.new_context(offline=True, viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    tab = context.new_page()
    asked: list[str] = []
    errors: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    tab.goto(file.as_uri())
    kept = tab.locator(".walk[data-ready]")
    expect(kept.locator(".model-scene")).to_be_visible()
    # Elsewhere than where the file begins: another token, another head, another key.
    steps = ("[data-node='decoder 2 2']", ".stratum >> nth=1", ".keys .key >> nth=1", ".product >> nth=2")
    for depth, step in zip(("layer", "head", "cell", "number"), steps, strict=True):
        for each in (picture, kept):
            each.locator(step).click()
            expect(each.locator(".walk-scene")).to_have_attribute("data-depth", re.compile(depth))
        settled(page)
        expect(picture.locator(".walk-scene")).not_to_have_attribute("data-waits", re.compile(""))
        scenes = [each.locator(".walk-scene > :not(.walk-kept, .walk-aside)") for each in (picture, kept)]

        def is_told_alike(scenes: list[Locator] = scenes) -> bool:
            (words, numbers), (kept_words, kept_numbers) = map(told, scenes)
            return kept_words == words and np.allclose(kept_numbers, numbers, rtol=1e-4, atol=0.011)

        until(is_told_alike, f"the file tells the same at the depth {depth}")
    kept.focus()
    for _ in range(4):
        tab.keyboard.press("Escape")
    expect(kept.locator(".model-scene")).to_be_visible()
    # What needs the model is not offered.
    expect(kept.get_by_role("button", name="Teacher forcing")).to_have_count(0)
    kept.get_by_role("button", name="Walk through it").click()
    expect(kept.locator(".walk-told b")).to_contain_text("1 / 15")
    assert [address for address in asked if not address.startswith("blob:")] == [file.as_uri()]
    assert not errors
    context.close()
