"""Every tab of every page in Chinese: no English sentence is left, nothing is wider than its window, its picture begins
in the upper part of the screen, no page is too long, and labels in a row are in one line. English pages are alike."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as NotInTime

from model.analysis.corpus import OWN_CORPUS
from model.training.film_recorder import SENTENCES
from tests.browser.conftest import visit
from tests.paths import ROOT
from viz.locale.__main__ import read
from viz.selection.examples import ALL_EXAMPLES
from viz.selection.selection import FIELDS, PAGES
from viz.text.messages import FOLDER, speaking
from viz.text.messages import _ as said_now

#: A wider window leaves more room beside each other. The phone is between the two, so that no tab begins on it.
SIZES = ((1280, 720), (390, 844), (800, 900))
#: CSS pixels that title, tabs and what is asked below them may take.
ROOM_ABOVE = 380
#: CSS pixels that a page may take in the wider window; in one still wider it takes fewer.
LONGEST = 2_500
#: Tab → the field of what it shows in other ways.
MODES = {"Film": "search", "Inside": "inside", "The Transformer": "depth"}
#: Four English words in a row.
RUN = re.compile(r"\b[A-Za-z’']+[,;:]?(?: [A-Za-z’']+[,;:]?){3,}")
#: Without any of these, words in a row are tokens, names or numbers of a model.
COMMON = re.compile(r"\b(?:the|a|an|of|is|are|to|in|and|with|for|by|that|this|it|its|not|from|on|as|or|has|was)\b")
#: Sections that show what a checkpoint's files say, in the language of these files.
OF_FILES = ".st-key-section-2, .st-key-section-4"
#: What people see: texts, in the shadow of components too, and what is read aloud.
SEEN = """() => {
  const seen = [];
  const isOther = (around) => around.closest('[lang="en"], [lang="de"], script, style, OF_FILES');
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE) {
      const around = node.parentElement;
      if (node.textContent.trim() && around?.getClientRects().length && !isOther(around))
        seen.push(node.textContent.trim());
      return;
    }
    for (const name of ["aria-label", "title", "placeholder", "alt"])
      if (node.getAttribute?.(name)) seen.push(node.getAttribute(name));
    if (node.shadowRoot) walk(node.shadowRoot);
    node.childNodes.forEach(walk);
  };
  walk(document.querySelector('[data-testid="stApp"]'));
  return seen;
}"""
#: What Streamlit itself says, and nothing sets.
OF_STREAMLIT = ("Skip to main content", "Navigate to home page")
#: What a tab shows first.
PICTURE = "iframe, .js-plotly-plot, table, [data-testid='stDataFrame'], [data-testid^='stBidiComponent']"
#: View → what it shows first, where that is a text or a box.
TEXTS = {
    "Lessons": ".st-key-lesson-step",
    "Film, Sampling": ".st-key-samples",
    "Cause": ".st-key-cause-said",
    "Measured": ".st-key-measured-said",
    "Ablations": ".st-key-ablation-full",
}
FITS = """() => {
  const main = document.querySelector('[data-testid="stMain"]');
  return main.scrollWidth <= main.clientWidth;
}"""
#: Of a page that is drawn, of which nothing is computed any more: where it begins to show something, its height, and
#: labels of controls that are next to each other, but not in one line.
LAYOUT = """([first, most, mayBeLow]) => {
  const main = document.querySelector('[data-testid="stMain"]');
  const busy = ':is([data-testid="stProgress"], .stProgress, .stSpinner, [data-testid="stSkeleton"])';
  const isDrawn = document.querySelector('[data-test-script-state="notRunning"]') && !main.querySelector(busy);
  const tops = [...main.querySelectorAll(first)]
    .filter((each) => each.checkVisibility() && each.offsetHeight > 20 && !each.closest(".st-key-page-head"))
    .map((each) => each.getBoundingClientRect().top + main.scrollTop);
  const top = Math.min(...tops);
  if (!isDrawn || !tops.length || main.scrollWidth > main.clientWidth || (top > most && !mayBeLow)) return null;
  const labels = [...main.querySelectorAll('[data-testid="stWidgetLabel"] p')]
    .filter((label) => label.checkVisibility() && label.offsetHeight > 2)
    .map((label) => ({ text: label.textContent, bottom: label.getBoundingClientRect().bottom }));
  const askew = labels.flatMap(({ text, bottom }, i) =>
    labels.slice(0, i).filter((other) => Math.abs(Math.abs(other.bottom - bottom) - 8) <= 7)
      .map((other) => `${other.text} | ${text}`));
  return { height: main.scrollHeight, top, askew };
}"""


def known_english() -> str:
    """What is English in Chinese pages too: sentences that the model reads, what was measured with it, and names."""
    texts = [*OF_STREAMLIT, *(text for example in ALL_EXAMPLES for text in (example.text, example.twin or ""))]
    texts += [source for source, _, _ in SENTENCES]
    texts.append(OWN_CORPUS.read_text(encoding="utf-8"))
    texts.append((ROOT / "checkpoints" / "en-de" / "metrics.json").read_text(encoding="utf-8"))
    for message in read(FOLDER / "zh.po"):
        texts += [message.string] if isinstance(message.string, str) else list(message.string or ())
    return "\n".join(texts)


def english_in(seen: list[str], known: str) -> Iterator[str]:
    for text in seen:
        for run in RUN.findall(text):
            if COMMON.search(run) and run.strip(",;:") not in known:
                yield text


@pytest.mark.long
def test_on_every_tab_no_english_sentence_is_left_all_sizes_hold_it_and_all_is_where_it_should_be(
    page: Page, app_as_shipped: str
) -> None:
    known, wrong, sizes = known_english(), list[str](), SIZES
    visit(page, f"{app_as_shipped}/?lang=zh")
    assert_saved_with_characters(page)
    for section, known_page in PAGES.items():
        name = in_chinese(known_page.title)
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        for view in views(page, known_page.tab if known_page.has_tabs else ""):
            # What is drawn is drawn anew for another width: each view begins with the last of the one before.
            sizes = sizes[::-1]
            for width, height in sizes:
                page.set_viewport_size({"width": width, "height": height})
                if (width, height) != SIZES[0]:
                    page.wait_for_function(FITS)
                    continue
                layout = drawn(page, TEXTS.get(view, PICTURE))
                wrong += [f"{section} {view}: {labels}" for labels in layout["askew"]]
                is_long = layout["height"] > LONGEST and known_page.has_tabs
                if layout["top"] > ROOM_ABOVE or is_long:
                    wrong.append(f"{section} {view}: begins at {layout['top']}, {layout['height']} high")
            seen = page.evaluate(SEEN.replace("OF_FILES", OF_FILES))
            wrong += [f"{section} {view}: {text}" for text in english_in(seen, known)]
    assert not wrong, "\n".join(wrong)


def drawn(page: Page, first: str) -> Any:
    """The layout of a page once all is drawn; what is above its picture is given five seconds to go."""
    try:
        return page.wait_for_function(LAYOUT, arg=[first, ROOM_ABOVE, False], timeout=5_000).json_value()
    except NotInTime:
        return page.wait_for_function(LAYOUT, arg=[first, ROOM_ABOVE, True]).json_value()


def in_chinese(text: str) -> str:
    with speaking("zh"):
        return said_now(text)


def views(page: Page, field: str) -> Iterator[str]:
    """Open every tab of a page, each once for every way in which it shows something, and tell which it is."""
    for number, tab in enumerate(FIELDS[field].options if field else ("",)):
        if field:
            page.get_by_role("tab").nth(number).click()
            expect(page.get_by_role("tab").nth(number)).to_have_attribute("aria-selected", "true")
            expect(page.get_by_role("tabpanel")).not_to_be_empty()
        yield tab
        if tab not in MODES:
            continue
        ways = FIELDS[MODES[tab]]
        for way in ways.options[1:]:
            if tab == "The Transformer":
                page.get_by_role("button", name=in_chinese("Zoom in (+)")).click()
            else:
                page.locator(".st-key-asked-of-translation").get_by_role("radio", name=in_chinese(way)).click()
            # When the address says so, Python has heard.
            expect(page).to_have_url(re.compile(f"[?&]{ways.param}={way.partition(' ')[0]}"))
            yield f"{tab}, {way}"


@pytest.mark.long
def test_the_choice_of_language_loses_nothing_and_is_kept_in_the_address(page: Page, app_as_shipped: str) -> None:
    visit(page, f"{app_as_shipped}/decode?studio=Inside")
    expect(page.get_by_role("tab", name="Inside")).to_have_attribute("aria-selected", "true")
    field = page.get_by_role("textbox", name="English sentence")
    field.fill("Tom is reading.")
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile("Tom"))
    page.get_by_role("button", name=re.compile("Settings")).click()
    page.get_by_role("radio", name="简体中文").click()
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile("lang=zh"))
    expect(page.get_by_role("heading", level=1)).to_have_text("解码")
    expect(page.locator("html")).to_have_attribute("lang", re.compile("^zh"))
    expect(page.get_by_role("tab", selected=True)).to_have_text("内部")
    expect(page.get_by_role("textbox").first).to_have_value("Tom is reading.")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("解码")


def assert_saved_with_characters(page: Page) -> None:
    """A saved picture keeps the characters and lets any machine choose their font."""
    root = page.locator(".st-key-heads .head-grid")
    expect(root).to_have_attribute("data-ready", "1")
    with page.expect_download() as download:
        page.evaluate("globalThis.headlightFormat = 'SVG'")
        root.get_by_role("button", name="保存此图片", exact=True).click()
    content = Path(download.value.path()).read_text(encoding="utf-8")
    texts = [text.text or "" for text in ElementTree.fromstring(content).iter("{http://www.w3.org/2000/svg}text")]
    assert any(re.search("[\u4e00-\u9fff]", text) for text in texts)
    assert all("sans-serif" in family for family in re.findall('font-family="([^"]*)"', content))
