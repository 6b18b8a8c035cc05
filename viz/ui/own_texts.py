"""The fields in which a person gives texts of their own: a file, what of it is read, and which lines were not.

What was loaded stays in the session.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import streamlit as st

from model.errors import HeadlightError
from viz.access import text_files
from viz.access.text_files import BadLine
from viz.selection import catalogue
from viz.server.widgets import sent
from viz.text.messages import _, in_a_row
from viz.ui import downloads, terms
from viz.ui.controls import plain, with_code

if TYPE_CHECKING:
    from model.analysis.corpus import CorpusSentence, Origin

Row = TypeVar("Row")
#: Bad lines that are listed; of the others, how many there are.
MAX_LISTED: Final = 5
MOST_SEED: Final = 10**9
#: Widgets of a slot: what of a file is read, and a file or folder of this machine.
_WIDGETS: Final = ("column", "translations", "sample", "seed", "path")


@dataclass(frozen=True)
class Loaded(Generic[Row]):
    """An uploaded file: its name, the rows read, the rejected lines, and the error if nothing could be read."""

    name: str
    rows: tuple[Row, ...] = ()
    bad: tuple[BadLine, ...] = ()
    error: str = ""
    origin: "Origin | None" = None  #: of sentences


def _of_sentences(command: str, *, writes: bool) -> tuple[str, str]:
    """The label and the help of the field for a file of sentences."""
    help_text = _(
        "UTF-8 text, .csv, .tsv or .jsonl, also compressed (.gz, .xz, .bz2), or .parquet; at most {most:,} sentences, "
        "or a random sample of that many. For more sentences use the command `{command}`.",
        most=text_files.MAX_SENTENCES,
        command=command,
    )
    if writes:
        also = _("If a row gives a translation, the decoder reads it; otherwise the model translates first.")
        return _("Sentences, one per line, or sentence TAB translation"), in_a_row((help_text, also))
    return _("Sentences, one per line"), help_text


def sentences(slot: str, command: str, *, writes: bool) -> "Loaded[CorpusSentence] | None":
    """The field for a file, and what of it is read; on one's own machine also a path.

    `slot` is the key in the session of what was read, `command` what does the same with more sentences; `writes` is
    whether the model writes, or reads, translations.
    """
    label, help_text = _of_sentences(command, writes=writes)
    column, translations, sample, seed, path_key = (f"{slot}-{name}" for name in _WIDGETS)

    def read(content: bytes, name: str) -> "Loaded[CorpusSentence]":
        rows, bad, origin = text_files.read_sentences(content, name, _drawn(slot))
        return Loaded(name, rows, tuple(bad), origin=origin)

    def read_again() -> None:
        if path := sent(path_key):
            st.session_state[slot] = _read(str(path), lambda: _at(str(path), slot))
        elif st.session_state.get(f"{slot}-file") is not None:
            _take(slot, read)

    loaded = upload(label, slot, read, help_text)
    if catalogue.folders_to_add_from() is None:
        help_path = _(
            "A file of any size, or a folder saved by the library datasets. Leave it empty to use the field above."
        )
        st.text_input(_("Or a file or folder on this machine"), key=path_key, help=help_path, on_change=read_again)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        help_column = _("The name of the column with the sentences; “text” if nothing is typed.")
        st.text_input(_("Column"), key=column, max_chars=200, width=160, help=help_column, on_change=read_again)
        st.text_input(_("Column of translations"), key=translations, max_chars=200, width=180, on_change=read_again)
        help_sample = _(
            "This many sentences are drawn from all, at random; the same seed draws the same ones on every machine."
        )
        bounds = (1, text_files.MAX_SENTENCES, None)
        st.number_input(_("Sample size"), *bounds, key=sample, width=140, help=help_sample, on_change=read_again)
        st.number_input(_("Seed"), 0, MOST_SEED, key=seed, width=140, on_change=read_again)
    return loaded


def _drawn(slot: str) -> text_files.Drawn:
    """What the widgets ask for; a forged message can hold anything."""
    column, translations, sample, seed = (sent(f"{slot}-{name}") for name in _WIDGETS[:4])
    return text_files.Drawn(
        column if isinstance(column, str) else "",
        translations if isinstance(translations, str) else "",
        sample if isinstance(sample, int) and 0 < sample <= text_files.MAX_SENTENCES else None,
        seed if isinstance(seed, int) and 0 <= seed <= MOST_SEED else 0,
    )


def _at(path: str, slot: str) -> "Loaded[CorpusSentence]":
    catalogue.check_may_name_folders()
    rows, bad, origin = text_files.read_sentences_at(path, _drawn(slot))
    return Loaded(Path(path).name, rows, tuple(bad), origin=origin)


def _read(name: str, read: Callable[[], Loaded[Row]]) -> Loaded[Row]:
    """What is read, or why nothing could be."""
    try:
        return read()
    except HeadlightError as error:
        return Loaded(name, error=error.message)


def _take(slot_key: str, read: Callable[[bytes, str], Loaded[Row]]) -> None:
    """Keep in the session what is read of the file in a field; nothing where there is none."""
    file = st.session_state[f"{slot_key}-file"]
    if file is None:
        st.session_state.pop(slot_key, None)
    else:
        st.session_state[slot_key] = _read(file.name, lambda: read(downloads.content(file), file.name))


def upload(label: str, slot_key: str, read: Callable[[bytes, str], Loaded[Row]], help_text: str) -> Loaded[Row] | None:
    """A field for a file, and what was read of the one that is loaded."""
    key = f"{slot_key}-file"
    downloads.field(label, key=key, help_text=help_text, on_change=partial(_take, slot_key, read))
    loaded: Loaded[Row] | None = st.session_state.get(slot_key)
    if loaded is None:
        return None
    if st.session_state.get(key) is None:
        # After another page the field is empty, but what was loaded is still here.
        st.button(
            _("Remove {name}", name=plain(loaded.name)),
            key=f"{slot_key}-forget",
            icon=":material/close:",
            on_click=st.session_state.pop,
            args=(slot_key, None),
        )
    if loaded.error:
        st.error(with_code(loaded.error), icon=":material/error:")
        return loaded
    message = "{name} – rows read: {num_rows:,}; lines skipped: {num_bad:,}."
    terms.caption(plain(_(message, name=loaded.name, num_rows=len(loaded.rows), num_bad=len(loaded.bad))))
    if loaded.bad:
        listed = [_(line.message) for line in loaded.bad[:MAX_LISTED]]
        if more := len(loaded.bad) - len(listed):
            listed.append(_("And {count:,} more.", count=more))
        st.warning(plain("  \n".join(listed)), icon=":material/rule:")
    return loaded
