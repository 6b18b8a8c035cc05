"""What a speech model of `transformers` is given of a sound, and which moment each frame of its encoder is of."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn

from model.abilities import PositionScheme
from model.adapters import library
from model.adapters.folder_check import Folder
from model.adapters.given import Given
from model.adapters.inspect_folder import extractor_settings, private_copy
from model.adapters.placement import device_of
from model.adapters.probe import REPEATED, PositionTables, Probe, Rotations, has_sines, is_sines
from model.errors import CheckpointError, InputTextError
from model.sources.sound_file import Sound
from model.sources.source import SoundSource, Waveform

#: Seconds of two sounds that show how many numbers a second of sound is, and of the one that is read for the proof.
_SHOWN: Final = (10, 20)
_PROVEN: Final = 1.0
#: Frames that are read to try what a model does, where it fills every sound up to one length.
FEW: Final = 48
#: What a number of a feature extractor's settings may be at most; others are of no size.
_MOST: Final[Mapping[str, int]] = {
    "sampling_rate": 192_000, "n_fft": 65_536, "hop_length": 65_536, "chunk_length": 60, "feature_size": 1_024,
    "num_mel_bins": 1_024, "win_length": 65_536, "stride": 64, "n_samples": 60 * 192_000, "nb_max_frames": 60 * 192_000,
}  # fmt: skip


def check_extractor(settings: Mapping[str, Any]) -> None:
    """Raise a CheckpointError if a feature extractor's settings ask for sound of no size, or of one beyond reason."""
    for name, most in _MOST.items():
        number = settings.get(name, 1)
        if not isinstance(number, int) or not 1 <= number <= most:
            message = "The feature extractor's settings say {name} = {number}; 1 to {most:,} can be read."
            raise CheckpointError(message, name=name, number=ascii(number)[:40], most=most)


@dataclass(frozen=True, eq=False)
class Ear:
    """What makes of a sound the numbers that a model's encoder reads, and which moment each of its frames is of."""

    model: Any
    processor: Any
    axis: int  #: of the numbers, the one that is time
    seconds_per_frame: float
    #: how long a sound may be, and to which length every shorter one is filled up with silence; None for any.
    seconds: float | None

    @classmethod
    @torch.inference_mode()
    def of(cls, model: Any, processor: Any) -> "Ear":
        """That of a model. Raises a CheckpointError if it is not known which moment a frame of it is of."""
        made = cls(model, processor, -1, 0.0, None)
        short, long = (made.numbers(probe_sound(made.rate, seconds)) for seconds in _SHOWN)
        sizes = tuple(zip(short[made.name].shape, long[made.name].shape, strict=True))
        read = made.numbers(probe_sound(made.rate))
        is_filled = long[made.name].shape == short[made.name].shape
        few: AbstractContextManager[list[int]] = made._few() if is_filled else nullcontext([])
        with few as counts:
            rows = library.encoded(model, read).last_hidden_state.size(1)
        if is_filled:
            rows = counts[0] if counts else rows
            samples = getattr(processor, "n_samples", 0)
            axis = next((axis for axis, (_, size) in enumerate(sizes) if made._rows(size) == rows), None)
            seconds = samples / made.rate
            per_frame = seconds / rows
        else:
            axis = next(axis for axis, (one, other) in enumerate(sizes) if one != other)
            per_number = (_SHOWN[1] - _SHOWN[0]) / (sizes[axis][1] - sizes[axis][0])
            axis = axis if made._rows(read[made.name].size(axis)) == rows else None
            far = 10**7
            per_frame, seconds = per_number * far / max(1, made._rows(2 * far) - made._rows(far)), None
        if axis is None or not per_frame:
            raise CheckpointError(
                "This folder contains a speech model ({kind}). Headlight cannot tell which moment of a sound each "
                "position of its encoder covers, so its attention cannot be shown.",
                kind=library.name_of(model.config),
            )
        return cls(model, processor, axis, round(per_frame, 6), seconds)

    @classmethod
    def in_folder(cls, folder: Folder, model: Any, config: Any) -> "Ear":
        """That of a model in a folder. Raises as `of`, and if what the folder says of it cannot be read."""
        with private_copy(folder) as copy:
            check_extractor(extractor_settings(copy.path))
            processor = library.load_feature_extractor(copy.path, config, folder.name)
        return cls.of(model, processor)

    @property
    def name(self) -> str:
        """The argument of the model that is sound."""
        return str(self.model.main_input_name)

    @property
    def rate(self) -> int:
        """Samples a second."""
        return int(self.processor.sampling_rate)

    def numbers(self, sound: Sound) -> dict[str, Tensor]:
        """What the encoder is given of a sound at this rate.

        Raises an InputTextError if it is longer than what is read at once, or silent where that cannot be read.
        """
        if self.seconds is not None and sound.seconds > self.seconds:
            message = (
                "The sound is {seconds:.1f} s long; this model reads at most {most:g} s at once. Choose a part of it."
            )
            raise InputTextError(message, seconds=sound.seconds, most=self.seconds)
        with np.errstate(all="ignore"):
            given = self.processor(sound.samples, sampling_rate=self.rate, return_tensors="pt")
        if self.name not in given:
            message = (
                "The feature extractor in the folder gives {given}, but the model reads {name}. Copy the model's own "
                "feature extractor into the folder."
            )
            raise CheckpointError(message, given=", ".join(given), name=self.name)
        made = given[self.name]
        if not bool(made.isfinite().all()):
            raise InputTextError(
                "This model cannot read silence: choose a sound, or a part of one, that is not silent."
            )
        return {self.name: made.to(device_of(self.model), next(self.model.parameters()).dtype)}

    def frames(self, numbers: Mapping[str, Tensor]) -> int:
        """How many rows the encoder puts out for these. Raises an InputTextError if there is none."""
        rows = self._rows(numbers[self.name].size(self.axis))
        if rows < 1:
            raise InputTextError("The sound is too short for this model. Choose a longer one.")
        return rows

    @property
    def most_tried(self) -> int | None:
        """How many frames are read in the block of `few_frames`; None for all."""
        return None if self.seconds is None else FEW

    def few_frames(self) -> AbstractContextManager[object]:
        """In the block the encoder reads the first frames alone, where every sound is filled up to one length."""
        return nullcontext() if self.seconds is None else self._few()

    @contextmanager
    def _few(self) -> Iterator[list[int]]:
        """The same of any; the list has how many frames there were, once they were read."""
        counts: list[int] = []

        def cut(_layer: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            if not args or not isinstance(args[0], Tensor) or args[0].dim() != 3 or args[0].size(-1) != width:
                return None
            rows = args[0].size(1)
            others = (each for each in (*args[1:], *kwargs.values()) if isinstance(each, Tensor))
            if any(rows in other.shape for other in others):
                return None
            counts.append(rows)
            return (args[0][:, :FEW], *args[1:]), kwargs

        width = getattr(self.model.config, "hidden_size", None)
        with ExitStack() as hooks:
            for module in library.encoder(self.model).modules():
                if isinstance(module, nn.ModuleList) and len(module):
                    hooks.callback(module[0].register_forward_pre_hook(cut, with_kwargs=True).remove)
            yield counts

    def _rows(self, size: int) -> int:
        known = getattr(self.model, "_get_feat_extract_output_lengths", None)
        return 0 if known is None else int(known(torch.tensor(size)))

    def waveform(self, sound: Sound) -> Waveform:
        """A sound at this rate, as a trace keeps it."""
        return Waveform(samples=torch.from_numpy(sound.pcm), rate=self.rate, seconds_per_frame=self.seconds_per_frame)

    def probe(self, target: Sequence[int]) -> Probe:
        """What is read to prove the model; its decoder reads some of these tokens."""
        numbers = self.numbers(probe_sound(self.rate))
        frames = tuple(range(self.frames(numbers)))
        return Probe(frames, tuple(target), numbers, few=self.few_frames, own_table=_own_table)


def _own_table(model: Any, runner: Any, probe: Probe) -> tuple[PositionScheme, int | None]:
    """By the tables and rotations that are met while a sound is read, and the rows of the encoder's own table."""
    tables, rotations = PositionTables(REPEATED), Rotations(len(probe.source))
    with torch.inference_mode(), library.settings_of_model(), probe.few(), tables, rotations:
        runner(**probe.arguments(runner))
    found = [table[first:] for table, first in tables.found(torch.empty(0)) if len(table) - first >= len(probe.source)]
    rows = min(map(len, found), default=None)
    if found or has_sines(model):
        return ("sinusoidal" if not found or any(map(is_sines, found)) else "learned"), rows
    return ("rotary" if rotations.sines() is not None else "unknown"), None


def probe_sound(rate: int, seconds: float = _PROVEN) -> Sound:
    """Noise with a falling tone: no part of it is like another, and it is the same every time."""
    time = np.arange(round(seconds * rate)) / rate
    noise = np.random.default_rng(1).normal(0, 0.05, len(time))
    return Sound((noise + 0.3 * np.sin(2 * np.pi * (600 - 200 * time) * time)).astype(np.float32), rate)


class Heard(Given):
    """A sound, at the rate of a model."""

    def __init__(self, ear: Ear, name: str, sound: Sound, most: int | None = None) -> None:
        """`most`: frames that its encoder puts out at most, as in the block of `few_frames`."""
        self.ear, self.sound, self.most = ear, sound.resampled(ear.rate), most
        super().__init__(ear.model, name, hashlib.sha256(self.sound.samples.tobytes()).hexdigest())

    @cached_property
    def numbers(self) -> Mapping[str, Tensor]:
        """What the encoder is given. Raises as `Ear.numbers`."""
        return self.ear.numbers(self.sound)

    @cached_property
    def source(self) -> SoundSource:
        """What a trace keeps of it. Raises as `Ear.numbers` and `Ear.frames`."""
        frames = self.ear.frames(self.numbers)
        return SoundSource.of_frames(self.name, self.ear.waveform(self.sound), min(frames, self.most or frames))
