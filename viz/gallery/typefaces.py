"""The typefaces of the app as a style sheet of a site, which fetches nothing from elsewhere.

They are files of Streamlit, which is installed. A site gets the signs of European languages and of formulas, in the
weights that it draws. Their licence, the SIL Open Font License, lets a changed copy be passed on under another name and
with its notice: so they are called after Headlight. Chinese is drawn by the reader's own typeface, as in the app.
"""

import base64
import io
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final, NamedTuple

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer


class _Typeface(NamedTuple):
    family: str
    file: str  #: how its file in Streamlit begins
    weight: str  #: for CSS
    features: Sequence[str]  #: of OpenType; kerning along an axis takes seconds to pin
    pinned: Mapping[str, float]  #: axes of which one value is kept; with none it varies as the whole one does


_TYPEFACES: Final = (
    _Typeface("Headlight Sans", "SourceSansVF-Upright.", "200 900", ("kern", "mark", "ccmp", "tnum"), {}),
    _Typeface("Headlight Serif", "SourceSerifVariable-Roman.", "600", ("mark", "ccmp"), {"wght": 600, "opsz": 20}),
)
#: Latin, Greek, Cyrillic, marks, arrows, signs of mathematics, triangles and ticks.
_SIGNS: Final = (
    *range(0x20, 0x7F), *range(0xA0, 0x250), *range(0x370, 0x460), *range(0x1E00, 0x1F00), *range(0x2010, 0x20AD),
    0x2113, *range(0x2190, 0x2266), *range(0x25A0, 0x2600), 0x2713,
)  # fmt: skip
#: Of the names in a file: whose it is, and under which licence.
_NOTICE: Final = [0, 13, 14]


@cache
def style_sheet() -> str:
    """The rules of CSS that hold the typefaces; none of a typeface that this Streamlit does not carry."""
    media = Path(str(files("streamlit"))) / "static" / "static" / "media"
    return "".join(
        f'@font-face{{font-family:"{face.family}";font-weight:{face.weight};'
        f"src:url(data:font/woff2;base64,{base64.b64encode(_cut(face, file.read_bytes())).decode('ascii')})}}\n"
        for face in _TYPEFACES
        for file in media.glob(f"{face.file}*.woff2")
    )


def _cut(face: _Typeface, whole: bytes) -> bytes:
    """A typeface with what a site draws."""
    font, made = TTFont(io.BytesIO(whole)), io.BytesIO()
    # Their names would keep one that is reserved.
    font["fvar"].instances.clear()
    cutter = subset.Subsetter(subset.Options(hinting=False, name_IDs=_NOTICE, layout_features=face.features))
    cutter.populate(unicodes=_SIGNS)
    cutter.subset(font)
    if face.pinned:
        instancer.instantiateVariableFont(font, face.pinned, inplace=True)
    for number, name in ((1, face.family), (4, face.family), (6, face.family.replace(" ", ""))):
        font["name"].setName(name, number, 3, 1, 0x409)
    font.flavor = "woff2"
    font.save(made)
    return made.getvalue()
