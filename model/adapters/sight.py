"""What a model of `transformers` is given of a picture, and which rectangle of it each position is of.

That is proven when a model is opened: patches of a grey picture are painted, in its corners and within, and exactly the
positions that are shown there change before layers mix them.
"""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final

import numpy as np
import torch
from jaxtyping import Float, UInt8
from PIL import Image
from torch import Tensor, nn

from model.adapters import explicit, library
from model.adapters.config_limits import check_picture_sizes
from model.adapters.folder_check import Folder
from model.adapters.inspect_folder import private_copy
from model.adapters.placement import device_of
from model.adapters.probe import Probe
from model.errors import CheckpointError, InputTextError, said
from model.sources.picture_file import PartlyHidden
from model.sources.source import Grid, PictureSource

#: The shapes of pictures, width and height, by which models are proven: those that are not brought to one size have
#: other positions for each.
_SHAPES: Final = ((64, 64), (96, 48), (40, 100))
#: The part of the largest change of a position from which on another one has changed.
_CHANGED: Final = 1e-3
#: Rows that a parameter of special tokens has at most.
_MOST_SPECIAL: Final = 256
#: In the name of a parameter that is one of several layers'.
_OF_LAYER: Final = re.compile(r"\.\d+\.")
#: How parameters of special tokens are called → the name of the token, where it is not the same in capitals.
_NAMES: Final[Mapping[str, str]] = {"class": "CLS", "register": "REG", "distillation": "DIST", "detection": "DET"}
#: The setting of a processor that cuts off what is around the dark parts of a picture.
_CUTS: Final = "do_crop_margin"
_UNPLACED: Final = said(
    "This model ({name}) does not read a picture patch by patch in reading order, so it is unknown which part of the "
    "picture a token represents."
)

Numbers = Mapping[str, Tensor]
Embedded = Callable[[Numbers], Float[Tensor, "batch position width"]]


class _Stop(BaseException):
    """The first layer was reached."""


@dataclass(frozen=True, eq=False)
class Sight:
    """What makes of a picture the numbers that a model reads, and which rectangle each of its positions is of."""

    model: Any
    processor: Any
    embedded: Embedded  #: the positions of some pictures before they are mixed
    size: tuple[int, int]  #: height and width of a patch, in pixels
    #: before, after: the names of the special tokens on either side of the patches.
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    varies: bool = False  #: whether a picture of another shape has another number of positions

    @classmethod
    @torch.inference_mode()
    def of(
        cls, model: Any, processor: Any, *, embedded: Embedded | None = None, size: tuple[int, int] | None = None
    ) -> "Sight":
        """That of a model, proven.

        Args:
            model: what reads the pictures.
            processor: the library's own, of its folder.
            embedded: its positions before they are mixed; by default what its first layer reads.
            size: of a patch, height and width; by default what its settings say.

        Raises a CheckpointError if positions are not patches, or the processor makes what the model does not read.
        """
        made = cls(model, processor, embedded or (lambda numbers: first_rows(model, numbers)), size or _size_of(model))
        if (frames := getattr(model.config, "num_frames", None)) is not None:
            message = "This model ({name}) reads videos, {frames} frames at once. Headlight does not show videos yet."
            raise CheckpointError(message, name=library.name_of(model.config), frames=frames)
        if embedded is None and model.config.is_encoder_decoder:
            made = made._of_windows()
        with library.settings_of_model():
            first, *others = ((shape, made.numbers(probe_picture(shape))) for shape in _SHAPES)
            made._check_colours(first[0])
            made = made._proven(first[1])
        for shape, numbers in others:
            # A model that reads pictures of one shape says so of another one.
            with suppress(ValueError, RuntimeError):
                made._check_colours(shape)
                if made._is_placed_as(numbers, first[1]):
                    continue
                found = made._proven(numbers)
                made = replace(made, varies=made.varies or made._count(numbers) != made._count(first[1]))
                if (found.before, found.after) != (made.before, made.after):
                    raise made._unplaced
        return made

    @property
    def takes_own_colours(self) -> bool:
        """Whether each picture is normalised by its own mean and spread, as of Pix2Struct, not by fixed ones."""
        settings = self.processor
        return bool(getattr(settings, "do_normalize", False)) and getattr(settings, "image_mean", None) is None

    def numbers(self, picture: Image.Image | PartlyHidden) -> dict[str, Tensor]:
        """What the model is given of a picture in red, green and blue.

        Raises an InputTextError if it is too long and thin for the processor.
        """
        if isinstance(picture, PartlyHidden):
            return self._without(replace(picture, picture=self._without_margin(picture.picture)))
        return self._made(self._without_margin(picture))

    def _without_margin(self, picture: Image.Image) -> Image.Image:
        """What is left of a picture by a processor that cuts off its margin (nougat), and does nothing else now."""
        settings = self.processor
        if not getattr(settings, _CUTS, False):
            return picture
        steps = {name: False for name in vars(settings) if name.startswith("do_") and name != _CUTS}
        return Image.fromarray(settings(picture, return_tensors="np", **steps)["pixel_values"][0].transpose(1, 2, 0))

    def _made(self, picture: Image.Image) -> dict[str, Tensor]:
        options = {_CUTS: False} if getattr(self.processor, _CUTS, False) else {}
        try:
            made = self.processor(picture, return_tensors="pt", **options)
        except (ValueError, ZeroDivisionError, RuntimeError) as error:
            message = "The image processor of this model cannot read a picture of {width} × {height} pixels. Crop it."
            raise InputTextError(message, width=picture.width, height=picture.height) from error
        device, dtype = device_of(self.model), next(self.model.parameters()).dtype
        return {
            name: value.to(device, dtype if value.is_floating_point() else None)
            for name, value in made.items()
            if name in self._asked and isinstance(value, Tensor)
        }

    def _without(self, partly: PartlyHidden) -> dict[str, Tensor]:
        """The numbers of a picture, and within a rectangle those of a plain one; of patches that are cut out already,
        those whose middle lies in it.
        """
        made, plain = self._made(partly.picture), self._made(partly.plain())[self._name]
        left, top, right, bottom = partly.box
        given, (height, width) = made[self._name].clone(), self.size
        if given.dim() == 4:
            given[..., top:bottom, left:right] = plain[..., top:bottom, left:right]
        else:
            rows, columns = self._shape(made)
            for row, column in product(range(rows), range(columns)):
                y, x = (row + 0.5) * height, (column + 0.5) * width
                if top <= y < bottom and left <= x < right:
                    given[:, row * columns + column] = plain[:, row * columns + column]
        return made | {self._name: given}

    def source(self, name: str, numbers: Numbers, picture: Image.Image | PartlyHidden) -> PictureSource:
        """What a trace keeps of a picture, of which these are the numbers."""
        rows, columns = self._shape(numbers)
        padding = self._count(numbers) - rows * columns
        special = (*self.before, *(["[PAD]"] * padding), *self.after)
        grid = Grid.regular(
            self._seen(numbers, picture), rows, columns, self.size,
            before=len(self.before), after=padding + len(self.after),
        )  # fmt: skip
        return PictureSource.of_grid(name, grid, special)

    @classmethod
    def in_folder(cls, folder: Folder, model: Any, config: Any) -> "Sight":
        """That of a model in a folder. Raises as `of`, and if what the folder says of it cannot be read."""
        with private_copy(folder) as copy:
            processor = library.load_image_processor(copy.path, config, folder.name)
        check_picture_sizes(library.picture_sizes(processor))
        return cls.of(model, processor)

    def probe(self, target: Sequence[int] = ()) -> Probe:
        """What is read to prove the model; a decoder reads some of these tokens."""
        picture = probe_picture()
        numbers = self.numbers(picture)
        return Probe(self.source("", numbers, picture).ids if target else (), tuple(target), numbers)

    def _is_placed_as(self, numbers: Numbers, others: Numbers) -> bool:
        """Whether the numbers of two pictures have the same patches at the same places."""
        around = numbers.keys() - {self._name}
        return (
            numbers[self._name].shape == others[self._name].shape
            and self._shape(numbers) == self._shape(others)
            and all(torch.equal(numbers[name], others[name]) for name in around)
        )

    def _of_windows(self) -> "Sight":
        """The same, of an encoder that joins patches on its way: positions are then what it puts out where windows do
        not attend.
        """
        numbers = self.numbers(probe_picture())
        first, last = (rows(self.model, numbers).size(1) for rows in (first_rows, joined_rows))
        times = round((first / last) ** 0.5)
        if times == 1 or last * times**2 != first:
            return self
        size = (self.size[0] * times, self.size[1] * times)
        return replace(self, embedded=lambda numbers: joined_rows(self.model, numbers), size=size)

    def _count(self, numbers: Numbers) -> int:
        """How many patches there are, with what is filled in behind them."""
        given, (rows, columns) = numbers[self._name], self._shape(numbers)
        return given.size(1) if given.dim() == 3 else rows * columns

    def _shape(self, numbers: Numbers) -> tuple[int, int]:
        """Rows and columns of patches. Raises a CheckpointError where the numbers are of no single picture."""
        if "spatial_shapes" in numbers:
            rows, columns = numbers["spatial_shapes"][0].tolist()
        elif "flattened_patches" in numbers:
            rows, columns = numbers["flattened_patches"][0, :, :2].amax(0).int().tolist()
        elif numbers[self._name].dim() == 4:
            *_, height, width = numbers[self._name].shape
            rows, columns = height // self.size[0], width // self.size[1]
        else:
            raise self._unplaced
        return int(rows), int(columns)

    @property
    def _name(self) -> str:
        return "flattened_patches" if "flattened_patches" in self._asked else "pixel_values"

    @property
    def _asked(self) -> Mapping[str, Any]:
        return inspect.signature(self.model.forward).parameters

    @property
    def _unplaced(self) -> CheckpointError:
        return CheckpointError(_UNPLACED, name=library.name_of(self.model.config))

    def _pixels(self, numbers: Numbers) -> Float[Tensor, "batch channel height width"]:
        """The picture among the numbers; of patches that were cut out of it already, joined again."""
        given = numbers[self._name]
        if given.dim() == 4:
            return given
        (rows, columns), (height, width) = self._shape(numbers), self.size
        patches = given[:, : rows * columns, -3 * height * width :]
        return patches.reshape(-1, rows, columns, height, width, 3).permute(0, 5, 1, 3, 2, 4).flatten(4).flatten(2, 3)

    def _painted(self, numbers: Numbers, places: Sequence[tuple[int, int]]) -> Numbers:
        """A grey picture, and after it one for each of these patches (row, column), in which that one is painted."""
        batch = {name: value.repeat(1 + len(places), *[1] * (value.dim() - 1)) for name, value in numbers.items()}
        given, (height, width), (_, columns) = batch[self._name], self.size, self._shape(numbers)
        # Of patches that are cut out already, some models have two numbers before the pixels, for the place.
        grey = given[..., -3 * height * width :] if given.dim() == 3 else given
        grey.zero_()
        for picture, (row, column) in zip(grey[1:], places, strict=True):
            if given.dim() == 3:
                picture[row * columns + column] = 1
            else:
                top, left = row * height, column * width
                picture[:, top : top + height, left : left + width] = 1
        return batch

    def _proven(self, numbers: Numbers) -> "Sight":
        """The same with the special tokens around the patches. Raises a CheckpointError if patches are not in order."""
        rows, columns = self._shape(numbers)
        places = sorted(set(product((0, rows // 3, rows - 1), (0, columns // 2, columns - 1))))
        if min(rows, columns) < 1:
            raise self._unplaced
        grey, *painted = self.embedded(self._painted(numbers, places))
        if len(painted) != len(places):
            raise self._unplaced
        changed = [_changed(each, grey) for each in painted]
        first = changed[0][0] if changed[0] else 0
        around = len(grey) - rows * columns - first
        if around < 0 or changed != [[first + row * columns + column] for row, column in places]:
            raise self._unplaced
        if numbers[self._name].dim() == 3:
            around = 0
        names = self._names(numbers, first) if first or around else {}
        called = [names.get(at, "[SPECIAL]") for at in range(len(grey))]
        return replace(self, before=tuple(called[:first]), after=tuple(called[len(grey) - around :]))

    def _names(self, numbers: Numbers, patch: int) -> dict[int, str]:
        """Position → the name of its special token, after the parameter on which it depends and a patch does not."""
        grey, named = self.embedded(numbers), dict[int, str]()
        for path, parameter in self.model.named_parameters():
            rows = parameter.numel() // grey.size(-1)
            if parameter.size(-1) != grey.size(-1) or not 0 < rows <= _MOST_SPECIAL or parameter.is_meta:
                continue
            if _OF_LAYER.search(path):
                continue  # It is read later than what is looked at.
            kept = parameter.detach().clone()
            try:
                parameter.add_(1 + kept.abs())
                positions = _changed(self.embedded(numbers)[0], grey[0])
            finally:
                parameter.copy_(kept)
            if patch not in positions:
                stem = re.sub(r"_?(tokens?|embeddings?|embeds?|embed)$", "", path.rpartition(".")[2])
                named |= dict.fromkeys(positions, f"[{_NAMES.get(stem, stem.upper())}]")
        return named

    def _seen(self, numbers: Numbers, picture: Image.Image | PartlyHidden) -> UInt8[Tensor, "height width 3"]:
        """What the model was given, its normalised colours turned back."""
        picture = picture.picture if isinstance(picture, PartlyHidden) else picture
        values, settings = self._pixels(numbers)[0].float().cpu(), self.processor
        if getattr(settings, "do_normalize", False):
            if self.takes_own_colours:
                # By its own colours.
                own = torch.from_numpy(np.asarray(picture.resize((values.size(2), values.size(1))), dtype=np.float32))
                mean, spread = own.mean(), own.std(correction=0).clamp_min(own.numel() ** -0.5)
            else:
                mean, spread = (
                    torch.tensor(getattr(settings, each)).view(-1, 1, 1) for each in ("image_mean", "image_std")
                )
            values = values * spread + mean
        if getattr(settings, "do_rescale", False):
            values = values / float(settings.rescale_factor)
        return values.round().clamp(0, 255).to(torch.uint8).permute(1, 2, 0).contiguous()

    def _check_colours(self, shape: tuple[int, int]) -> None:
        """Raise a CheckpointError unless a red spot on a grey picture is seen where it was painted."""
        width, height = shape
        spot = round(0.55 * width), round(0.3 * height), round(0.7 * width), round(0.45 * height)
        picture = Image.new("RGB", shape, "grey")
        plain = Image.new("RGB", shape, "grey")
        picture.paste("red", spot)
        for each in (picture, plain):
            # A margin around what is dark may be cut off.
            each.paste("black", (0, 0, 1, 1))
            each.paste("black", (width - 1, height - 1, width, height))
        seen = self._seen(self.numbers(picture), picture).float()
        apart = (seen - self._seen(self.numbers(plain), plain).float()).abs().sum(-1)
        rows, columns = (apart > apart.max() / 2).nonzero(as_tuple=True)
        y, x = (float(each.float().mean()) / size for each, size in zip((rows, columns), seen.shape, strict=False))
        red, *others = seen[rows, columns].mean(0).tolist()
        if not (x > 0.5 > y and red >= max(others)):
            raise CheckpointError(
                "The image processor of this model ({name}) changes pictures in a way that cannot be shown: a red "
                "spot drawn at the upper right does not appear there.",
                name=library.name_of(self.model.config),
            )


def first_rows(model: nn.Module, numbers: Numbers) -> Float[Tensor, "batch position width"]:
    """What the first layer of a model's first stack of layers reads of these numbers.

    Raises a CheckpointError if none reads rows.
    """
    found: list[Tensor] = []

    def note(_layer: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        rows = next((each for each in (*given, *named.values()) if isinstance(each, Tensor) and each.dim() == 3), None)
        if rows is not None:
            found.append(rows)
            raise _Stop

    layers = [layer for stack in model.modules() if isinstance(stack, nn.ModuleList) for layer in stack]
    hooks = [layer.register_forward_pre_hook(note, with_kwargs=True) for layer in layers]
    try:
        with suppress(_Stop), torch.inference_mode():
            model(**numbers)
    finally:
        for hook in hooks:
            hook.remove()
    if not found:
        raise CheckpointError(_UNPLACED, name=library.name_of(getattr(model, "config")))  # noqa: B009
    return found[0]


def joined_rows(model: Any, numbers: Numbers) -> Float[Tensor, "batch position width"]:
    """What a model's encoder puts out where its attentions add nothing."""

    def nothing(_module: nn.Module, _given: Any, output: Any) -> Any:
        return (torch.zeros_like(output[0]), *output[1:])

    encoder = model.get_encoder()
    hooks = [module.register_forward_hook(nothing) for module in explicit.attentions(encoder)]
    try:
        with torch.inference_mode():
            rows: Tensor = encoder(**numbers).last_hidden_state
    finally:
        for hook in hooks:
            hook.remove()
    return rows


def probe_picture(shape: tuple[int, int] = _SHAPES[0]) -> Image.Image:
    """A picture of this width and height, no part of which is like another; the same every time."""
    noise = np.random.default_rng(1).integers(0, 256, (shape[1], shape[0], 3), dtype=np.uint8)
    return Image.fromarray(noise)


def _changed(rows: Float[Tensor, "position width"], before: Float[Tensor, "position width"]) -> list[int]:
    """The positions that changed."""
    apart = (rows - before).abs().amax(1).float()
    return (apart > _CHANGED * apart.max()).nonzero().flatten().tolist()


def _size_of(model: Any) -> tuple[int, int]:
    """Height and width of a patch, as the settings of a model say; of one that does not, its whole first layer's."""
    config = model.config
    within = (config, getattr(config, "vision_config", None), getattr(config, "encoder", None))
    size: Any = next((each for each in (getattr(one, "patch_size", None) for one in within) if each), 16)
    height, width = size if isinstance(size, list | tuple) else (size, size)
    return int(height), int(width)
