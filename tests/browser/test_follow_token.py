"""Following a token in a real browser: it opens with its proof, and a token and a layer are chosen by click or key."""

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import visit


def test_it_opens_with_the_proof_and_another_token_is_followed_by_a_click(page: Page, url: str) -> None:
    visit(page, f"{url}/learn?learn=Follow+one+token")
    path = page.locator(".token-path[data-ready]")
    expect(page.get_by_text("the contributions add up to what the model computed")).to_be_visible()
    expect(path.locator(".path-step").last).to_contain_text("Residual connection: the sum")
    line = page.locator(".token-line[data-ready]")
    line.locator("[data-stack='decoder'][data-position='2']").click()
    expect(line.locator("[aria-pressed='true']")).to_have_attribute("data-stack", "decoder")
    expect(path.locator(".path-title .token")).to_have_text(line.locator("[aria-pressed='true']").text_content() or "?")
    expect(path.locator(".path-bar")).to_contain_text("cross-attention")
    expect(page).to_have_url(re.compile("follow=decoder.*follow_token=2"))


def test_pointing_tells_numbers_and_shares_and_arrow_keys_choose_the_stage_that_enter_opens(
    page: Page, url: str
) -> None:
    visit(page, f"{url}/learn?learn=Follow+one+token&stage=1")
    path = page.locator(".token-path[data-ready]")
    path.locator("canvas").first.hover()
    expect(path.locator(".tooltip")).to_contain_text(re.compile(r"component \d+"))
    path.locator(".bar").nth(2).hover()
    expect(path.locator(".tooltip")).to_contain_text("of the sum")
    path.get_by_role("button", name="Layer 1").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(path.locator(".path-step h4").first).to_contain_text("Embedding of")
    expect(path.get_by_role("button", name="Input")).to_be_focused()
    expect(page).to_have_url(re.compile("stage=0"))
