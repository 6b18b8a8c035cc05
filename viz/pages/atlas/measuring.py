"""Choose what the atlas is made of, and measure it.

It is made of our own sentences or a file, and links made by hand. Lines of a file that cannot be read are listed; what
a person loaded stays in the session.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from viz.access import models, text_files
from viz.pages.atlas import data, metric_texts
from viz.pages.atlas.data import Reading, StoredAtlas
from viz.selection import state
from viz.selection.catalogue import checkpoint_root
from viz.selection.choices import ModelChoice
from viz.text.language import NAMES
from viz.text.messages import _, plural, said, shown
from viz.text.written import percent
from viz.ui import controls, frame, long_work, own_texts, terms
from viz.ui.controls import plain
from viz.ui.own_texts import Loaded
from viz.ui.snippets import Snippet, alone, folder, line, of_model

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from model.abilities import Abilities
    from model.analysis.atlas.measure import Atlas
    from model.analysis.corpus import CorpusSentence
    from model.analysis.metrics.alignment import AlignedPair

LABELS: Final = {"own": said("Headlight's sentences"), "file": said("A file")}
SENTENCES, _PAIRS, _JOB = "atlas/sentences", "atlas/pairs", "atlas"
STRONGEST: Final = said("Sentences in which **{name}** of this head is highest")
IS_READ: Final = True
_COMMAND = "python -m model atlas --text FILE.txt --out FILE.npz"


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


def choose(text: str) -> None:
    """Choose a sentence of the corpus."""
    state.choose(text=text)


def python(*lines: str) -> Snippet:
    """Lines about `atlas`: the one that comes with the model, else measured again."""
    model = state.current().model
    loaded = st.session_state.get(SENTENCES) if state.current().atlas.corpus == "file" else None
    sinks = state.current().common.sinks
    if (
        loaded is None
        and sinks
        and data.find(data.reading(None, ()), model).path == models.folder(model) / data.SHIPPED
    ):
        opened = f"atlas = load_atlas({folder(model)} / {data.SHIPPED!r})"
        return alone({"analysis.atlas.file": "load_atlas"}, opened, *lines)
    read, package, corpora = "OWN_CORPUS", "headlight", "OWN_CORPUS, read_text"
    if loaded is not None:
        read, package, corpora = line("pathlib.Path({})", loaded.name), "headlight, pathlib", "read_text"
        if (origin := loaded.origin) is not None:
            read += f", columns={origin.columns}, sample={origin.sample}, seed={origin.seed}"
    imports = {
        "analysis.atlas.measure": "build_atlas",
        "analysis.coreference.case_files": "cases_for",
        "analysis.corpus": corpora,
        **({"analysis.data_files": "Columns"} if "Columns(" in read else {}),
    }
    built = f"atlas = build_atlas(reader, read_text({read}), cases=cases_for(reader){'' if sinks else ', sinks=False'})"
    return of_model(imports, built, *lines, package=package)


def _reading() -> Reading | None:
    model = state.current().model
    with frame.loading():
        abilities = models.abilities(model)
    is_file = state.current().atlas.corpus == "file"
    if models.languages(model)[0] in ("", "en"):
        is_file = controls.segmented("corpus", _("Corpus contents"), LABELS) == "file"
    else:
        frame.caption(
            "The sentences included with Headlight are in English, but this model reads {language}.",
            language=_language(model),
        )
        is_file = True
    sentences: Loaded[CorpusSentence] | None = None
    if is_file:
        sentences = own_texts.sentences(SENTENCES, _COMMAND, writes=_writes_from_source(abilities))
    elif _writes_from_source(abilities):
        frame.caption(
            "200 everyday sentences written for Headlight; the model reads them together with its own translations of "
            "them."
        )
    else:
        frame.caption("200 everyday sentences written for Headlight.")
    return _with_pairs(sentences, is_file=is_file, with_links=abilities.has("alignment links"))


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
    pairs = own_texts.upload(
        _("Manual word alignments, for alignment error rates (optional)"),
        _PAIRS,
        _read_pairs,
        _(
            'One JSON object per line: {{"en": [words], "de": [words], "sure": [[en index, de index], …]}}, indices '
            "from 0. At most {most:,} pairs; they form a separate set.",
            most=text_files.MAX_PAIRS,
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
    rows, bad = text_files.read_pairs(content, name)
    return Loaded(name, rows, tuple(bad))


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
            "{read}; sinks are left out as keys, and nothing is renormalised; sinks had {middle} of the median head's "
            "weight ({low} to {high})"
        )
        read = _(message, read=read, low=low, middle=middle, high=high)
    file = _short(path)
    if reading.is_own:
        return plain(_("Headlight's corpus: {read}. Saved in {file}.", read=read, file=file))
    return plain(_("Your file: {read}. Saved in {file}.", read=read, file=file))


def _short(path: Path | None) -> str:
    """A path as people write it: from the folder of checkpoints on, or with ~ for the home directory; with slashes."""
    if path is None:
        return _("this session only")
    for base, name in ((checkpoint_root().parent, Path()), (Path.home(), Path("~"))):
        if path.is_relative_to(base):
            return (name / path.relative_to(base)).as_posix()
    return str(path)
