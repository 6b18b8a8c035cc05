"""A speech model in the app: a moment in four clicks from the first page, the film with its sound, a recording."""

import re
import shutil
import wave
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import FLAGS, HEADLESS_SHELL, PATIENCE_MS, STORY_IS_CLOSED, VIEWPORT, find_executable, visit
from tests.browser.pointing import until
from tests.model.adapters import speech_zoo

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def whisper(checkpoints: Path) -> str:
    """A small random Whisper in the app's list, whose window holds the example sound."""
    return speech_zoo.save_whisper(checkpoints / "whisper", seconds=5).name


@pytest.mark.long
def test_four_clicks_lead_from_the_first_page_to_the_moment_that_a_head_attends_to(
    page: Page, url: str, whisper: str
) -> None:
    visit(page, url)
    page.get_by_role("combobox", name="Checkpoint").click()
    page.get_by_role("option", name=whisper, exact=True).click()
    page.get_by_role("gridcell", name="L1 H2", exact=False).click()
    sound = page.locator(".sound-attention[data-ready='1']")
    expect(sound.get_by_role("heading")).to_have_text(re.compile("^L1 H2"))
    word = sound.locator(".labels > div").nth(3)
    word.click()
    expect(sound.locator(".frame.kept")).to_be_visible()
    expect(sound.get_by_role("status")).to_have_text(re.compile(r"80 % of its weight .* is within \d\.\d\d–\d\.\d\d s"))
    # The words stand at their times, one after the other.
    starts = sound.locator(".lane-word").evaluate_all("words => words.map(word => word.offsetLeft)")
    assert len(starts) > 2
    assert starts == sorted(starts)


@pytest.mark.long
def test_a_film_plays_its_sound_and_goes_to_the_word_that_is_heard(page: Page, url: str, whisper: str) -> None:
    visit(page, f"{url}/decode?checkpoint={whisper}")
    film, lane = page.locator(".decode-player[data-ready='1']"), page.locator(".film-lane")
    film.get_by_role("button", name="First step").click()
    expect(lane.locator(".clock")).to_have_text("0.00 / 4.77 s")
    hidden = lane.locator(".lane-word.future")
    before = until(hidden.count, "words that are not written yet are not there")
    playhead = lane.locator(".playhead")
    place = playhead.evaluate("head => head.offsetLeft")
    lane.get_by_role("button", name="Play the sound").click()
    until(lambda: playhead.evaluate("head => head.offsetLeft") > place, "the playhead goes along")
    until(lambda: hidden.count() < before, "words are written as they are heard")
    lane.get_by_role("button", name="Stop").click()
    expect(lane.get_by_role("button", name="Play the sound")).to_be_visible()
    # Who goes to a step sees the playhead there.
    film.get_by_role("button", name="First step").click()
    expect(film).to_have_attribute("data-step", "0")
    expect(lane.locator(".clock")).to_have_text(re.compile(r"^0\.00 / "))


@pytest.mark.long
def test_a_recording_of_the_microphone_is_read(chromium: "Browser", url: str, whisper: str, tmp_path: Path) -> None:
    """The browser's microphone hears a file."""
    sound = speech_zoo.sound(3.0)
    with wave.open(str(tmp_path / "heard.wav"), "wb") as file:
        file.setparams((1, 2, sound.rate, 0, "NONE", ""))
        file.writeframes((sound.samples * 20_000).astype(np.int16).tobytes())
    heard = f"--use-file-for-fake-audio-capture={tmp_path / 'heard.wav'}"
    devices = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream", heard)
    executable = shutil.which(HEADLESS_SHELL) or find_executable()
    with chromium.browser_type.launch(executable_path=executable, args=[*FLAGS, *devices]) as browser:
        context = browser.new_context(viewport=VIEWPORT, permissions=["microphone"])
        context.set_default_timeout(PATIENCE_MS)
        context.add_cookies([STORY_IS_CLOSED])
        page = context.new_page()
        page.goto(f"{url}/?checkpoint={whisper}&site=decoder.cross")
        example = page.locator(".sound-attention[data-ready='1']")
        expect(example.locator(".clock")).to_have_text("0.00 / 4.77 s")
        recorder = page.get_by_test_id("stAudioInput")
        recorder.get_by_role("button", name="Record", exact=True).click()
        page.wait_for_timeout(1_500)
        recorder.get_by_role("button", name="Stop recording").click()
        # What was heard is read in place of the example.
        expect(example.locator(".clock")).to_have_text(re.compile(r"^0\.00 / [12]\.\d\d s$"))
