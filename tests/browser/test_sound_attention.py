"""A head over a sound in a real browser: a token and a moment are pointed at, kept and heard."""

import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Serve
from tests.browser.pointing import box_of, until
from tests.browser.saving import save_button

HERE = Path(__file__).parent
#: Keeps all that the clock of the player says from now on.
RECORD = """clock => {
  clock.said = [];
  new MutationObserver(() => clock.said.push(clock.textContent)).observe(clock, { childList: true });
}"""


@pytest.fixture
def root(page: Page, serve: Serve) -> Locator:
    page.goto(serve(HERE / "demo_sound_attention.py"))
    root = page.locator(".sound-attention[data-ready='1']")
    root.wait_for()
    return root


def heard(root: Locator, key: str, stops: str = "") -> list[tuple[float, float]]:
    """What the clock says from a key on until nothing plays, or another key stops it: seconds, and where they end."""
    clock, is_playing = root.locator(".clock"), root.get_by_role("button", name="Stop")
    clock.evaluate(RECORD)
    root.get_by_role("application").press(key)
    if stops:
        until(lambda: len(clock.evaluate("clock => clock.said")) > 5, "the clock goes")
        root.get_by_role("application").press(stops)
    expect(is_playing).to_have_count(0)
    texts = until(lambda: clock.evaluate("clock => clock.said"), "the clock has gone")
    return [(float(now), float(end)) for now, end in (re.findall(r"[\d.]+", text) for text in texts)]


def colour(root: Locator, share: float, height: int) -> list[int]:
    """Of waveform and spectrogram, at a share of the time and so many pixels from above."""
    script = """(canvas, [share, height]) => {
      const y = height * canvas.height / canvas.clientHeight;
      return [...canvas.getContext("2d").getImageData(share * canvas.width, y, 1, 1).data];
    }"""
    answer: list[int] = root.locator(".sound canvas").evaluate(script, [share, height])
    return answer


def test_a_token_that_is_pointed_at_lights_up_its_frames_which_are_heard(page: Page, root: Locator) -> None:
    labels, status = root.locator(".labels > div"), root.get_by_role("status")
    expect(labels.first).to_have_text("▁<b>it</b> → ▁was")
    expect(root.locator(".rests > div")).to_have_text(["0.300", "0.300", "0.300", "0.300", "1.000"])
    labels.nth(1).hover()
    # 0.7 lies on the sound, and 0.56 in no fewer than the ten frames that have 0.06 each.
    expect(status).to_have_text(
        "▁was → ▁too: 80 % of its weight on the sound is within 0.56–0.76 s. After the sound: 0.300."
    )
    # A line below the waveform has the colour of a sound.
    assert colour(root, 0.33, 51) == [230, 159, 0, 255]
    assert colour(root, 0.5, 51)[3] == 0
    said = heard(root, "h")
    assert {end for _, end in said[:-1]} == {0.76}
    assert all(0.56 <= now <= 0.76 for now, _ in said[:-1])
    # The picture that is saved has the waveform's grey.
    with page.expect_download() as saved:
        save_button(root, "PNG").click()
    pixels = np.asarray(Image.open(saved.value.path()).convert("RGB"))
    assert (pixels == (138, 143, 153)).all(-1).sum() > 1_000
    # What lies after the sound cannot be heard.
    labels.nth(4).hover()
    expect(status).to_have_text(". → </s>: no weight on the sound; 1.000 of the weight is after it.")
    expect(root.get_by_role("button", name="What the token attends to")).to_be_disabled()


def test_a_moment_that_is_pointed_at_or_heard_marks_the_tokens_that_attend_to_it(page: Page, root: Locator) -> None:
    status, box = root.get_by_role("status"), box_of(root.locator(".sound canvas"))
    page.mouse.move(box["x"] + box["width"] * 0.505, box["y"] + 20)
    # Five frames of 0.06; of other tokens, five of 0.1 / 90.
    expect(status).to_have_text(
        "At 0.96–1.06 s, the most weight comes from: ▁too → ▁tired 0.300, ▁<b>it</b> → ▁was 0.006, ▁was → ▁too 0.006"
    )
    expect(root.locator(".moment:visible")).to_have_count(2)
    page.mouse.move(5, 5)
    expect(root.locator(".moment:visible")).to_have_count(0)
    said = heard(root, " ", stops=" ")
    assert {end for _, end in said} == {2.0}
    assert 0 < said[-1][0] < 2


def test_arrows_lead_to_tokens_and_moments_and_enter_keeps_a_token_until_the_next(page: Page, root: Locator) -> None:
    stage, status = root.get_by_role("application"), root.get_by_role("status")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "Enter"):
        stage.press(key)
    expect(page.get_by_text("kept: 2")).to_be_visible()
    expect(root.locator(".frame.kept")).to_be_visible()
    stage.press("ArrowRight")
    expect(status).to_have_text(re.compile(r"^At 0\.06–0\.16 s"))
    stage.press("Escape")
    expect(status).to_have_text(re.compile("^▁too → ▁tired: 80 %"))
    root.locator(".labels > div").nth(2).click()
    expect(page.get_by_text("kept: None")).to_be_visible()
