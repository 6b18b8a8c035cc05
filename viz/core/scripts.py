"""Join scripts and styles for a component, compressed."""

import base64
import re
import zlib
from pathlib import Path
from typing import Final

#: Scripts and styles by their names, wherever in `viz` they lie.
_SOURCES: Final = {path.name: path for path in Path(__file__).parents[1].rglob("*") if path.suffix in (".js", ".css")}

#: Comments that have lines of their own, and what lies between the ends of two lines. No string here spans lines.
_COMMENT: Final = re.compile(r"^\s*(?://.*|/\*(?:(?!\*/)[\s\S])*\*/)\s*$", re.MULTILINE)
_BETWEEN_LINES: Final = re.compile(r"\s*\n\s*")


#: Unpacks a script and hands every call on to it; Streamlit waits for what a component's function promises.
_UNPACKER: Final = """
const unpacked = (async () => {
const bytes = Uint8Array.from(atob("%s"), (character) => character.charCodeAt(0));
const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
return import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
})();
export default async (component) => (await unpacked).default(component);
"""


def sources(*names: str) -> str:
    """The scripts or styles of these names, joined, without comments and indentation."""
    # Some are modules already (viz.core.bundle); without their imports and exports they can still be joined by hand.
    files = {"wire.js": ["payload.js"], "save_picture.js": ["picture_file.js", "save_picture.js"]}
    texts = [_SOURCES[file].read_text(encoding="utf-8") for name in names for file in files.get(name, [name])]
    joined = re.sub(r"^@?import [^;]*;$|^export (?!default)", "", "\n".join(texts), flags=re.MULTILINE)
    return _BETWEEN_LINES.sub("\n", _COMMENT.sub("", joined)).strip()


def script(*names: str) -> str:
    """The scripts of these names as one for `st.components.v2.component`, the last one with its function.

    Streamlit sends it with every message to the component, so it travels compressed, in a third of its length.
    """
    text = f"{sources(*names)}\n//# sourceURL=headlight/{names[-1]}"
    return _UNPACKER.strip() % base64.b64encode(zlib.compress(text.encode("utf-8"), 9)).decode("ascii")
