"""Run the training loop, with a log, dev scores, and a state to resume from.

A run lives in a folder: config.json, tokenizer.model, log.jsonl, state.safetensors (weights, Adam's moments, step) and
the last few weights for averaging. The state is replaced in one move, so that a kill at any moment leaves a whole one.
"""

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from tqdm import tqdm

from model.errors import ConfigError, DataError
from model.evaluation import evaluate
from model.malloc_settings import hand_back_memory
from model.model_config import ModelConfig
from model.nn.architectures import new_model
from model.nn.encoder_decoder import EncoderDecoder
from model.pairs import Pair
from model.tokenizer import Tokenizer
from model.training.batches import Batch, Example, endless_batches
from model.training.film_recorder import FilmRecorder
from model.training.objective import Objective, pronoun_pieces
from model.training.processes import ALONE, Processes, add_up, wait_for_all
from model.training.schedule import Decay, learning_rate

LOG = "log.jsonl"


@dataclass(frozen=True, kw_only=True)
class TrainSettings:
    """How a run trains; the optimizer's constants are the paper's (§5.3).

    Attributes:
        steps: optimizer steps of the whole run.
        tokens_per_batch: padded tokens of a batch, a side.
        decay, warmup, peak: see `learning_rate`.
        smoothing: label smoothing ε_ls.
        clip: largest gradient norm.
        emphasis: how often a pronoun counts, where any other token counts once.
        bf16: matrix products in bfloat16 (autocast).
        dev_every: steps between dev scores.
        save_every: steps between states; the last `average` of them are averaged at the end.
        average: number of states to average (paper: 5).
        seed: of initial weights, dropout and the order of batches.
    """

    steps: int = 4_000
    tokens_per_batch: int = 3_000
    decay: Decay = "linear"
    warmup: int = 800
    peak: float = 1.2e-3
    smoothing: float = 0.1
    clip: float = 1.0
    emphasis: float = 1.0
    bf16: bool = True
    dev_every: int = 500
    save_every: int = 50
    average: int = 5
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ("steps", "tokens_per_batch", "warmup", "dev_every", "save_every", "average"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}.")
        if not (0 <= self.smoothing < 1 and self.clip > 0 and self.peak > 0 and self.emphasis > 0):
            raise ConfigError("smoothing must lie in [0, 1); clip, peak and emphasis must be positive.")


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
        self.folder, self.tokenizer, self.settings, self.device = folder, tokenizer, settings, device
        self.processes = processes
        folder.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(settings.seed)
        self.model = new_model(config).to(device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=True)
        self.step = 0
        if self._state_file.exists():
            self._load_state()

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

        Args:
            examples: what to learn from.
            dev: sets to score on the way.
            until: stop at this step already, in the middle of the schedule; the run can be resumed, on other data too.
            film: what is to see the model after every step.
        """
        settings = self.settings
        batches = endless_batches(
            examples,
            self.model.config,
            settings.tokens_per_batch,
            seed=settings.seed,
            start=self.step,
            processes=self.processes,
        )
        objective: nn.Module = Objective(
            self.model.train(),
            settings.smoothing,
            settings.emphasis,
            pronoun_pieces(self.tokenizer),
            bf16=settings.bf16,
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
                if self.step % settings.save_every == 0 or last:
                    hand_back_memory()
                    if first:
                        self._save_state()
                if first and (self.step % settings.dev_every == 0 or last):
                    self._log(**self._dev_scores(dev))
                    self.model.train()
        wait_for_all(self.processes)
        self._average()
        return self.model.eval()

    def _take_step(self, objective: nn.Module, batch: Batch) -> float:
        settings, processes = self.settings, self.processes
        self.step += 1
        # Dropout must not depend on how often the run was resumed, and differ between processes.
        torch.manual_seed((settings.seed * 1_000_003 + self.step) * processes.count + processes.rank)
        self.optimizer.param_groups[0]["lr"] = self._rate()
        source, target_in, target_out = (
            ids.to(self.device, non_blocking=True) for ids in (batch.source, batch.target_in, batch.target_out)
        )
        loss = objective(source, target_in, target_out) * batch.share
        self.optimizer.zero_grad(set_to_none=True)
        # The gradients of all processes are averaged; what is wanted is their sum, each having its share of the tokens.
        (loss * processes.count).backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), settings.clip)
        self.optimizer.step()
        return float(add_up(loss.detach(), processes))

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
        entry = {"step": self.step, "learning_rate": self._rate(), **values}
        with (self.folder / LOG).open("a", encoding="utf-8") as log:
            log.write(json.dumps(entry) + "\n")

    @property
    def _state_file(self) -> Path:
        return self.folder / "state.safetensors"

    def _snapshots(self) -> list[Path]:
        return sorted(self.folder.glob("weights-*.safetensors"))

    def _save_state(self) -> None:
        weights = {f"model.{name}": p.detach() for name, p in self.model.named_parameters()}
        moments = {
            f"adam.{index}.{name}": value
            for index, state in self.optimizer.state_dict()["state"].items()
            for name, value in state.items()
        }
        _replace(self._state_file, {**weights, **moments}, {"step": str(self.step)})
        _replace(self.folder / f"weights-{self.step:08d}.safetensors", weights, {})
        for old in self._snapshots()[: -self.settings.average]:
            old.unlink()

    def _load_state(self) -> None:
        try:
            with safe_open(self._state_file, "pt") as file:
                step = int(file.metadata()["step"])
            state = load_file(self._state_file, device=str(self.device))
            weights = {name.removeprefix("model."): t for name, t in state.items() if name.startswith("model.")}
            self._set_weights(weights)
            moments: dict[int, dict[str, Tensor]] = {}
            for name, value in state.items():
                if name.startswith("adam."):
                    _, index, key = name.split(".")
                    moments.setdefault(int(index), {})[key] = value
            groups = self.optimizer.state_dict()["param_groups"]
            self.optimizer.load_state_dict({"state": moments, "param_groups": groups})
        except (SafetensorError, KeyError, TypeError, ValueError, RuntimeError) as error:
            raise DataError(
                f"{self._state_file} is damaged, so the run cannot go on from it; name another folder, or delete this "
                f"file to begin anew ({error})."
            ) from error
        self.step = step
        if self.processes.is_first:
            # What was logged between the last state and the end will be logged again.
            kept = [entry for entry in read_log(self.folder) if entry["step"] <= step]
            (self.folder / LOG).write_text("".join(json.dumps(entry) + "\n" for entry in kept), encoding="utf-8")

    def _average(self) -> None:
        snapshots = [load_file(path, device=str(self.device)) for path in self._snapshots()]
        self._set_weights(
            {
                name.removeprefix("model."): torch.stack([snapshot[name] for snapshot in snapshots]).mean(0)
                for name in snapshots[0]
            }
        )

    @torch.no_grad()
    def _set_weights(self, weights: Mapping[str, Tensor]) -> None:
        for name, parameter in self.model.named_parameters():
            parameter.copy_(weights[name])


def read_log(folder: Path) -> list[dict[str, float]]:
    """What a run has logged so far: its step and learning rate, with a loss or dev scores.

    A last line without its end, as a kill in the middle of writing leaves it, is left out.
    """
    path = folder / LOG
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def _replace(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str]) -> None:
    partial = path.with_suffix(".partial")
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, partial, metadata)
    os.replace(partial, path)
