"""In a browser: a folder with a BERT is pasted on the left, and its heads are on the screen."""

import re
import shutil
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.model.adapters import zoo


def test_a_pasted_folder_shows_its_heads(url: str, page: Page, tmp_path: Path) -> None:
    folder = zoo.save_model(tmp_path / "my-bert", "bert")
    page.goto(url)
    page.get_by_text("Add a model").click()
    page.get_by_role("textbox", name="Folder").fill(str(folder))
    page.get_by_role("textbox", name="Folder").press("Enter")
    expect(page.get_by_role("combobox", name="Checkpoint")).to_be_visible(timeout=60_000)
    expect(page.locator(".st-key-heads [data-ready]")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("checkpoint=my-bert"), timeout=60_000)
    assert str(tmp_path) not in page.url
    shutil.rmtree(folder)
