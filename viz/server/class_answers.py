"""Count what a class predicts: a class is a code in an address, and its viewers have no names.

A viewer is a browser, of which a hash is kept as long as the class. A class ends when whoever began it ends it, or an
hour after its last answer. Classes are kept in memory, or, where several servers share a folder, in a file each there:
every server counts the answers of all, and a server that stops takes none along.
"""

import hashlib
import json
import re
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Final

from model.checked import parsed
from model.errors import CheckpointError
from model.file_writing import make_folder, write_text
from model.folder_files import read_file
from model.temporary_folders import locked
from viz.server import limits

#: A class ends after so many seconds without an answer.
LASTS: Final = 3_600.0
#: Classes at once, and of one viewer; questions of a class, viewers of a question: what is beyond is not counted.
MOST_CLASSES, MOST_OF_ONE, MOST_QUESTIONS, MOST_VIEWERS = 100, 5, 200, 500
#: Bytes of the file of a class.
LARGEST: Final = 1 << 24


@dataclass
class AskedClass:
    """A class, in memory or in its file."""

    host: str  #: who began it
    last: float  #: when an answer came last, in seconds since 1970
    questions: dict[str, dict[str, int]] = field(default_factory=dict)  #: question → viewer → option


class ClassFiles(MutableMapping[str, AskedClass]):
    """The classes that several servers share, by code, a JSON file each; a file that is damaged holds none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _file(self, code: str) -> Path:
        # A code comes from an address.
        if not re.fullmatch(r"[0-9a-f]{8}", code):
            raise KeyError(code)
        return self._folder / f"{code}.json"

    def __getitem__(self, code: str) -> AskedClass:
        try:
            file = self._file(code)
            return AskedClass(**parsed(read_file(file.parent, file.name, LARGEST).decode("utf-8")))
        except (OSError, CheckpointError, ValueError, TypeError) as error:
            raise KeyError(code) from error

    def __setitem__(self, code: str, value: AskedClass) -> None:
        write_text(self._file(code), json.dumps(asdict(value)), inside=self._folder)

    def __delitem__(self, code: str) -> None:
        self._file(code).unlink(missing_ok=True)

    def __iter__(self) -> Iterator[str]:
        """From the one that has been quiet longest; of two that are equally quiet the older one is first."""
        files = sorted(self._folder.glob("*.json"), key=lambda file: file.stat().st_mtime_ns)
        return iter([file.stem for file in files if file.stem in self])

    def __len__(self) -> int:
        return len(list(iter(self)))


class ClassAnswers:
    """The answers of all classes. Safe to be used from many threads, and from many servers with the same folder.

    Args:
        clock: seconds, for tests.
        folder: where the servers behind one address keep them; None for memory.
    """

    def __init__(self, clock: Callable[[], float] = time.time, folder: Path | None = None) -> None:
        self._clock, self._folder, self._lock = clock, folder, Lock()
        self._classes: MutableMapping[str, AskedClass] = {} if folder is None else ClassFiles(folder)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Meanwhile no other thread and no other server changes a class."""
        if self._folder is not None:
            make_folder(self._folder, self._folder.parent)
        with self._lock, nullcontext() if self._folder is None else locked(self._folder):
            yield

    def _open(self, code: str) -> AskedClass | None:
        found = self._classes.get(code)
        return None if found is None or self._clock() - found.last > LASTS else found

    def begin(self, viewer: str) -> str:
        """A new class of this viewer; returns its code.

        Where there are too many, the quietest ends: of this viewer's, or of those of the viewer who has most.
        """
        code, host = secrets.token_hex(4), _known("", viewer)
        with self._alone():
            known = dict(self._classes)
            for old in [own for own, each in known.items() if self._clock() - each.last > LASTS]:
                del known[old], self._classes[old]
            counts = Counter(each.host for each in known.values())
            if counts[host] >= MOST_OF_ONE or len(known) >= MOST_CLASSES:
                hosts = (
                    {host}
                    if counts[host] >= MOST_OF_ONE
                    else {who for who in counts if counts[who] == max(counts.values())}
                )
                del self._classes[
                    min((own for own in known if known[own].host in hosts), key=lambda own: known[own].last)
                ]
            self._classes[code] = AskedClass(host, self._clock())
        return code

    def is_host(self, code: str, viewer: str) -> bool:
        """Whether this viewer began the class."""
        found = self._classes.get(code)
        return found is not None and found.host == _known("", viewer)

    def end(self, code: str) -> None:
        """Forget a class and its answers; do nothing where there is none."""
        with self._alone():
            self._classes.pop(code, None)

    def is_open(self, code: str) -> bool:
        """Whether answers of this class are counted."""
        return self._open(code) is not None

    def answer(self, code: str, question: str, viewer: str, option: int) -> None:
        """Take a viewer's answer in place of any before, or with option 0 none."""
        with self._alone():
            found = self._open(code)
            if found is None or (question not in found.questions and len(found.questions) >= MOST_QUESTIONS):
                return
            answers, known = found.questions.setdefault(question, {}), _known(code, viewer)
            if option and answers.get(known) == option:
                return
            answers.pop(known, None)
            if option and len(answers) < MOST_VIEWERS:
                answers[known] = option
            found.last = self._clock()
            self._classes[code] = found

    def counts(self, code: str, question: str, options: int) -> list[int]:
        """How many chose each of the options, which count from 1."""
        found = self._classes.get(code)
        answers = [] if found is None else list(found.questions.get(question, {}).values())
        return [answers.count(option) for option in range(1, options + 1)]


def _known(code: str, viewer: str) -> str:
    return hashlib.sha256(f"{code}/{viewer}".encode()).hexdigest()


@cache
def classes() -> ClassAnswers:
    """Those of this server, or of all that share its folder."""
    folder = limits.rules().folder
    return ClassAnswers(folder=None if folder is None else folder / "classes")
