"""A lesson in the browser: its address, a prediction, the verdict of the model that ships, and the full page.

On a projector too: nothing cut off, letters of 18 pixels at least, the keys of a clicker. All walks are in this one
file, so that one server computes every view once.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import TWO_FRAMES, settled, visit, watched_tab
from tests.browser.pointing import box_of, until
from tests.browser.test_first_screen import CONTROLS
from tests.browser.test_present import SIZES as PROJECTORS
from tests.browser.test_present import SMALLEST, fitted, present
from viz.pages.learn.explore import TOPICS
from viz.pages.learn.lessons.data import programs
from viz.pages.learn.lessons.lesson import lessons
from viz.selection.url import EXPLORED
from viz.text import glossary

#: On the page, its sidebar included, with one topic of Explore unfolded.
MOST_CONTROLS = 40


def opened(page: Page, url: str, lesson: str, step: int) -> None:
    page.goto(f"{url}/learn?lesson={lesson}&step_of_lesson={step}")
    expect(page.get_by_role("heading", name=lessons()[lesson].steps[step - 1].title)).to_be_visible()


def picture_of(page: Page, lesson: str, number: int) -> Locator:
    return page.locator(f".st-key-lesson-{lesson}-{number}")


def is_within(part: Locator, width: int) -> bool:
    box = box_of(part)
    return box["x"] + box["width"] <= width


def seen(page: Page, lesson: str, number: int) -> None:
    """The step with its picture."""
    step = lessons()[lesson].steps[number - 1]
    expect(page.get_by_role("heading", name=step.title, exact=True)).to_be_visible()
    expect(picture_of(page, lesson, number)).to_be_visible()


@pytest.mark.long
def test_next_asks_whether_to_skip_an_unanswered_question(page: Page, app_as_shipped: str) -> None:
    opened(page, app_as_shipped, "it", 2)
    following = page.locator(".st-key-lesson-next button")
    following.click()
    expect(following).to_have_text("Skip question")
    expect(page).to_have_url(re.compile("step_of_lesson=2"))
    # An answer takes the question back.
    page.locator(".st-key-answer").get_by_text("animal").click()
    expect(following).to_have_text("Next step")
    opened(page, app_as_shipped, "it", 2)
    following.click()
    expect(following).to_have_text("Skip question")
    following.click()
    expect(page).to_have_url(re.compile("step_of_lesson=3"))
    opened(page, app_as_shipped, "it", len(lessons()["it"].steps))
    expect(following).to_have_text("Next lesson")


@pytest.mark.long
def test_the_contents_say_how_far_one_is_and_lead_to_a_lesson(page: Page, app_as_shipped: str) -> None:
    opened(page, app_as_shipped, "it", 2)
    page.locator(".st-key-answer").get_by_text("street").click()
    expect(page.get_by_text("Right.")).to_be_visible()
    page.locator(".st-key-lesson-contents button").first.click()
    steps = lessons()["it"].steps
    asked = sum(step.question is not None for step in steps)
    contents = page.get_by_test_id("stPopoverBody")
    expect(contents.get_by_text(f"1 of {len(steps)} steps · 1 of {asked} right on the first try")).to_be_visible()
    contents.get_by_text(lessons()["positions"].title).click()
    expect(contents).to_have_count(0)
    expect(page).to_have_url(re.compile("lesson=positions"))


@pytest.mark.long
@pytest.mark.parametrize("topic", TOPICS)
def test_explore_has_few_controls_and_fits_every_page(page: Page, app_as_shipped: str, topic: str) -> None:
    lesson, step = EXPLORED[topic]
    visit(page, f"{app_as_shipped}/learn?lesson={lesson}&step_of_lesson={step}&explore=1")
    explored = page.get_by_test_id("stExpander").filter(has_text="Explore: ")
    expect(explored.locator(".js-plotly-plot, .two-films").first).to_be_visible()
    settled(page)
    # Those of a chart appear while it is pointed at.
    of_charts = page.locator(".stPlotlyChart [data-testid=stElementToolbar] button, .stPlotlyChart .modebar-btn")
    until(lambda: 0 < len(page.evaluate(CONTROLS)) - of_charts.count() <= MOST_CONTROLS, "there are few controls")
    for width in (1400, 800, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(TWO_FRAMES)
        page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)


@pytest.mark.long
def test_a_lesson_is_walked_by_keyboard(page: Page, app_as_shipped: str) -> None:
    opened(page, app_as_shipped, "look-up", 1)
    following = page.locator(".st-key-lesson-next button")
    following.focus()
    for before, step in pairwise(lessons()["look-up"].steps[:3]):
        page.keyboard.press("Enter")
        if before.question is not None:
            expect(following).to_have_text("Skip question")
            page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name=step.title)).to_be_visible()
        # Whoever goes on by keyboard goes on from where they are.
        expect(following).to_be_focused()
    expect(page).to_have_url(re.compile("step_of_lesson=3"))
    # An answer keeps the place too.
    opened(page, app_as_shipped, "look-up", 2)
    page.locator(".st-key-answer").get_by_role("radio").first.press("Enter")
    expect(page.get_by_text("The model says")).to_be_visible()
    expect(page.locator(".st-key-answer").get_by_role("radio").first).to_be_focused()
    # What the keyboard comes back to is below the head that stays in sight, not under it.
    opened(page, app_as_shipped, "one-sentence", 3)
    first = page.get_by_role("button", name="First step (Home)")
    expect(first).to_be_visible()
    page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, main.scrollHeight)")
    first.focus()
    head = box_of(page.locator(".st-key-page-head"))
    assert box_of(first)["y"] >= head["y"] + head["height"]


@pytest.mark.long
def test_an_exercise_is_answered_by_keyboard(page: Page, app_as_shipped: str) -> None:
    name, lesson = "scaled-dot-product", lessons()["scaled-dot-product"]
    assert lesson.check is not None
    _, line = programs.changed(name, lesson.check)
    opened(page, app_as_shipped, name, len(lesson.steps))
    exercise, told = page.locator(".st-key-lesson-exercise"), ("Not yet.", "Right.")
    for answer, verdict in zip((line - 1, line), told, strict=True):
        exercise.get_by_label("Line").fill(str(answer))
        page.keyboard.press("Enter")
        exercise.get_by_role("button", name="Check").press("Enter")
        expect(exercise).to_contain_text(verdict)


@pytest.mark.long
def test_a_dragged_score_moves_the_weights_at_once_and_reset_brings_them_back(page: Page, app_as_shipped: str) -> None:
    opened(page, app_as_shipped, "scaled-dot-product", 5)
    row = page.locator(".live-row tbody tr").filter(has_text="street")
    score, share = row.get_by_role("slider"), row.get_by_role("cell").last
    expect(share).to_have_text("< 0.1%")
    score.focus()
    page.keyboard.press("End")
    # Its score is above that of “animal” now, and the softmax sharp.
    expect(share).to_contain_text(re.compile(r"9\d"))
    # The picture answers before the next frame is drawn: within the event itself.
    now = score.evaluate(
        "(moved, before) => { moved.value = before; moved.dispatchEvent(new Event('input', {bubbles: true}));"
        " return moved.closest('tr').lastElementChild.textContent; }",
        "-30",
    )
    assert now == "< 0.1%"
    page.get_by_label("divided by").focus()
    page.keyboard.press("End")
    expect(page.locator(".live-told")).not_to_contain_text("99%")
    page.get_by_role("button", name="Restore the model's numbers").click()
    expect(page.locator(".live-told")).to_contain_text("animal has 99%")


@pytest.mark.long
def test_a_sentence_of_ones_own_is_in_the_text_and_the_picture(page: Page, app_as_shipped: str) -> None:
    opened(page, app_as_shipped, "why-attention", 2)
    told = page.locator(".st-key-lesson-step")
    expect(told).to_contain_text("For 16 tokens")
    field = told.get_by_label("Your own sentence")
    field.fill("Good morning.")
    field.press("Enter")
    expect(told).to_contain_text("For 4 tokens")
    # The claims are about the lesson's own sentence.
    expect(told).not_to_contain_text("Checked just now")


@pytest.mark.long
def test_a_term_says_what_it_means_on_hover_focus_and_press_and_leads_to_its_lesson(
    page: Page, app_as_shipped: str
) -> None:
    opened(page, app_as_shipped, "scaled-dot-product", 5)
    # What comes later moves the term away from the pointer.
    expect(page.locator(".head-tools[data-ready='1']")).to_be_visible()
    settled(page)
    term, card = page.get_by_role("link", name="softmax"), page.get_by_role("tooltip")
    term.hover()
    expect(card).to_contain_text("turns scores into shares that sum to 1")
    page.keyboard.press("Escape")
    expect(card).to_have_count(0)
    term.focus()
    expect(card).to_be_visible()
    # A page that still moves takes the card along.
    below = box_of(card)["y"] - box_of(term)["y"]
    page.get_by_test_id("stMain").evaluate("main => main.scrollBy(0, 40)")
    until(lambda: abs(box_of(card)["y"] - box_of(term)["y"] - below) <= 1, "the card stays beside its term")
    page.keyboard.press("Escape")
    term.click()
    expect(card).to_be_visible()
    expect(page).to_have_url(re.compile("lesson=scaled-dot-product"))
    expect(card.get_by_role("link")).to_have_attribute("href", re.compile(r"/learn\?lesson=scaled-dot-product$"))


#: The terms that are links, in shadow roots too, and whether a script wrote them.
TERMS = """() => {
  const roots = [document, ...[...document.querySelectorAll("*")].flatMap(({ shadowRoot }) => shadowRoot ?? [])];
  return roots.flatMap((root) =>
    [...root.querySelectorAll('a[href^="#term-"]')].map((a) => [a.dataset.text ?? a.title, root !== document]));
}"""


def test_a_page_explains_a_term_once_whoever_writes_it(page: Page, url: str) -> None:
    visit(page, f"{url}/decode")
    settled(page)
    meanings = {term.text: term.names[0] for term in glossary.terms("en")}
    until(lambda: any(by_script for _, by_script in page.evaluate(TERMS)), "the film explains a term")
    terms = [meanings[text] for text, _ in page.evaluate(TERMS)]
    # Of the sidebar, which says it first.
    assert "head" in terms
    assert len(terms) == len(set(terms))


#: Of the page as it is read; a lesson's first step has both, for whatever is drawn is drawn anew for another.
SIZES = ((1400, 1000), (800, 1000))


@pytest.fixture(scope="module")
def reading(profile: BrowserContext) -> Iterator[Page]:
    """One tab in which all lessons are read."""
    with watched_tab(profile) as tab:
        yield tab


def expect_that_it_is_right(page: Page, lesson: str, number: int) -> None:
    """A step on a page as it is read is no wider than the window, and has no alert but the answer's verdict."""
    # The sentence and its translation are in the head of every lesson.
    for language in ("en", "de"):
        expect(page.locator(f".st-key-page-head [lang='{language}']")).to_have_text(re.compile(r"\w+ \w+"))
    for width, height in SIZES if number == 1 else SIZES[1:]:
        page.set_viewport_size({"width": width, "height": height})
        until(partial(is_within, picture_of(page, lesson, number), width), f"it fits {width} pixels")
        page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)
    # What the model does not bear out would be said in an alert of its own.
    expect(page.get_by_test_id("stAlert")).to_have_count(int(lessons()[lesson].steps[number - 1].question is not None))
    expect(page.get_by_test_id("stException")).to_have_count(0)


def is_large(page: Page, sizes: Sequence[tuple[int, int]]) -> list[object]:
    """What is wrong with a step on projectors: what is cut off, and letters that are too small."""
    wrong: list[object] = []
    for width, height in sizes:
        page.set_viewport_size({"width": width, "height": height})
        found = fitted(page)
        if max(found["over"]) > 0 or found["smallest"] < SMALLEST * height - 0.01:
            wrong.append((width, found))
    return wrong


@pytest.mark.long
@pytest.mark.parametrize("lesson", lessons())
def test_every_step_of_a_lesson_fits_a_projector_and_the_first_and_last_a_wide_and_a_narrow_page(
    reading: Page, app_as_shipped: str, lesson: str
) -> None:
    """Each step, its question answered. With its large letters a projector of 1,024 pixels holds less than 800 of a
    page that is read; what is wrong with a step besides is told by the tests of its view and claims."""
    page, problems, sizes = reading, [], PROJECTORS
    steps = lessons()[lesson].steps
    for number, step in enumerate(steps, 1):
        answer = "" if step.question is None else "&answer=1"
        visit(page, f"{app_as_shipped}/learn?lesson={lesson}&step_of_lesson={number}{answer}&present=1")
        # The last size of a step is the first of the next: whatever is drawn is drawn anew for another.
        sizes = sizes[::-1]
        seen(page, lesson, number)
        wrong = is_large(page, sizes)
        if number in (1, len(steps)):
            present(page, False, SIZES[-1])
            seen(page, lesson, number)
            expect_that_it_is_right(page, lesson, number)
        problems += [(step.title, each) for each in wrong]
    assert problems == []
