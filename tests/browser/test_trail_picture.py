"""Attention → Why, the trail as one picture: what it shows is in its file, and each of its steps can be asked."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import visit
from tests.browser.pointing import until
from tests.browser.saving import save_button


def _share(picture: Locator, name: str) -> float:
    label = picture.get_by_role("button", name=re.compile(f"^{name},")).get_attribute("aria-label")
    return float(re.findall(r", [+−]([\d.]+)", label or "")[0])


@pytest.mark.long
def test_the_picture_tells_the_story_before_anything_is_asked_is_saved_and_leads_to_each_step(
    page: Page, shipped_url: str
) -> None:
    visit(page, f"{shipped_url}&view=Why")
    picture = page.locator(".trail-picture[data-ready='question']")
    story = r"^es ← cross L5 H2 \+13.\d+ ← cross L4 \+\S+ ← “it” \+\S+ ← encoder L4 \+\S+ ← “tired” \+\S+$"
    drawing = picture.locator(".board > svg")
    expect(drawing).to_have_attribute("aria-label", re.compile(story))
    expect(picture).to_contain_text("the largest share at each step")
    # Nothing is tested, so that every band is dashed.
    expect(picture.locator(".board .band.tested")).to_have_count(0)
    # Bands are as wide as their shares: that of cross L4, and the first of what else went into the head.
    shares = [_share(picture, name) for name in ("cross L4", "decoder self L5")]
    sizes = drawing.locator(".band").evaluate_all("bands => bands.slice(0, 2).map(band => band.getBBox().height)")
    assert sizes[0] / sizes[1] == pytest.approx(shares[0] / shares[1], rel=0.01)
    with page.expect_download() as saving:
        save_button(picture, "SVG").click()
    saved = saving.value.path().read_text(encoding="utf-8")
    for text in ("attend to “animal” and not to “street”", "encoder L4", "twin: “wide”", "stroke-dasharray:4px"):
        assert text in saved
    # By keyboard along the trail, past what else went in; Enter asks.
    here = picture.get_by_role("button", name=re.compile("^cross L5 H2,"))
    here.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(picture.get_by_role("button", name=re.compile("^“it”,"))).to_be_focused()
    page.keyboard.press("Enter")
    asked = page.locator(".trail-picture[data-ready='c4.s10']")
    expect(asked.locator("[aria-current=step]")).to_have_attribute("aria-label", re.compile("^“it”"))
    expect(page.locator(".why[data-ready='c4.s10']")).to_be_visible()
    expect(page).to_have_url(re.compile(r"trail=c4\.s10(&|$)"))
    # Where the page is narrow it runs down, and nothing is cut off at its side.
    page.set_viewport_size({"width": 390, "height": 900})
    expect(asked).to_contain_text("the one below it")
    fits = "svg => [...svg.querySelectorAll('text')].every(each => each.getBoundingClientRect().right <= innerWidth)"
    until(lambda: asked.locator(".board > svg").evaluate(fits), "all words are on the page")
    asked.get_by_role("button", name=re.compile("^encoder L3,")).click()
    expect(page).to_have_url(re.compile(r"trail=c4\.s10\.e3(&|$)"))
