"""What a component's scripts say, in the language of a page run: the table that `messages.js` looks texts up in.

Found in the bundled script itself, so that each component is sent its own texts and nothing else; in English, nothing.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from io import BytesIO
from typing import Final

from viz.server import bundle
from viz.text import messages

#: The functions of `messages.js` whose first argument is a text; `plural` has two.
_FUNCTIONS: Final[Mapping[str, None]] = {"_": None, "said": None, "plural": None}


def texts_in(script: bytes) -> Iterator[str | tuple[str, str]]:
    """The texts of a script; one with a number as a pair, for 1 and for other numbers."""
    from babel.messages.extract import extract_javascript

    for _line, function, found, _comments in extract_javascript(BytesIO(script), _FUNCTIONS, (), {}):
        one, many = (*found, None)[:2] if isinstance(found, list | tuple) else (found, None)
        if one and many and function == "plural":
            yield one, many
        elif one and function != "plural":
            yield one


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
