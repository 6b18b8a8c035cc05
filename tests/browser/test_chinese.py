"""Every tab of every page in Chinese: no English sentence is left, and nothing is wider than its window."""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from playwright.sync_api import Page, expect

from model.training.film_recorder import SENTENCES
from tests.benchmarks.forged import TABS
from tests.benchmarks.hostile import PAGES
from tests.paths import ROOT
from viz.locale.__main__ import read
from viz.selection.examples import ALL_EXAMPLES
from viz.selection.selection import FIELDS
from viz.text.messages import FOLDER, speaking
from viz.text.messages import _ as said_now

WIDTHS = (1400, 800)
#: Four English words in a row.
RUN = re.compile(r"\b[A-Za-z’']+[,;:]?(?: [A-Za-z’']+[,;:]?){3,}")
#: Without any of these, words in a row are tokens, names or numbers of a model.
COMMON = re.compile(r"\b(?:the|a|an|of|is|are|to|in|and|with|for|by|that|this|it|its|not|from|on|as|or|has|was)\b")
#: Tabs that show what a checkpoint's files say, in the language of these files.
OF_FILES = {"Training data", "Translations", "Card"}
#: What people see: texts, in the shadow of components too, and what is read aloud.
SEEN = """() => {
  const seen = [];
  const isOther = (around) => around.closest('[lang="en"], [lang="de"], script, style');
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


def test_no_english_sentence_is_left_on_any_tab_or_picture_and_both_widths_hold_it(
    page: Page, app_as_shipped: str
) -> None:
    known, left, widths = known_english(), list[str](), WIDTHS
    page.goto(f"{app_as_shipped}/?lang=zh")
    assert_saved_with_characters(page)
    for path, field in TABS.items():
        with speaking("zh"):
            name = said_now(PAGES[path][0])
        if path != next(iter(TABS)):
            page.get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        for number, tab in enumerate(FIELDS[field].options):
            page.get_by_role("tab").nth(number).click()
            expect(page.get_by_role("tab").nth(number)).to_have_attribute("aria-selected", "true")
            expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
            # What is drawn is drawn anew for another width: each tab begins with the last of the one before.
            widths = widths[::-1]
            for width in widths:
                page.set_viewport_size({"width": width, "height": 900})
                page.wait_for_function(FITS)
            if tab not in OF_FILES:
                left += [f"{path} {tab!r}: {text}" for text in english_in(page.evaluate(SEEN), known)]
    assert left == []


def test_the_choice_of_language_loses_nothing_and_is_kept_in_the_address(page: Page, app_as_shipped: str) -> None:
    page.goto(f"{app_as_shipped}/decode?studio=Cost")
    expect(page.get_by_role("tab", name="Cost")).to_have_attribute("aria-selected", "true")
    field = page.get_by_role("textbox", name="English sentence")
    field.fill("Tom is reading.")
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile("Tom"))
    page.get_by_role("radio", name="简体中文").click()
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
        root.get_by_role("button", name="SVG").click()
    content = Path(download.value.path()).read_text(encoding="utf-8")
    texts = [text.text or "" for text in ElementTree.fromstring(content).iter("{http://www.w3.org/2000/svg}text")]
    assert any(re.search("[\u4e00-\u9fff]", text) for text in texts)
    assert all("sans-serif" in family for family in re.findall('font-family="([^"]*)"', content))
