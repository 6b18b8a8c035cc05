"""A model that writes about a picture, in a browser: from the first page to a patch, and what hiding it changes."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import settled, visit
from tests.browser.pointing import box_of
from tests.model.adapters import picture_zoo


@pytest.fixture(scope="module")
def start(url: str, checkpoints: Path) -> Iterator[str]:
    """The app's address with a model chosen that has 3 × 3 patches."""
    folder = checkpoints / "seer"
    picture_zoo.SAVED["vit-bert"](folder)
    yield f"{url}/{{page}}?checkpoint=seer"
    shutil.rmtree(folder)


@pytest.mark.long
def test_four_clicks_lead_to_the_head_that_looks_at_a_patch_while_a_word_is_written_and_hide_it(
    page: Page, start: str
) -> None:
    page.goto(start.format(page=""))
    # While a model is opened, the page says so.
    expect(page.get_by_test_id("stMain").locator(":has(.stSkeleton) .stSpinner")).to_contain_text("Loading seer")
    settled(page)
    over, status = page.locator(".picture-attention[data-ready='1']"), page.locator(".picture-attention .said")
    word, heads = over.locator(".choice").nth(1), page.locator(".st-key-linked-heads button")
    # The page opens on a word that is written, drawn over the picture in all tiles.
    expect(page.locator(".head-grid .axes")).to_contain_text("Each tile shows the picture")
    expect(status).to_contain_text("Outside the picture: [CLS]")
    word.click()
    expect(word).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_url(re.compile("token="))
    patches = over.locator(".stage canvas")
    patches.click(position={"x": box_of(patches)["width"] / 2, "y": box_of(patches)["height"] / 2})
    expect(page.locator(".link-question")).to_contain_text("to the rectangle?")
    expect(heads.first).to_contain_text("cross L")
    name, number = re.fullmatch(r"cross (L\d H\d) · (\d\.\d+)", heads.first.inner_text().strip()).groups()  # type: ignore[union-attr]
    heads.first.click()
    expect(over.locator("h4")).to_have_text(name)
    expect(status).to_contain_text(f"gives {float(number):.3f} to 2·2.")
    page.get_by_role("button", name="Hide it: grey").click()
    expect(page.get_by_text("It gave the hidden part")).to_be_visible()
    expect(page.get_by_text("a part hidden").first).to_be_visible()
    page.get_by_role("button", name="Show the part again").click()
    expect(page.get_by_role("button", name="Hide it: mean colour")).to_be_visible()


@pytest.mark.long
def test_the_film_has_the_picture_beside_it_with_what_the_step_attends_to(page: Page, start: str) -> None:
    visit(page, start.format(page="decode"))
    beside = page.locator(".film-picture")
    expect(beside.locator("p")).to_have_text(
        re.compile(r"What the model attends to in the picture at step \d+, chosen heads")
    )
    page.get_by_role("button", name="All heads", exact=True).click()
    expect(beside.locator("p")).to_contain_text("mean of all 4 heads")
    shown = beside.locator("canvas").evaluate("canvas => canvas.toDataURL()")
    page.locator(".decode-player").press("Home")
    expect(beside.locator("p")).to_contain_text("What the model attends to in the picture at step 1")
    assert beside.locator("canvas").evaluate("canvas => canvas.toDataURL()") != shown
