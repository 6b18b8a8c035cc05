"""In a browser: what is seen of models of other people, and that a chat has its roles; `test_tasks` adds a BERT."""

import re
import shutil
from functools import partial
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Download, Locator, Page, expect

from tests.browser.conftest import visit
from tests.browser.pointing import box_of, shows, until
from tests.browser.saving import save_button
from tests.model.adapters.zoo import save_chat_model

TALK = "system: The house is old.\nuser: Which animal was tired?\nassistant: Me."


def roles_in(download: Download) -> list[str]:
    """The names of roles in a saved SVG, and their initials."""
    return sorted(re.findall(r">(system|user|assistant|A)</text>", download.path().read_text(encoding="utf-8")))


def expect_roles_along_both_sides(head: Locator) -> None:
    """The runs of the rows, top down, and those of the columns, each named and in a colour of its role's."""
    colours = "bars => new Set(bars.map((bar) => getComputedStyle(bar).backgroundColor)).size"
    for side in ("rows", "columns"):
        band = head.locator(f".of-{side} .role-run")
        for number, role in enumerate(("system", "user", "assistant")):
            expect(band.nth(number)).to_have_attribute("title", role)
        expect(band).to_have_count(3)
        bars = head.locator(f".of-{side} .role-bar")
        until(partial(shows, bars, colours, 3), "each role has a colour")
    # What has no room for its name beside the cells is named below them.
    expect(head.locator(".of-rows .role-name")).to_have_text(["system", "user", "A"])
    expect(head.locator(".role-key")).to_have_text("assistant")
    runs = head.locator(".of-rows .role-run")

    def are_runs_beside_the_labels() -> bool:
        system, user, label = map(box_of, (runs.nth(0), runs.nth(1), head.locator(".row-label").first))
        return system["x"] == user["x"] < label["x"] and system["y"] + system["height"] < user["y"]

    until(are_runs_beside_the_labels, "the runs stand one below the other beside the labels")


def expect_roles_of_both_columns(lines: Locator) -> None:
    """Every token says whose it is, to the eye, on pointing and to who listens; so does a saved picture."""
    expect(lines.locator("[data-ready]")).to_be_visible()
    for side in ("query", "key"):
        runs = lines.locator(f".roles.{side} .role-run")
        expect(runs).to_have_text(["system", "user", "A"])
        of_user = lines.locator(f".column.{side} .option[aria-description='user']")

        def is_beside_its_tokens(runs: Locator = runs, tokens: Locator = of_user, side: str = side) -> bool:
            bar, first, last = map(box_of, (runs.nth(1), tokens.first, tokens.last))
            ends = bar["y"] + bar["height"], last["y"] + last["height"]
            is_as_long = abs(bar["y"] - first["y"]) <= 2 and abs(ends[0] - ends[1]) <= 2
            return is_as_long and (bar["x"] < first["x"]) == (side == "query")

        until(is_beside_its_tokens, f"the run of the user's {side} tokens is as long as they are")
    first = lines.locator(".column.key .option").first
    expect(first).to_have_attribute("title", re.compile(r" \(template\)$"))
    first.hover()
    expect(lines.locator(".status")).to_contain_text(re.compile(r" \(template\) is attended to by .+ \(\w+\) [01]\.\d"))
    with lines.page.expect_download() as download:
        save_button(lines, "SVG").click()
    assert roles_in(download.value) == ["A", "A", *2 * ["system"], *2 * ["user"]]


@pytest.mark.long
def test_a_chat_shows_whose_each_token_is_and_the_switch_turns_it_off(url: str, page: Page, checkpoints: Path) -> None:
    save_chat_model(checkpoints / "chatty")
    # Of whole words, labels too are what the template calls the roles.
    visit(page, f"{url}/?checkpoint=chatty&words=False&text={quote(TALK)}")
    expect(page.locator(".st-key-open-head [data-ready]")).to_be_visible()
    expect_roles_along_both_sides(page.locator(".st-key-open-head"))
    with page.expect_download() as download:
        save_button(page.locator(".st-key-open-head"), "SVG").click()
    assert roles_in(download.value) == ["A", "A", "assistant", *2 * ["system"], *2 * ["user"]]
    page.get_by_test_id("stButtonGroup").get_by_text("Lines").click()
    expect_roles_of_both_columns(page.locator(".st-key-open-lines"))
    page.get_by_test_id("stButtonGroup").get_by_text("Heatmap").click()
    expect(page.locator(".st-key-open-head [data-ready]")).to_be_visible()
    # Three runs over each of four heads, and beside each of two layers.
    expect(page.locator(".st-key-heads .tile-role")).to_have_count(3 * (4 + 2))
    expect(page.locator(".st-key-heads .role-key")).to_have_text("systemuserassistant")
    said = page.locator(".st-key-words .role")
    expect(said).to_have_count(3)
    expect(said.nth(1)).to_have_attribute("aria-label", "user")
    expect(said.nth(1)).to_contain_text("Which animal was tired?")
    name, word = said.nth(1).locator(".role-name"), said.nth(1).locator(".word").first
    until(lambda: box_of(name)["y"] < box_of(word)["y"], "the role's name stands above its words")
    page.get_by_text("As a chat").click()
    expect(page.locator(".st-key-open-head .role-run")).to_have_count(0)
    expect(page.locator(".st-key-heads .tile-roles")).to_be_hidden()
    expect(said).to_have_count(0)
    expect(page).to_have_url(re.compile("chat=False"))
    shutil.rmtree(checkpoints / "chatty")
