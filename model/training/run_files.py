"""Keep the files of a training run: its log, the state to resume from, and the last weights for averaging.

state.safetensors holds weights, the optimizer's moments and the step, weights-STEP.safetensors the weights alone,
log.jsonl one JSON object a line. A file is replaced in one move (`file_writing`), so that a kill at any moment leaves
a whole one.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from model import checked
from model.errors import DataError
from model.file_writing import forget_unfinished, make_folder, said_plainly, write_text, written_path

LOG: Final = "log.jsonl"
_WEIGHT, _MOMENT = "model.", "adam."


@dataclass(frozen=True, eq=False)
class RunState:
    """Where a run has come: its step, the weights by name, and the optimizer's moments by the number of the weight."""

    step: int
    weights: Mapping[str, Tensor]
    moments: Mapping[int, Mapping[str, Tensor]]


class RunFiles:
    """The files of one run; its folder is made if need be, and the last `average` weights are kept."""

    def __init__(self, folder: Path, average: int) -> None:
        self.folder, self.average = folder, average
        make_folder(folder)

    def begin(self) -> None:
        """Leave nothing of a run that was killed before it had a state."""
        forget_unfinished(self.folder)
        (self.folder / LOG).unlink(missing_ok=True)
        for snapshot in self._snapshots():
            snapshot.unlink()

    def log(self, entry: Mapping[str, float]) -> None:
        """Add a line to the log."""
        path = self.folder / LOG
        with said_plainly(path), path.open("a", encoding="utf-8") as log:
            log.write(json.dumps(entry) + "\n")

    def forget_log_after(self, step: int) -> None:
        """Take out what was logged between the last state and a kill: it will be logged again."""
        forget_unfinished(self.folder)
        kept = [entry for entry in read_log(self.folder) if entry["step"] <= step]
        write_text(self.folder / LOG, "".join(json.dumps(entry) + "\n" for entry in kept))

    def save_state(self, state: RunState) -> None:
        """Replace the state."""
        moments = {
            f"{_MOMENT}{index}.{name}": value
            for index, of_weight in state.moments.items()
            for name, value in of_weight.items()
        }
        _replace(self._state, {**_named(state.weights), **moments}, {"step": str(state.step)})

    def load_state(self, device: torch.device) -> RunState | None:
        """The state to go on from; None of a new run. Raises a DataError if it is damaged."""
        if not self._state.exists():
            return None
        try:
            with safe_open(self._state, "pt") as file:
                step = int(file.metadata()["step"])
            # Not mapped: Adam keeps these very tensors, and Windows lets nobody replace a file that is mapped.
            content = load_file(self._state, device=str(device), backend="pread")
            moments: dict[int, dict[str, Tensor]] = {}
            for name, value in content.items():
                if name.startswith(_MOMENT):
                    _, index, key = name.split(".")
                    moments.setdefault(int(index), {})[key] = value
        except (OSError, SafetensorError, KeyError, TypeError, ValueError, RuntimeError) as error:
            raise self.damaged(error) from error
        return RunState(step, _weights(content), moments)

    def damaged(self, error: Exception) -> DataError:
        """What to say of a state that a run cannot go on from."""
        message = (
            "{state} is damaged, so the run cannot be resumed; give another folder, or delete this file to start again "
            "({error})."
        )
        return DataError(message, state=self._state, error=error)

    def has_snapshot(self, step: int) -> bool:
        """Whether the weights of a step are kept."""
        return self._snapshot(step).exists()

    def save_snapshot(self, step: int, weights: Mapping[str, Tensor]) -> None:
        """Keep the weights of a step, and of all that are kept only the last."""
        _replace(self._snapshot(step), _named(weights), {})
        for old in self._snapshots()[: -self.average]:
            old.unlink()

    def averaged_weights(self, of: Mapping[str, Tensor], device: torch.device) -> dict[str, Tensor]:
        """The mean of the weights that are kept; where there are none yet, those given.

        Raises a DataError if a file is damaged, or of another model. `of` is the model's own weights.
        """
        snapshots: list[dict[str, Tensor]] = []
        for path in self._snapshots():
            try:
                snapshot = _weights(load_file(path, device=str(device)))
                if _shapes(snapshot) != _shapes(of):
                    raise ValueError("its weights are those of another model")
            except (OSError, SafetensorError, ValueError, RuntimeError) as error:
                message = (
                    "{path} is damaged, so the last weights cannot be averaged. Delete it and run the command again to "
                    "average the others ({error})."
                )
                raise DataError(message, path=path, error=error) from error
            snapshots.append(snapshot)
        if not snapshots:
            return dict(of)
        return {name: torch.stack([snapshot[name] for snapshot in snapshots]).mean(0) for name in of}

    @property
    def _state(self) -> Path:
        return self.folder / "state.safetensors"

    def _snapshot(self, step: int) -> Path:
        return self.folder / f"weights-{step:08d}.safetensors"

    def _snapshots(self) -> list[Path]:
        return sorted(self.folder.glob("weights-*.safetensors"))


def read_log(folder: Path) -> list[dict[str, float]]:
    """What a run has logged so far: its step and learning rate, with a loss or dev scores.

    A last line without its end, as a kill in the middle of writing leaves it, is left out. Raises a DataError if a line
    is damaged.
    """
    path = folder / LOG
    if not path.exists():
        return []
    *lines, _ = path.read_text(encoding="utf-8", errors="replace").split("\n")
    return [_entry(path, number, line) for number, line in enumerate(lines, start=1)]


def _entry(path: Path, number: int, line: str) -> dict[str, float]:
    try:
        entry = checked.parsed(line)
        checked.count(entry.get("step"), "step")
        return {name: checked.number(value, name[:60]) for name, value in entry.items()}
    except checked.Malformed as error:
        message = "Line {number} of {path} is damaged ({error}); delete it and run the command again."
        raise DataError(message, number=number, path=path, error=error) from error


def _named(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {f"{_WEIGHT}{name}": tensor for name, tensor in weights.items()}


def _weights(content: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(_WEIGHT): tensor for name, tensor in content.items() if name.startswith(_WEIGHT)}


def _shapes(weights: Mapping[str, Tensor]) -> dict[str, torch.Size]:
    return {name: tensor.shape for name, tensor in weights.items()}


def _replace(path: Path, tensors: Mapping[str, Tensor], metadata: dict[str, str]) -> None:
    with written_path(path) as unfinished:
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, unfinished, metadata)
