"""Write one HTML page that needs no network and that no text within it can break out of.

What may run is named by its hash in a Content-Security-Policy; everything else, and every request, is refused by the
browser itself.
"""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from html import escape
from typing import Final

from viz.core import bundle, messages, script_texts

#: The colours of `.streamlit/config.toml`, which neither an iframe nor a file on a disk can see.
LIGHT: Final = {
    "scheme": "light",
    "text": "#1a2033",
    "paper": "#fdfcf9",
    "field": "#f3f1ea",
    "line": "#dfdbcf",
    "hover": "#e2dfd4",
    "accent": "#1c6390",
}
DARK: Final = {
    "scheme": "dark",
    "text": "#ebe8de",
    "paper": "#171c29",
    "field": "#202636",
    "line": "#343c50",
    "hover": "#39425a",
    "accent": "#58a3d6",
}

_ENDS_ITS_ELEMENT: Final = re.compile("</script|<!--", re.IGNORECASE)


def script_json(value: object) -> str:
    """JSON that neither closes a script element nor breaks a line of JavaScript."""
    return _without_ends(json.dumps(value, separators=(",", ":")))


def _without_ends(text: str) -> str:
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def offline_page(
    *, title: str, style: str, body: str, libraries: Sequence[str], script: str = "", entry: str = ""
) -> str:
    """The page, in the language in which it is made: `libraries` run before `body` is there, `script` and then `entry`
    after. Pictures may only be part of the page itself.

    Args:
        title: as text.
        style: a style sheet.
        body: as HTML, in which everything of people is escaped.
        libraries: scripts that others wrote.
        script: the page's own, in which everything of people went through `script_json`.
        entry: module of ours (its path in `viz`) that exports nothing and finds the texts of this language.
    """
    script += _of_module(entry) if entry else ""
    for source in (*libraries, script):
        assert not _ENDS_ITS_ELEMENT.search(source), "a script must not be able to end its element"
    assert "</style" not in style.lower(), "a style sheet must not be able to end its element"
    allowed = " ".join(f"'sha256-{_sha256(source)}'" for source in (*libraries, script))
    policy = f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:"
    return "".join(
        (
            f'<!doctype html><html lang="{messages.tag(messages.language())}"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title><style>{style}</style>",
            *(f"<script>{library}</script>" for library in libraries),
            f"</head><body>{body}<script>{script}</script></body></html>",
        )
    )


def _of_module(entry: str) -> str:
    """A module as the text of a script, after the language that `messages.js` begins with."""
    language = script_texts.language_of(entry)
    spoken = f"globalThis.headlightLanguage = {_without_ends(language)};\n" if language else ""
    return spoken + bundle.classic_script(entry)


def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
