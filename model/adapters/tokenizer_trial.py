"""Try a tokenizer of unknown origin once, in a process of its own with limits on time and memory.

A tokenizer runs expressions and tables that its files bring along, in compiled code, which can take all memory, never
return, or end the process. What it does to the process of a trial it would have done to the server.
"""

import subprocess
from pathlib import PurePath
from typing import Final

from model.adapters.limited_process import answer_of
from model.adapters.tokenizer_files import TokenizerCopy
from model.errors import CheckpointError
from model.messages import said

#: Seconds of computing, and bytes of memory, that a trial may take.
SECONDS: Final = 40
MEMORY: Final = 3 << 30
#: Seconds by the clock; a machine that has much else to do is slow.
PATIENCE: Final = 120
MAX_REMEMBERED: Final = 256
#: Digest of a tokenizer → what is wrong with it, "" if nothing is.
_tried: Final[dict[str, str]] = {}


def try_once(copy: TokenizerCopy, name: str) -> None:
    """Open the tokenizer and cut a few texts, in another process, unless the same files were tried before.

    Args:
        copy: its files.
        name: of the folder, for messages.

    Raises:
        CheckpointError: it cannot be opened, or takes too much time or memory.
    """
    wrong = _tried.get(copy.digest)
    if wrong is None:
        try:
            wrong = _outcome(copy.path)
        except subprocess.TimeoutExpired as error:
            raise CheckpointError(
                "The tokenizer in {name} was not opened after {patience} seconds. Try again when this machine "
                "has less to do.",
                name=name,
                patience=PATIENCE,
            ) from error
        while len(_tried) >= MAX_REMEMBERED:
            _tried.pop(next(iter(_tried)), None)
        _tried[copy.digest] = wrong
    if wrong:
        raise CheckpointError(
            "The tokenizer in {name} cannot be used: {wrong}. Save it beside the model with "
            "`tokenizer.save_pretrained(folder)`, or choose another model.",
            name=name,
            wrong=wrong,
        )


def _outcome(path: PurePath) -> str:
    """What is wrong with a tokenizer, as a part of a sentence; "" if nothing is."""
    program = f"{__package__}.tokenizer_trial_process"
    answer = answer_of(program, [str(path)], seconds=SECONDS, memory=MEMORY, patience=PATIENCE)
    if answer is None or "wrong" not in answer:
        return said(
            "to open it and to cut a few texts takes more than {seconds} seconds or {memory:.3g} GB, or ends the "
            "process that does it",
            seconds=SECONDS,
            memory=MEMORY / 2**30,
        )
    wrong = str(answer["wrong"]).encode("utf-8", errors="replace").decode()
    # As it is, in a quoted text of Python, and as some libraries write it on Windows.
    for shown in (str(path), repr(str(path))[1:-1], path.as_posix()):
        wrong = wrong.replace(shown, "its folder")
    return wrong
