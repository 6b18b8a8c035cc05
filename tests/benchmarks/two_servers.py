"""A class on two servers behind nginx: python -m tests.benchmarks.crowd --students 40 --two-servers.

nginx gets the blocks of SHARED-SERVER, without TLS. A teacher begins a class and all students answer its question; an
atlas is measured, and a model of transformers proven. Then all have a film each, as in `tests.benchmarks.students`, and
in the middle one server is stopped. Checked are that every request of a browser came to its server, that the students
of the server that stopped get the same film back from the address and nobody else notices, and that answers, verdict
and atlas are still there. Printed are the seconds, and how long a stopped server's students waited for their film.
"""

import asyncio
import os
import re
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from socket import create_connection
from typing import Final
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from streamlit.proto.Common_pb2 import StringArray
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.exceptions import ConnectionClosed

from tests.benchmarks.crowd import header_of, make_root, resident, sentence, youngest_child
from tests.benchmarks.students import MODEL, PATIENCE, PLAYER, Class, at_share, report, student
from tests.benchmarks.wire_viewer import WireViewer, browser_cookie
from tests.browser.conftest import free_port, streamlit_server
from tests.paths import ROOT
from viz.selection.catalogue import ROOT_VARIABLE
from viz.server.class_answers import ClassAnswers
from viz.server.limits import FOLDER_VARIABLE, SHARED_VARIABLE

#: The question of the class, what its address says, and what its pills say.
QUESTION: Final = "look-up/4"
LESSON: Final = {"lesson": "look-up", "step_of_lesson": "4"}
OPTIONS: Final = ("street", "tired", "animal")
#: In nginx's answers, the server that a request came to.
SERVED_BY: Final = "X-Served-By"


@dataclass
class Pupil:
    """A student's browser: its cookies, and the servers that its requests came to."""

    number: int
    cookie: str
    servers: list[str] = field(default_factory=list)


def configuration(folder: Path, port: int, servers: Sequence[str]) -> str:
    """The blocks of nginx in SHARED-SERVER, on these ports, without TLS and without what counts tabs of one address."""
    page = (ROOT / ".github" / "SHARED-SERVER.md").read_text(encoding="utf-8")
    server, upstream = re.findall(r"```nginx\n(.*?)```", page, re.DOTALL)[:2]
    (cookie,) = re.findall(r"`(add_header Set-Cookie [^`]*;)`", page)
    for number, address in enumerate(servers, 1):
        upstream = upstream.replace(f"127.0.0.1:850{number}", address)
    server = re.sub(r" *(ssl_\w+|limit_\w+) (?!_zone).*;.*\n", "", server).replace("listen 443 ssl", f"listen {port}")
    server = server.replace("headlight.school.example", "127.0.0.1").replace("127.0.0.1:8501", "headlight")
    server = server.replace("client_max_body_size 3m;", f"{cookie}\n    add_header {SERVED_BY} $upstream_addr always;")
    places = "".join(f"{name}_temp_path {folder};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    top = f"pid {folder}/pid;\nerror_log {folder}/error.log;\nevents {{}}\n"
    return f"{top}http {{\naccess_log off;\n{places}{upstream}{server}}}\n"


@contextmanager
def proxied(folder: Path, servers: Sequence[str]) -> Iterator[str]:
    """nginx before two servers; its address."""
    port, file = free_port(), folder / "nginx.conf"
    file.write_text(configuration(folder, port, servers), encoding="utf-8")
    proxy = subprocess.Popen(["nginx", "-c", str(file), "-p", str(folder), "-g", "daemon off;"])
    try:
        while proxy.poll() is None:
            with suppress(OSError), create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        proxy.terminate()
        proxy.wait()


def served_by(url: str, pupil: Pupil) -> None:
    """Ask for a file, as a browser does, and note which server gave it."""
    with urlopen(Request(f"{url}/_stcore/health", headers={"Cookie": pupil.cookie}), timeout=60) as answer:
        pupil.servers.append(str(answer.headers[SERVED_BY]))


async def answer(url: str, pupil: Pupil, code: str) -> None:
    """Answer the question of the class."""
    async with WireViewer(url, pupil.cookie) as tab:
        pupil.servers.append(tab.headers[SERVED_BY])
        await tab.open("learn", MODEL | LESSON | {"class": code})
        place, chosen = tab.places["answer"], StringArray(data=[OPTIONS[pupil.number % len(OPTIONS)]])
        await tab.send(WidgetState(id=place.id, string_array_value=chosen), fragment=place.fragment)
    await asyncio.to_thread(served_by, url, pupil)


async def film(url: str, pupil: Pupil, seen: Class, reopened: list[float]) -> None:
    """Have a film; where the server stops, come back by the address."""
    tab = WireViewer(url, pupil.cookie)
    try:
        await student(tab, pupil.number, seen)
    except ConnectionClosed:
        began = time.perf_counter()
        async with WireViewer(url, pupil.cookie) as again:
            run = await again.open("decode", tab.params)
            if "text" not in tab.params:
                # The server stopped before it had read the sentence: it is typed again.
                run = await again.type("text", sentence(pupil.number))
            text = again.params["text"]
        films = [header_of(payload) for _at, key, payload in run.components if key == PLAYER]
        if run.problems or not films or text != sentence(pupil.number):
            raise RuntimeError(f"its address {tab.params} did not open: {run.problems}") from None
        reopened.append(time.perf_counter() - began)
    else:
        pupil.servers.append(tab.headers[SERVED_BY])


async def measured(url: str, cookie: str, *, begin: bool) -> str:
    """Open the atlas of the model of transformers, and measure it where that is to be done; what is wrong, or ""."""
    async with WireViewer(url, cookie) as tab:
        run = await tab.open("atlas", {"checkpoint": "bert"})
        if begin:
            await tab.press("atlas-start")
            began = time.perf_counter()
            while "atlas-stop" in tab.places and time.perf_counter() - began < PATIENCE:
                await asyncio.sleep(1.0)
                tab.places.pop("atlas-stop")
                await tab.send()
            run = await tab.send()
    if run.problems:
        return f"the atlas: {run.problems}"
    return "" if any(key.startswith("atlas") for _at, key, _payload in run.components) else "the atlas shows no picture"


async def visit(url: str, addresses: Sequence[str], processes: Sequence[int], shared: Path, count: int) -> Class:
    """A class that answers, and then has films while one server stops."""
    seen, reopened, cookie = Class(), list[float](), browser_cookie(url)
    for address in addresses:
        async with WireViewer(f"http://{address}") as tab:
            await tab.open("decode", MODEL | {"text": "Good morning."})
    async with WireViewer(url, cookie) as teacher:
        stopped = addresses.index(teacher.headers[SERVED_BY])
        await teacher.open("learn", MODEL | LESSON)
        await teacher.press("class-begin")
        code = teacher.params["class"]
        seen.problems += filter(None, [await measured(url, cookie, begin=True)])
    verdicts = {file: file.stat().st_mtime_ns for file in (shared / "models").rglob("*") if file.is_file()}
    pupils = [Pupil(number, await asyncio.to_thread(browser_cookie, url)) for number in range(count)]
    began = time.perf_counter()

    async def all_of(work: Iterable[Awaitable[None]]) -> None:
        for number, result in enumerate(await asyncio.gather(*work, return_exceptions=True)):
            if isinstance(result, BaseException):
                seen.problems.append(f"student {number}: {type(result).__name__} {result}")

    async def stop() -> None:
        while len(seen.seconds["step"]) < count:
            await asyncio.sleep(0.05)
        os.kill(processes[stopped], signal.SIGTERM)

    await all_of(answer(url, pupil, code) for pupil in pupils)
    answered, stops = time.perf_counter() - began, asyncio.create_task(stop())
    await all_of(asyncio.wait_for(film(url, pupil, seen, reopened), PATIENCE) for pupil in pupils)
    seen.took = time.perf_counter() - began - answered
    await stops
    # What the one that is left has taken by now.
    seen.most_bytes = resident(processes[1 - stopped])
    print(f"{count} students answered in {answered:.1f} s; {len(reopened)} came back by their address")
    if reopened:
        print(f"  film again: median {at_share(reopened, 0.5):.2f} s, 95 % {at_share(reopened, 0.95):.2f} s")
    at_each = Counter(pupil.servers[0] for pupil in pupils)
    print(f"  at each server: {sorted(at_each.values())}")
    changed = sum(len(set(pupil.servers)) > 1 for pupil in pupils)
    counts = ClassAnswers(folder=shared / "classes").counts(code, QUESTION, len(OPTIONS))
    async with WireViewer(url, cookie) as teacher:
        await teacher.open("learn", MODEL | LESSON | {"class": code})
        is_host = "class-end" in teacher.places
        if not is_host:
            print(sorted(teacher.places), teacher.params)
    seen.problems += filter(None, [await measured(url, cookie, begin=False)])
    kept = all(file.stat().st_mtime_ns == at for file, at in verdicts.items())
    wrong = {
        f"{changed} students changed their server": changed,
        f"all came to one server: {at_each}": len(at_each) < len(addresses),
        f"the class has {counts}": sum(counts) != count,
        "the teacher's class is no longer hers": not is_host,
        "no verdict was kept, or it was found again": not verdicts or not kept,
        "no student was at the server that stopped": not reopened,
    }
    seen.problems += [problem for problem, is_so in wrong.items() if is_so]
    return seen


def run(count: int) -> bool:
    """Print everything; whether something went wrong."""
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as running:
        root, shared = Path(temporary) / "checkpoints", Path(temporary) / "shared"
        make_root(root, ROOT / "checkpoints" / "en-de", ["bert"])
        shared.mkdir()
        os.environ.update({ROOT_VARIABLE: str(root), SHARED_VARIABLE: "1", FOLDER_VARIABLE: str(shared)})
        addresses, processes = [], []
        for number in range(2):
            log = Path(temporary) / f"server {number}.log"
            addresses.append(urlsplit(running.enter_context(streamlit_server(ROOT / "app.py", (), log))).netloc)
            processes.append(youngest_child())
        url = running.enter_context(proxied(Path(temporary), addresses))
        seen = asyncio.run(visit(url, addresses, processes, shared, count))
        for file in Path(temporary).glob("server *.log"):
            if "Traceback" in (said := file.read_text(errors="replace", encoding="utf-8")):
                seen.problems.append(f"{file.name}: {said[said.index('Traceback') :][:2_000]}")
    print(report(f"{count} students at two servers, one of which stops", seen))
    return bool(seen.problems)
