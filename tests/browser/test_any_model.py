"""In a browser: a folder with a BERT is pasted on the left, and its heads are on the screen; a chat has its roles."""

import re
import shutil
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Page, expect

from tests.model.adapters import zoo
from tests.model.adapters.chats import save_chat_model

TALK = "system: The house is old.\nuser: Which animal was tired?"


def test_a_pasted_folder_shows_its_heads(url: str, page: Page, tmp_path: Path) -> None:
    folder = zoo.save_model(tmp_path / "my-bert", "bert")
    page.goto(url)
    page.get_by_text("Add a model").click()
    page.get_by_role("textbox", name="Folder").fill(str(folder))
    page.get_by_role("textbox", name="Folder").press("Enter")
    expect(page.get_by_role("combobox", name="Checkpoint")).to_be_visible(timeout=60_000)
    expect(page.locator(".st-key-heads [data-ready]")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("checkpoint=my-bert"), timeout=60_000)
    assert str(tmp_path) not in page.url
    shutil.rmtree(folder)


def test_a_chat_shows_whose_each_token_is_and_the_switch_turns_it_off(url: str, page: Page, checkpoints: Path) -> None:
    save_chat_model(checkpoints / "chatty")
    page.goto(f"{url}/?checkpoint=chatty&text={quote(TALK)}")
    expect(page.locator(".st-key-open-head [data-ready]")).to_be_visible(timeout=120_000)
    band = page.locator(".st-key-open-head .role-run")
    assert [band.nth(number).get_attribute("title") for number in range(band.count())] == ["system", "user"]
    bars = page.locator(".st-key-open-head .role-bar")
    assert len({bars.nth(number).evaluate("bar => getComputedStyle(bar).backgroundColor") for number in (0, 1)}) == 2
    said = page.locator(".st-key-words .role")
    expect(said).to_have_count(2)
    assert said.nth(1).get_attribute("aria-label") == "user"
    expect(said.nth(1)).to_contain_text("Which animal was tired?")
    above = [said.nth(1).locator(name).bounding_box() for name in (".role-name", ".word >> nth=0")]
    assert above[0] is not None
    assert above[1] is not None
    assert above[0]["y"] < above[1]["y"]
    page.get_by_text("As a chat").click()
    expect(page.locator(".st-key-open-head .role-run")).to_have_count(0, timeout=60_000)
    expect(said).to_have_count(0)
    expect(page).to_have_url(re.compile("chat=False"), timeout=60_000)
    shutil.rmtree(checkpoints / "chatty")


def test_a_long_chat_and_its_answer_keep_to_a_line_each_that_scrolls_by_keys(
    url: str, page: Page, checkpoints: Path
) -> None:
    save_chat_model(checkpoints / "talkative", max_position_embeddings=1024)
    page.goto(f"{url}/decode?checkpoint=talkative&text={quote(f'{TALK} Why?' + ' The animal was tired.' * 12)}")
    chat, answer = (page.locator(".st-key-page-head [data-scrolls-sideways]").nth(number) for number in (0, 1))
    expect(page.get_by_role("slider", name="Step")).to_be_visible(timeout=120_000)
    boxes = [line.bounding_box() for line in (chat, answer)]
    assert all(box is not None and box["height"] < 60 for box in boxes), boxes
    assert chat.evaluate("line => line.scrollWidth > 2 * line.clientWidth")
    step = page.get_by_role("slider", name="Step").input_value()
    chat.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("line => line.scrollLeft > 0", arg=chat.element_handle())
    assert page.get_by_role("slider", name="Step").input_value() == step
    shutil.rmtree(checkpoints / "talkative")
