"""Choose what the atlas is made of, and measure it.

It is made of our own sentences or a file, and links made by hand. Lines of a file that cannot be read are listed; what
a person loaded stays in the session.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import numpy as np
import streamlit as st

from model.errors import HeadlightError
from viz.access import models
from viz.pages.atlas import data, metric_texts
from viz.pages.atlas.data import Reading, StoredAtlas, files
from viz.pages.atlas.data.files import BadLine
from viz.selection import catalogue, state
from viz.selection.catalogue import checkpoint_root
from viz.selection.choices import ModelChoice
from viz.server.widgets import sent
from viz.text.language import NAMES
from viz.text.messages import _, in_a_row, plural, said, shown
from viz.text.written import percent
from viz.ui import controls, downloads, frame, long_work, terms
from viz.ui.controls import plain

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from model.abilities import Abilities
    from model.analysis.atlas.measure import Atlas
    from model.analysis.corpus import CorpusSentence, Origin
    from model.analysis.metrics.alignment import AlignedPair


Row = TypeVar("Row")
LABELS: Final = {"own": said("Our own sentences"), "file": said("A file")}
#: Bad lines that are listed; of the others, how many there are.
MAX_LISTED: Final = 5
MOST_SEED: Final = 10**9
SENTENCES, _PAIRS, _JOB = "atlas/sentences", "atlas/pairs", "atlas"


@dataclass(frozen=True)
class Loaded(Generic[Row]):
    """An uploaded file: its name, the rows read, the rejected lines, and the error if nothing could be read."""

    name: str
    rows: tuple[Row, ...] = ()
    bad: tuple[BadLine, ...] = ()
    error: str = ""
    origin: "Origin | None" = None  #: of sentences


def measured(above: "DeltaGenerator") -> "Atlas | None":
    """The atlas of what is chosen, once it is measured; until then, the means to measure it.

    Raises a HeadlightError if the checkpoint or the device will not do, or nothing could be read. `above` is where a
    person is told what is to be done first; the choice of the corpus stands below it.
    """
    with st.expander(_("Corpus"), key="atlas-corpus"):
        controls.sinks()
        reading = _reading()
    if reading is None:
        above.info(_("Load a file of sentences under “Corpus”."), icon=":material/upload_file:")
        return None
    with frame.loading():
        stored = data.find(reading, state.current().model)
    with above:
        if stored.refused:
            st.warning(plain(_("Not used: {refused}", refused=stored.refused)), icon=":material/warning:")
        if stored.atlas is None:
            stored = _measured(reading) or stored
    if stored.atlas is not None:
        terms.caption(_origin(stored.atlas, stored.path, reading))
        if lacking := metric_texts.lacking(stored.atlas):
            terms.caption(plain(lacking))
    return stored.atlas


def _reading() -> Reading | None:
    model = state.current().model
    with frame.loading():
        abilities = models.abilities(model)
    is_file = state.current().atlas.corpus == "file"
    if data.reads_english(models.languages(model)):
        is_file = controls.segmented("corpus", _("Corpus contents"), LABELS) == "file"
    else:
        frame.caption(
            "The sentences that ship are in English, but this model reads {language}.", language=_language(model)
        )
        is_file = True
    sentences: Loaded[CorpusSentence] | None = None
    if is_file:
        label, help_text = _of_sentences(writes=_writes_from_source(abilities))
        sentences = _sentences(label, help_text)
    elif _writes_from_source(abilities):
        frame.caption("200 everyday sentences written by us; the model reads them with its own translations.")
    else:
        frame.caption("200 everyday sentences written by us.")
    return _with_pairs(sentences, is_file=is_file, with_links=abilities.has("alignment links"))


def _of_sentences(*, writes: bool) -> tuple[str, str]:
    """The label and the help of the field for a file of sentences."""
    help_text = _(
        "UTF-8 text, .csv, .tsv or .jsonl, packed too (.gz, .xz, .bz2), or .parquet; at most {most:,} sentences, or a "
        "sample of as many. For more sentences use the command `python -m model atlas --text FILE.txt --out FILE.npz`.",
        most=files.MAX_SENTENCES,
    )
    if writes:
        also = _("If a row gives a translation, the decoder reads it; otherwise the model translates first.")
        return _("Sentences, one per line, or sentence TAB translation"), in_a_row((help_text, also))
    return _("Sentences, one per line"), help_text


#: Widgets: what of a file is read, and a file or folder of this machine.
_COLUMN, _TRANSLATIONS, _SAMPLE, _SEED, _PATH = (
    f"{SENTENCES}-{name}" for name in ("column", "translations", "sample", "seed", "path")
)


def _sentences(label: str, help_text: str) -> "Loaded[CorpusSentence] | None":
    """The field for a file, and what of it is read; on one's own machine also a path."""

    def read(content: bytes, name: str) -> "Loaded[CorpusSentence]":
        rows, bad, origin = files.read_sentences(content, name, _drawn())
        return Loaded(name, rows, tuple(bad), origin=origin)

    def read_again() -> None:
        if path := sent(_PATH):
            st.session_state[SENTENCES] = _read(str(path), lambda: _at(str(path)))
        elif st.session_state.get(f"{SENTENCES}-file") is not None:
            _take(SENTENCES, read)

    loaded = _upload(label, SENTENCES, read, help_text)
    if catalogue.folders_to_add_from() is None:
        help_path = _(
            "Of any size; also a folder that the library datasets saved. Leave it empty to use the field above."
        )
        st.text_input(_("Or a file or folder on this machine"), key=_PATH, help=help_path, on_change=read_again)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        help_column = _("The column of a table that has the sentences, by its name; “text” if nothing is typed.")
        st.text_input(_("Column"), key=_COLUMN, max_chars=200, width=160, help=help_column, on_change=read_again)
        st.text_input(_("Column of translations"), key=_TRANSLATIONS, max_chars=200, width=180, on_change=read_again)
        help_sample = _("So many sentences are drawn from all; the same seed draws the same ones on every machine.")
        bounds = (1, files.MAX_SENTENCES, None)
        st.number_input(_("Sample"), *bounds, key=_SAMPLE, width=140, help=help_sample, on_change=read_again)
        st.number_input(_("Seed"), 0, MOST_SEED, key=_SEED, width=140, on_change=read_again)
    return loaded


def _drawn() -> files.Drawn:
    """What the widgets ask for; a forged message can hold anything."""
    column, translations, sample, seed = (sent(key) for key in (_COLUMN, _TRANSLATIONS, _SAMPLE, _SEED))
    names = tuple(text if isinstance(text, str) else "" for text in (column, translations))
    size = sample if isinstance(sample, int) and 0 < sample <= files.MAX_SENTENCES else None
    return files.drawn(*names, sample=size, seed=seed if isinstance(seed, int) and 0 <= seed <= MOST_SEED else 0)


def _at(path: str) -> "Loaded[CorpusSentence]":
    catalogue.check_may_name_folders()
    rows, bad, origin = files.read_sentences_at(path, _drawn())
    return Loaded(Path(path).name, rows, tuple(bad), origin=origin)


def _language(model: ModelChoice) -> str:
    code = models.languages(model)[0]
    return shown(NAMES[code]) if code in NAMES else plain(code)


def _writes_from_source(abilities: "Abilities") -> bool:
    return abilities.kind == "encoder-decoder"


def _with_pairs(sentences: "Loaded[CorpusSentence] | None", *, is_file: bool, with_links: bool) -> Reading | None:
    """What is to be read: the sentences of a file or ours, and links made by hand where a translator can be asked."""
    if not with_links:
        if not is_file:
            return _read_by(None, ())
        return _reading_of(sentences, ())
    pairs = _upload(
        _("Manual word alignments, for alignment error rates (optional)"),
        _PAIRS,
        _read_pairs,
        _(
            'One JSON object per line: {{"en": [words], "de": [words], "sure": [[en index, de index], …]}}, indices '
            "from 0. At most {most:,} pairs; they form a separate set.",
            most=files.MAX_PAIRS,
        ),
    )
    aligned = () if pairs is None else pairs.rows
    if not is_file:
        return _read_by(None, aligned)
    return _reading_of(sentences, aligned)


def _read_by(sentences: "Loaded[CorpusSentence] | None", aligned: "tuple[AlignedPair, ...]") -> Reading:
    """With sinks or without, as is chosen."""
    sinks = state.current().common.sinks
    if sentences is None:
        return data.reading(None, aligned, sinks=sinks)
    return data.reading(sentences.rows, aligned, sentences.origin, sinks=sinks)


def _reading_of(sentences: "Loaded[CorpusSentence] | None", aligned: "tuple[AlignedPair, ...]") -> Reading | None:
    if sentences is None or not sentences.rows:
        return None
    return _read_by(sentences, aligned)


def _read_pairs(content: bytes, name: str) -> "Loaded[AlignedPair]":
    rows, bad = files.read_pairs(content, name)
    return Loaded(name, rows, tuple(bad))


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


def _upload(label: str, slot_key: str, read: Callable[[bytes, str], Loaded[Row]], help_text: str) -> Loaded[Row] | None:
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
        st.error(plain(loaded.error), icon=":material/error:")
        return loaded
    message = "{name}: {num_rows:,} read, {num_bad:,} lines skipped."
    terms.caption(plain(_(message, name=loaded.name, num_rows=len(loaded.rows), num_bad=len(loaded.bad))))
    if loaded.bad:
        listed = [_(line.message) for line in loaded.bad[:MAX_LISTED]]
        if more := len(loaded.bad) - len(listed):
            listed.append(_("And {count:,} more.", count=more))
        st.warning(plain("  \n".join(listed)), icon=":material/rule:")
    return loaded


def _measured(reading: Reading) -> StoredAtlas | None:
    """The atlas, once it is measured; until then the button that begins that, or its progress."""
    task = data.measuring(reading, state.current().model)
    about = st.empty()
    stored = long_work.outcome(task, _("Measure {count:,} sentences", count=reading.work), key=_JOB, button="primary")
    job = long_work.job_of(task, _JOB)
    if stored is None and (job is None or job.finished):
        message = (
            "There is no atlas of this model and these sentences yet. To make one, the model reads every sentence (a "
            "translator also translates it), a few per second. The atlas is saved in {folder}, so that it opens at "
            "once the next time."
        )
        about.info(_(message, folder=plain(_short(data.cache_folder()))), icon=":material/map:")
    return stored


def _origin(atlas: "Atlas", path: Path | None, reading: Reading) -> str:
    """What was read, and where the atlas came from."""
    read = plural("{count:,} sentence read", "{count:,} sentences read", atlas.sentences)
    for reason, count in atlas.skipped.items():
        read = _("{read}; {count:,} skipped: {reason}", read=read, count=count, reason=_(reason))
    if atlas.held is not None:
        low, middle, high = map(percent, np.nanquantile(atlas.held, (0, 0.5, 1)))
        message = (
            "{read}; sinks left out as keys, nothing renormalised: they held {middle} of the weight of the median head "
            "({low} to {high})"
        )
        read = _(message, read=read, low=low, middle=middle, high=high)
    file = _short(path)
    if reading.is_own:
        return plain(_("Our own corpus: {read}. Saved in {file}.", read=read, file=file))
    return plain(_("Your file: {read}. Saved in {file}.", read=read, file=file))


def _short(path: Path | None) -> str:
    """A path as people write it: from the folder of checkpoints on, or with ~ for the home directory; with slashes."""
    if path is None:
        return _("this session only")
    for base, name in ((checkpoint_root().parent, Path()), (Path.home(), Path("~"))):
        if path.is_relative_to(base):
            return (name / path.relative_to(base)).as_posix()
    return str(path)
