"""What the pictures of a page draw, as scripts: what is said in one language, and the numbers that all languages share.

A payload is cut into pieces, its header and its arrays. Each goes into one of three files: that of a language, that of
the page in all languages, or that of all walks of a model. A file holds its pieces one after another, each behind its
length, compressed and in base 85, which takes a sixteenth less than base 64. `draw_gallery.js` puts them together.
"""

import base64
import json
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from viz.pictures.offline import Drawing
from viz.pictures.payload import fingerprint
from viz.text.messages import speaking

#: What a page draws at once, and what is drawn when a person opens it.
Group = Literal["picture", "walk"]
#: Every file begins with it.
LEAVE: Final = "globalThis.headlightGallery ??= { own: {}, shared: {}, scripts: {} };\nheadlightGallery."
_BYTES: Final = {"uint8": 1, "uint16": 2, "float32": 4}
#: Bytes that nothing has when it is compressed.
_NOTHING: Final = 8
#: Files by their places in what a script knows of a payload: "0121" is one of four pieces.
_OWN, _SHARED, _OF_MODEL = "012"


@dataclass(slots=True)
class _Pieces:
    """The pieces in one file."""

    joined: bytearray = field(default_factory=bytearray)

    def add(self, piece: bytes) -> None:
        self.joined += struct.pack("<I", len(piece)) + piece

    def text(self) -> str:
        return json.dumps(base64.b85encode(zlib.compress(self.joined, 9)).decode("ascii"))


def data_files(page: str, group: Group, drawn: Mapping[str, Sequence[Drawing]]) -> tuple[dict[str, str], list[str]]:
    """Of each file, by its name without the ending, the text; and the names of those that every language needs.

    The file of a language is called like the page and the group, then its code. Pictures of languages (`drawn`) differ
    in what they say; a walk's last array but one is that of the model.
    """
    told = {code: _payloads(code, drawings) for code, drawings in drawn.items()}
    own = {code: _Pieces() for code in drawn}
    shared, of_model, plan = _Pieces(), _Pieces(), list[list[str]]()
    for picture in zip(*told.values(), strict=True):
        plan.append([])
        for payload in zip(*picture, strict=True):
            places = ""
            for at, piece in enumerate(zip(*payload, strict=True)):
                is_same = len(set(piece)) == 1
                is_of_model = group == "walk" and at == len(payload[0]) - 2 and len(piece[0]) > _NOTHING
                places += _OF_MODEL if is_of_model else _SHARED if is_same else _OWN
                if is_same:
                    (of_model if is_of_model else shared).add(piece[0])
                else:
                    for pieces, each in zip(own.values(), piece, strict=True):
                        pieces.add(each)
            plan[-1].append(places)
    model = f"model-{fingerprint(of_model.text())}"
    name = f"{page}-{group}"
    commons = {name: shared} | ({model: of_model} if of_model.joined else {})
    files = {each: f"{LEAVE}shared[{json.dumps(each)}] = {pieces.text()};\n" for each, pieces in commons.items()}
    for code, pieces in own.items():
        known = json.dumps({"plan": plan, "shared": list(commons)}, separators=(",", ":"))
        files[f"{name}.{code}"] = f"{LEAVE}own.{group} = {{ ...{known}, data: {pieces.text()} }};\n"
    return files, list(commons)


def _payloads(code: str, drawings: Sequence[Drawing]) -> list[list[list[bytes]]]:
    """Of each picture in a language the pieces of its plan, and of each payload."""
    with speaking(code):
        return [
            [[json.dumps(drawing.plan()).encode()], *(list(_pieces(payload)) for payload in drawing.payloads())]
            for drawing in drawings
        ]


def _pieces(payload: bytes) -> Iterator[bytes]:
    """The header with its length, then the arrays."""
    (length,) = struct.unpack_from("<I", payload)
    end = 4 + length
    yield payload[:end]
    for kind, count in json.loads(payload[4:end])["arrays"]:
        start, end = end, end + count * _BYTES[kind]
        yield payload[start:end]
