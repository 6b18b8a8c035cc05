"""The tab Ablations in a real browser: small models side by side, another one chosen, and the way to its heads."""

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect


@pytest.fixture
def compared_url(url: str, checkpoints: Path, experiment_checkpoints: Path) -> str:
    """The whole app, with experiments of random weights beside its model."""
    shutil.copytree(experiment_checkpoints / "experiments", checkpoints / "experiments", dirs_exist_ok=True)
    return url


def test_models_are_compared_another_is_added_and_opened_on_the_attention_page(page: Page, compared_url: str) -> None:
    page.goto(f"{compared_url}/paper?claim=Ablations&text=So+late.&models=full.no-positions")
    for preset in ("full", "no-positions"):
        expect(page.locator(f".st-key-ablation-map-{preset} canvas").first).to_be_visible()
    words = page.get_by_text("in reverse order it writes exactly the same")
    expect(words.first).to_be_visible()
    # A third one stands beside them, and the address has it.
    page.locator(".st-key-ablations").get_by_role("combobox").click()
    page.get_by_role("option", name="gru").click()
    expect(page).to_have_url(re.compile("models=full.no-positions.gru"))
    expect(page.locator(".st-key-ablation-map-gru canvas").first).to_be_visible()
    page.locator(".st-key-ablations-seeds summary").click()
    expect(page.locator(".st-key-ablation-points-tatoeba_dev .js-plotly-plot")).to_be_visible()
    page.keyboard.press("Escape")
    page.locator(".st-key-ablation-attention-no-positions").get_by_role("button").click()
    expect(page).to_have_url(re.compile("checkpoint=experiments(%2F|/)no-positions"))
    expect(page.locator(".st-key-heads")).to_be_visible()
