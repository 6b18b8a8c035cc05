"""Read pictures with models of `transformers` through the same `Trace`: patches are tokens. Some write about them."""

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from jaxtyping import Float
from PIL import Image
from torch import Tensor, nn

from model.adapters.base_reader import Opened
from model.adapters.given import EncoderParts, EncoderReader, Given, GivenReader, GivenWriter, Opening
from model.adapters.library_tokenizer import LibraryTokenizer
from model.adapters.probe import picture_table
from model.adapters.sight import Sight, probe_picture
from model.errors import InputTextError, said
from model.languages import Offered
from model.nn.edit_hooks import Edits
from model.sources.picture_file import PartlyHidden, as_image, open_picture
from model.sources.source import PictureSource
from model.trace.trace import Trace

#: Between this and its end, what a model is asked about a picture.
_QUESTION: Final = "<s_question>"
ASKS: Final = said(
    "This model can answer questions about a picture. Headlight gives it none, so for that task it first writes a "
    "question itself."
)
OWN_COLOURS: Final = said(
    "This model reads each picture relative to the mean of its colours, so it sees a hidden part, grey or in the mean "
    "colour, as that mean."
)
#: The token of a task; of a longer name, no address keeps which was chosen.
_TASK: Final = re.compile(r"<s_([\w-]{1,24})>")


class Seen(Given):
    """A picture."""

    def __init__(self, sight: Sight, name: str, picture: Image.Image | PartlyHidden) -> None:
        self.sight, self.picture = sight, picture
        super().__init__(sight.model, name, f"{picture.size}/{hashlib.sha256(picture.tobytes()).hexdigest()}")

    @cached_property
    def numbers(self) -> Mapping[str, Tensor]:
        """What the encoder is given. Raises as `Sight.numbers`."""
        return self.sight.numbers(self.picture)

    @cached_property
    def source(self) -> PictureSource:
        """What a trace keeps of it. Raises as `Sight.numbers`."""
        return self.sight.source(self.name, self.numbers, self.picture)

    @contextmanager
    def read_by_model(self) -> Iterator[None]:
        """Raises an InputTextError if the model does not read a picture of this shape."""
        try:
            yield
        except ValueError as error:
            height, width = self.source.grid.pixels.shape[:2]
            message = (
                "After scaling, the picture has {width} × {height} pixels, which this model does not read. Crop it to "
                "a square first."
            )
            raise InputTextError(message, width=width, height=height) from error


class Seeing(GivenReader):
    """A reader that reads the picture that it is given, whatever the text."""

    none_given = said(
        "This model reads pictures, and none was given to it. Choose one on the left; in Python, use reading()."
    )
    another_given = said("This trace is of a different picture from the one the model is given now.")
    sight: Sight

    def perceived(self, name: str, content: Any) -> Seen:
        """See `GivenReader`: of an image, perhaps partly hidden, or bytes [height, width, 3] of red, green and blue."""
        return Seen(self.sight, name, content if isinstance(content, PartlyHidden) else as_image(content))

    def opened(self, path: Path) -> Image.Image:
        """The picture in a file. Raises as `open_picture`."""
        return open_picture(path)

    @property
    def probing(self) -> Image.Image:
        """See `GivenReader`."""
        return probe_picture()

    def trace_picture(
        self,
        picture: Image.Image | PartlyHidden | np.ndarray[Any, Any],
        *,
        name: str = "picture",
        extras: Collection[str] = (),
        edits: Edits | None = None,
    ) -> Trace:
        """Look at a picture: an image, or bytes [height, width, 3] of red, green and blue. The trace calls it `name`.

        Raises:
            InputTextError: it is not a picture of this form, or the model does not read one of this shape.
            EditError: an edit names what does not exist.
        """
        return self.reading(name, picture).trace("", extras=extras, edits=edits)


@dataclass(frozen=True, eq=False)
class PictureParts(EncoderParts):
    """What is known of a vision model: the table of its positions."""

    model: nn.Module

    def positional(self, trace: Trace) -> Float[Tensor, "position d_model"] | None:
        """See `Parts`."""
        return picture_table(self.model, len(trace.source_tokens))


class ImageReader(Seeing, EncoderReader):
    """A loaded vision model of `transformers`, with what it sees by. Safe to share between threads."""

    def __init__(self, opened: Opened, sense: Sight) -> None:
        if sense.varies and opened.abilities.knows_inputs:
            opened = opened._replace(abilities=replace(opened.abilities, max_length=None))
        super().__init__(opened)
        self.sight = sense

    @property
    def parts(self) -> PictureParts:
        """See `model.reader.Reader`."""
        return PictureParts(self.abilities, self.model)


def tasks_of(pieces: LibraryTokenizer, size: int) -> dict[str, int]:
    """Task → its token, below `size`, of a model that is told by one what to write about a picture (Donut, Kim et al.
    2022, §3.2): "<s_cord-v2>" for "cord-v2". What is closed by "</s_menu>" is a part of what is written.
    """
    vocabulary: dict[str, int] = pieces.tokenizer.get_vocab()
    special = sorted((number, token) for token, number in vocabulary.items() if number in pieces.special_ids)
    named = ((number, _TASK.fullmatch(token)) for number, token in special if number < size)
    return {task[1]: number for number, task in named if task and f"</s_{task[1]}>" not in vocabulary}


class PictureWriter(Seeing, GivenWriter):
    """A loaded model of `transformers` that writes about a picture, with what it sees by. Safe to share between
    threads.

    What it does is chosen where it has tokens of tasks; by default it is what its settings begin with.
    """

    def __init__(self, opened: Opened, pieces: LibraryTokenizer, sense: Sight) -> None:
        super().__init__(opened, pieces)
        self.sight = sense
        self._tasks = tasks_of(pieces, self.vocab_size)
        vocabulary: dict[str, int] = pieces.tokenizer.get_vocab()
        note = OWN_COLOURS if sense.takes_own_colours else ASKS if _QUESTION in vocabulary else ""
        begun = self._stated("decoder_start_token_id")
        self._told = ("", next((task for task, number in self._tasks.items() if number == begun), ""))
        self._offered = Offered(writes=tuple(self._tasks), chosen=self._told, note=note)

    def begin_before(self, emitted: Sequence[int]) -> tuple[int, ...]:
        """See `TextTracer`: the token of the task, where one is chosen."""
        task = self._tasks.get(self._told[1])
        return super().begin_before(emitted) if task is None else (task,)

    @property
    def start_options(self) -> Mapping[str, Any]:
        """See `TextTracer`."""
        task = self._tasks.get(self._told[1])
        return super().start_options if task is None else {"decoder_start_token_id": task}


OPENING: Final = Opening(Sight.in_folder, ImageReader, PictureWriter)
