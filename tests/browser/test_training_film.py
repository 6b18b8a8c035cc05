"""The film of a training in a real browser: keys and clicks move it, and all its pictures follow."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import settled
from tests.browser.pointing import box_of, until
from tests.viz.pages.experiments.through_training.invented import FROM, STEPS, saved


@pytest.fixture
def film(page: Page, url: str, checkpoints: Path) -> Locator:
    folder = checkpoints / "experiments"
    folder.mkdir(exist_ok=True)
    saved(folder / "film.npz")
    page.goto(f"{url}/experiments?claim=Through+training&text=Yes")
    root = page.locator(".training-film[data-step]")
    root.wait_for()
    return root


def pixels(film: Locator) -> str:
    return str(film.locator("canvas.tiles").evaluate("(canvas) => canvas.toDataURL()"))


def test_keys_and_clicks_move_the_film_and_all_its_pictures(page: Page, film: Locator) -> None:
    expect(film).to_have_attribute("data-trained", str(STEPS[FROM]))
    late = pixels(film)
    expect(film.locator(".cell.open")).to_have_attribute("data-head", "0")
    expect(film.locator(".text-written")).to_have_text("Schritt 100")
    for _ in range(2):
        page.keyboard.press("ArrowLeft")
    expect(film.locator(".position")).to_have_text("Step 1 of 2,000")
    until(lambda: pixels(film) != late, "another step is another picture")
    expect(film.locator(".matrix-title")).to_have_text("L1 H1 · step 1")
    page.wait_for_url("**film_step=1*")
    # Another head by its tile, then another frame by the curve: what was chosen stays.
    film.locator(".cell[data-layer='1'][data-head='1']").click()
    expect(film.locator(".matrix-title")).to_have_text("L2 H2 · step 1")
    expect(film.locator(".curve").nth(1).locator("text", has_text="L2 H2")).to_be_visible()
    curve = film.locator(".curve").first
    box = box_of(curve)
    curve.click(position={"x": box["width"] - 13, "y": 20})
    expect(film).to_have_attribute("data-trained", str(STEPS[-1]))
    until(lambda: pixels(film) == late, "the last step is the picture of the beginning")
    page.wait_for_url("**film_layer=1*")
    # What goes back to Python never sends the film back.
    settled(page)
    expect(film).to_have_attribute("data-trained", str(STEPS[-1]))


@pytest.mark.long
def test_another_attention_comes_without_leaving_the_frame(page: Page, film: Locator) -> None:
    page.keyboard.press("ArrowRight")
    page.wait_for_url(f"**film_step={STEPS[FROM + 1]}*")
    page.get_by_role("combobox", name="Attention").click()
    page.get_by_role("option", name="Encoder self").click()
    expect(film.locator(".finding")).to_contain_text("becomes “previous token”")
    expect(film).to_have_attribute("data-trained", str(STEPS[FROM + 1]))
    expect(film.locator(".matrix-title")).to_have_text("L2 H2 · step 1,000 · previous token 0.90")
