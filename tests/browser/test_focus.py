"""One focus drives the attention page: what is pointed at in one view is shown by all others, without the server."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import settled, visit
from tests.browser.pointing import at_rest, box_of, pointed_until
from tests.shipped import link_of
from viz.text.written import head_label

Sent = Callable[[], int]


def word(page: Page, name: str) -> Locator:
    return page.locator(".word-picker[data-ready='1']").get_by_role("button", name=name, exact=True)


def share(page: Page, name: str) -> float:
    return float(word(page, name).evaluate("word => word.style.getPropertyValue('--share')"))


def ready(page: Page) -> None:
    """Wait until the page has said and heard all that belongs to its opening."""
    expect(page.locator(".tile-keeper[data-kept]")).to_have_count(3)
    at_rest(page)


def is_within(inner: Locator, outer: Locator) -> bool:
    a, b = box_of(inner), box_of(outer)
    return b["y"] <= a["y"] + a["height"] / 2 <= b["y"] + b["height"]


def test_a_word_that_is_pointed_at_is_shown_by_every_view_without_the_server(
    page: Page, shipped_url: str, sent: Sent
) -> None:
    visit(page, shipped_url)
    name, headline = head_label(link_of().layer, link_of().head), page.locator(".headline[data-ready='1']")
    expect(headline).to_contain_text("Worth seeing:")
    expect(page.locator(".matrix-picture[data-exact='1']")).to_be_visible()
    ready(page)
    before = sent()
    # The row that writes “es” is the finding's.
    word(page, "es").hover()
    expect(headline).to_contain_text(
        f"In {name} the largest weight of weil → es goes to animal: {link_of().weight:.4f}."
    )
    assert share(page, "animal") == pytest.approx(link_of().weight, abs=1e-3)
    assert share(page, "street") < 0.01
    expect(word(page, "es")).to_have_class(re.compile(r"\blooks\b"))
    expect(page.locator(".word-links path").first).to_be_attached()
    row = page.locator(".pointed-frame").first
    expect(row).to_be_visible()
    assert is_within(page.locator(".row-label").filter(has_text="→ es"), row)
    expect(page.locator(".head-grid .marks")).to_be_visible()
    # A word of the text is looked at: its column is framed, and the words that look at it are tinted.
    word(page, "street").hover()
    expect(headline).to_contain_text(re.compile(rf"In {name} the largest weight on street comes from .+: 0\.\d+\."))
    expect(word(page, "street")).to_have_class(re.compile("looked-at"))
    expect(row).to_be_hidden()
    expect(page.locator(".pointed-frame").last).to_be_visible()
    # Nothing stays behind the pointer.
    page.mouse.move(5, 500)
    expect(headline).to_contain_text("Worth seeing:")
    expect(page.locator(".pointed-frame").first).to_be_hidden()
    expect(page.locator(".head-grid .marks")).to_have_count(0)
    assert share(page, "animal") == pytest.approx(link_of().weight, abs=1e-3), "the finding's own row"
    assert sent() == before


def test_a_tile_and_a_cell_that_are_pointed_at_are_shown_by_the_open_head_and_the_sentence(
    page: Page, shipped_url: str, sent: Sent
) -> None:
    visit(page, shipped_url)
    picture, headline = page.locator(".matrix-picture"), page.locator(".headline")
    name = head_label(link_of().layer, link_of().head)
    expect(picture.and_(page.locator("[data-exact='1']"))).to_be_visible()
    ready(page)
    before, title = sent(), picture.get_attribute("data-title")
    page.get_by_role("gridcell", name="L1 H5", exact=False).hover()
    expect(picture).to_have_attribute("data-title", re.compile("^L1 H5"))
    expect(picture).to_have_attribute("data-exact", "0")
    # Between whole words, as the head that is open: "didn't" has several tokens.
    assert picture.locator(".column-label").all_inner_texts()[:3] == ["The", "animal", "didn't"]
    expect(headline).to_contain_text("L1 H5 gives")
    expect(page.locator(".word.looks, .word.looked-at")).not_to_have_count(0)
    page.mouse.move(5, 500)
    expect(picture).to_have_attribute("data-title", title or "")
    expect(picture).to_have_attribute("data-exact", "1")
    # The kept cell is printed where it stands: pointing at it names its words and its number again.
    number = box_of(picture.locator(".kept-frame").first), box_of(picture.locator(".kept-frame").last)
    page.mouse.move(number[1]["x"] + number[1]["width"] / 2, number[0]["y"] + number[0]["height"] / 2)
    weight = f"{link_of().weight:.4f}"
    expect(headline).to_contain_text(f"{name} gives {weight} from weil → es to animal, the largest weight of the row.")
    expect(word(page, "es")).to_have_class(re.compile(r"\blooks\b"))
    expect(word(page, "animal")).to_have_class(re.compile("looked-at"))
    assert sent() == before


@pytest.mark.long
def test_the_weights_of_several_words_are_summed_by_every_view_and_kept_in_the_address(
    page: Page, shipped_url: str
) -> None:
    visit(page, f"{shipped_url}&site=encoder.self&layer=0&head=0")
    expect(page.locator(".matrix-picture[data-exact='1']")).to_be_visible()
    ready(page)
    headline, asked = page.locator(".headline"), page.locator(".link-question")
    word(page, "animal").click()
    word(page, "street").click(modifiers=["Shift"])
    expect(headline).to_contain_text("In L1 H1 the weights of animal + street are summed; the largest sum goes to")
    expect(asked).to_contain_text("Which heads link animal + street to …?")
    expect(page).to_have_url(re.compile(r"from=1\.5\b"))
    # Each word is tinted by the sum, a share of the two words' whole weight.
    together = share(page, "cross")
    apart = []
    for name in ("animal", "street"):
        word(page, name).hover()
        expect(headline).to_contain_text(f"In L1 H1 the largest weight of {name}")
        apart.append(share(page, "cross"))
    assert together == pytest.approx(sum(apart), abs=2e-3)
    # By keyboard, on the other side.
    word(page, "cross").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"from=1\.5&to=3\b"))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+Enter")
    expect(page).to_have_url(re.compile(r"from=1\.5&to=3\.4\b"))
    expect(asked).to_contain_text("Which heads link animal + street to cross + the?")
    # A finger that rests takes the word away again.
    word(page, "the").dispatch_event("pointerdown", {"pointerType": "touch", "bubbles": True})
    expect(page).to_have_url(re.compile(r"from=1\.5&to=3\b(?!\.)"))
    word(page, "cross").focus()
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("from="))


def test_a_click_on_a_word_is_answered_without_the_rest_of_the_page(page: Page, shipped_url: str) -> None:
    visit(page, f"{shipped_url}&site=encoder.self&layer=0&head=0")
    expect(page.locator(".matrix-picture[data-exact='1']")).to_be_visible()
    ready(page)
    # Whatever the server sends it again sets this anew.
    page.locator(".word-picker").evaluate("picker => { picker.dataset.ready = 'before'; }")
    picker = page.locator(".word-picker[data-ready='before']")
    # The second click lists the heads that link the words, and leaves everything else as it is.
    for name, address in (("animal", r"from=1\b(?!.*to=)"), ("street", r"from=1&to=5\b"), ("it", r"from=7\b(?!.*to=)")):
        picker.get_by_role("button", name=name, exact=True).click()
        expect(page).to_have_url(re.compile(address))
        if name == "street":
            expect(page.locator(".link-question")).to_contain_text("Which heads link animal to street?")
            expect(page.get_by_role("button", name=re.compile(r"L\d H\d · 0\.\d{4}"))).to_have_count(3)
            expect(page.locator(".head-grid .cell-rank")).to_have_count(3)
            expect(page.locator(".matrix-picture[data-exact='1']")).to_have_attribute(
                "data-title", re.compile("^L1 H1")
            )
    # A head of another attention, with the choice of that; “it” lets go.
    for name, address in (("it", r"^(?!.*from=)"), ("es", r"from=\d+\b(?!.*to=)"), ("animal", r"from=\d+&to=1\b")):
        picker.get_by_role("button", name=name, exact=True).click()
        expect(page).to_have_url(re.compile(address))
    link = link_of()
    page.get_by_role("button", name=f"{head_label(link.layer, link.head, link.site)} · {link.weight:.4f}").click()
    expect(page.get_by_role("radio", name="Decoder cross")).to_be_checked()
    opened = page.locator(".matrix-picture[data-exact='1']")
    expect(opened).to_have_attribute("data-title", re.compile(f"^{head_label(link.layer, link.head)}"))
    settled(page)
    expect(picker).to_be_visible()


def test_lines_too_show_what_is_pointed_at_and_tell_the_sentence(page: Page, shipped_url: str) -> None:
    visit(page, shipped_url)
    expect(page.locator(".matrix-picture[data-exact='1']")).to_be_visible()
    # The heatmap goes when the lines have come: what they told of the head must outlast it.
    page.get_by_role("radio", name="Lines").click()
    lines = page.locator(".head-lines[data-ready='1']")
    expect(lines).to_be_visible()
    expect(page.locator(".matrix-picture")).to_have_count(0)
    word(page, "es").hover()
    name = head_label(link_of().layer, link_of().head)
    expect(page.locator(".headline")).to_contain_text("the largest weight of weil → es goes to animal")
    expect(lines.locator(".status")).to_contain_text(re.compile(rf"attends to animal .+\({name}\)"))
    lines.get_by_role("option", name="street", exact=True).last.hover()
    expect(page.locator(".headline")).to_contain_text("from weil → es to street; the largest weight of the row")
    expect(word(page, "street")).to_have_class(re.compile("looked-at"))


def test_the_film_and_the_lens_mark_the_word_that_is_pointed_at_and_a_click_goes_to_its_step(
    page: Page, shipped_url: str, sent: Sent
) -> None:
    visit(page, shipped_url.replace("/?", "/decode?"))
    player = page.locator(".decode-player[data-ready='1']")
    expect(player).to_be_visible()
    at_rest(page)
    before = sent()
    marked = {
        "written": player.locator(".column.pointed .written"),
        "strip of the tokens read": player.locator(".strip").last.locator(".key-label.now"),
        "triangle": player.locator(".triangle .row-name.pointed"),
        "curve": player.locator(".curve-pointed"),
    }
    word(page, "Straße").hover()
    for part, mark in marked.items():
        expect(mark, part).to_have_count(1)
    expect(marked["written"]).to_have_text("▁Straße")
    expect(marked["strip of the tokens read"]).to_have_text("▁Straße")
    # The candidates of the step that is shown, in which the model could write the word.
    word(page, "es").hover()
    expect(player.locator(".bar-row.pointed .bar-token")).to_have_text("▁es")
    expect(player.locator(".columns.sources .pointed")).to_have_count(0)
    word(page, "animal").hover()
    expect(player.locator(".columns.sources .pointed")).to_have_text("▁animal")
    expect(player.locator(".strip").first.locator(".key-label.now")).to_have_text("▁animal")
    assert share(page, "es") == pytest.approx(link_of().weight, abs=2e-3), "what the open head gives animal"
    # What is pointed at in the film is marked in the sentence.
    player.locator(".source", has_text="street").hover()
    expect(word(page, "street")).to_have_class(re.compile("looked-at"))
    player.locator(".column .written", has_text="▁nicht").hover()
    expect(word(page, "nicht,")).to_have_class(re.compile(r"\blooks\b"))
    page.mouse.move(5, 500)
    for part, mark in marked.items():
        expect(mark, part).to_have_count(0)
    assert sent() == before
    word(page, "Tier").click()
    expect(player).to_have_attribute("data-step", "1")
    expect(page).to_have_url(re.compile(r"from=\d+.*step=1\b"))
    page.get_by_role("tab", name="Inside").click()
    lens = page.locator(".lens-table[data-ready='1']")
    expect(lens).to_be_visible()
    word(page, "müde").hover()
    expect(lens.locator(".written th.pointed")).to_have_text("▁müde")
    lens.locator("td[data-step='5']").first.hover()
    expect(word(page, "Straße")).to_have_class(re.compile(r"\blooks\b"))


@pytest.mark.long
def test_a_head_that_is_pointed_at_is_marked_in_texts_maps_and_charts_and_its_link_opens_it(
    page: Page, shipped_url: str, sent: Sent
) -> None:
    visit(page, shipped_url.replace("/?", "/compare?"))
    links = page.locator('[data-testid="stMarkdown"] a[href^="#head-"]')
    cells, rows = (page.locator(f".st-key-{chart} .pointed-spot") for chart in ("movement", "rows-token"))
    expect(links).to_have_count(2)
    at_rest(page)
    pointed_until(links.last, cells)
    # A chart that is drawn only while a person points shows it too.
    page.get_by_text("One layer: what each head attends to").dispatch_event("click")
    expect(rows).to_have_count(1)
    expect(cells).to_have_count(1)
    at_rest(page)
    before = sent()
    # The other sentence names the same head.
    expect(page.locator("a.pointed-head")).to_have_count(2)
    page.mouse.move(5, 500)
    expect(cells).to_have_count(0)
    page.locator(".js-plotly-plot:visible").first.hover()
    expect(cells).to_have_count(1)
    assert sent() == before
    visit(page, shipped_url.replace("/?", "/atlas?"))
    maps = page.locator(".head-maps[data-ready='1']")
    expect(maps).to_be_visible()
    near = page.locator('[data-testid="stCaptionContainer"] a[href^="#head-"]').first
    name = near.inner_text()
    pointed_until(near, maps.locator(".cell.pointed"))
    expect(maps.locator(".cell.pointed")).to_have_attribute("aria-label", re.compile(f"^{name},"))
    expect(maps.locator(".little-frame:visible")).to_have_count(maps.locator(".little-map").count())
    near.click()
    expect(page.locator(".matrix-picture[data-exact='1']")).to_have_attribute("data-title", re.compile(f"^{name}"))
    expect(page).to_have_url(re.compile(f"head={name.replace(' ', '')}"))
    word(page, "es").hover()
    expect(page.locator(".headline .head-link")).to_have_text(name)


@pytest.mark.long
def test_a_table_of_heads_sorts_marks_and_opens_them(page: Page, shipped_url: str, sent: Sent) -> None:
    visit(page, f"{shipped_url.replace('/?', '/atlas?')}&atlas=Table&site=encoder.self&layer=0&head=1")
    table = page.locator(".head-table[data-ready='1']")
    expect(table.get_by_role("row", name=re.compile("^L1 H2"))).to_have_attribute("aria-current", "true")
    at_rest(page)
    before, near = sent(), page.locator('[data-testid="stCaptionContainer"] a[href^="#head-"]').first
    entropy = table.get_by_role("columnheader", name="Entropy")
    column = table.get_by_role("columnheader").all_inner_texts().index("Entropy")

    def numbers() -> list[float]:
        rows = table.locator("tbody tr").all()
        return [float(row.locator("th, td").nth(column).inner_text().replace("−", "-")) for row in rows]

    entropy.get_by_role("button").click()
    expect(entropy).to_have_attribute("aria-sort", "descending")
    assert numbers() == sorted(numbers(), reverse=True)
    entropy.get_by_role("button").click()
    expect(entropy).to_have_attribute("aria-sort", "ascending")
    assert numbers() == sorted(numbers())
    # A head that a text names is marked in the table, and a row that is pointed at in the text.
    near.hover()
    expect(table.locator("tr.pointed")).to_have_count(1)
    expect(table.locator("tr.pointed a")).to_have_text(near.inner_text())
    table.locator("tr.pointed td").first.hover(force=True)
    expect(page.locator("a.pointed-head")).to_have_text([near.inner_text()])
    assert sent() == before
    # By keyboard: arrows lead from row to row, the space bar shows a head below, Enter opens it.
    table.locator("tbody a").first.focus()
    page.keyboard.press("ArrowDown")
    second = table.locator("tbody a").nth(1)
    expect(second).to_be_focused()
    page.keyboard.press("Space")
    expect(table.locator("tr[aria-current='true'] a")).to_have_text(second.inner_text())
    expect(page).to_have_url(re.compile(f"head={second.inner_text().replace(' ', '')}"))
    settled(page)
    name = second.inner_text()
    second.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".matrix-picture[data-exact='1']")).to_have_attribute("data-title", re.compile(f"^{name}"))
