"""The film's candidates and pictures in a real browser: filters are exact, wishes reach Python, nothing is left out."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Locator, Page, expect

from model import Sampling
from model.decoding.sampling import filtered_log_probs
from model.trace.steps import best_and_bins
from tests.browser.conftest import Serve
from tests.browser.pointing import box_of, until
from tests.browser.saving import save_button
from tests.browser.test_film import player
from viz.server.scripts import bundle


def shown_rows(root: Locator) -> Locator:
    return root.locator(".bar-row:not([hidden]):not(.empty)")


@pytest.mark.long
def test_candidates_have_probabilities_a_sum_and_a_rank_and_sliders_change_them_at_once(
    page: Page, serve: Serve
) -> None:
    root = player(page, serve, "/?step=1")
    expect(shown_rows(root)).to_have_count(10)
    expect(shown_rows(root).first).to_contain_text("✓")
    expect(shown_rows(root).first.locator(".bar-value").first).to_have_text(re.compile(r"^\d+\.\d%$"))
    expect(root.locator(".bar-now").nth(1)).to_have_text(re.compile(r"^[\d,.]+ × less$"))
    expect(root.locator(".together")).to_contain_text("These 10 together")
    expect(root.locator(".numbers")).to_contain_text(re.compile(r"Rank1.*nats"))
    # Sliders change the bars at once and grey what is left out.
    bar, width = shown_rows(root).first.locator(".bar-fill"), "bar => bar.style.width"
    before = until(lambda: bar.evaluate(width), "the bar is drawn")
    root.get_by_text("Sampling instead of greedy decoding").click()
    root.get_by_role("slider", name="Top-k").fill("2")
    expect(root.locator(".bar-row.left-out:not([hidden])")).to_have_count(7)
    until(lambda: bar.evaluate(width) != before, "the bar is another")
    expect(root.locator(".left")).to_contain_text("3 of 12 tokens can be sampled")
    expect(page.get_by_text("top_k=3")).to_be_visible()
    root.get_by_role("button", name="No filter").click()
    expect(root.locator(".bar-row.left-out:not([hidden])")).to_have_count(0)
    # A forced token outside the candidates stands below them.
    page.keyboard.press("ArrowRight")
    expect(root).to_have_attribute("data-step", "2")
    expect(shown_rows(root).last).to_contain_text("✓")
    expect(shown_rows(root).last).to_contain_text("▁überquerte")
    expect(root.locator(".numbers")).to_contain_text("Rank40")
    page.keyboard.press("ArrowLeft")
    root.locator(".count").select_option("4")
    # One more is kept free for a token outside the list.
    expect(shown_rows(root)).to_have_count(4)
    # What is not listed takes no room: the sum stands below the last row, and at most one row is kept free.
    row, listed = root.locator(".bar-row").first, root.locator(".bars").first
    until(lambda: box_of(listed)["height"] <= 5 * box_of(row)["height"] + 1, "no room for what is not listed")
    expect(page.get_by_text("candidates=4")).to_be_visible()


def test_a_candidate_is_forced_by_click_or_enter_and_the_filter_is_drawn_from(page: Page, serve: Serve) -> None:
    root = player(page, serve, "/?step=1")
    shown_rows(root).nth(2).locator("button").click()
    expect(page.get_by_text("wishes: [Force(step=1, token_id=2)]")).to_be_visible()
    shown_rows(root).first.locator("button").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Force(step=1, token_id=1)]")).to_be_visible()
    root.get_by_text("Sampling instead of greedy decoding").click()
    root.get_by_role("slider", name="Temperature").fill("0")
    root.get_by_role("button", name="Sample from here").click()
    expect(page.get_by_text("Draw(step=1, temperature=10, top_k=0, top_p=100)]")).to_be_visible()
    expect(root).to_have_attribute("data-step", "1")


def test_the_filter_is_that_of_the_model_to_three_decimals(page: Page) -> None:
    torch.manual_seed(5)
    spreads = torch.tensor([0.05, 0.5, 1.5, 4.0])
    logits = torch.randn(len(spreads), 5_000) * spreads[:, None]
    logits[1, 7] = 9.0
    settings = [
        (temperature, top_k, top_p)
        for temperature in (0.1, 0.5, 1.0, 2.0, 5.0)
        for top_k in (0, 1, 5, 200, 1_000)
        for top_p in (0.05, 0.5, 0.9, 0.99, 1.0)
    ]
    best, counts, centres = best_and_bins(logits.log_softmax(-1))
    numbers = torch.cat([part.float().ravel() for part in (best, counts, centres)]).tolist()
    script = bundle("pages/decoding/film/film_distribution.js")
    found = page.evaluate(
        f"""([numbers, numBest, numBins, count, settings]) => {{
          {script}
          const sizes = {{ numBest, numBins, steps: Array(count) }};
          return Array.from({{ length: count }}, (_, step) => settings.map(([temperature, topK, topP]) => {{
            const group = distributionAt(sizes, new Float32Array(numbers), step);
            const {{ chanceOf, kept, entropy }} = filterDistribution(group, {{ temperature, topK, topP }});
            return [group.logProbs.slice(0, 20).map(chanceOf), kept, entropy];
          }}));
        }}""",
        [numbers, best.shape[1], counts.shape[1], len(logits), settings],
    )
    for row, of_row in zip(logits, found, strict=True):
        order = row.topk(20).indices
        for (temperature, top_k, top_p), (chances, kept, entropy) in zip(settings, of_row, strict=True):
            sampling = Sampling(temperature=temperature, top_k=top_k or None, top_p=top_p)
            wanted = filtered_log_probs(row, sampling)
            assert chances == pytest.approx(wanted.exp()[order].tolist(), abs=1e-3), sampling
            assert kept == pytest.approx(int(wanted.isfinite().sum()), rel=0.005, abs=1), sampling
            assert entropy == pytest.approx(float(torch.special.entr(wanted.exp()).sum()), abs=0.01), sampling


# ---- taking it along ----


@pytest.mark.long
def test_the_picture_has_what_the_player_shows(page: Page, serve: Serve, tmp_path: Path) -> None:
    root = player(page, serve, "/?step=3&repeat=3")
    root.get_by_role("button", name="All layers").click()
    with page.expect_download() as download:
        save_button(root, "SVG").click()
    assert download.value.suggested_filename == "headlight-film-step3.svg"
    download.value.save_as(tmp_path / "film.svg")
    text = "".join(ET.parse(tmp_path / "film.svg").getroot().itertext())
    for shown in ("▁überquerte", "Cross-attention", "Self-attention", "up to this step", "Entropy", "▁tired"):
        assert shown in text, shown
    groups = (tmp_path / "film.svg").read_text(encoding="utf-8").count("crispEdges")
    assert groups == 4 + 4 + 1 + 1
    with page.expect_download() as download:
        save_button(root, "PNG").click()
    assert download.value.suggested_filename == "headlight-film-step3.png"
