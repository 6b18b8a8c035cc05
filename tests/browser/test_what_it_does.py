"""What an opened head of a model that no atlas describes does: read without a click, and its examples in Attention.

HEADLIGHT_REAL_MODELS has folders of models as they are published, as PATH has its own; on a machine that does nothing
else, each answers within `SECONDS`.
"""

import os
import re
import time
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from model.analysis.head_description.corpora import default_corpus
from tests.browser.conftest import streamlit_server
from tests.model.adapters.zoo import tiny, wordpiece
from tests.paths import ROOT
from tests.patience import PATIENCE

#: From the verdict on a model, with the head open, to what the head does.
SECONDS: Final = 10
REAL: Final = [Path(folder) for folder in os.environ.get("HEADLIGHT_REAL_MODELS", "").split(os.pathsep) if folder]


def seconds_to_answer(page: Page, url: str, folder: Path) -> float:
    """Open a head of a model that is proved, and wait until the page says what it does: nothing is pressed."""
    page.goto(f"{url}/?checkpoint={folder.name}&head=L5H2")
    verdict = page.get_by_test_id("stSidebar").get_by_text(re.compile("^Verification: "))
    expect(verdict).to_be_visible(timeout=1_000 * PATIENCE)
    expect(page.locator(".st-key-open-head canvas, .st-key-open-head svg").first).to_be_visible()
    begun = time.monotonic()
    expect(page.locator(".st-key-what-it-does strong")).not_to_be_empty()
    return time.monotonic() - begun


@pytest.mark.long
@pytest.mark.skipif(not REAL, reason="HEADLIGHT_REAL_MODELS names no folder")
def test_a_head_of_a_published_model_is_described_soon_after_the_verdict(
    own_page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_MEASURE_UNASKED", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with streamlit_server(ROOT / "app.py", ("--", *map(str, REAL)), tmp_path / "server.log") as url:
        seconds = {folder.name: round(seconds_to_answer(own_page, url, folder), 1) for folder in REAL}
    print(seconds)
    assert all(each < SECONDS for each in seconds.values()), seconds


@pytest.mark.long
def test_what_a_head_does_is_read_without_a_click_and_an_example_opens_in_attention(
    own_page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its tokenizer knows English words.
    tokenizer = wordpiece([text for text, _target in default_corpus("en")], most=3_000)
    sizes = {"vocab_size": len(tokenizer), "max_position_embeddings": 256}
    for part in (tiny("bert", changes=sizes), tokenizer):
        part.save_pretrained(tmp_path / "models" / "own")
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path / "models"))
    monkeypatch.setenv("HEADLIGHT_MEASURE_UNASKED", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    page = own_page
    with streamlit_server(ROOT / "app.py", (), tmp_path / "server.log") as url:
        page.goto(f"{url}/?text=The+animal+did+not+cross+the+street.&head=L1H2")
        answer = page.locator(".st-key-what-it-does")
        expect(answer.locator("strong")).not_to_be_empty()
        expect(page.locator(".st-key-what-it-does-more")).to_contain_text(
            "Measured: 200 English texts that come with Headlight"
        )
        expect(page.get_by_role("heading", name="What L1 H2 does")).to_be_visible()
        numbers = page.locator(".head-numbers[data-ready='1']")
        expect(numbers).to_contain_text("What it attends to")
        # The next head's is there as soon as it is opened.
        page.get_by_role("gridcell", name=re.compile("^L1 H1")).click()
        expect(page.get_by_role("heading", name="What L1 H1 does")).to_be_visible()
        page.get_by_text("Examples, weak to strong").click()
        examples = page.locator(".head-examples[data-ready='1'] .example")
        expect(examples).to_have_count(10)
        expect(examples.first).to_contain_text("Decile 1")
        # By its keys.
        examples.last.focus()
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(r"head=L1H1.*token=|token=.*head=L1H1"))
        expect(page).not_to_have_url(re.compile("animal"))
        expect(page.locator(".matrix-picture[data-title^='L1 H1']").first).to_be_visible()
