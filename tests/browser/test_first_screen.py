"""The first page: how much there is to operate, and what stays in sight while one scrolls."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import settled
from tests.browser.pointing import until

#: What a person can operate, in the shadow of components too; a list and the button within it are one.
CONTROLS = """() => {
  const found = [];
  const walk = (root) => {
    for (const each of root.querySelectorAll("*")) {
      if (each.shadowRoot) walk(each.shadowRoot);
      const isOne = each.matches("button, input, select, textarea, summary, [role=tab], [role=radio], [role=slider]");
      const { width, height } = each.getBoundingClientRect();
      const isWithin = each.closest("[data-testid=stSelectbox] button");
      if (isOne && each.checkVisibility() && width > 1 && height > 1 && !isWithin)
        found.push(each.getAttribute("aria-label") || each.textContent.trim());
    }
  };
  walk(document);
  return found;
}"""

#: As in a browser that lets no page keep anything.
BLOCKED = (
    """Object.defineProperty(window, "localStorage", { get() { throw new DOMException("", "SecurityError"); } });"""
)

#: How far what is seen has moved by itself, as browsers count it: share of the screen × share of its height.
MOVES = """window.moved = 0; new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.moved += entry.value;
}).observe({ type: "layout-shift", buffered: true });"""


#: The picture of each of these elements: its place and its pixels.
PICTURES = """(hosts) => hosts.map((host) => {
  const canvas = document.querySelector(host).shadowRoot.querySelector("canvas");
  const { x, y, width, height } = canvas.getBoundingClientRect();
  return [[x, y, width, height], canvas.toDataURL()];
})"""
#: Those of the cover once they are drawn, in `window.painted`.
PAINTED = f"""const attach = Element.prototype.attachShadow;
Element.prototype.attachShadow = function () {{ return attach.call(this, {{ mode: "open" }}); }};
new PerformanceObserver((list) => {{
  if (list.getEntriesByName("headlight-picture").length)
    window.painted = ({PICTURES})(["heads", "open-head"].map((key) => `[data-part=${{key}}]`));
}}).observe({{ type: "mark", buffered: true }});"""


@pytest.mark.long
def test_it_has_few_controls_its_translation_stays_in_sight_as_one_scrolls_and_settings_have_the_theme(
    page: Page, app_as_shipped: str
) -> None:
    page.goto(app_as_shipped)
    expect(page.locator(".st-key-open-head [data-ready='1']").first).to_be_visible()
    settled(page)
    # Beside links and heads.
    until(lambda: 20 < len(page.evaluate(CONTROLS)) <= 35, "there are few controls")
    translation = page.locator(".word-picker span[lang='de']")
    page.set_viewport_size({"width": 1280, "height": 500})
    page.get_by_test_id("stMain").evaluate("(main) => main.scrollTo(0, 400)")
    expect(page.get_by_role("tab", name="All heads")).not_to_be_in_viewport()
    expect(translation).to_be_in_viewport(ratio=1)
    # Nothing lies over it.
    seen = "(text) => { const { left, top } = text.getBoundingClientRect();"
    at = "text.getRootNode().elementFromPoint(left + 5, top + 5)"
    until(lambda: translation.evaluate(f"{seen} return text.contains({at}); }}"), "nothing lies over it")
    # The theme is chosen in the settings, and then that of all pages.
    app = page.get_by_test_id("stApp")
    expect(app).to_have_css("color-scheme", "light")
    expect(page.get_by_test_id("stMainMenu")).to_be_hidden()
    page.get_by_role("button", name="Settings").click()
    light, dark = (page.get_by_role("radio", name=name) for name in ("Light", "Dark"))
    page.get_by_role("radio", name="System").press("ArrowLeft")
    expect(app).to_have_css("color-scheme", "dark")
    dark.press("ArrowLeft")
    expect(app).to_have_css("color-scheme", "light")
    expect(light).to_be_focused()
    light.press("ArrowRight")
    expect(app).to_have_css("color-scheme", "dark")
    expect(dark).to_be_checked()
    # The menu that was pressed is closed again.
    expect(page.get_by_test_id("stMainMenuPopover")).to_have_count(0)
    page.goto(f"{app_as_shipped}/learn")
    expect(app).to_have_css("color-scheme", "dark")


def test_it_comes_whole_and_nothing_in_it_moves_once_it_is_seen(own_page: Page, app_as_shipped: str) -> None:
    own_page.add_init_script(MOVES)
    pictures = [own_page.locator(f".st-key-{name} canvas").first for name in ("heads", "open-head")]
    # A page that takes long, as the first one of a server may, is uncovered with its progress.
    for _ in range(4):
        own_page.goto(app_as_shipped)
        expect(own_page.locator("#cover")).to_have_count(0)
        if own_page.evaluate("performance.getEntriesByName('headlight-whole')[0].detail"):
            break
        expect(pictures[0]).to_be_visible()
    assert all(picture.is_visible() for picture in pictures)
    settled(own_page)
    assert own_page.evaluate("window.moved") < 0.1
    # What it is made of is named in its document, so no script was waited for once there was something to show.
    late = """() => {
      const files = performance.getEntriesByType("resource");
      const asked = files.find((file) => file.name.endsWith("/_stcore/health"));
      const late = files.filter((file) => file.name.endsWith(".js") && file.startTime > asked.startTime);
      return late.map((file) => file.name);
    }"""
    assert own_page.evaluate(late) == []
    # By now its pictures are in its document: drawn before the page is there, they are the same, in their place.
    own_page.reload()
    settled(own_page)
    expect(own_page.locator(".st-key-open-head [data-ready='1']")).to_be_visible()
    own_page.add_init_script(PAINTED)
    own_page.reload()
    expect(own_page.locator("#cover")).to_have_count(0)
    settled(own_page)
    hosts = [f".st-key-{key} [data-testid=stBidiComponentIsolated]" for key in ("heads", "open-head")]

    def are_the_same() -> bool:
        painted, shown = own_page.evaluate("window.painted"), own_page.evaluate(PICTURES, hosts)
        pairs = list(zip(painted or [], shown, strict=False))
        # What the open head does is not measured here: the line in its place may be a little higher.
        return len(pairs) == len(hosts) and all(
            before == after and place == pytest.approx(then, abs=4) for (place, before), (then, after) in pairs
        )

    until(are_the_same, "they are the same")
    own_page.add_init_script(BLOCKED)
    own_page.reload()
    expect(own_page.locator("#cover")).to_have_count(0)
    expect(pictures[0]).to_be_visible()
