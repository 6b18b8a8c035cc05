"""What a component's scripts say, in the language of a page run: the table that `messages.js` looks texts up in.

Found in the bundled script itself, so that each component is sent its own texts and nothing else; in English, nothing.
"""

import json
from collections.abc import Iterator
from functools import cache
from io import BytesIO

from viz.core import bundle, messages

#: Function → the places of its texts, counted from 1; None is the first alone.
KEYWORDS = {"_": None, "said": None, "plural": (1, 2)}


def texts_in(script: bytes) -> Iterator[str | tuple[str, str]]:
    """The texts of a script; one with a number as a pair, for 1 and for other numbers."""
    from babel.messages.extract import extract

    for _line, _function, found, _comments in extract("javascript", BytesIO(script), keywords=KEYWORDS):
        yield (str(found[0]), str(found[1])) if isinstance(found, tuple) else str(found)


def language_of(entry: str) -> str:
    """JSON for `speak` of `messages.js`: the language and the texts of the script of an entry module; "" in English."""
    code = messages.language()
    return "" if code == messages.ENGLISH else _table(entry, code)


@cache
def _table(entry: str, code: str) -> str:
    found: dict[str, str | dict[str, str]] = {}
    with messages.speaking(code):
        for text in texts_in(bundle.bundle(entry).encode()):
            if isinstance(text, tuple):
                found[text[0]] = messages.plural_forms(*text)
            else:
                found[text] = messages.template(text)
    return json.dumps({"code": messages.tag(code), "texts": found}, ensure_ascii=False, separators=(",", ":"))
