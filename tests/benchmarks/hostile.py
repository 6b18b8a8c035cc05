"""Bad input, made by a fixed seed, through every page: python -m tests.benchmarks.crowd --hostile [--inputs 500].

Texts that nobody would type, links whose every parameter may be wrong, and damaged files. After each the page must
still have its title, no traceback and no HTML made of the input, answer in time, and ask no other machine for anything.
Most go through Streamlit's `AppTest`, the same script without a browser; `in_browser` sends some to a real server and
a real Chromium. Inputs are plain data, so that a failure can be told and tried again by its number.
"""

import os
import random
import re
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from streamlit.testing.v1 import AppTest

from tests.paths import ROOT
from tests.viz.page_run import folder_of, run_page
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import FIELDS
from viz.selection.selection import PAGES as KNOWN_PAGES

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from playwright.sync_api import Request as PageRequest

#: File of a page → its title and its address.
PAGES: Final = {
    f"viz/pages/{section}/page.py": (str(page.title), page.address) for section, page in KNOWN_PAGES.items()
}
#: Name in an address → choice; those that only a session may make as well, which an address asks for in vain.
_CHOICES: Final = {field.param: field for field in FIELDS.values()}
#: What a browser would obey.
_LIVE: Final = re.compile("<(?:script|img)")
#: What Markdown takes for text: a sign after a backslash.
_ESCAPED: Final = re.compile(r"\\.", re.DOTALL)
#: Seconds that one run of a page may take.
MOST_SECONDS: Final = 60.0
EVIL: Final = "https://evil.example/"
PIECES: Final = (
    "😀", "👩‍👧‍👦", "🏳️‍🌈", "é", "e\u0301" * 9, "החתול", "القطة", "\u202e", "\u200f", "\u200b",
    "\ufeff", "\u2028", "\x00",
    "\x07", "\x1b[31m", "\r\n", "\t", "\x7f", "\ud800", "\udfff", "\U0010ffff", "ﷺ", "中文字", "ꦎ",
    "½", "ﬃ", "<b>cat</b>",
    f"<img src={EVIL}a.png onerror=alert(1)>", "<script>alert(1)</script>", "</script><script>", "<!--", "]]>",
    f"![x]({EVIL}b.png)", "[x](javascript:alert(1))", f"@import url({EVIL}c.css)", "${7*7}",
    "{{7*7}}", "%s%n%x", "`rm`",
    "$\\frac{1}{0}$", "$$", "**", "|a|b|", ":material/home:", ":red[x]", ":cat:", "#", "../../etc/passwd", "C:\\con",
    "'; DROP TABLE heads; --", "▁", "Ġ", "##", "<0xF0>", "</s>", "<s>", "<pad>", "[CLS]", "<|endoftext|>", "⏎", "␍",
    "NaN", "-0", "1e999", "null", "the", "it", "because", "didn't", "cat", ".", ",", " ", "  ",
    "\n\n", "\u00a0", "\u3164",
)  # fmt: skip
NUMBERS: Final = (
    "-1", "0", "1", "3", "7", "63", "64", "99", "999999", "1000000", "99999999999999999999", "1.5",
    "1e3", "٣", "²", "+1",
    " 1", "0x1", "NaN", "inf", "", "None", "null", "[]", "1.2.3", "1-2", "0.0.0", "a-b.c", "True",
    "False", "true", "-", ".",
    "....", "e00", "1'--",
)  # fmt: skip
#: What opens the tabs in which files are read.
UPLOADS: Final = (
    ("viz/pages/coreference/page.py", {"lab": "Measured", "given": "file"}),
    ("viz/pages/coreference/page.py", {"lab": "Cause"}),
    ("viz/pages/atlas/page.py", {"corpus": "file"}),
)
FILES: Final = (
    b"", b"\x00" * 4_000, b"\xff\xfe\x00\xd8", "\ufeffa\tb".encode("utf-16"), b"{", b"[]", b"null\n" * 9, b"{}\n" * 9,
    b'{"en": 1, "de": [], "sure": [[9, 9]]}', b'{"en": ["a"], "de": ["b"], "sure": [[-1, 99999999999]]}', b"[" * 20_000,
    b"a\tb\tc\td\n" * 40, b"\t\n\t\n", b"1 [it] is [the cat] .\n[the cat]\n[it]\n\n", b"x" * 100_000, b"\r\n" * 3_000,
    b'{"text": "<img src=x onerror=alert(1)>", "pronoun": [0, 1], "antecedent": "no"}', b"PK\x03\x04" + bytes(99),
    b"\x89PNG\r\n\x1a\n" + bytes(99), b'{"id": NaN, "en": Infinity}', b"the\tdie\n\xff\xff\n",
)  # fmt: skip
NAMES: Final = (
    "a.txt", "a.tsv", "a.jsonl", "a.json", "no ending", "<b>.txt", "../a.tsv", "a" * 300 + ".txt", "😀.jsonl",
)  # fmt: skip


@dataclass(frozen=True)
class Hostile:
    """One bad input.

    Attributes:
        number: its place in the sequence that the seed gives.
        page: where it goes.
        params: of the link.
        typed: what is typed over the sentence afterwards, if anything.
        file: name and content of what is uploaded, if anything.
    """

    number: int
    page: str
    params: dict[str, str]
    typed: str | None = None
    file: tuple[str, bytes] | None = None

    def __str__(self) -> str:
        link = {
            name: value if len(value) < 80 else f"{value[:80]}… ({len(value)})" for name, value in self.params.items()
        }
        typed = None if self.typed is None else self.typed[:80]
        return (
            f"input {self.number} on {self.page}: link {link!r}, typed {typed!r}, file {self.file and self.file[0]!r}"
        )


def inputs(count: int, seed: int = 2017) -> Iterator[Hostile]:
    """Bad inputs, each page in turn."""
    random_ = random.Random(seed)
    pages = list(PAGES)
    for number in range(count):
        page = pages[number % len(pages)]
        match number // len(pages) % 5:
            case 0:
                yield Hostile(number, page, {}, typed=_text(random_))
            case 1:
                yield Hostile(number, page, _params(random_, random_.randint(1, 4)))
            case 2:
                yield Hostile(number, page, _params(random_, 12) | {"text": _text(random_)})
            case 3:
                # A wrong value of one field after the other, until all had theirs.
                names = list(_CHOICES)
                wanted = [names[(number + step) % len(names)] for step in range(3)]
                yield Hostile(number, page, {name: _value(random_, name) for name in wanted}, typed=_text(random_))
            case _:
                page, params = random_.choice(UPLOADS)
                yield Hostile(number, page, dict(params), file=(random_.choice(NAMES), random_.choice(FILES)))


def _text(random_: random.Random) -> str:
    kind = random_.randrange(8)
    if kind == 0:
        return random_.choice(
            ("", " ", "\n\t ", "\x00", "\u200b\u200b", "x" * 10_000, "word " * 2_000, "😀" * 3_000, "\n" * 10_000)
        )
    if kind == 1:
        return "".join(chr(random_.randrange(0x110000)) for _ in range(random_.randint(1, 30)))
    return random_.choice(("", " ")).join(random_.choices(PIECES, k=random_.randint(1, 10)))


def _value(random_: random.Random, name: str) -> str:
    known = _CHOICES[name].options
    if known and random_.random() < 0.3:
        return random_.choice(known)
    return random_.choice(NUMBERS) if random_.random() < 0.6 else _text(random_)


def _params(random_: random.Random, count: int) -> dict[str, str]:
    names = list(_CHOICES)
    chosen = {name: _value(random_, name) for name in random_.sample(names, count)}
    # Most of what can go wrong is behind another tab.
    opened = random_.choice([name for name, choice in _CHOICES.items() if choice.name.endswith("_tab")])
    return {"checkpoint": "en-de", **chosen, opened: random_.choice(_CHOICES[opened].options)}


def _as_it_arrives(text: str) -> str:
    """A lone surrogate cannot travel: UTF-8 has none, and what reads its bytes makes replacement characters of them."""
    return text.encode("utf-8", errors="surrogatepass").decode("utf-8", errors="replace")


@contextmanager
def offline() -> Iterator[list[str]]:
    """Meanwhile, whoever asks another machine for anything is refused, and noted."""
    asked: list[str] = []
    connect = socket.socket.connect

    def refuse(self: socket.socket, address: Any) -> None:
        if self.family == socket.AF_UNIX or str(address[0]) in ("127.0.0.1", "::1", "localhost"):
            connect(self, address)
            return
        asked.append(str(address))
        raise OSError(f"asked {address}")

    setattr(socket.socket, "connect", refuse)  # noqa: B010
    try:
        yield asked
    finally:
        setattr(socket.socket, "connect", connect)  # noqa: B010


def problem_of(hostile: Hostile) -> str:
    """Send one input through its page; what went wrong, or nothing."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=MOST_SECONDS)
    for name, value in hostile.params.items():
        app.query_params[name] = _as_it_arrives(value)
    with offline() as asked:
        try:
            run_page(app, folder_of(hostile.page))
            if hostile.typed is not None and not app.exception:
                app.text_area(key="text").set_value(_as_it_arrives(hostile.typed)).run()
            if hostile.file is not None and not app.exception:
                # None where the model cannot be measured at all.
                for uploader in list(app.file_uploader)[:1]:
                    uploader.set_value((*hostile.file, "text/plain")).run()
        except Exception as error:  # A hang, or whatever else comes out of the script.
            return f"{type(error).__name__}: {error}"
    if asked:
        return f"asked {asked[0]}"
    if app.exception:
        return f"traceback: {app.exception[0].value}\n{''.join(app.exception[0].stack_trace)}"
    if [title.value for title in app.title] != [PAGES[hostile.page][0]]:
        return f"titles {[title.value for title in app.title]}"
    as_markdown = [element.value for element in (*app.markdown, *app.caption, *app.error, *app.info, *app.warning)]
    for value in (*(_ESCAPED.sub("", value) for value in as_markdown), *(element.value for element in app.html)):
        if _LIVE.search(value):
            return f"the input is on the page as HTML: {value[:2_000]!r}"
    for value in as_markdown:
        # An address becomes a link in spite of its backslashes.
        if any(sign in value for sign in (f"]({EVIL}", "](javascript")) or EVIL in value.replace("\\", ""):
            return f"the input is on the page as Markdown: {value[:2_000]!r}"
    return ""


def watch(page: "Page", said: str, problems: list[str]) -> None:
    """Note what a page asks of other hosts, and its errors."""
    from tests.browser.conftest import is_local

    def on_request(request: "PageRequest") -> None:
        if not is_local(request.url):
            problems.append(f"{said}: asked {request.url}")

    page.on("request", on_request)
    page.on("pageerror", lambda error: problems.append(f"{said}: {error}"))


def in_browser(chosen: Sequence[Hostile], root: Path) -> list[str]:
    """Links of these in a real browser, on a real server: what went wrong."""
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import FLAGS, find_executable, streamlit_server

    problems: list[str] = []
    log = root / "server.log"
    with streamlit_server(ROOT / "app.py", (), log) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_executable(), args=list(FLAGS))
        for hostile in chosen:
            page = browser.new_page()
            watch(page, str(hostile), problems)
            params = {"text": hostile.typed, **hostile.params} if hostile.typed else hostile.params
            query = urlencode({name: value[:1_500] for name, value in params.items()}, errors="surrogatepass")
            page.goto(f"{url}/{PAGES[hostile.page][1]}?{query}")
            title = PAGES[hostile.page][0]
            try:
                page.get_by_role("heading", name=title, exact=True).wait_for(timeout=1_000 * MOST_SECONDS)
                page.wait_for_selector(
                    "[data-testid='stApp'][data-test-script-state='notRunning']", timeout=2_000 * MOST_SECONDS
                )
            except Exception as error:
                problems.append(f"{hostile}: {error}")
            if page.locator("[data-testid='stException']").count():
                problems.append(f"{hostile}: {page.locator('[data-testid=stException]').first.inner_text()}")
            page.close()
        browser.close()
    if "Traceback" in (said := log.read_text(errors="replace", encoding="utf-8")):
        problems.append(f"the server's log: {said[said.index('Traceback') :][:2_000]}")
    return problems


def main(count: int) -> None:
    """All of them, on a small random model; every twentieth link in a browser too."""
    from tests.benchmarks.small import save_small

    with tempfile.TemporaryDirectory() as temporary:
        os.environ[ROOT_VARIABLE] = str(save_small(Path(temporary) / "checkpoints"))
        every = list(inputs(count))
        problems, took = [], []
        for hostile in every:
            began = time.perf_counter()
            if problem := problem_of(hostile):
                problems.append(f"{hostile}: {problem}")
                print(problems[-1], file=sys.stderr, flush=True)
            took.append(time.perf_counter() - began)
        problems += in_browser(every[::20], Path(temporary))
    pages = ", ".join(f"{name} {number}" for name, number in Counter(PAGES[one.page][0] for one in every).items())
    print(f"{count} inputs ({pages}), {len(every[::20])} of them in a browser too")
    print(f"  seconds each: median {sorted(took)[count // 2]:.2f}, most {max(took):.2f}; problems: {len(problems)}")
    for problem in problems:
        print(f"  WRONG: {problem}")
    sys.exit(bool(problems))
