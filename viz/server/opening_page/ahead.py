"""Name in a document what its page will ask for, so that it is there by then.

Streamlit's document names the modules that every app needs. Those of single elements are asked for once the first
messages are there, then those that these import, and then the scripts of our pictures: three more ways to the server,
some fifty files. A browser that has their names fetches them while it still reads the first ones.
"""

import re
from functools import cache
from pathlib import Path
from typing import Final

from streamlit import file_util

from viz.server import scripts

#: Modules and typefaces by what their names begin with: an installed Streamlit that has no such file goes without.
_ELEMENTS: Final = (
    *("BidiComponent", "Button", "ButtonGroup", "Checkbox", "Html", "MenuButton"),
    *("Progress", "Selectbox", "Spinner", "TextArea", "TextInput"),
)
_TYPEFACES: Final = ("SourceSerifVariable-Roman", "MaterialSymbols-Rounded")
#: How style sheets name those of pictures.
_DRAWN_WITH: Final = {"Source Sans": "SourceSansVF-Upright", "Source Serif": _TYPEFACES[0]}
#: Our scripts, on any page and on the first one.
_EVERYWHERE: Final = ("pages/learn/story/story_bar.js", "pictures/copy_link/copy_link.js")
_FIRST_PAGE: Final = (
    "pictures/words/word_picker.js",
    "pictures/head_tools/head_tools.js",
    "pictures/head_grid/head_grid.js",
    "pages/attention/all_heads/link_question.js",
    "pages/attention/opened_head/headline.js",
    "pictures/matrix_picture/matrix_picture.js",
    "pictures/head_details/head_numbers.js",
    "pictures/tiles/tile_keeper.js",
)
#: How a module of Streamlit names another that it cannot do without.
_IMPORTED: Final = re.compile(r"""(?:from|import)\s*["']\./([\w.-]+\.js)["']""")


@cache
def links(document: bytes, *, is_first: bool) -> bytes:
    """`<link>` elements for what `document`, Streamlit's own, does not name: for the first page or another one."""
    static = Path(file_util.get_static_dir()) / "static"
    names = [f"./static/js/{name}" for name in _with_imports(static / "js")]
    ours = [scripts.address(entry) for entry in (*_EVERYWHERE, *(_FIRST_PAGE if is_first else ()))]
    parts = [f'<link rel="modulepreload" crossorigin href="{name}">' for name in names if name.encode() not in document]
    parts += [f'<link rel="modulepreload" href="{address}">' for address in ours]
    parts += [
        f'<link rel="preload" as="font" type="font/woff2" crossorigin href="./static/media/{path.name}">'
        for path in _begun(static / "media", _TYPEFACES)
    ]
    return "".join(parts).encode()


def typefaces() -> str:
    """Rules of CSS for those that pictures are drawn with, which Streamlit's own style sheet has too, but later."""
    media = Path(file_util.get_static_dir()) / "static" / "media"
    rule = '@font-face {{ font-family: "{}"; font-weight: 100 900; src: url("./static/media/{}") format("woff2"); }}'
    return "\n".join(
        rule.format(name, path.name) for name, stem in _DRAWN_WITH.items() for path in _begun(media, (stem,))
    )


def _begun(folder: Path, stems: tuple[str, ...]) -> list[Path]:
    """The files of Streamlit's whose names begin so; the rest of a name changes with its content."""
    return [path for stem in stems for path in sorted(folder.glob(f"{stem}.*"))]


def _with_imports(folder: Path) -> list[str]:
    """The modules of the elements and all that these import, each once."""
    names = [path.name for path in _begun(folder, _ELEMENTS)]
    for name in names:
        path = folder / name
        found = _IMPORTED.findall(path.read_text(encoding="utf-8")) if path.is_file() else ()
        names += [each for each in dict.fromkeys(found) if each not in names]
    return names
