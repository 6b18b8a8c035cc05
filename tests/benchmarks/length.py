"""What long texts cost: python -m tests.benchmarks.length [--tokens 1024 2048 4096] [--layers 12] [--browser].

Attention inputs of BERT-base's shape (12 × 12 heads, d_k 64; random queries, keys and values) as a captured run leaves
them. Prints what the attention page computes of them and what it sends: the open head's overview, exact tiles, every
layer of the grid, head figures, and the memory that capture and computing take. `--browser` measures in Chromium how
fast a picture of the same number of tokens follows the pointer, and how soon exact tiles are drawn.
"""

import argparse
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import torch

from model.analysis.metrics.head_metrics import streamed_head_metrics
from model.analysis.metrics.measures import HeadMatrix, weights_of
from model.nn.attention import AttentionInputs
from model.nn.masks import AttentionMask
from model.trace import axes
from model.trace.row_blocks import pooled_weights
from viz.access.long_texts import OVERVIEW_SIDE
from viz.pictures.tiles.codes import GridSpec, LayerTiles, edges, pack_decimals
from viz.pictures.tiles.store import TILE_SIDE

HEADS, D_K = 12, 64
TILES = 5
Result = TypeVar("Result")


def inputs_of(tokens: int, *, causal: bool) -> AttentionInputs:
    """One layer, as a captured run leaves it."""
    query, key, value = (torch.randn(HEADS, tokens, D_K) for _ in range(3))
    mask = AttentionMask(num_queries=tokens, num_keys=tokens, causal=causal)
    return AttentionInputs(query=query, key=key, value=value, mask=mask, scale=D_K**-0.5)


def timed(compute: Callable[[], Result]) -> tuple[float, Result]:
    """Seconds, and what was computed."""
    began = time.perf_counter()
    found = compute()
    return time.perf_counter() - began, found


def seconds_of_both(began: float, began_working: float) -> str:
    """On the clock, and of all processors: on a busy machine the second tells more."""
    return f"{time.perf_counter() - began:6.2f} s ({time.process_time() - began_working:.2f} s of processor time)"


def peak_memory() -> float:
    """The most memory this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def report(name: str, figure: str) -> None:
    print(f"  {name:44} {figure}", flush=True)


def measure(tokens: int, layers: int, *, causal: bool) -> None:
    """One line for each thing that a person waits for."""
    torch.manual_seed(0)
    stack = [inputs_of(tokens, causal=causal) for _ in range(layers)]
    held = sum(part.nbytes for inputs in stack for part in (inputs.query, inputs.key, inputs.value))
    print(f"\n{tokens:,} tokens, {layers} × {HEADS} heads, {'causal' if causal else 'all keys seen'}")
    report(
        "queries, keys and values",
        f"{held / 1e6:,.0f} MB (all weights would be {layers * HEADS * tokens**2 * 4 / 1e9:,.1f} GB)",
    )
    before = peak_memory()
    axis = axes.single_tokens([str(i) for i in range(tokens)])
    block = -(-tokens // OVERVIEW_SIDE)

    def open_head() -> tuple[HeadMatrix, torch.Tensor]:
        matrix = HeadMatrix(weights_of(stack[0], 3), axis, axis)
        return matrix, matrix.pooled(slice(None), slice(None), (block, block))

    began, worked = time.perf_counter(), time.process_time()
    matrix, overview = open_head()
    took = seconds_of_both(began, worked)
    sent = len(pack_decimals(overview.numpy(), 4))
    report("open head: overview", f"{took}, {sent / 1e3:,.0f} kB")
    times, sizes = [], []
    for number in range(TILES):
        rows = slice(number * TILE_SIDE % tokens, number * TILE_SIDE % tokens + TILE_SIDE)
        seconds, tile = timed(lambda rows=rows: matrix.pooled(rows, slice(0, TILE_SIDE), (1, 1)))  # type: ignore[misc]
        packing, packed = timed(lambda tile=tile: pack_decimals(tile.numpy(), 4))  # type: ignore[misc]
        times.append(seconds + packing)
        sizes.append(len(packed))
    report("an exact tile", f"{statistics.median(times) * 1e3:6.1f} ms, {statistics.median(sizes) / 1e3:,.0f} kB")
    spec = GridSpec.of((layers, HEADS, tokens, tokens))
    cuts = edges(tokens, spec.rows).tolist()
    began, worked, first, total = time.perf_counter(), time.process_time(), "", 0
    for number, inputs in enumerate(stack):
        pooled = pooled_weights(inputs, cuts, cuts)
        tiles = LayerTiles.of(spec, number, pooled.maxima.numpy(), pooled.down.numpy(), pooled.across.numpy())
        first = first or seconds_of_both(began, worked)
        total += len(tiles.deflated)
    report("grid: first layer", first)
    report("grid: all layers", seconds_of_both(began, worked))
    report("grid: tiles to the browser", f"{total / 1e3:,.0f} kB, {spec.rows} × {spec.columns} a tile")
    began, worked = time.perf_counter(), time.process_time()
    streamed_head_metrics(stack[0], list(axis.labels), "encoder.self")
    report("figures of one layer's heads", seconds_of_both(began, worked))
    report("memory beyond queries, keys and values", f"{peak_memory() - before:,.0f} MB")


def measure_browser(tokens: int) -> None:
    """Frames while moving, and the time from a zoom to exact numbers on the screen."""
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import FLAGS, find_executable, streamlit_server
    from tests.browser.test_long_matrix import FRAMES, HERE, zoom_in

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        script = Path(folder) / "page.py"
        text = (HERE / "demo_long_matrix.py").read_text(encoding="utf-8")
        sizes = f"ROWS, COLUMNS, BLOCK = {tokens}, {tokens}, {-(-tokens // OVERVIEW_SIDE)}"
        script.write_text(text.replace("ROWS, COLUMNS, BLOCK = 1_500, 1_400, 3", sizes), encoding="utf-8")
        with streamlit_server(script, (), Path(folder) / "server.log") as url:
            page = playwright.chromium.launch(executable_path=find_executable(), args=list(FLAGS)).new_page(
                viewport={"width": 1400, "height": 1000}
            )
            page.goto(url)
            root = page.locator(".matrix-picture[data-ready='1']")
            root.wait_for(timeout=60_000)
            page.locator(".tile-server[data-serves]").wait_for(state="attached")
            page.wait_for_timeout(1_000)
            waits, stage = [], root.locator(".stage")
            for across in (0.2, 0.8, 0.5):
                zoom_in(page, root, 7, across, across)
                waits.append(root.evaluate(UNTIL_EXACT))
                (resting, _), (moving, drawn) = (stage.evaluate(FRAMES, dragged) for dragged in (False, True))
                rates = [1000 / statistics.median(frames) for frames in (resting, moving)]
                took = f"{statistics.median(drawn):.0f} ms to draw one"
                report("frames a second: resting, moving", f"{rates[0]:,.0f}, {rates[1]:,.0f}; {took}")
                root.get_by_role("button", name="Show the whole matrix").click()
            report("from a zoom to exact numbers drawn", ", ".join(f"{wait:,.0f}" for wait in waits) + " ms")


UNTIL_EXACT = """(root) => new Promise((resolve, reject) => {
  const began = performance.now();
  const look = () => {
    if (performance.now() - began > 60000) reject(new Error("not drawn within a minute"));
    else if (root.dataset.block === "1 1") resolve(performance.now() - began);
    else requestAnimationFrame(look);
  };
  look();
})"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tokens", type=int, nargs="+", default=[1024, 2048, 4096])
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--causal", action="store_true")
    parser.add_argument("--browser", action="store_true")
    arguments = parser.parse_args()
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads; Python {sys.version.split()[0]}")
    for tokens in arguments.tokens:
        if arguments.browser:
            print(f"\n{tokens:,} tokens in the browser")
            measure_browser(tokens)
        else:
            measure(tokens, arguments.layers, causal=arguments.causal)


if __name__ == "__main__":
    main()
