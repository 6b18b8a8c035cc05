"""What an opened head of a model that no atlas describes does: read without a click, and its examples in Attention."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from model.analysis.head_description.corpora import default_corpus
from tests.browser.conftest import streamlit_server
from tests.model.adapters.zoo import tiny, wordpiece
from tests.paths import ROOT


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
        expect(page.locator(".st-key-what-it-does-more")).to_contain_text("Measured: 200 English texts of ours")
        expect(page.get_by_role("heading", name="What L1 H2 does")).to_be_visible()
        numbers = page.locator(".head-numbers[data-ready='1']")
        expect(numbers).to_contain_text("What it attends to")
        # The next head's is there as soon as it is opened.
        page.get_by_role("gridcell", name=re.compile("^L1 H1")).click()
        expect(page.get_by_role("heading", name="What L1 H1 does")).to_be_visible()
        page.get_by_text("Examples, weak to strong").click()
        examples = page.locator(".head-examples[data-ready='1'] .example")
        expect(examples).to_have_count(10)
        expect(examples.first).to_contain_text("Tenth 1")
        # By its keys.
        examples.last.focus()
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(r"head=L1H1.*token=|token=.*head=L1H1"))
        expect(page).not_to_have_url(re.compile("animal"))
        expect(page.locator(".matrix-picture[data-title^='L1 H1']").first).to_be_visible()
