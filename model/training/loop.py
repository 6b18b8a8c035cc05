"""Run the training loop, with a log, dev scores, and the files of a run, from whose state it resumes.

state.safetensors holds weights, the optimizer's moments and the step, weights-STEP.safetensors the weights alone,
log.jsonl one JSON object a line. A file is replaced in one move (`file_writing`), so that a kill at any moment leaves
a whole one.
"""

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from tqdm import tqdm

from model import checked
from model.arguments import COUNT, SHARE, Number, WholeNumber
from model.config import ModelConfig
from model.errors import ConfigError, DataError
from model.evaluation import evaluate
from model.file_writing import append_line, forget_unfinished, make_folder, write_text, written_path
from model.nn.architectures import new_model
from model.nn.encoder_decoder import EncoderDecoder
from model.pairs import Pair
from model.reader import multiplies_bfloat16
from model.thread_settings import hand_back_memory
from model.tokenizer import Tokenizer
from model.training.batches import ALONE, Batch, Example, Processes, add_up, endless_batches, wait_for_all
from model.training.film_recorder import FilmRecorder
from model.training.objective import Objective, article_pieces, pronoun_pieces, taught_head
from model.training.optimizer import Decay, OptimizerName, TrainingOptimizer, learning_rate

LOG: Final = "log.jsonl"
_WEIGHT, _MOMENT = "model.", "adam."


@dataclass(frozen=True, eq=False)
class RunState:
    """Where a run has come: its step, the weights by name, and the optimizer's moments by the number of the weight."""

    step: int
    weights: Mapping[str, Tensor]
    moments: Mapping[int, Mapping[str, Tensor]]
    settings: Mapping[str, object] = field(default_factory=dict)  #: by name; none in a file of before they were kept


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
        append_line(self.folder / LOG, json.dumps(entry), self.folder)

    def forget_log_after(self, step: int) -> None:
        """Take out what was logged between the last state and a kill: it will be logged again."""
        forget_unfinished(self.folder)
        kept = [entry for entry in read_log(self.folder) if entry["step"] <= step]
        write_text(self.folder / LOG, "".join(json.dumps(entry) + "\n" for entry in kept), self.folder)

    def save_state(self, state: RunState) -> None:
        """Replace the state."""
        moments = {
            f"{_MOMENT}{index}.{name}": value
            for index, of_weight in state.moments.items()
            for name, value in of_weight.items()
        }
        metadata = {"step": str(state.step), "settings": json.dumps(state.settings)}
        _replace(self._state, {**_named(state.weights), **moments}, metadata)

    def load_state(self, device: torch.device) -> RunState | None:
        """The state to go on from; None of a new run. Raises a DataError if it is damaged."""
        if not self._state.exists():
            return None
        try:
            with safe_open(self._state, "pt") as file:
                metadata = file.metadata()
                step, settings = int(metadata["step"]), checked.parsed(metadata.get("settings", "{}"))
            # Not mapped: Adam keeps these very tensors, and Windows lets nobody replace a file that is mapped.
            content = load_file(self._state, device=str(device), backend="pread")
            moments: dict[int, dict[str, Tensor]] = {}
            for name, value in content.items():
                if name.startswith(_MOMENT):
                    _, index, key = name.split(".")
                    moments.setdefault(int(index), {})[key] = value
        except (OSError, SafetensorError, KeyError, TypeError, ValueError, RuntimeError) as error:
            raise self.damaged(error) from error
        return RunState(step, _weights(content), moments, settings)

    def damaged(self, error: Exception) -> DataError:
        """What to say of a state that a run cannot go on from."""
        message = (
            "{state} is damaged, so the run cannot be resumed; use another folder, or delete this file to start "
            "again ({error})."
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
    with written_path(path, path.parent) as unfinished:
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, unfinished, metadata)


#: What each setting may be. Seeds are multiplied on the way to those of torch, which have 64 bits.
BOUNDS: Final[Mapping[str, WholeNumber | Number]] = {
    **dict.fromkeys(("steps", "warmup", "dev_every", "save_every"), COUNT),
    "tokens_per_batch": WholeNumber(1, 10**6),
    "average": WholeNumber(1, 1_000),
    "seed": WholeNumber(0, 2**32 - 1),
    "peak": Number(0, 100, without_least=True),
    "smoothing": SHARE,
    "clip": Number(0, 1e6, without_least=True),
    "emphasis": Number(0, 1e3, without_least=True),
    **dict.fromkeys(("taught", "consistency", "gender"), Number(0, 1e3)),
    **dict.fromkeys(("taught_layer", "taught_head"), WholeNumber(0, 1_000)),
}


@dataclass(frozen=True, kw_only=True)
class TrainSettings:
    """How a run trains; the optimizer's constants are the paper's (§5.3)."""

    steps: int = 4_000  #: optimizer steps of the whole run
    tokens_per_batch: int = 3_000  #: padded tokens of a batch, a side
    #: decay, warmup, peak: see `learning_rate`.
    decay: Decay = "linear"
    warmup: int = 800
    peak: float = 1.2e-3
    smoothing: float = 0.1  #: label smoothing ε_ls
    clip: float = 1.0  #: largest gradient norm
    emphasis: float = 1.0  #: how often a pronoun counts, where any other token counts once
    #: how often the row of an “it” whose antecedent is known counts, in the encoder head that is taught to look there;
    #: 0 teaches none.
    taught: float = 0.0
    #: taught_layer, taught_head: that head of the encoder's self-attention, counted from 0.
    taught_layer: int = 0
    taught_head: int = 0
    consistency: float = 0.0  #: how much two computations of each sentence must agree (R-Drop); 0 computes it once
    gender: float = 0.0  #: weight of the loss that teaches the encoder nouns' genders, where a token counts 1
    optimizer: OptimizerName = "adam"  #: of the layers' matrices, see `TrainingOptimizer`
    #: matrix products in bfloat16 (autocast) where the device has instructions for them, else in float32.
    bf16: bool = True
    dev_every: int = 500  #: steps between dev scores
    save_every: int = 50  #: steps between states; the last `average` of them are averaged at the end
    average: int = 5  #: number of states to average (paper: 5)
    seed: int = 1  #: of initial weights, dropout and the order of batches

    def __post_init__(self) -> None:
        for name, bounds in BOUNDS.items():
            if (value := getattr(self, name)) not in bounds:
                raise ConfigError("{name} must be {bounds}, got {value}.", name=name, bounds=bounds, value=value)


class TrainingRun:
    """One run in one folder, new or resumed."""

    def __init__(
        self,
        folder: Path,
        config: ModelConfig,
        tokenizer: Tokenizer,
        settings: TrainSettings,
        device: torch.device,
        processes: Processes = ALONE,
    ) -> None:
        self.tokenizer, self.settings, self.device, self.processes = tokenizer, settings, device, processes
        self.files = RunFiles(folder, settings.average)
        torch.manual_seed(settings.seed)
        self.model = new_model(config).to(device)
        self.bf16 = settings.bf16 and multiplies_bfloat16(device)
        self.optimizer = TrainingOptimizer(self.model, settings.optimizer)
        self.step = 0
        self._resume()

    def start_from(self, model: EncoderDecoder) -> None:
        """Begin a new run with a trained model's weights instead of random ones; a resumed run keeps its own."""
        if self.step == 0:
            self._set_weights(dict(model.named_parameters()))

    def train(
        self,
        examples: Sequence[Example],
        dev: Mapping[str, Sequence[Pair]],
        until: int | None = None,
        film: FilmRecorder | None = None,
    ) -> EncoderDecoder:
        """Run to the last step and return the model with averaged weights, in evaluation mode.

        Raises a DataError if the loss is not a finite number any more, or a file of the run is damaged.

        Args:
            dev: sets to score on the way.
            until: stop at this step already, in the middle of the schedule; the run can be resumed, on other data too.
            film: what is to see the model after every step.
        """
        settings = self.settings
        config, size = self.model.config, settings.tokens_per_batch
        batches = endless_batches(examples, config, size, seed=settings.seed, start=self.step, processes=self.processes)
        objective: nn.Module = Objective(
            self.model.train(),
            settings.smoothing,
            settings.emphasis,
            pronoun_pieces(self.tokenizer),
            bf16=self.bf16,
            taught=taught_head(settings.taught, settings.taught_layer, settings.taught_head, config),
            consistency=settings.consistency,
            gender=settings.gender,
            article_ids=article_pieces(self.tokenizer) if settings.gender else (),
        )
        if self.processes.count > 1:
            objective = DistributedDataParallel(objective, gradient_as_bucket_view=True)
        started, tokens = time.perf_counter(), 0
        losses: list[float] = []
        end = min(settings.steps, until or settings.steps)
        first = self.processes.is_first
        if film is not None:
            film.begin(self.step)
        with tqdm(total=settings.steps, initial=self.step, unit="step", mininterval=1.0, disable=not first) as bar:
            for batch in islice(batches, max(0, end - self.step)):
                losses.append(self._take_step(objective, batch))
                if film is not None:
                    film.see(self.step, losses[-1])
                tokens += batch.num_tokens
                rate = tokens / (time.perf_counter() - started)
                bar.set_postfix(loss=f"{losses[-1]:.3f}", tokens_per_s=f"{rate:.0f}", refresh=False)
                bar.update()
                last = self.step == end
                if self.step % 50 == 0 or last:
                    if first:
                        self._log(loss=sum(losses) / len(losses), tokens_per_second=round(rate))
                    losses.clear()
                # Before the state is saved: a run that ends meanwhile takes these steps, and their scores, again.
                if first and (self.step % settings.dev_every == 0 or last):
                    self._log(**self._dev_scores(dev))
                    self.model.train()
                if self.step % settings.save_every == 0 or last:
                    hand_back_memory()
                    if first:
                        self._save()
        wait_for_all(self.processes)
        self._set_weights(self.files.averaged_weights(self._weights(), self.device))
        return self.model.eval()

    def _take_step(self, objective: nn.Module, batch: Batch) -> float:
        settings, processes = self.settings, self.processes
        self.step += 1
        # Dropout must not depend on how often the run was resumed, and differ between processes.
        torch.manual_seed((settings.seed * 1_000_003 + self.step) * processes.count + processes.rank)
        inputs = (batch.source, batch.target_in, batch.target_out, batch.links, batch.genders)
        loss = objective(*(ids.to(self.device, non_blocking=True) for ids in inputs)) * batch.share
        self.model.zero_grad(set_to_none=True)
        # The gradients of all processes are averaged; what is wanted is their sum, each having its share of the tokens.
        (loss * processes.count).backward()
        norm = float(torch.nn.utils.clip_grad_norm_(self.model.parameters(), settings.clip))
        value = float(add_up(loss.detach(), processes))
        if not (math.isfinite(value) and math.isfinite(norm)):
            message = (
                "At step {step:,} the loss is {value:g} and the gradient's norm {norm:g}, so nothing after the last "
                "saved state is kept. Start again in another folder (--run), with a lower learning rate "
                "(--peak {peak:g}) or a longer warm-up (--warmup {warmup})."
            )
            raise DataError(
                message, step=self.step, value=value, norm=norm, peak=settings.peak / 2, warmup=2 * settings.warmup
            )
        self.optimizer.step(self._rate())
        return value

    def _rate(self) -> float:
        settings = self.settings
        return learning_rate(
            self.step,
            decay=settings.decay,
            warmup=settings.warmup,
            d_model=self.model.config.d_model,
            peak=settings.peak,
            total=settings.steps,
        )

    def _dev_scores(self, dev: Mapping[str, Sequence[Pair]]) -> dict[str, float]:
        return {f"bleu_{name}": evaluate(self.model, self.tokenizer, pairs).bleu for name, pairs in dev.items()}

    def _log(self, **values: float) -> None:
        self.files.log({"step": self.step, "learning_rate": self._rate(), **values})

    def _weights(self) -> dict[str, Tensor]:
        return {name: parameter.detach() for name, parameter in self.model.named_parameters()}

    def _save(self) -> None:
        weights = self._weights()
        self.files.save_state(RunState(self.step, weights, self.optimizer.moments, asdict(self.settings)))
        if self._is_averaged():
            self.files.save_snapshot(self.step, weights)

    def _is_averaged(self) -> bool:
        """Whether this step's weights are among those that can be averaged, wherever the run was stopped meanwhile."""
        return self.step % self.settings.save_every == 0 or self.step == self.settings.steps

    def _resume(self) -> None:
        """Go on from the last state; a kill may have come between it and its weights for averaging.

        Raises a ConfigError if it was trained with other settings, a DataError if it is damaged.
        """
        state = self.files.load_state(self.device)
        first = self.processes.is_first
        if state is None:
            if first:
                self.files.begin()
            return
        asked = asdict(self.settings)
        # The paper's learning rate does not depend on how many steps there will be: more may be asked for later.
        can_grow = self.settings.decay == "paper" and self.settings.steps >= state.step
        others = [
            f"{name} {value}, not {asked.get(name)}"
            for name, value in state.settings.items()
            if value != asked.get(name) and not (name == "steps" and can_grow)
        ]
        if others:
            message = (
                "{folder} contains a run with different settings ({others}); resume with those, or use another folder."
            )
            raise ConfigError(message, folder=self.files.folder, others="; ".join(others))
        try:
            self._set_weights(state.weights)
            self.optimizer.load_moments(state.moments)
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise self.files.damaged(error) from error
        self.step = state.step
        if first:
            self.files.forget_log_after(self.step)
            if self._is_averaged() and not self.files.has_snapshot(self.step):
                self.files.save_snapshot(self.step, state.weights)

    @torch.no_grad()
    def _set_weights(self, weights: Mapping[str, Tensor]) -> None:
        for name, parameter in self.model.named_parameters():
            parameter.copy_(weights[name])
