"""A page on a projector: one picture a screen, large letters, the keys of a clicker, and the address as a code."""

import re
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import settled, visit
from tests.browser.pointing import box_of, shows, until

SIZES = ((1024, 768), (1920, 1080))
#: Of the height of the screen.
SMALLEST = 1 / 45
#: What is presented of the page Attention, one after the other.
HEADS, HEATMAP, LINES = SCREENS = (".st-key-heads", ".st-key-open-head", ".st-key-open-lines")
#: How far the page is larger than its screen, and its smallest letters, of HTML and of SVG, in components too.
MEASURED = """() => {
  let smallest = Infinity, said = "";
  const walk = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot) walk(element.shadowRoot);
      const isText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
      if (!isText || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      const { width, height } = element.getBoundingClientRect();
      const chart = element.closest(".js-plotly-plot");
      const scale = chart ? chart.getBoundingClientRect().width / chart.offsetWidth : element.currentCSSZoom;
      const size = Number.parseFloat(getComputedStyle(element).fontSize) * scale;
      if (width < 2 || height < 2 || size >= smallest) continue;
      [smallest, said] = [size, element.textContent];
    }
  };
  walk(document);
  const main = document.querySelector("[data-testid=stMain]");
  const over = [main.scrollWidth - main.clientWidth, main.scrollHeight - main.clientHeight];
  return { over, smallest, said };
}"""
#: The same as soon as it fits, with letters no smaller than these; after ten seconds as it is.
FITTED = f"""async (letters) => {{
  const measured = {MEASURED};
  const last = performance.now() + 10_000;
  for (;;) {{
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
    const found = measured();
    const fits = Math.max(...found.over) <= 0 && found.smallest >= letters;
    if (fits || performance.now() > last) return found;
    await new Promise((done) => setTimeout(done, 50));
  }}
}}"""


def presented(page: Page, address: str, picture: str) -> Locator:
    visit(page, address)
    return shown_picture(page, picture)


def shown_picture(page: Page, picture: str) -> Locator:
    shown = page.locator(picture)
    expect(shown).to_be_visible()
    if picture != ".st-key-lesson-step":
        expect(shown.locator("[data-ready='1']")).to_be_visible()
    expect(page.locator(".st-key-address-code")).to_be_attached()
    if picture != ".st-key-player":
        expect(page.locator(".present-steps[data-ready='1']")).to_be_visible()
    settled(page)
    return shown


def present(page: Page, is_presented: bool, size: tuple[int, int]) -> None:
    """Begin or end it by the key, once the page stands still, in a window of this size."""
    expect(page.locator(".head-tools[data-ready='1']")).to_be_attached()
    settled(page)
    page.keyboard.press("p")
    page.set_viewport_size({"width": size[0], "height": size[1]})
    expect(page.locator(".present-steps[data-ready='1']")).to_have_count(int(is_presented))
    expect(page.locator(".st-key-address-code")).to_have_count(int(is_presented))
    settled(page)


def fitted(page: Page) -> dict[str, Any]:
    """How far the page is larger than its screen, and its smallest letters, once they fit; else what they stay."""
    size = page.viewport_size
    assert size is not None
    found: dict[str, Any] = page.evaluate(FITTED, SMALLEST * size["height"] - 0.01)
    return found


def assert_fits(page: Page, shown: Locator) -> None:
    """What is presented lies within the screen, in letters of a 45th of its height at least."""
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        found = fitted(page)
        assert max(found["over"]) <= 0, f"{width} × {height}: {found}"
        assert found["smallest"] >= SMALLEST * height - 0.01, f"{width} × {height}: {found}"

        def is_on_screen(width: int = width, height: int = height) -> bool:
            box = box_of(shown)
            return 0 <= box["x"] <= width - box["width"] and box["y"] + box["height"] <= height

        until(is_on_screen, f"{shown} lies within {width} × {height}")
        for hidden in ("stSidebar", "stHeader"):
            expect(page.get_by_test_id(hidden)).to_be_hidden()


@pytest.mark.long
def test_p_begins_and_ends_it_but_not_where_a_person_types(page: Page, app_as_shipped: str) -> None:
    visit(page, app_as_shipped)
    expect(page.locator(".st-key-heads [data-ready='1']")).to_be_visible()
    field = page.get_by_role("textbox", name="English sentence")
    field.press("p")
    expect(field).to_have_value(re.compile("p"))
    field.press("Escape")
    page.get_by_role("tab", name="All heads").focus()
    expect(page).not_to_have_url(re.compile("present=1"))
    page.keyboard.press("p")
    expect(page).to_have_url(re.compile("present=1"))
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    expect(page.get_by_role("button", name="Leave")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Present")).click()
    expect(page.get_by_role("button", name="Leave")).to_be_visible()
    page.keyboard.press("p")
    expect(page).not_to_have_url(re.compile("present"))


@pytest.mark.long
def test_the_pictures_of_heads_fit_a_screen_and_keys_of_a_clicker_that_follow_fast_are_all_heard(
    page: Page, app_as_shipped: str
) -> None:
    assert_fits(page, presented(page, f"{app_as_shipped}/?present=1", HEADS))
    assert_fits(page, shown_picture(page, HEATMAP))
    cut = "(words) => words.filter((word) => word.scrollWidth > word.clientWidth).length"
    for size in SIZES:
        page.set_viewport_size({"width": size[0], "height": size[1]})
        fitted(page)

        def are_beside_each_other(width: int = size[0]) -> bool:
            grid, head = box_of(page.locator(HEADS)), box_of(page.locator(HEATMAP))
            return grid["x"] + grid["width"] <= head["x"] and grid["width"] + head["width"] > 0.95 * width

        # Beside each other, and every word whole.
        until(are_beside_each_other, f"grid and head fill {size} beside each other")
        expect(page.locator(f"{HEATMAP} .row-label")).to_have_count(12)
        expect(page.locator(f"{HEATMAP} .column-label")).to_have_count(12)
        jobs = page.locator(f"{HEADS} .cell-job")
        until(partial(shows, jobs, cut, 0), "no word is cut off")
        expect(jobs.get_by_text("↪", exact=True).first).to_be_visible()
    for picture in SCREENS[1:]:
        page.keyboard.press("PageDown")
        assert_fits(page, shown_picture(page, picture))
    page.keyboard.press("PageUp")
    expect(page.locator(HEATMAP)).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(HEADS)).to_be_visible()
    shown_picture(page, HEADS)
    page.keyboard.press("PageDown")
    page.keyboard.press("ArrowRight")
    expect(page.locator(LINES)).to_be_visible()
    expect(page).to_have_url(re.compile("screen=2"))


@pytest.mark.long
def test_a_clicker_and_escape_are_heard_after_a_click_on_a_picture(page: Page, app_as_shipped: str) -> None:
    presented(page, f"{app_as_shipped}/?present=1&screen=1", ".st-key-open-head")
    stage = page.locator(".st-key-open-head .stage")
    stage.click(position={"x": 260, "y": 240})
    expect(page).to_have_url(re.compile("token="))
    page.keyboard.press("PageDown")
    expect(page.locator(".st-key-open-lines")).to_be_visible()
    page.keyboard.press("PageUp")
    expect(stage).to_be_visible()
    stage.focus()
    # The first lets the cell go.
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("token="))
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stSidebar")).to_be_visible()


@pytest.mark.long
def test_a_film_fills_a_screen_page_down_goes_a_step_and_the_code_follows(page: Page, app_for_others: str) -> None:
    shown = presented(page, f"{app_for_others}/decode?present=1", ".st-key-player")
    assert_fits(page, shown)
    # Of the larger screen nothing is left empty.
    until(lambda: box_of(shown)["y"] + box_of(shown)["height"] > 0.8 * SIZES[-1][1], "the film fills the screen")
    player = shown.locator(".decode-player")
    expect(player).to_have_attribute("data-step", re.compile(r"\d"))
    # The line of its words, which had to scroll on the smaller screen, begins at its beginning again.
    until(
        partial(shows, player.locator(".columns"), "(lines) => Math.max(...lines.map((l) => l.scrollLeft))", 0), "both"
    )
    first = int(player.get_attribute("data-step") or "-1")
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    expect(player).to_have_attribute("data-step", str(first + 2))
    page.keyboard.press("PageUp")
    expect(player).to_have_attribute("data-step", str(first + 1))
    expect(page.get_by_role("img", name=re.compile(rf"QR code .*[?&]step={first + 1}\b"))).to_be_visible()
    expect(page.locator(".st-key-address-code img")).to_have_count(1)


@pytest.mark.long
@pytest.mark.parametrize(
    ("address", "pictures", "hidden"),
    [
        ("/atlas?", (".st-key-atlas-maps",), ".st-key-choices"),
        ("/compare?", (".st-key-movement",), ".st-key-choices"),
        ("/compare?lab=Measured&", (".js-plotly-plot >> nth=0",) * 2 + ("table",), ".st-key-choices"),
        ("/experiments?", (".st-key-ablation-full", ".st-key-ablations-table"), ".st-key-ablations-command"),
        ("/experiments?claim=Through+training&", (".st-key-training-film",), ".st-key-choices"),
        ("/model?", (".st-key-section",) * 6, ".st-key-card-whole"),
        ("/decode?studio=Inside&", (".st-key-lens",), ".stMarkdownBadge"),
        ("/learn?", (".st-key-lesson-step",) * 6, ".st-key-page-head > :first-child"),
        ("/?view=Why&", (".st-key-why", ".st-key-why-picture"), "[data-testid='stMain'] [data-testid='stExpander']"),
    ],
)
def test_other_pages_fit_a_screen_too(
    page: Page, app_as_shipped: str, address: str, pictures: tuple[str, ...], hidden: str
) -> None:
    visit(page, f"{app_as_shipped}{address}present=1")
    for number, picture in enumerate(pictures):
        if number:
            page.keyboard.press("PageDown")
        shown = page.locator(picture)
        expect(shown).to_be_visible()
        settled(page)
        assert_fits(page, shown)
    # What is chosen is in the address.
    expect(page.locator(hidden)).to_have_count(1)
    expect(page.locator(hidden)).to_be_hidden()
