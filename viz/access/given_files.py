"""Files that a person gives to be read in place of a text: an entry a kind of source; kept for all viewers, bounded."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Self

import streamlit as st

from model import later
from model.abilities import SourceKind
from model.analysis.timing import later as heard
from model.errors import InputTextError
from viz.pictures.payload import fingerprint
from viz.server import limits
from viz.server.caches import BoundedCache
from viz.text.messages import Message, said

MAX_FILES: Final = 64
MAX_BYTES: Final = 64 * 1024**2
#: Pixels of a side to which a larger picture is shrunk when it arrives: models look at a few hundred.
LARGEST_SIDE: Final = 1_024
#: Samples a second to which a sound is brought down when it arrives: models of speech read as many.
HIGHEST_RATE: Final = 16_000
#: Seconds of a sound that a model is given at once.
LONGEST_PART: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class FileKind:
    """A kind of source that comes as a file: what is said where it is given, and how it is read."""

    label: Message  #: of its field
    help_text: Message  #: of its field; `most` is in megabytes
    megabytes: int  #: that a file may have
    shared_megabytes: int = limits.MEGABYTES  #: the same on a shared server
    without: Message  #: no file is chosen: the example is read
    instead: Message  #: after an `error` of a file: the example is read
    gone: Message  #: a file is not kept any more
    not_in_link: Message  #: an address does not hold it
    no_pairs: Message  #: the page Compare reads sentences
    no_atlas: Message  #: so does the atlas
    to_see: Message  #: of its example in a gallery
    #: what the model is told in place of two languages: what it reads, what it writes, and what is said where the first
    #: is not chosen.
    told: tuple[Message, Message, Message]
    #: what is read without a file: the name of each that one may choose, the first by default, and its content.
    examples: Mapping[str, Message]
    example: Callable[[str], Any]
    unpacked: Callable[[bytes, str], Any]  #: the content of a file of this name; an InputTextError if there is none
    num_bytes: Callable[[Any], int]  #: of a content
    #: whether a content is a `model.sources.sound_file.Sound`: recorded, played, and read in parts.
    is_heard: bool = False
    own_field: str = ""  #: the module of `viz.ui` with what its field has besides, an `OwnField`
    #: of_file, of_example: what is imported from which module, and the line that traces with `reader`; in that of a
    #: file, `{before}` and `{part}` are around what is cut out or hidden; of an example, `{example}` is its name.
    of_file: tuple[dict[str, str], str]
    of_example: tuple[dict[str, str], str]


FILES: Final[Mapping[SourceKind | None, FileKind]] = {
    "picture": FileKind(
        label=said("Picture, PNG or JPEG"),
        help_text=said(
            "PNG or JPEG, at most {most} MB. It stays on the machine that runs Headlight. Without a file, the model "
            "reads a picture that Headlight draws."
        ),
        without=said("No file chosen: the model reads a picture that Headlight draws."),
        instead=said("{error} The model reads a picture that Headlight draws."),
        gone=said("This picture is no longer available. Choose its file again on the left."),
        not_in_link=said("Your picture is not part of the URL: send it separately."),
        no_pairs=said(
            "This page compares sentences, but the chosen model reads pictures. The Attention page shows its heads and "
            "can hide parts of a picture. To switch a head off or point it elsewhere, open The Transformer on "
            "the Learn page."
        ),
        no_atlas=said(
            "The atlas needs sentences, but the chosen model reads pictures. The Attention page shows the metrics of "
            "its heads for one picture, under each tile, and ranks heads by them."
        ),
        to_see=said("For each word, the film shows which patches of the picture each head attends to."),
        told=(said("From"), said("Task"), said("Model default")),
        examples={
            "scene": said("house and tree (example)"),
            "line": said("line of text (example)"),
            "receipt": said("receipt (example)"),
        },
        unpacked=lambda content, name: later.picture_file.picture_of(content, name, LARGEST_SIDE),
        example=lambda name: later.picture_file.example_picture(name),
        num_bytes=lambda picture: 3 * picture.width * picture.height,
        of_file=(
            {"sources.picture_file": "picture_of"},
            "trace = reader.trace_picture({before}"
            f"picture_of(open('picture.png', 'rb').read(), 'picture.png', {LARGEST_SIDE}){{part}})",
        ),
        of_example=(
            {"sources.picture_file": "example_picture"},
            "trace = reader.trace_picture({before}example_picture('{example}'){part})",
        ),
        megabytes=5,
    ),
    "sound": FileKind(
        label=said("Sound: WAV, FLAC, OGG or MP3"),
        help_text=said(
            "WAV, FLAC, OGG or MP3, at most {most} MB and 10 minutes; the model reads up to 30 seconds of it at a "
            "time. It stays on the machine that runs Headlight. Without a file, the model reads a sentence spoken by a "
            "synthesizer."
        ),
        without=said("No file chosen: the model reads a sentence spoken by a synthesizer."),
        instead=said("{error} The model reads a sentence spoken by a synthesizer."),
        gone=said("This sound is no longer available. Choose its file again on the left."),
        not_in_link=said("Your sound is not part of the URL: send it separately."),
        no_pairs=said(
            "This page compares sentences, but the chosen model reads sound. The Attention page shows its heads. To "
            "switch a head off or point it elsewhere, open The Transformer on the Learn page; to hide spans of "
            "the sound, open Attribution on the Decode page."
        ),
        no_atlas=said(
            "The atlas needs sentences, or recordings that a model transcribes; the chosen model reads sound "
            "but writes no text. The Attention page shows the metrics of its heads for one sound, under each tile, and "
            "ranks heads by them."
        ),
        to_see=said("Point at a written token: the moment of the sound that it attends to lights up; H plays it."),
        told=(said("Spoken language"), said("The model writes"), said("Detected by the model")),
        examples={"": said("example sound")},
        unpacked=lambda content, name: heard.sound_file.sound_of(content, name, HIGHEST_RATE),
        example=lambda name: heard.sound_file.example_sound(),
        num_bytes=lambda sound: sound.samples.nbytes,
        is_heard=True,
        own_field=".sound_field",
        of_file=(
            {"sources.sound_file": "sound_of"},
            "trace = reader.trace_sound("
            f"sound_of(open('sound.wav', 'rb').read(), 'sound.wav', {HIGHEST_RATE}){{part}})",
        ),
        of_example=({"sources.sound_file": "example_sound"}, "trace = reader.trace_sound(example_sound())"),
        megabytes=20,
        shared_megabytes=20,
    ),
}


class Given(NamedTuple):
    """What a model is asked to read of the files that people gave."""

    digest: str = ""  #: as `keep` returns it, or the name of an example; "" for the first of them
    #: start, tenths: the part that is read, and its length, in tenths of a second; without a length, all of it.
    start: int = 0
    tenths: int = 0
    #: hidden, colour: a rectangle of a picture that the model is not to see, as of `PartlyHidden`; none for none.
    hidden: tuple[int, ...] = ()
    colour: str = ""

    @classmethod
    def read(cls, given_file: str) -> Self:
        """From the selection's `given_file`."""
        digest, *part = given_file.split("/")
        if len(part) > 2:
            return cls(digest, hidden=tuple(map(int, part[:-1])), colour=part[-1])
        start, tenths = map(int, part) if part else (0, 0)
        return cls(digest, start, tenths)

    @property
    def written(self) -> str:
        """As the selection's `given_file` says it."""
        if self.hidden:
            return "/".join((self.digest, *map(str, self.hidden), self.colour))
        return f"{self.digest}/{self.start}/{self.tenths}" if self.tenths else self.digest

    @property
    def call(self) -> tuple[str, str]:
        """The Python around a content that hides a part of a picture, or cuts one out of a sound."""
        if self.hidden:
            return "PartlyHidden(", f", {self.hidden}, {self.colour!r})"
        return "", f".window({self.start / 10}, {self.tenths / 10})" if self.tenths else ""


def keep(kind: FileKind, content: bytes, name: str) -> str:
    """Keep a file that a person gives, for all runs of theirs, and return what it is asked for by.

    Whoever gives the same bytes under another name has another file, so nobody sees what others call theirs. Raises
    an InputTextError if it cannot be read, or is too large.
    """
    digest = fingerprint(name.encode("utf-8", errors="replace"), content)
    if _kept().get((kind.label, digest)) is None:
        unpacked = kind.unpacked(content, name)
        _kept().put((kind.label, digest), (name, unpacked), kind.num_bytes(unpacked))
    return digest


def given(kind: FileKind, given_file: str) -> tuple[str, Any]:
    """A given file's name and content, or those of its part; by default the example. Raises as `whole`."""
    chosen = Given.read(given_file)
    name, content = whole(kind, chosen.digest)
    if chosen.hidden:
        left, top, right, bottom = chosen.hidden
        colour = next(colour for colour in later.picture_file.COLOURS if colour == chosen.colour)
        hidden = later.picture_file.PartlyHidden(content, (left, top, right, bottom), colour)
        return said("{name} with a part hidden", name=name), hidden
    if not chosen.tenths:
        return name, content
    start, end = chosen.start / 10, min((chosen.start + chosen.tenths) / 10, content.seconds)
    return f"{name} · {start:.1f}–{end:.1f} s", content.window(start, chosen.tenths / 10)


def whole(kind: FileKind, digest: str) -> tuple[str, Any]:
    """The name and content of a whole file. Raises an InputTextError if it is not kept."""
    if not digest or digest in kind.examples:
        name = digest or next(iter(kind.examples))
        return kind.examples[name], kind.example(name)
    kept = _kept().get((kind.label, digest))
    if kept is None:
        raise InputTextError(kind.gone)
    name, unpacked = kept
    return f"{name} · {digest[:6]}", unpacked


@st.cache_resource(show_spinner=False)
def _kept() -> BoundedCache[tuple[str, str], tuple[str, Any]]:
    # By its kind too: a model of pictures is never given a sound.
    return BoundedCache(MAX_FILES, MAX_BYTES)
