"""A text of some 1,500 tokens on the attention page: the grid fills, a head is opened, exact numbers, lines."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Page, expect

from model import Transformer, TransformerConfig
from model.checkpoint import save_checkpoint
from model.tokenizer import Tokenizer
from tests.conftest import SENTENCES

TEXT = " ".join((SENTENCES[::2] * 20)[:46])


@pytest.fixture(scope="module")
def url(url: str, checkpoints: Path, config: TransformerConfig, tokenizer: Tokenizer) -> str:
    """The app with a random model that reads 2,048 tokens, and whose translations end at once."""
    torch.manual_seed(7)
    model = Transformer(replace(config, max_length=2048))
    with torch.no_grad():
        # What comes out of the decoder always looks like </s>.
        loud = 100 * model.decoder.embedding.tokens.weight[config.eos_id]
        model.get_parameter("decoder.norm.bias").copy_(loud)
    save_checkpoint(checkpoints / "long", model, tokenizer, card="Random weights, for tests.\n")
    return f"{url}/?checkpoint=long&words=False"


@pytest.mark.long
def test_a_text_of_1500_tokens_is_shown_head_by_head_down_to_exact_numbers(page: Page, url: str) -> None:
    page.set_default_timeout(60_000)
    page.goto(url)
    page.get_by_role("textbox", name="English sentence").fill(TEXT)
    page.keyboard.press("Control+Enter")
    root = page.locator(".matrix-picture[data-block]")
    root.wait_for()
    expect(root.locator(".extent")).to_contain_text("each point shows the largest")
    # Every layer has come, and its tiles open heads.
    expect(page.locator(".head-grid[data-waiting='0']")).to_be_visible()
    expect(page.locator(".cell.waiting")).to_have_count(0)
    page.locator('.head-grid .cell[data-layer="1"][data-head="2"]').click()
    expect(root.locator(".matrix-title")).to_have_text("L2 H3")
    expect(page.locator(".matrix-picture[data-exact='1']")).to_be_visible()
    root.get_by_role("application").focus()
    for _ in range(6):
        page.keyboard.press("+")
    expect(root).to_have_attribute("data-block", "1 1")
    expect(root.locator(".extent")).to_contain_text("every number is exact")
    page.get_by_role("radio", name="Lines").click()
    expect(page.get_by_text("Queries 1 to 128 of 1,")).to_be_visible()
    page.locator(".head-lines[data-ready='1']").wait_for()
    expect(page.locator(".head-lines .column.query .option")).to_have_count(128)
