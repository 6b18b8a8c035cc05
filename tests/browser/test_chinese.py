"""Every tab of every page in Chinese: no English sentence is left, nothing is wider than its window, its picture begins
in the upper part of the screen, no page is too long, and labels in a row are in one line. English pages are alike."""

import re
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Locator, Page, expect

from model.training.film_recorder import SENTENCES
from tests.benchmarks.forged import TABS
from tests.benchmarks.hostile import PAGES
from tests.browser.conftest import visit
from tests.paths import ROOT
from viz.locale.__main__ import read
from viz.selection.examples import ALL_EXAMPLES
from viz.selection.selection import FIELDS, SECTIONS
from viz.selection.selection import PAGES as KNOWN_PAGES
from viz.text.messages import FOLDER, speaking
from viz.text.messages import _ as said_now

#: A wider window leaves more room beside each other. The phone is between the two, so that no tab begins on it.
SIZES = ((1280, 720), (390, 844), (800, 900))
#: CSS pixels that title, sentence and controls may take.
ROOM_ABOVE = 260
#: CSS pixels that a page may take in the wider window; in one still wider it takes fewer.
LONGEST = 2_400
#: What stands between single quotes: a label to translate.
LABEL = re.compile("(?<==')[^']+")
#: Page and tab → the picture that it is about.
PICTURES = {
    ("learn", "Lessons"): ".st-key-lesson-step",
    ("learn", "model"): ".model-scene",
    ("learn", "layer"): ".layer-scene",
    ("learn", "head"): ".head-scene",
    ("learn", "cell"): ".cell-scene",
    ("learn", "number"): ".number-scene",
    ("attention", "All heads"): ".st-key-heads",
    ("attention", "QK and OV"): "[aria-label='What the head writes for each token']",
    ("attention", "bertviz"): "iframe",
    ("decoding", "Greedy"): ".st-key-player",
    ("decoding", "Logit lens"): ".st-key-lens",
    ("decoding", "Attribution"): ".st-key-attribution-words",
    ("decoding", "Beam search"): ".st-key-beam-tree",
    ("decoding", "Sampling"): ".st-key-samples",
    ("decoding", "Cost"): ".st-key-cache-self",
    ("coreference", "Side by side"): ".st-key-movement",
    ("coreference", "Measured"): "table[aria-label='Accuracies compared']",
    ("coreference", "Cause"): ".st-key-cause-said",
    ("coreference", "Two models"): "[class*='st-key-two-models-map']",
    ("atlas", "Maps"): ".st-key-atlas-maps",
    ("experiments", "Ablations"): ".st-key-ablation-full",
    ("experiments", "Through training"): ".st-key-training-film",
    ("model_card", "Overview"): ".st-key-parameters",
}
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
#: The height of a page that is drawn, and labels of controls that are next to each other, but not in one line.
LAYOUT = """() => {
  const main = document.querySelector('[data-testid="stMain"]');
  const labels = [...main.querySelectorAll('[data-testid="stWidgetLabel"] p')]
    .filter((label) => label.checkVisibility() && label.offsetHeight > 2)
    .map((label) => ({ text: label.textContent, bottom: label.getBoundingClientRect().bottom }));
  const askew = labels.flatMap(({ text, bottom }, i) =>
    labels.slice(0, i).filter((other) => Math.abs(Math.abs(other.bottom - bottom) - 8) <= 7)
      .map((other) => `${other.text} | ${text}`));
  return { height: main.scrollHeight, askew };
}"""
#: Nothing is computed any more.
DRAWN = """() => document.querySelector('[data-test-script-state="notRunning"]')
  && !document.querySelector('[data-testid="stMain"] :is([data-testid="stProgress"], .stProgress, .stSpinner)')"""
FITS = """() => {
  const main = document.querySelector('[data-testid="stMain"]');
  return main.scrollWidth <= main.clientWidth;
}"""


def known_english() -> str:
    """What is English in Chinese pages too: sentences that the model reads, what was measured with it, and names."""
    texts = [*OF_STREAMLIT, *(text for example in ALL_EXAMPLES for text in (example.text, example.twin or ""))]
    texts += [source for source, _, _ in SENTENCES]
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
    known, left, low, sizes = known_english(), list[str](), list[str](), SIZES
    long, askew = list[str](), list[str]()
    visit(page, f"{app_as_shipped}/?lang=zh")
    assert_saved_with_characters(page)
    for path, field in TABS.items():
        with speaking("zh"):
            name = said_now(PAGES[path][0])
        if path != next(iter(TABS)):
            page.get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        has_tabs = KNOWN_PAGES[SECTIONS[PAGES[path][1]]].has_tabs
        for number, tab, mode in views(field) if has_tabs else [next(views(field))]:
            if has_tabs:
                page.get_by_role("tab").nth(number).click()
                expect(page.get_by_role("tab").nth(number)).to_have_attribute("aria-selected", "true")
            if mode is not None:
                with speaking("zh"):
                    if tab != "The Transformer":
                        page.locator(".st-key-in-line-of-tabs").get_by_role("radio", name=said_now(mode)).click()
                    elif mode != "model":
                        page.get_by_role("button", name=said_now("Zoom in (+)")).click()
                tab = mode
            expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
            with speaking("zh"):
                picture = page.locator(
                    LABEL.sub(lambda label: said_now(label[0]), PICTURES.get((path.split("/")[2], tab), "h1"))
                )
            expect(picture).to_be_visible()
            # What is drawn is drawn anew for another width: each tab begins with the last of the one before.
            sizes = sizes[::-1]
            for width, height in sizes:
                page.set_viewport_size({"width": width, "height": height})
                page.wait_for_function(FITS)
                # What is above it may still be a progress bar: where it stays is measured.
                if (width, height) == SIZES[0]:
                    if (top := settled_top(picture)) > ROOM_ABOVE:
                        low.append(f"{path} {tab!r}: {top}")
                    page.wait_for_function(DRAWN)
                    layout = page.evaluate(LAYOUT)
                    if has_tabs and layout["height"] > LONGEST:
                        long.append(f"{path} {tab!r}: {layout['height']}")
                    askew += [f"{path} {tab!r}: {labels}" for labels in layout["askew"]]
            seen = page.evaluate(SEEN.replace("OF_FILES", OF_FILES))
            left += [f"{path} {tab!r}: {text}" for text in english_in(seen, known)]
    assert left == []
    assert low == []
    assert long == []
    assert askew == []


def views(field: str) -> Iterator[tuple[int, str, str | None]]:
    """The place and the name of each tab, once for every way in which it shows something."""
    for number, tab in enumerate(FIELDS[field].options):
        for mode in FIELDS[MODES[tab]].options if tab in MODES else (None,):
            yield number, tab, mode


def settled_top(picture: Locator) -> float:
    """Where a picture begins (CSS pixels), once it begins high enough, or after five seconds."""
    begins, until = "(element) => element.getBoundingClientRect().top", monotonic() + 5
    while (top := float(picture.evaluate(begins))) > ROOM_ABOVE and monotonic() < until:
        picture.page.wait_for_timeout(100)
    return top


@pytest.mark.long
def test_the_choice_of_language_loses_nothing_and_is_kept_in_the_address(page: Page, app_as_shipped: str) -> None:
    visit(page, f"{app_as_shipped}/decode?studio=Cost")
    expect(page.get_by_role("tab", name="Cost")).to_have_attribute("aria-selected", "true")
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
    expect(page.get_by_role("tab", selected=True)).to_have_text("开销")
    expect(page.get_by_role("textbox").first).to_have_value("Tom is reading.")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("解码")


def assert_saved_with_characters(page: Page) -> None:
    """A saved picture keeps the characters and lets any machine choose their font."""
    root = page.locator(".st-key-heads .head-grid")
    expect(root).to_have_attribute("data-ready", "1")
    with page.expect_download() as download:
        page.evaluate("globalThis.headlightFormat = 'SVG'")
        root.locator(".picture-button").click()
    content = Path(download.value.path()).read_text(encoding="utf-8")
    texts = [text.text or "" for text in ElementTree.fromstring(content).iter("{http://www.w3.org/2000/svg}text")]
    assert any(re.search("[\u4e00-\u9fff]", text) for text in texts)
    assert all("sans-serif" in family for family in re.findall('font-family="([^"]*)"', content))
