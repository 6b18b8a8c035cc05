"""What a student, a teacher and an engineer come for, each walked from the first page by the words on the screen alone.

No test here knows an address beyond the first page, or how a page is built: all is found by what is read or heard.
"""

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Serve, settled
from tests.browser.test_present import SIZES as PROJECTORS
from tests.browser.test_present import fitted
from tests.model.adapters import zoo
from tests.paths import ROOT
from tests.shipped import link_of
from viz.pages.learn.lessons.lesson import Lesson, lessons
from viz.text.written import head_label


@pytest.fixture(scope="session")
def first_page(serve: Serve) -> str:
    """The app as it ships, on a server that only this machine reaches, so that a person may add a model."""
    return serve(ROOT / "app.py", "--server.maxUploadSize=202")


def said(page: Page, words: str | re.Pattern[str]) -> Locator:
    """What a page says, as who listens hears it too."""
    return page.get_by_role("status").filter(has_text=words)


def expect_that_it_looks_at(page: Page, noun: str, pronoun: str) -> None:
    """The first page says where “it” looks, and both words are marked in the sentences."""
    expect(
        said(page, re.compile(f"When the model writes “{pronoun}” for “\\w+”, .* of its weight to “{noun}”"))
    ).to_be_visible()
    for language, word in (("EN", noun), ("DE", pronoun)):
        marked = page.get_by_role("group", name=language).get_by_role("button", name=word, exact=True)
        expect(marked).to_have_attribute("aria-pressed", "true")


def step_is_read(page: Page, lesson: Lesson, number: int) -> None:
    """Read a step, predict what it asks for, and see that the model confirms the text."""
    step = lesson.steps[number - 1]
    expect(page.get_by_role("heading", name=step.title, exact=True)).to_be_visible()
    if step.question is not None:
        expect(said(page, "Predict first")).to_be_visible()
        page.get_by_role("radiogroup", name="Your prediction").get_by_role("radio").first.click()
        expect(page.get_by_text(re.compile(r"^(Right\.|The model says: )"))).to_be_visible()
    if step.claims:
        expect(page.get_by_text("Checked just now: ").first).to_be_visible()


def lesson_is_paged_through(page: Page, lesson: Lesson) -> None:
    """Press Next from the first step of a lesson to the first of the lesson after it; questions are skipped."""
    for step in lesson.steps:
        expect(page.get_by_role("heading", name=step.title, exact=True)).to_be_visible()
        page.get_by_role("button", name=re.compile("^Next (step|lesson)$")).click()
        if step.question is not None:
            page.get_by_role("button", name="Skip question").click()
        expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.long
def test_a_student_finds_the_first_lessons_walks_them_and_learns_what_it_looks_at(page: Page, first_page: str) -> None:
    page.context.clear_cookies()
    page.goto(first_page)
    expect(page.get_by_role("region", name="Start here")).to_contain_text("the line in the sentence shows it")
    page.get_by_role("link", name="Learn").click()
    chosen = page.get_by_role("combobox", name="Lesson")
    known, paged = list(lessons().values())[:2], list(lessons().values())[2:3]
    for place, lesson in enumerate(known):
        expect(chosen).to_have_value(f"{place}. {lesson.title}")
        for number in range(1, len(lesson.steps) + 1):
            step_is_read(page, lesson, number)
            if number == len(lesson.steps):
                expect(page.get_by_text("Summary", exact=True)).to_be_visible()
                expect(page.get_by_text("Try it:")).to_be_visible()
            page.get_by_role("button", name=re.compile("^Next (step|lesson)$")).click()
    for place, lesson in enumerate(paged, len(known)):
        expect(chosen).to_have_value(f"{place}. {lesson.title}")
        lesson_is_paged_through(page, lesson)
    expect(chosen).to_have_value(re.compile("^3"))
    # Back to where “it” was asked for.
    page.get_by_role("button", name="Contents").click()
    contents = page.get_by_role("dialog", name="Contents")
    for lesson in known:
        steps = len(lesson.steps)
        expect(contents.get_by_text(re.compile(rf"^{steps} of {steps} steps")).first).to_be_visible()
    contents.get_by_role("button", name=f"0. {known[0].title}").click()
    expect(chosen).to_have_value(f"0. {known[0].title}")
    page.get_by_role("combobox", name="Step").click()
    page.get_by_role("option", name=re.compile(r"^4\.")).click()
    page.get_by_role("radiogroup", name="Your prediction").get_by_role("radio", name="animal").click()
    expect(page.get_by_text("Right. “Es” refers to “das Tier”, the animal.")).to_be_visible()
    # The same head on its page, which stays open, and then the heads that link the two words most.
    page.get_by_role("button", name="Open on the Attention page").click()
    link = link_of()
    expect(said(page, f"the largest weight of weil → es goes to animal: {link.weight:.4f}")).to_be_visible()
    expect(said(page, "Which heads link es to …? Now click the key word")).to_be_visible()
    settled(page)
    page.get_by_role("group", name="EN").get_by_role("button", name="animal", exact=True).click()
    # What is pointed at is said first.
    page.mouse.move(0, 0)
    expect(
        said(page, f"gives {link.weight:.4f} from weil → es to animal, the largest weight of the row")
    ).to_be_visible()
    name = head_label(link.layer, link.head, link.site)
    expect(page.get_by_role("button", name=f"{name} · {link.weight:.4f}")).to_be_visible()


@pytest.mark.long
def test_a_teacher_presents_flips_a_word_asks_the_class_gives_a_link_and_comes_back(
    page: Page, first_page: str
) -> None:
    page.context.clear_cookies()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(first_page)
    expect_that_it_looks_at(page, "animal", "es")
    for way, (noun, pronoun) in (("Next", ("street", "sie")), ("Back", ("animal", "es"))):
        page.get_by_role("button", name=way, exact=True).click()
        expect_that_it_looks_at(page, noun, pronoun)
    settled(page)
    begin = page.get_by_role("button", name=re.compile("^Present: large"))
    leave = page.get_by_role("button", name="Leave")
    begin.click()
    expect(leave).to_be_visible()
    for width, height in PROJECTORS:
        page.set_viewport_size({"width": width, "height": height})
        assert max(fitted(page)["over"]) <= 0
        expect(page.get_by_role("grid")).to_be_visible()
        expect(page.get_by_role("application", name="weights of one head as a heatmap")).to_be_visible()
    leave.click()
    expect(page.get_by_role("region", name="Start here")).to_be_visible()
    # A question for the class, on the projector.
    page.get_by_role("link", name="Learn").click()
    expect(page.get_by_text("How many tokens will it become?")).to_be_visible()
    settled(page)
    begin.click()
    expect(leave).to_be_visible()
    page.get_by_role("radio", name="More than 11").click()
    expect(page.get_by_text("Right. It becomes 16")).to_be_visible()
    for width, height in PROJECTORS:
        page.set_viewport_size({"width": width, "height": height})
        assert max(fitted(page)["over"]) <= 0
    page.get_by_role("button", name="Next", exact=True).click()
    expect(page.get_by_role("heading", name="Each token becomes a vector")).to_be_visible()
    settled(page)
    leave.click()
    expect(page.get_by_role("combobox", name="Step")).to_have_value(re.compile(r"^2\."))
    # The class sees what the teacher sees; from another computer it could not, and the page says so.
    page.get_by_role("button", name="Copy link").click()
    expect(said(page, "Copied; it opens only on this computer")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    with page.context.new_page() as pupil:
        pupil.goto(link)
        expect(pupil.get_by_role("heading", name="Each token becomes a vector")).to_be_visible()
    page.get_by_role("link", name="Attention").click()
    expect_that_it_looks_at(page, "animal", "es")


@pytest.mark.long
def test_an_engineer_adds_a_bert_reads_one_of_its_heads_and_takes_picture_table_and_python(
    page: Page, first_page: str, tmp_path: Path
) -> None:
    folder = zoo.save_model(tmp_path / "my-bert" / "model", "bert")
    page.goto(first_page)
    page.get_by_text("Add a model").click()
    page.get_by_role("textbox", name="Folder").fill(str(folder))
    page.get_by_role("button", name="Add", exact=True).click()
    # Known by its own name, as what it is, and how exactly it is shown.
    expect(page.get_by_role("combobox", name="Checkpoint")).to_have_value("my-bert")
    expect(page.get_by_text(re.compile("^Verification: exact"))).to_be_visible()
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_be_visible()
    expect(page.get_by_text(re.compile("translat", re.IGNORECASE)).locator("visible=true")).to_have_count(0)
    assert str(tmp_path) not in page.url
    settled(page)
    page.get_by_role("gridcell", name="L1 H3").click()
    expect(page.get_by_role("gridcell", name="L1 H3, open")).to_be_visible()
    settled(page)
    # The model's own tokens, as its file has them.
    page.get_by_text("Whole words", exact=True).click()
    settled(page)
    page.mouse.move(0, 0)
    headline = said(page, re.compile(r"^L1 H3 gives .* from it to animal"))
    expect(headline).to_be_visible()
    expect(page.get_by_text("Job, measured in this sentence only: none.")).to_be_visible()
    weight = re.search(r"gives (0\.\d{4})", headline.inner_text())
    assert weight is not None
    menu = page.get_by_role("button", name="Export")
    menu.click()
    exports = page.get_by_role("dialog", name="Export")
    expect(exports.get_by_text(f"headlight.open('{folder}')")).to_be_visible()
    expect(exports.get_by_text("heads=[2]")).to_be_visible()
    with page.expect_download() as table:
        exports.get_by_role("button", name=re.compile("^L1 H3")).click()
    tokens, *rows = csv.reader(table.value.path().read_text(encoding="utf-8-sig").splitlines())
    (row,) = (row for row in rows if row[0].endswith("it"))
    assert f"{float(row[[token.endswith('animal') for token in tokens].index(True)]):.4f}" == weight[1]
    exports.get_by_role("radio", name="SVG").click()
    page.wait_for_function("globalThis.headlightFormat === 'SVG'")
    settled(page)
    page.keyboard.press("Escape")
    expect(exports).to_have_count(0)
    with page.expect_download() as picture:
        page.get_by_role("button", name="Save this picture").last.click()
    assert ">L1 H3<" in picture.value.path().read_text(encoding="utf-8")
    assert picture.value.suggested_filename.endswith(".svg")
