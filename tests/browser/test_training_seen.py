"""Teacher forcing beside free running: both films move together, by keys and by a click."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import visit


def test_both_films_move_together_and_the_address_follows(page: Page, url: str) -> None:
    visit(page, f"{url}/learn?learn=Training&training=Teacher+forcing")
    films = page.locator(".two-films")
    expect(films).to_have_attribute("data-ready", "1")
    parting = int(films.get_attribute("data-step") or "-1")
    # One row of the upper film is framed where they part: what the model would have written instead.
    framed = films.locator(".film-of").first.locator("tr").nth(2).locator("td").nth(parting)
    expect(framed).to_have_class("differs now")
    films.focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    at = max(0, parting - 3)
    expect(films).to_have_attribute("data-step", str(at))
    expect(films.locator("td.now")).to_have_count(5)
    films.locator(".film-of").last.locator("tr").first.locator("td").first.click()
    expect(films).to_have_attribute("data-step", "0")
    page.wait_for_function("() => location.search.includes('forced=0')")
