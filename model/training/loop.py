"""Run the training loop, with a log, dev scores, and a state to resume from (`run_files`)."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from tqdm import tqdm

from model.arguments import COUNT, SHARE, Number, WholeNumber
from model.config import ModelConfig
from model.errors import ConfigError, DataError
from model.evaluation import evaluate
from model.loaded import multiplies_bfloat16
from model.nn.architectures import new_model
from model.nn.encoder_decoder import EncoderDecoder
from model.pairs import Pair
from model.thread_settings import hand_back_memory
from model.tokenizer import Tokenizer
from model.training.batches import ALONE, Batch, Example, Processes, add_up, endless_batches, wait_for_all
from model.training.film_recorder import FilmRecorder
from model.training.objective import Objective, pronoun_pieces, taught_head
from model.training.optimizer import Decay, OptimizerName, TrainingOptimizer, learning_rate
from model.training.run_files import RunFiles, RunState

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
    **dict.fromkeys(("taught", "consistency"), Number(0, 1e3)),
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
        dtype = torch.bfloat16 if self.bf16 else torch.float32
        self.optimizer = TrainingOptimizer(self.model, settings.optimizer, dtype)
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

        Raises a DataError if the loss is no finite number any more, or a file of the run is damaged.

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
        source, target_in, target_out, links = (
            ids.to(self.device, non_blocking=True)
            for ids in (batch.source, batch.target_in, batch.target_out, batch.links)
        )
        loss = objective(source, target_in, target_out, links) * batch.share
        self.model.zero_grad(set_to_none=True)
        # The gradients of all processes are averaged; what is wanted is their sum, each having its share of the tokens.
        (loss * processes.count).backward()
        norm = float(torch.nn.utils.clip_grad_norm_(self.model.parameters(), settings.clip))
        value = float(add_up(loss.detach(), processes))
        if not (math.isfinite(value) and math.isfinite(norm)):
            message = (
                "At step {step:,} the loss is {value:g} and the gradient's norm {norm:g}, so nothing after the last "
                "saved state is kept. Start again with a lower learning rate (--peak {peak:g}) or a longer warm-up "
                "(--warmup {warmup})."
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
        self.files.save_state(RunState(self.step, weights, self.optimizer.moments))
        if self._is_averaged():
            self.files.save_snapshot(self.step, weights)

    def _is_averaged(self) -> bool:
        """Whether this step's weights are among those that can be averaged, wherever the run was stopped meanwhile."""
        return self.step % self.settings.save_every == 0 or self.step == self.settings.steps

    def _resume(self) -> None:
        """Go on from the last state; a kill may have come between it and its weights for averaging."""
        state = self.files.load_state(self.device)
        first = self.processes.is_first
        if state is None:
            if first:
                self.files.begin()
            return
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
