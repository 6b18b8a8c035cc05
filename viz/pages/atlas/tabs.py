"""Choose what the atlas is made of, measure it, choose the attention and the metric, and show its tabs.

It is made of our own sentences or a file, and links made by hand. Lines of a file that cannot be read are listed; what
a person loaded stays in the session. Heads are points in one tab, near ones of which look at the same tokens.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import streamlit as st

from model.errors import HeadlightError
from viz.access import findings, models
from viz.pages.atlas import data, head_panel, metric_texts
from viz.pages.atlas.data import BadLine, Reading, StoredAtlas
from viz.pages.atlas.figures import head_scatter
from viz.pages.atlas.layer_maps import tab as layer_maps
from viz.pages.atlas.metric_texts import View, maps_of
from viz.selection import state
from viz.selection.catalogue import checkpoint_root
from viz.selection.choices import CORPUS_METRICS, AtlasTab, ModelChoice
from viz.text import written
from viz.text.language import NAMES
from viz.text.messages import _, plural, said, shown
from viz.text.written import file_name
from viz.ui import controls, downloads, frame, long_work
from viz.ui.controls import plain

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from model.abilities import Abilities
    from model.analysis.atlas.measure import Atlas
    from model.analysis.corpus import CorpusSentence
    from model.analysis.metrics.head_jobs import SurestHead


def show_map_of_heads(atlas: "Atlas", view: View) -> None:
    """Heads as points, near ones of which look alike."""
    common = state.current().common
    distances, (layers, heads) = data.distances(atlas, view.site), view.shape
    name = file_name("atlas", "map of heads", view.site, view.read_off)
    with st.grid(2, min_column_width=430, gap="medium"):
        with st.container():
            frame.chart_of_heads(
                head_scatter(
                    atlas.map_positions[view.index, :layers, :heads],
                    view.values,
                    distances,
                    site=view.site,
                    name=shown(metric_texts.TEXTS[view.key].name).lower(),
                    shown=[view.shown(value) for value in view.values.flat],
                    ends=view.map.ends,
                    is_centred=view.map.centre is not None,
                    selected=(common.layer, common.head),
                ),
                # A new key with every head: plotly's own selection would make a second click on a head undo the first.
                f"atlas-places-{common.layer}-{common.head}",
                name,
                _("Heads as points; similar heads are close together"),
            )
            message = (
                "Each point is a head, coloured by the metric chosen above as on its map. Heads that attend to the "
                "same tokens are close together: the distance is the square root of the Jensen–Shannon divergence of "
                "their weights. The directions have no meaning. The plane preserves {share_held:.0%} of the squared "
                "distances; the nearest heads shown on hover are those by the full distances. Click a point to open "
                "its head."
            )
            frame.caption(message, share_held=data.share_held(atlas, view.site))
            make = partial(head_panel.distances, distances, heads)
            controls.table_button(_("All distances (CSV)"), make, name)
        with st.container():
            head_panel.show(atlas, view)


#: What is shown where a site has no such metric; every site has this one.
ELSE: Final = "confidence"
_INSTEAD: Final = said("confidence")
#: In the session: the metric that was shown last, and the head that was open.
_LAST: Final = "atlas/last"


@frame.fragment
def show(atlas: "Atlas") -> None:
    """Which attention, metric and reading, and the tabs."""
    found = findings.in_atlas(atlas)
    if found is not None:
        state.propose(site=found.site, layer=found.layer, head=found.head)
    view = _view(atlas, found)
    _open_best(view)
    state.put(state.current().within(*view.shape))
    tabs: list[frame.Tab[AtlasTab]] = [
        ("Maps", layer_maps.show),
        ("Map of heads", show_map_of_heads),
        ("Table", head_panel.show_table),
    ]
    frame.tabs("atlas_tab", tabs, atlas, view)
    st.caption(controls.plain(metric_texts.meaning(view.key, view.site, view.read_off)))


def _open_best(view: View) -> None:
    """Another metric opens on its best head, unless another head was chosen with it."""
    common, what = state.current().common, (view.site, view.name)
    before, head_before = st.session_state.get(_LAST, (what, None))
    if before != what and head_before == (common.layer, common.head):
        for layer, head in view.best(1):
            state.change(layer=layer, head=head)
    common = state.current().common
    st.session_state[_LAST] = what, (common.layer, common.head)


def _view(atlas: "Atlas", found: "SurestHead | None") -> View:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        site = controls.site([site for site in written.SITES if site in atlas.heads])
        has_norms = any(name.startswith(metric_texts.PREFIXES["norms"]) for name in atlas.metrics)
        read_off = state.current().atlas.read_off if has_norms else "weights"
        maps = maps_of(atlas, site, read_off)
        known = {head_map.key for head_map in maps}
        state.propose(corpus_metric=found.job.metric if found is not None and found.job.metric in known else ELSE)
        # A metric without a map is in the menu only where a link, or another attention, has it chosen.
        there = known | {state.current().atlas.corpus_metric}
        names = {key: metric_texts.TEXTS[key].name for key in CORPUS_METRICS if key in there}
        key = controls.dropdown("corpus_metric", _("Metric"), names, width=250)
        if has_norms:
            help_text = _(
                "Weights, or the norms of the vectors that a head adds for each token (Kobayashi et al. 2020)."
            )
            controls.segmented("read_off", _("Computed from"), metric_texts.READ_OFF_LABELS, help_text=help_text)
    if key not in known:
        why, instead = metric_texts.why_none(key, site), _(_INSTEAD)
        frame.note("{why} This shows {metric}.", why=why, metric=instead)
        key = ELSE
    return View(site, written.SITES.index(site), data.shape_of(atlas, site), key, read_off, maps)


Row = TypeVar("Row")
LABELS: Final = {"own": said("Our own sentences"), "file": said("A file")}
#: Why sentences were left out, as the file of an atlas has it.
LEFT_OUT: Final = (said("too long or blank for this model"),)
#: Bad lines that are listed; of the others, how many there are.
MAX_LISTED: Final = 5
SENTENCES, _PAIRS, _JOB = "atlas/sentences", "atlas/pairs", "atlas"


@dataclass(frozen=True)
class _Loaded(Generic[Row]):
    """An uploaded file: its name, the rows read, the rejected lines, and the error if nothing could be read."""

    name: str
    rows: tuple[Row, ...] = ()
    bad: tuple[BadLine, ...] = ()
    error: str = ""


def measured(above: "DeltaGenerator") -> "Atlas | None":
    """The atlas of what is chosen, once it is measured; until then, the means to measure it.

    Raises a HeadlightError if the checkpoint or the device will not do, or nothing could be read. `above` is where a
    person is told what is to be done first; the choice of the corpus stands below it.
    """
    with st.expander(_("Corpus"), key="atlas-corpus"):
        reading = _reading()
    if reading is None:
        above.info(_("Load a text file under “Corpus”: one sentence per line."), icon=":material/upload_file:")
        return None
    with frame.loading():
        stored = data.find(reading, state.current().model)
    with above:
        if stored.refused:
            st.warning(plain(_("Not used: {refused}", refused=stored.refused)), icon=":material/warning:")
        if stored.atlas is None:
            stored = _measured(reading) or stored
    if stored.atlas is not None:
        st.caption(_origin(stored.atlas, stored.path, reading))
    return stored.atlas


def _reading() -> Reading | None:
    model = state.current().model
    with frame.loading():
        abilities = models.abilities(model)
    is_file = state.current().atlas.corpus == "file"
    if data.reads_english(models.languages(model)):
        is_file = controls.segmented("corpus", _("Corpus contents"), LABELS) == "file"
    else:
        frame.small_print(
            "The sentences that ship are in English, but this model reads {language}.", language=_language(model)
        )
        is_file = True
    sentences: _Loaded[CorpusSentence] | None = None
    if is_file:
        label, help_text = _of_sentences(writes=_writes_from_source(abilities))
        sentences = _upload(label, SENTENCES, data.read_sentences, help_text)
    elif _writes_from_source(abilities):
        frame.small_print("200 everyday sentences written by us; the model reads them with its own translations.")
    else:
        frame.small_print("200 everyday sentences written by us.")
    return _with_pairs(sentences, is_file=is_file, with_links=abilities.is_headlight)


def _of_sentences(*, writes: bool) -> tuple[str, str]:
    """The label and the help of the field for a file of sentences."""
    if writes:
        return _("Sentences, one per line, or sentence TAB translation"), _(
            "UTF-8, at most {most:,} sentences. If a line gives a translation, the decoder reads it; otherwise the "
            "model translates first. For longer files use the command `python -m model atlas --text FILE.txt --out "
            "FILE.npz`.",
            most=data.MAX_SENTENCES,
        )
    return _("Sentences, one per line"), _(
        "UTF-8, at most {most:,} sentences. For longer files use the command `python -m model atlas --text FILE.txt "
        "--out FILE.npz`.",
        most=data.MAX_SENTENCES,
    )


def _language(model: ModelChoice) -> str:
    code = models.languages(model)[0]
    return shown(NAMES[code]) if code in NAMES else plain(code)


def _writes_from_source(abilities: "Abilities") -> bool:
    return abilities.kind == "encoder-decoder"


def _with_pairs(sentences: "_Loaded[CorpusSentence] | None", *, is_file: bool, with_links: bool) -> Reading | None:
    """What is to be read: the sentences of a file or ours, and links made by hand where a translator can be asked."""
    if not with_links:
        if not is_file:
            return data.reading(None, ())
        return None if sentences is None or not sentences.rows else data.reading(sentences.rows, ())
    pairs = _upload(
        _("Manual word alignments, for alignment error rates (optional)"),
        _PAIRS,
        data.read_pairs,
        _(
            'One JSON object per line: {{"en": [words], "de": [words], "sure": [[en index, de index], …]}}, indices '
            "from 0. At most {most:,} pairs; they form a separate set.",
            most=data.MAX_PAIRS,
        ),
    )
    aligned = () if pairs is None else pairs.rows
    if not is_file:
        return data.reading(None, aligned)
    return None if sentences is None or not sentences.rows else data.reading(sentences.rows, aligned)


def _upload(
    label: str, slot_key: str, read: Callable[[bytes, str], tuple[tuple[Row, ...], list[BadLine]]], help_text: str
) -> _Loaded[Row] | None:
    """A field for a file, and what was read of the one that is loaded."""
    key = f"{slot_key}-file"

    def take() -> None:
        file = st.session_state[key]
        if file is None:
            st.session_state.pop(slot_key, None)
            return
        try:
            rows, bad = read(downloads.content(file), file.name)
            st.session_state[slot_key] = _Loaded(file.name, rows, tuple(bad))
        except HeadlightError as error:
            st.session_state[slot_key] = _Loaded(file.name, error=error.message)

    downloads.field(label, key=key, help_text=help_text, on_change=take)
    loaded: _Loaded[Row] | None = st.session_state.get(slot_key)
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
    st.caption(plain(_(message, name=loaded.name, num_rows=len(loaded.rows), num_bad=len(loaded.bad))))
    if loaded.bad:
        listed = [_(line.message) for line in loaded.bad[:MAX_LISTED]]
        if more := len(loaded.bad) - len(listed):
            listed.append(_("And {count:,} more.", count=more))
        st.warning(plain("  \n".join(listed)), icon=":material/rule:")
    return loaded


def _measured(reading: Reading) -> StoredAtlas | None:
    """The atlas, once it is measured; until then the button that begins that, or its progress."""
    task = data.measuring(reading, models.reader(state.current().model))
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
    read = plural("{count:,} sentence read", "{count:,} sentences read", len(atlas.texts))
    for reason, count in atlas.skipped.items():
        read = _("{read}; {count:,} skipped: {reason}", read=read, count=count, reason=_(reason))
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
