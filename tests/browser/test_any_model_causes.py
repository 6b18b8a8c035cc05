"""Causes, atlas and comparison of models that are no translators, in the browser, with the small decoder that ships."""

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import visit


def test_the_cause_of_an_induction_heads_choice_is_shown_and_a_head_switched_off(
    page: Page, app_as_shipped: str
) -> None:
    visit(
        page,
        f"{app_as_shipped}/compare?checkpoint=induction&lab=Cause&text=qsxk%20wnvb.%20qsx&other=qsxb%20wnvk.%20qsx&asked=own",
    )
    for part in ("off", "point", "swap"):
        expect(page.locator(f".st-key-cause-{part}-map .js-plotly-plot")).to_be_visible()
    expect(page.get_by_text("“k” rather than “b”").first).to_be_visible()
    page.get_by_text("Switch several heads off together").click()
    page.get_by_role("button", name="The five strongest").click()
    expect(page.get_by_text("5 of 8 heads")).to_be_visible()
    expect(page.get_by_text(re.compile("The choice (flips|does not flip)"))).to_be_visible()
    expect(page).to_have_url(re.compile("off="))


def test_the_atlas_opens_on_a_head_that_is_sure_of_its_job_and_names_the_random_tokens(
    page: Page, app_as_shipped: str
) -> None:
    visit(
        page,
        f"{app_as_shipped}/atlas?checkpoint=induction&corpus_figure=prefix_matching&layer=1&head=1&site=decoder.self",
    )
    expect(page.get_by_text(re.compile(r"Prefix matching 0\.9\d.* of 8 heads"))).to_be_visible()
    expect(page.get_by_text("on 25 random tokens repeated four times")).to_be_visible()


def test_two_models_stand_beside_each_other_and_a_click_opens_a_head(page: Page, app_as_shipped: str) -> None:
    visit(page, f"{app_as_shipped}/compare?lab=Two+models&beside=experiments/full")
    chart = page.locator("[class*='st-key-two-models-map'] .js-plotly-plot").first
    expect(chart).to_be_visible()
    expect(page.get_by_text(re.compile("of en-de is nearest to .* of experiments/full"))).to_be_visible()
    expect(page.get_by_text("only in:")).to_be_visible()
    box = chart.locator(".nsewdrag").last.bounding_box()
    assert box is not None
    # The last row, between the middle of two columns.
    page.mouse.click(box["x"] + box["width"] * 4.5 / 8, box["y"] + box["height"] - 4)
    expect(page).to_have_url(re.compile("head=L6H8"))
    expect(page.get_by_text(re.compile("^L6 H8 of en-de is nearest"))).to_be_visible()
