"""Say everything in the language of whoever looks: English in the source, other languages in catalogues.

    _("{count:,} pieces of {name}", count=len(pieces), name=name)      said now, in the language of this page run
    plural("{count:,} head", "{count:,} heads", len(heads))            likewise, of a number
    said("Automatic")                                                  kept as it is, and said by `_(…)` when shown

The English sentence is the key of the catalogue, so it stands in the source as a literal, whole. A catalogue is a file
of `viz/locale`, named by the code of its language; `python -m viz.locale` keeps it up to date. Outside of a
page run (a notebook, a test, the thread of a job) it is English.

What is kept for all viewers holds no language: a cache keeps what `said` returns, and its page translates it.
Lists and rows of sentences are joined as the language does: with its commas, spaces and words.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, reduce
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path
from typing import Final

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from model.errors import Message, said, said_plural

__all__ = ["Message", "_", "languages", "plural", "said", "said_plural", "shown", "speak", "speaking"]

ENGLISH: Final = "en"
FOLDER: Final = Path(__file__).parents[1] / "locale"
#: What the catalogue of a language calls it: the translation of this.
OWN_NAME: Final = "English"

#: The language of this thread; "" where it has not been asked yet. Each page run has a thread of its session alone.
_SPOKEN: ContextVar[str] = ContextVar("language", default="")
_OF_SESSION: Final = "messages/language"
_SUPERSCRIPTS: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
#: Among so many numbers there is one of each form of a plural.
_TRIED: Final = 200


def _(text: str, /, **values: object) -> str:
    """A sentence in the language of this page run.

    `text` is a literal, its template where there are values, or what `said` made of one; messages among the values are
    translated too.
    """
    if isinstance(text, Message):
        if text.values:
            return _of_message(text)
        text = text.template
    return _filled(_catalogue(language()).gettext(text) if text else "", values)


def plural(one: str, many: str, count: int, /, **values: object) -> str:
    """A sentence with a number, in the language's plural form; `{count}` in it is the number."""
    return _filled(_catalogue(language()).ngettext(one, many, count), {"count": count, **values})


def shown(text: str) -> str:
    """A message made by `said`, in the language of this page run; any other text unchanged, for it may be anyone's."""
    return _of_message(text) if isinstance(text, Message) else text


def in_every_language(text: str) -> str:
    """A text in every language, "Language / 语言": for a control that everyone must find."""
    return " / ".join(dict.fromkeys(_catalogue(code).gettext(text) for code in languages()))


def language() -> str:
    """The code of the language of this page run; English outside of one."""
    if code := _SPOKEN.get():
        return code
    # A callback or a part of a page runs before the page, in a separate thread.
    if get_script_run_ctx(suppress_warning=True) is None:
        return ENGLISH
    code = str(st.session_state.get(_OF_SESSION, ENGLISH))
    _SPOKEN.set(code)
    return code


def speak(code: str) -> None:
    """Set the language of this session's pages; call it at the start of every run."""
    st.session_state[_OF_SESSION] = code
    _SPOKEN.set(code)


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Within this block, sentences are in this language."""
    before = _SPOKEN.set(code)
    try:
        yield
    finally:
        _SPOKEN.reset(before)


@cache
def languages() -> Mapping[str, str]:
    """Code → name of every language there is, in that language; English first."""
    codes = sorted(path.stem for path in FOLDER.glob("*.po"))
    return {ENGLISH: OWN_NAME} | {code: _catalogue(code).pgettext("name of the language", OWN_NAME) for code in codes}


def nearest(locale: str | None) -> str:
    """The catalogue's language for a browser's, which may name a country or script: "zh-CN" → "zh"; else English."""
    wanted = (locale or "").replace("-", "_").casefold()
    known = {code.casefold(): code for code in languages()}
    while wanted and wanted not in known:
        wanted = wanted.rpartition("_")[0]
    return known.get(wanted, ENGLISH)


def template(text: str) -> str:
    """A template in the language of this page run, with its names as they are."""
    return _catalogue(language()).gettext(text)


def plural_forms(one: str, many: str) -> dict[str, str]:
    """The forms of a template with a number, by the categories that browsers know: "one", "few", "other"."""
    from babel import Locale

    category = Locale.parse(language()).plural_form
    numbers: dict[str, int] = {}
    for number in range(_TRIED):
        numbers.setdefault(category(number), number)
    return {name: _catalogue(language()).ngettext(one, many, number) for name, number in numbers.items()}


def tag(code: str) -> str:
    """A language as HTML names it, with "-" between its parts."""
    return code.replace("_", "-")


def _of_message(message: Message) -> str:
    if message.many:
        return plural(message.template, message.many, message.values["count"], **message.values)  # type: ignore[arg-type]
    return _(message.template, **message.values)


def _filled(template: str, values: Mapping[str, object]) -> str:
    return template.format(**{name: _value(value) for name, value in values.items()}) if values else template


def _value(value: object) -> object:
    # An error, or what was wrong with a value, carries its message.
    message = getattr(value, "message", value)
    # A number with a way of its own to be written keeps it.
    if type(value) is float:
        return _Number(value)
    return _of_message(message) if isinstance(message, Message) else value


class _Number(float):
    """A number that is written as a power of ten, 3·10⁻⁷, where a template says `:.0e`."""

    def __format__(self, form: str) -> str:
        return power_of_ten(super().__format__(form)) if form.endswith("e") else super().__format__(form)


def power_of_ten(text: str) -> str:
    """What Python writes as "3e-07", as 3·10⁻⁷."""
    if "e" not in text:
        return text
    digits, exponent = text.split("e")
    return "0" if float(digits) == 0 else f"{digits}·10{str(int(exponent)).translate(_SUPERSCRIPTS)}"


@cache
def _catalogue(code: str) -> NullTranslations:
    """The translations into a language, compiled in memory."""
    if code == ENGLISH:
        return NullTranslations()
    # A fifth of a second for a whole catalogue: a server whose viewers read English alone never needs it.
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    with (FOLDER / f"{code}.po").open("rb") as file:
        read = read_po(file, locale=code)
    compiled = BytesIO()
    write_mo(compiled, read)
    compiled.seek(0)
    return GNUTranslations(compiled)


def in_a_row(sentences: Iterable[str]) -> str:
    """Sentences in a row, without empty ones."""
    return _joined(sentences, lambda before, last: _("{before} {sentence}", before=before, sentence=last))


def with_commas(members: Iterable[str]) -> str:
    """A list with commas: "a, b, c"."""
    return _joined(members, lambda before, last: _("{before}, {last}", before=before, last=last))


def with_and(members: Iterable[str]) -> str:
    """A list with "and": "a and b"."""
    return _joined(members, lambda before, last: _("{before} and {last}", before=before, last=last))


def clauses_with_and(clauses: Iterable[str]) -> str:
    """Clauses joined by "and": "A keeps it and B takes it"."""
    return _joined(clauses, lambda before, last: _("{before} and {clause}", before=before, clause=last))


def with_or(members: Iterable[str]) -> str:
    """A list with "or": "a or b"."""
    return _joined(members, lambda before, last: _("{before} or {last}", before=before, last=last))


def _joined(parts: Iterable[str], both: Callable[[str, str], str]) -> str:
    said_now = [text for part in parts if (text := shown(part))]
    return reduce(both, said_now) if said_now else ""
