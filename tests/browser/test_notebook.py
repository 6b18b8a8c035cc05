"""A picture of the notebook, saved as one file, in the browser: offline, and a click opens a head."""

import base64
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from model import Translator
from viz.notebook import Picture, film, heads, lines, save, why
from viz.pictures.offline import text_page

TOKENS = ["a", "b", "c"]


@pytest.fixture
def tab(profile: BrowserContext) -> Iterator[Page]:
    """A tab for pages from the disk, which ends without an error and asks nobody for anything."""
    page, problems = profile.new_page(), list[str]()
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: problems.append(request.url) if request.url.startswith("http") else None)
    yield page
    page.close()
    assert not problems


def as_sent(picture: Picture) -> list[object]:
    """What a frontend gets of its widget: its state, and its binary parts."""
    state = picture.widget.get_state()
    return [state, [base64.b64encode(each).decode() for each in state.pop("payloads")]]


def test_saved_lines_and_a_saved_film_are_handled_like_those_of_the_pages(
    tab: Page, tmp_path: Path, translator: Translator
) -> None:
    # As it is, this would swallow the rest of a page's script.
    trace = translator.trace("Tom told me. <!--<script>")
    tab.goto(save(lines(trace, "encoder.self"), tmp_path / "lines.html").as_uri())
    tab.locator(".chip").nth(1).click()
    expect(tab.get_by_text("Lines drawn")).to_be_visible()
    tab.goto(save(film(trace, translator), tmp_path / "film.html").as_uri())
    expect(tab.get_by_text(f"Step 1 of {len(trace.steps)}", exact=True)).to_be_visible()
    tab.get_by_role("button", name="Step forward (→)").click()
    expect(tab.get_by_text(f"Step 2 of {len(trace.steps)}", exact=True)).to_be_visible()
    expect(tab.get_by_role("button", name="Sample from here")).to_be_hidden()


def test_a_still_is_seen_without_a_script_and_hidden_where_the_widget_draws(tab: Page, tmp_path: Path) -> None:
    """As frontends show an SVG: as an element, and as a picture whose address is its text, plain or in base 64."""
    picture = heads(np.random.default_rng(1).dirichlet(np.ones(3), size=(2, 4, 3)), queries=TOKENS)
    coded = base64.b64encode(picture.still.encode()).decode()
    addresses = f"data:image/svg+xml,{quote(picture.still)}", f"data:image/svg+xml;base64,{coded}"
    images = "".join(f'<img src="{address}">' for address in addresses)
    page = tmp_path / "cell.html"
    page.write_text(f"<body>{picture.still}{images}<div id='live'></div></body>", encoding="utf-8")
    tab.goto(page.as_uri())
    stills = tab.locator("body > svg, body > img")
    expect(stills.locator("visible=true")).to_have_count(3)
    assert tab.evaluate("[...document.images].map((image) => image.naturalWidth > 300)") == [True, True]
    tab.evaluate(
        """async ([{ _esm, plan }, payloads]) => {
          const { default: widget } = await import(URL.createObjectURL(new Blob([_esm], { type: "text/javascript" })));
          const sent = payloads.map((each) => new DataView(Uint8Array.from(atob(each), (c) => c.charCodeAt(0)).buffer));
          const model = { get: (name) => (name === "plan" ? plan : sent) };
          await widget.render({ model, el: document.getElementById("live") });
        }""",
        as_sent(picture),
    )
    expect(tab.get_by_role("gridcell")).to_have_count(8)
    expect(stills.locator("visible=true")).to_have_count(0)


def test_why_is_answered_by_the_kernel_and_in_a_saved_file_without_one(
    tab: Page, tmp_path: Path, translator: Translator
) -> None:
    picture = why(translator.trace("Tom told me <!--<script>."), translator, twin="")
    answering = picture.answering
    assert answering is not None

    def ask(content: dict[str, str]) -> list[str]:
        refusal = answering.hear(content["name"], content["value"])
        return [refusal, *(base64.b64encode(each).decode() for each in answering.drawing().payloads())]

    page = tmp_path / "cell.html"
    page.write_text("<body><div id='live'></div></body>", encoding="utf-8")
    tab.expose_function("ask", ask)
    tab.goto(page.as_uri())
    tab.evaluate(
        """async ([{ _esm, plan }, payloads]) => {
          const { default: widget } = await import(URL.createObjectURL(new Blob([_esm], { type: "text/javascript" })));
          const view = (each) => new DataView(Uint8Array.from(atob(each), (c) => c.charCodeAt(0)).buffer);
          const then = {}, state = { plan, payloads: payloads.map(view), is_live: true };
          const send = async (content) => {
            const [told, ...answers] = await ask(content);
            state.payloads = answers.map(view);
            then["change:payloads"]();
            then["msg:custom"]({ told });
          };
          const model = { get: (name) => state[name], on: (name, act) => (then[name] = act), send };
          await widget.render({ model, el: document.getElementById("live") });
        }""",
        as_sent(picture),
    )
    why_, trail = tab.locator(".why"), tab.locator(".trail-picture")
    expect(why_).to_have_attribute("data-ready", "question")
    # The kernel runs what is tested; the step of the picture is then solid, and asks as the bars do.
    step = trail.locator(".step:not(.here)").first
    name, codes = (step.get_attribute(each) or "" for each in ("aria-label", "data-trail"))
    why_.locator(".bar", has_text=name.partition(",")[0]).first.focus()
    tab.keyboard.press("t")
    expect(why_.get_by_role("button", name="✓ tested")).to_be_disabled()
    expect(step).to_have_attribute("aria-label", re.compile(r"\d \(tested\): why\?$"))
    step.press("Enter")
    expect(why_.locator(".crumb").nth(1)).to_have_attribute("aria-current", "step")
    expect(trail.locator("[aria-current=step]")).to_have_attribute("data-trail", codes)
    # What cannot be answered is said below the picture, which stays.
    why_.get_by_role("button", name="Make a twin").click()
    why_.get_by_role("textbox").fill("x")
    why_.get_by_role("textbox").press("Enter")
    expect(tab.get_by_role("status")).to_contain_text("twin")
    expect(why_.locator(".crumb").nth(1)).to_have_attribute("aria-current", "step")
    tab.goto(save(picture, tmp_path / "why.html").as_uri())
    trail.locator(".step:not(.here)").first.press("Enter")
    expect(why_.locator(".crumb").nth(1)).to_have_attribute("aria-current", "step")
    expect(why_.get_by_role("button", name="Test it")).to_be_hidden()


def test_what_is_pointed_at_in_one_picture_is_marked_in_those_of_the_same_text_alone(
    tab: Page, tmp_path: Path, translator: Translator
) -> None:
    one, other = (translator.trace(text) for text in ("Tom told me.", "Tom told him."))
    pictures = [heads(one, "encoder.self"), lines(one, "encoder.self"), heads(other, "encoder.self")]
    body = "".join(f'<div id="picture-{number}"></div>' for number in range(len(pictures)))
    page = tmp_path / "all.html"
    page.write_text(text_page("all", body, drawings=[picture.drawing for picture in pictures]), encoding="utf-8")
    tab.goto(page.as_uri())
    marked = [tab.locator(f"#picture-{number} .matrix-picture .pointed-frame:visible") for number in (0, 2)]
    tab.locator("#picture-1 [role='option']").first.hover()
    expect(marked[0]).to_have_count(1)
    expect(marked[1]).to_have_count(0)
