"""How large Headlight is: python -m tests.benchmarks.size [--private] [--controls].

Prints the lines outside tests, those of them that are code, the lines of the tests, the rooms of the app, and the lines
of tests that name something private of ours; --private prints these lines, --controls counts the controls that a
person sees on each page, in Chromium.
"""

import argparse
import ast
import re
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
#: A private name, and a text that names something of a module of ours.
PRIVATE: Final = re.compile(r"_[A-Za-z]\w*")
OF_OURS: Final = re.compile(r"(?:model|viz|app|headlight|tests)(?:\.\w+)+")
#: Private names of others that tests need: of Python, Streamlit, transformers and xdist.
OTHERS: Final = frozenset(
    {"_replace", "_exit", "_getframe", "_page_hash", "_tree", "_run", "_state", "_new_widget_state", "_split_scope"}
    | {"_set_widget_metadata", "_script_thread", "_keys_to_ignore_on_load_missing", "_attn_implementation"}
)
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


def code_lines(path: Path) -> int:
    """Lines that are neither blank nor only a comment or a documentation string."""
    text = path.read_text(encoding="utf-8")
    told: set[int] = set()
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                told.update(range(node.lineno, (node.end_lineno or 0) + 1))
    else:
        # Within a line of code such marks are of texts and patterns.
        for comment in re.finditer(r"^[ \t]*/\*.*?\*/", text, re.MULTILINE | re.DOTALL):
            first = text.count("\n", 0, comment.start()) + 1
            told.update(range(first, first + comment[0].count("\n") + 1))
    starts = "#" if path.suffix == ".py" else "//"
    rows = enumerate(map(str.strip, text.splitlines()), start=1)
    return sum(bool(row) and number not in told and not row.startswith(starts) for number, row in rows)


def rooms() -> int:
    """The tabs of all pages; a page without tabs is one room."""
    return sum(len(FIELDS[page.tab].options) if page.has_tabs else 1 for page in PAGES.values())


def private_lines(source: str) -> Iterator[int]:
    """The lines of a test that name something private of ours: an import, an attribute, or a text that patches one."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ImportFrom(names=aliases):
                names = [alias.name for alias in aliases]
            case ast.Attribute(attr=name) | ast.Call(args=[_, ast.Constant(value=str(name)), *_]):
                names = [name]
            case ast.Constant(value=str(text)) if OF_OURS.fullmatch(text):
                names = text.split(".")
            case _:
                continue
        if any(PRIVATE.fullmatch(name) and name not in OTHERS for name in names):
            yield node.lineno


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
    print(f"  of them code        {sum(map(code_lines, product())):,} (neither blank nor comment nor docstring)")
    print(f"lines of tests        {of_tests:,} ({of_tests / of_product:.2f} of the product)")
    print(f"rooms                 {rooms()}")
    sources = {path: path.read_text(encoding="utf-8") for path in tests}
    private = [(path, number) for path, source in sources.items() for number in sorted(set(private_lines(source)))]
    print(f"private names         {len(private)} lines in {len({path for path, _ in private})} files")
    for path, number in private if asked.private else ():
        print(f"  {path.relative_to(ROOT)}:{number}: {sources[path].splitlines()[number - 1].strip()}")
    for name, count in controls() if asked.controls else ():
        print(f"controls              {count:3}  {name}", flush=True)


if __name__ == "__main__":
    main()
