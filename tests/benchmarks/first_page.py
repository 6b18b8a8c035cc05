"""How fast the first page appears: python -m tests.benchmarks.first_page [--url URL] [--rounds N].

Opens an empty Streamlit page and Headlight in turn, each in a browser context of its own, at three sizes; prints the
medians of the seconds until something is drawn in the first, until the pictures of the second are drawn, until it is
uncovered whole, the quotients of both to the first, and how far the page moves by itself, as browsers count layout
shifts; then the milliseconds of one small file after another
over one connection, of which a first page has some fifty. --url measures a server that runs already.
"""

import argparse
import http.client
import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, sync_playwright

from tests.browser.conftest import FLAGS, SERVER_OPTIONS, find_executable, streamlit_server
from tests.browser.test_first_screen import MOVES
from tests.paths import ROOT

SIZES = ((1400, 1000), (800, 1000), (390, 844))
EMPTY, OURS = "document.querySelector('[data-testid=stMarkdown]')", "performance.getEntriesByName('headlight-whole')[0]"
#: Milliseconds in which a page may still move.
AFTER = 3_000


#: Milliseconds after which the first page's pictures were drawn: before it is whole where its document has them.
PICTURE = "(performance.getEntriesByName('headlight-picture')[0] ?? performance.getEntriesByName('headlight-whole')[0])"


def opened(browser: Browser, url: str, size: tuple[int, int], come: str) -> tuple[float, float, float]:
    """Seconds from the address until `come` is true, and until there are pictures; how far it moves then and after."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]})
    context.add_init_script(MOVES)
    page = context.new_page()
    page.goto(url, wait_until="commit")
    page.wait_for_function(come)
    seconds = float(page.evaluate("performance.now()")) / 1_000
    picture = float(page.evaluate(f"{PICTURE}?.startTime ?? 0")) / 1_000
    page.wait_for_timeout(AFTER)
    moved = float(page.evaluate("window.moved"))
    context.close()
    return seconds, picture, moved


def milliseconds_each(url: str, count: int = 50) -> float:
    """Of so many small answers, one after another over one connection."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    begin = time.perf_counter()
    for _ in range(count):
        connection.request("GET", "/_stcore/health")
        connection.getresponse().read()
    return (time.perf_counter() - begin) / count * 1_000


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--url")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "empty.py").write_text("import streamlit\nstreamlit.markdown('Empty')\n", encoding="utf-8")

        def served(script: Path) -> str:
            return stack.enter_context(streamlit_server(script, SERVER_OPTIONS, folder / f"{script.stem}.log"))

        empty, ours = served(folder / "empty.py"), arguments.url or served(ROOT / "app.py")
        browser = stack.enter_context(sync_playwright()).chromium.launch(
            executable_path=find_executable(), args=list(FLAGS)
        )
        opened(browser, ours, SIZES[0], OURS)  # The server loads its libraries.
        print("size        empty, s  pictures, s  quotient  whole, s  quotient  moved, median and most")
        for size in SIZES:
            rounds = [
                (opened(browser, empty, size, EMPTY)[0], *opened(browser, ours, size, OURS))
                for _ in range(arguments.rounds)
            ]
            first, whole, picture, _moved = map(statistics.median, zip(*rounds, strict=True))
            moved = [each[3] for each in rounds]
            print(
                f"{size[0]} × {size[1]:<5} {first:8.2f}  {picture:11.2f}  {picture / first:8.2f}"
                f"  {whole:8.2f}  {whole / first:8.2f}"
                f"  {statistics.median(moved):.3f}  {max(moved):.3f}"
            )
        print(f"one small file after another: {milliseconds_each(ours):.1f} ms each")


if __name__ == "__main__":
    main()
