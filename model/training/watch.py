"""Watch a training of a model of transformers: a film of its heads on a few sentences, taken every so many steps.

    watching = headlight.watch(model, tokenizer, every=500)
    Trainer(model, …, callbacks=[watching])  # or in a loop of your own: watching.step(loss)

A frame is a pass in evaluation mode without gradients, with the library's eager attention, which gives the weights. The
training does not change: modes, attention and random numbers are as they were. *Experiments → Through training* opens
the file. Its size is bounded: where frames become too many, every second one goes, and half as many are taken.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel, TrainerCallback

from model.adapters.library_tokenizer import LibraryTokenizer
from model.arrays_file import Array
from model.errors import ConfigError
from model.training.film import MOST_SENTENCES, MOST_TOKENS, Film, FilmSentence, joined, load_film, save_film
from model.training.film_recorder import SENTENCES

#: Frames and weights of a film beyond which every second frame goes, and heads of one attention that are shown.
MOST_FRAMES, MOST_WEIGHTS, MOST_HEADS = 60, 6_000_000, 1_024
#: Sentences that are read where none are given: short, everyday, with a translation for models of two stacks.
DEFAULT: Final = tuple((source, target) for source, target, _links in SENTENCES[:4])
#: What an output calls the weights of a site, for models of two stacks and of one.
_OUTPUTS: Final = {
    "encoder.self": "encoder_attentions", "decoder.self": "decoder_attentions", "decoder.cross": "cross_attentions",
}  # fmt: skip


def watch(
    model: PreTrainedModel,
    tokenizer: Any,
    every: int = 500,
    file: str | Path = "film.npz",
    sentences: Sequence[str | tuple[str, str]] = DEFAULT,
) -> "Watch":
    """What records a training into a film: a callback of a `Trainer`, or for a loop of your own.

    Args:
        model: of transformers, with text as input; as it is trained.
        tokenizer: the model's.
        every: steps from a frame to the next, at first.
        file: of the film, written again at each frame; one that exists is gone on with if it is of the same run.
        sentences: what is read at each frame; for a model of two stacks, pairs of a text and what its decoder reads.

    Raises:
        ConfigError: the model gives no attention weights, has too many heads, or the file is of another run.
        DataError: the file holds something else.
    """
    return Watch(model, tokenizer, every, Path(file), sentences)


class Watch(TrainerCallback):
    """Takes the frames of one training; see `watch`."""

    def __init__(
        self, model: PreTrainedModel, tokenizer: Any, every: int, file: Path, sentences: Sequence[str | tuple[str, str]]
    ) -> None:
        if every < 1 or not 1 <= len(sentences) <= MOST_SENTENCES:
            message = "`every` must be at least 1, with 1 to {most} sentences; got {every} and {count}."
            raise ConfigError(message, most=MOST_SENTENCES, every=every, count=len(sentences))
        self._model, self._tokenizer, self._every, self._path = model, LibraryTokenizer(tokenizer), every, file
        self._pairs = [(one, "") if isinstance(one, str) else one for one in sentences]
        self._run: dict[str, str | int] = {"model": str(model.config.model_type)}
        if not model.config.is_encoder_decoder:
            names = {"num_layers": "num_hidden_layers", "num_heads": "num_attention_heads"}
            self._run |= {name: int(getattr(model.config, asked)) for name, asked in names.items()}
        self._losses: list[float | Tensor] = []
        self._count = 0
        self._film = load_film(file) if file.exists() else None
        if self._film is not None:
            read = tuple(sentence.source for sentence in self._film.sentences)
            if dict(self._film.run) != self._run or read != tuple(text for text, _ in self._pairs):
                raise ConfigError("{path} contains the film of another run; use another file name.", path=file)

    def step(self, loss: float | Tensor | None = None) -> None:
        """Count a step of a loop of your own, after the optimizer's; a frame is taken where one is due.

        The first one is that of the first call, for what came before is past: `begin` before the loop takes step 0.
        """
        self._count += 1
        if loss is not None:
            # A GPU is not waited for at each step.
            self._losses.append(loss.detach() if isinstance(loss, Tensor) else loss)
        if self._count % self._every == 0 or self._film is None:
            self._take(self._count)

    def begin(self, step: int = 0) -> None:
        """Take the frame from which a training begins, or goes on; frames of later steps are forgotten."""
        self._count = step
        if self._film is not None:
            kept = sum(taken < step for taken in self._film.steps)
            self._film = self._film.cut(slice(kept)) if kept else None
        self._take(step)

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """See `TrainerCallback`."""
        if args.deepspeed or args.fsdp:
            raise ConfigError(
                "A model whose weights are sharded over several devices (DeepSpeed, FSDP) cannot be watched. "
                "Remove the callback."
            )
        if state.is_world_process_zero:
            self.begin(state.global_step)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **given: Any) -> None:
        """See `TrainerCallback`: the loss since the last log."""
        if logs and "loss" in logs:
            self._losses.append(float(logs["loss"]))

    def on_step_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """See `TrainerCallback`."""
        if state.is_world_process_zero and state.global_step % self._every == 0:
            self._take(state.global_step)

    def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """See `TrainerCallback`: the last step is a frame, too."""
        if state.is_world_process_zero and self._film is not None and self._film.steps[-1] < state.global_step:
            self._take(state.global_step)

    def _take(self, step: int) -> None:
        with _unchanged(self._model):
            sentences = tuple(self._sentence(*pair) for pair in self._pairs)
        loss = float(np.mean([float(loss) for loss in self._losses])) if self._losses else float("nan")
        self._losses.clear()
        frame = Film(run=self._run, steps=(step,), losses=(loss,), scores={}, sentences=sentences)
        size = sum(weights.size for sentence in sentences for weights in sentence.weights.values())
        if size > MOST_WEIGHTS // 4:
            message = (
                "A frame would contain {size:,} weights, but at most {most:,} are allowed: give fewer or shorter "
                "sentences."
            )
            raise ConfigError(message, size=size, most=MOST_WEIGHTS // 4)
        film = frame if self._film is None else joined([self._film, frame])
        if len(film.steps) > min(MOST_FRAMES, MOST_WEIGHTS // size):
            self._every *= 2
            film = joined([film.cut(slice(None, -1, 2)), film.cut(slice(-1, None))])
        self._film = film
        save_film(film, self._path)

    def _sentence(self, text: str, target: str) -> FilmSentence:
        model: Any = self._model
        has_two = bool(model.config.is_encoder_decoder)
        read = self._tokenizer.encode(text)
        inputs = {name: torch.tensor([values], device=model.device) for name, values in read.token_inputs}
        tokens, written = read.tokens, tuple[str, ...]()
        if has_two:
            labels = torch.tensor([self._tokenizer.encode(target or text, is_target=True).ids], device=model.device)
            given = model.prepare_decoder_input_ids_from_labels(labels)
            inputs["decoder_input_ids"] = given
            written = self._tokenizer.tokens(given[0].tolist())
        if max(len(tokens), len(written)) > MOST_TOKENS:
            raise ConfigError(
                "A sentence has {count} tokens, but at most {most} are allowed.", count=len(tokens), most=MOST_TOKENS
            )
        ids = torch.tensor([read.ids], device=model.device)
        weights = _weights(model(input_ids=ids, output_attentions=True, **inputs), has_two)
        if "decoder.self" in weights and not has_two:
            tokens, written = (), tokens
        return FilmSentence(
            source=text,
            target=target,
            source_tokens=tuple(tokens),
            target_tokens=tuple(written),
            links=(),
            translations=("",),
            weights=weights,
        )


@contextmanager
def _unchanged(model: Any) -> Iterator[None]:
    """Evaluation mode and eager attention in the block; after it modes, attention and random numbers are as before."""
    modes = [(module, module.training) for module in model.modules()]
    attention = model.config._attn_implementation
    model.eval()
    if attention != "eager":
        model.set_attn_implementation("eager")
    try:
        with torch.random.fork_rng([model.device] if model.device.type == "cuda" else []), torch.no_grad():
            yield
    finally:
        if attention != "eager":
            model.set_attn_implementation(attention)
        for module, mode in modes:
            module.training = mode


def _weights(output: Any, has_two: bool) -> dict[str, Array]:
    """Site → [1, layer, head, query, key], of 255."""
    found = {site: output.get(name) for site, name in _OUTPUTS.items()} if has_two else {"": output.get("attentions")}
    if any(not layers or any(layer is None for layer in layers) for layers in found.values()):
        raise ConfigError("This model does not expose attention weights, so there is nothing to watch.")
    arrays = {
        site: (torch.stack([layer[0].float() for layer in layers]) * 255).round().to(torch.uint8).cpu().numpy()[None]
        for site, layers in found.items()
    }
    for array in arrays.values():
        if array.shape[1] * array.shape[2] > MOST_HEADS:
            message = "This model has {heads} heads in one attention; a film shows at most {most}."
            raise ConfigError(message, heads=array.shape[1] * array.shape[2], most=MOST_HEADS)
    if not has_two:
        # Whoever never looks ahead is a decoder.
        array = arrays.pop("")
        is_ahead = np.triu(np.ones(array.shape[-2:], bool), 1)
        arrays["encoder.self" if array[..., is_ahead].any() else "decoder.self"] = array
    return arrays
