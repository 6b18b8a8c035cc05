"""Read weights that torch pickled, as plain tensors only, in a process of its own, and write them as safetensors."""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from model.adapters.folder_check import LARGEST_WEIGHTS, Folder, pickled_files
from model.adapters.limited_process import answer_of
from model.errors import CheckpointError
from model.folder_files import named_file
from model.messages import said

#: Seconds of computing, and by the clock, and bytes of memory beside those of the weights, that it may take.
SECONDS: Final = 600
PATIENCE: Final = 900
MEMORY: Final = 8 << 30


@contextmanager
def readable_weights(folder: Folder) -> Iterator[Folder]:
    """The same folder with safetensors for as long as the block lasts, where it has nothing but pickled weights.

    Raises:
        CheckpointError: as `write_safetensors`.
    """
    if not pickled_files(folder.path):
        yield folder
        return
    with TemporaryDirectory(prefix="headlight-weights-", ignore_cleanup_errors=True) as made:
        write_safetensors(folder.path, Path(made))
        yield folder.with_weights_in(Path(made))


def write_safetensors(folder: Path, target: Path) -> None:
    """Write the pickled weights of a folder into another one.

    Raises:
        CheckpointError: they hold anything but plain tensors, or take too much time or memory.
    """
    pickled = pickled_files(folder)
    with ExitStack() as stack:
        held = [stack.enter_context(named_file(folder, file.name, LARGEST_WEIGHTS)) for file in pickled]
        memory = MEMORY + 3 * sum(file.stat().st_size for file in held)
        try:
            answer = answer_of(
                f"{__package__}.pickled_weights_process",
                [str(target), *map(str, held)],
                seconds=SECONDS,
                memory=memory,
                patience=PATIENCE,
            )
        except subprocess.TimeoutExpired:
            answer = None
    wrong = said("it takes too much time or memory") if answer is None else str(answer.get("wrong", ""))
    if wrong:
        raise CheckpointError(
            "{pickled} in {name} cannot be read as plain tensors ({wrong}), and pickle can run any program when it is "
            "opened. Where you trust it, load the model and call `model.save_pretrained(folder)`.",
            name=folder.name,
            pickled=pickled[0].name,
            wrong=wrong,
        )
