"""How large Headlight is: python -m tests.benchmarks.size [--private] [--controls].

Prints the lines outside tests and of the tests, the rooms of the app, and the lines of tests that name something
private of ours; --private prints these lines, --controls counts the controls that a person sees on each page, in
Chromium.
"""

import argparse
import ast
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from tests.paths import ROOT
from viz.pages.learn.lessons.lesson import lessons
from viz.selection.selection import FIELDS, PAGES

#: What is counted outside tests.
SUFFIXES: Final = (".py", ".js", ".css", ".html")
OURS: Final = ("model", "viz", "app", "headlight")
#: What a person sees and can operate, each once; of options of one choice, the group, and so of a toolbar in which Tab
#: stops once and arrow keys lead on. Cells and words of pictures are none, nor what is folded or appears under the
#: pointer alone.
CONTROLS: Final = """() => {
  const operable = 'button, input:not([type=hidden]), textarea, select, summary, [role=slider], [role=combobox],'
    + '[role=switch], [role=radiogroup], [role=tablist]';
  const isIn = (node, within) => node.parentElement?.closest(within);
  const stops = (bar) => [...bar.querySelectorAll(operable)].filter((part) => part.tabIndex >= 0).length;
  const found = new Set();
  const walk = (root) => {
    for (const node of root.querySelectorAll("*")) {
      if (node.shadowRoot) walk(node.shadowRoot);
      if (!node.matches(operable) || isIn(node, operable) || isIn(node, '[role=grid], .words')) continue;
      const isFolded = node.tagName !== "SUMMARY" && node.closest("details:not([open])");
      if (isFolded || node.closest('.modebar, [data-testid="stBaseButton-elementToolbar"]')) continue;
      const bar = node.closest("[role=toolbar]");
      const around = bar && stops(bar) === 1 ? bar : node.closest('[data-testid="stSelectbox"],'
        + '[data-testid="stNumberInput"], [data-testid="stCheckbox"]');
      if ((around ?? node).getClientRects().length) found.add(around ?? node);
    }
  };
  walk(document.querySelector('[data-testid="stApp"]'));
  return found.size;
}"""
DRAWN: Final = """() => document.querySelector('[data-test-script-state="notRunning"]')
  && !document.querySelector('[data-testid="stMain"] :is(.stProgress, .stSpinner, [data-testid="stSkeleton"])')"""


def lines(paths: Iterable[Path]) -> int:
    """Lines of these files together."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def product() -> list[Path]:
    """The files that are counted outside tests."""
    folders = (path for name in ("model", "viz") for path in (ROOT / name).rglob("*"))
    return [ROOT / "app.py", *(path for path in folders if path.suffix in SUFFIXES and "__pycache__" not in path.parts)]


def rooms() -> int:
    """The tabs of all pages; a page without tabs is one room."""
    return sum(len(FIELDS[page.tab].options) if page.has_tabs else 1 for page in PAGES.values())


def private_lines(source: str) -> Iterator[int]:
    """The lines of a test that name something private of ours: an import, an attribute, or a text that patches one."""
    tree = ast.parse(source)
    known: set[str] = set()
    found: set[int] = set()
    for made in (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)):
        module = (made.module or "") if isinstance(made, ast.ImportFrom) else made.names[0].name
        if module.partition(".")[0] in OURS:
            known |= {(alias.asname or alias.name).partition(".")[0] for alias in made.names}
            found |= {made.lineno for alias in made.names if _is_private(alias.name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _is_private(node.attr) and _root(node) in known:
            found.add(node.lineno)
        if isinstance(node, ast.Call) and len(node.args) > 1 and _root(node.args[0]) in known:
            found |= {each.lineno for each in node.args[1:2] if _is_private(_text(each))}
        if isinstance(node, ast.Constant) and _text(node).partition(".")[0] in OURS and " " not in _text(node):
            found |= {node.lineno for part in _text(node).split(".") if _is_private(part)}
    return iter(sorted(found))


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name != "_"


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def explored() -> dict[str, str]:
    """Topic → the address of the first step of a lesson in which it is explored, unfolded."""
    found: dict[str, str] = {}
    for name, lesson in lessons().items():
        for number, step in enumerate(lesson.steps, start=1):
            if step.explore:
                found.setdefault(step.explore, f"learn?lesson={name}&step_of_lesson={number}&explore=1")
    return found


def controls() -> Iterator[tuple[str, int]]:
    """Each page, and each topic of Explore, with its controls; the sidebar's are among them."""
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import FLAGS, HEADLESS_SHELL, find_executable, streamlit_server

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        executable = shutil.which(HEADLESS_SHELL) or find_executable()
        browser = playwright.chromium.launch(executable_path=executable, args=list(FLAGS))
        with streamlit_server(ROOT / "app.py", (), Path(folder) / "server.log") as url:
            for address in (*(known.address for known in PAGES.values()), *explored().values()):
                page = browser.new_page(viewport={"width": 1400, "height": 1000})
                page.goto(f"{url}/{address}")
                page.wait_for_function(DRAWN, timeout=300_000)
                page.wait_for_timeout(2_000)
                yield address or "attention", page.evaluate(CONTROLS)
                page.close()
        browser.close()


def main() -> None:
    """Print the numbers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--private", action="store_true", help="print each line of a test that names something private")
    parser.add_argument("--controls", action="store_true", help="count the controls of each page, in Chromium")
    asked = parser.parse_args()
    tests = sorted((ROOT / "tests").rglob("*.py"))
    tests = [path for path in tests if "node_modules" not in path.parts]
    of_product, of_tests = lines(product()), lines(tests)
    print(f"lines outside tests   {of_product:,}")
    print(f"lines of tests        {of_tests:,} ({of_tests / of_product:.2f} of the product)")
    print(f"rooms                 {rooms()}")
    sources = {path: path.read_text(encoding="utf-8") for path in tests}
    private = [(path, number) for path, source in sources.items() for number in private_lines(source)]
    print(f"private names         {len(private)} lines in {len({path for path, _ in private})} files")
    for path, number in private if asked.private else ():
        print(f"  {path.relative_to(ROOT)}:{number}: {sources[path].splitlines()[number - 1].strip()}")
    for name, count in controls() if asked.controls else ():
        print(f"controls              {count:3}  {name}", flush=True)


if __name__ == "__main__":
    main()
