"""The sections of the model page, each a function of the selection, and the Python of what each shows.

Everything in a checkpoint's folder may come from anywhere, so its texts are shown as plain text or escaped HTML. None
is read as Markdown, which would fetch the pictures that a text names.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

import streamlit as st

from model.errors import HeadlightError, InputTextError
from viz.access import models
from viz.pages.model_card import data, facts, mechanisms
from viz.pages.model_card.contents import contents
from viz.pages.model_card.facts import PUBLISHED
from viz.pages.model_card.figures import parameter_bars, training_curves
from viz.selection import state
from viz.selection.choices import ModelSection
from viz.selection.selection import Selection
from viz.server.background_jobs import Progress, Task
from viz.text.html import Column, table
from viz.text.messages import _, plural, said, shown
from viz.text.written import file_name
from viz.ui import controls, downloads, frame, long_work, present, terms
from viz.ui.controls import plain, with_code
from viz.ui.snippets import Snippet, alone, folder, of_model

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from model.training_record import Measurement, Metrics

VOCABULARY_HEIGHT: Final = 420
_OF_OTHERS: Final = said(
    "{shown:,} of {all:,} tokens: {special:,} special, {bytes:,} bytes, {begin:,} that begin a word (with ▁), "
    "{within:,} within a word."
)
_OF_BOTH: Final = said(
    "{shown:,} of {all:,} tokens, the same for English and German: {special:,} special, {bytes:,} bytes, {begin:,} "
    "that begin a word (with ▁), {within:,} within a word. The tokenizer splits a text into the tokens that it finds "
    "most probable; a character that is in no token becomes its bytes, so nothing is unknown."
)
#: The section that says what a model can and cannot do.
LIMITS = said("What to expect")
NUM_DRAWN: Final = 20
_LINES: Final = Path(__file__).with_name("example_sentences.txt").read_text(encoding="utf-8").splitlines()
BANK: Final = tuple(line for line in _LINES if not line.startswith("#"))


def _vocabulary(selection: Selection) -> None:
    """Show a searchable table of all pieces."""
    reader = models.reader(selection.model)
    pieces = facts.pieces(models.vocabulary(reader), reader.special_ids, reader.byte_ids)
    counts = Counter(piece.kind for piece in pieces)
    wanted = st.text_input(
        _("Find tokens"),
        placeholder=_("Letters of a token, or an id; a space matches the ▁ before a word"),
        key="wanted",
    )
    matches = facts.matching(pieces, wanted or "")
    if not matches:
        frame.note("No token contains this. The tokenizer would use several shorter tokens or bytes.")
        return
    shown = {
        _("Id"): [p.id for p in matches],
        _("Token"): [p.shown for p in matches],
        _("Kind"): [_(p.kind) for p in matches],
    }
    # A table that is drawn on a canvas: no piece can become HTML, and only the rows in view are drawn.
    st.dataframe(
        shown,
        height=VOCABULARY_HEIGHT,
        hide_index=True,
        column_config={_("Id"): st.column_config.NumberColumn(width="small")},
        key="pieces",
        alt=_("Tokens of the vocabulary: id, token, kind"),
    )
    numbers: dict[str, object] = {
        "shown": len(matches), "all": len(pieces), "special": counts[facts.SPECIAL], "bytes": counts[facts.BYTE_KIND],
        "begin": counts[facts.BEGINS], "within": counts[facts.CONTINUES],
    }  # fmt: skip
    frame.caption(_OF_BOTH if models.is_english_german(selection.model) else _OF_OTHERS, **numbers)
    controls.table_button(_("Tokens (CSV)"), partial(facts.pieces_table, matches), file_name("vocabulary"))


def show(selection: Selection, head: "DeltaGenerator") -> None:
    """The contents in the head of the page, and every section that there is something for.

    What reads a text is computed last, so that no other section waits for it. Presented, each part of a section is a
    screen, from the section on that is asked for; of a pin, those of this section alone.
    """
    there = [label for label, (is_there, *_parts) in SECTIONS.items() if is_there(selection)]
    if present.is_on():
        asked = selection.model_card.model_section
        first = there.index(asked) if asked in there else 0
        shown = there[first : first + 1 if selection.common.pin else None]
        present.screens(*(partial(_part, label, draw, selection) for label in shown for draw in SECTIONS[label][1:]))
        return
    with head:
        contents(there)
    slots = {label: st.container(key=f"section-{number}") for number, label in enumerate(there)}
    for label, slot in slots.items():
        slot.subheader(_(label), anchor=False)
    for label in sorted(there, key=lambda label: label == "Masks, positions and cost"):
        with slots[label], frame.errors_shown():
            for draw in SECTIONS[label][1:]:
                draw(selection)


@frame.errors_shown()
def _part(label: ModelSection, draw: Callable[[Selection], object], selection: Selection) -> None:
    """A screen of one part of a section."""
    with st.container(key="section"):
        st.subheader(_(label), anchor=False)
        draw(selection)


def _is_there(*names: str, is_ours: bool = True) -> Callable[[Selection], bool]:
    """Whether the model's folder has one of these files; of training and scores only those of our kind tell."""
    return lambda selection: (
        (not is_ours or models.is_english_german(selection.model))
        and any((models.folder(selection.model) / name).is_file() for name in names)
    )


def _training_data(selection: Selection) -> None:
    """What it was trained on."""
    training = data.training(selection.model)
    if training is None:
        return
    frame.caption(
        "Pairs of an English sentence and its German translation. The weight is the average number of times that "
        "each pair of a set occurs in one pass over the data; the licence is the one stated at the set's source."
    )
    columns, rows = facts.training_data(training)
    # A screen has no room for the licences, which are the last, nor for the note.
    shown = -1 if present.is_on() else None
    st.html(table(columns[:shown], [row[:shown] for row in rows], label=_("Training data")))
    if training.note and not present.is_on():
        st.text(training.note)
    if training.settings:
        with st.expander(_("Settings of the training run"), key="card-training-settings"):
            rows = [(name, facts.number(value)) for name, value in training.settings]
            st.html(
                table(
                    [Column(_("Setting")), Column(_("Value"), is_number=True)],
                    rows,
                    label=_("Settings of the training run"),
                )
            )


@frame.errors_shown()
def _curves(selection: Selection) -> None:
    """How the training run went."""
    log = data.training_log(selection.model)
    if log is None:
        return
    training = None
    # What is wrong with it is said where the data are listed.
    with suppress(HeadlightError):
        training = data.training(selection.model)
    limit = _("the first pairs") if training is None else _("the first {count:,} pairs", count=training.dev_limit)
    figure = training_curves(log)
    if figure is None:
        frame.note("The log of this training run is empty.")
        return
    frame.chart(
        figure,
        "training-curves",
        file_name("training curves", models.name_of(selection.model)),
        _("Loss, learning rate and BLEU of each dev set over the training steps"),
        present.PICTURE_HEIGHT,
    )
    frame.caption(
        "The training steps run from left to right. The loss is what training minimises, averaged since the previous "
        "point; with label smoothing it stays above zero. The learning rate is the size of each step; where it rises "
        "again, another stage of training begins, often with other data, so losses of two stages are not comparable. "
        "BLEU (0 to 100) is measured on {limit} of each dev set, in the stages that measured it, so it agrees only "
        "roughly with the section “Scores”, which uses whole sets.",
        limit=limit,
    )


def scores(selection: Selection) -> None:
    """What was measured, and what others measured elsewhere."""
    metrics = data.metrics(selection.model)
    if metrics is not None:
        _measured(metrics)
    label = _("Twenty sentences, translated now by this model")
    frame.unfolding(label, "card-twenty", _translations, selection)
    with st.expander(_("Published results of other models"), key="card-published"):
        _published()


def _measured(metrics: "Metrics") -> None:
    """What was measured with the checkpoint."""
    frame.caption(
        "BLEU counts the sequences of one to four words that a translation shares with the reference, and chrF "
        "sequences of characters; both range from 0 to 100, and higher is better. Greedy decoding takes the most "
        "probable token at each step; beam search keeps several hypotheses."
    )
    if metrics.scores:
        st.html(table(*facts.scores(metrics), label=_("Scores on each set")))
        with st.expander(_("Commands for these measurements"), key="card-commands"):
            st.code("\n".join(score.command for score in metrics.scores), language=None, wrap_lines=True)
        signatures = dict.fromkeys(score.signature for score in metrics.scores)
        terms.caption(controls.plain(f"sacrebleu {', '.join(signatures)}"))
    if metrics.measurements:
        st.markdown(_("**Other measurements**"))
        frame.caption(
            "Shares are between 0 and 1. For an error rate, lower is better. Coreference is measured in the "
            "encoder's self-attention, from the pronoun's row; *Measured* on the Compare page also measures the "
            "cross-attention, whose best head can score differently."
        )
        terms.markdown("\n".join(f"- {plain(facts.headline(measurement))}" for measurement in metrics.measurements))
        with st.expander(_("All values of these measurements, with their commands"), key="card-values"):
            for measurement in metrics.measurements:
                _measurement(measurement)


def _published() -> None:
    columns = [Column(t) for t in (_("System"), _("Trained on"), _("Test set"))]
    columns += [Column(_("BLEU"), is_number=True), Column(_("Kind of BLEU")), Column(_("Source"))]
    published = [(p.system, p.trained_on, p.test_set, facts.number(p.bleu), p.kind, p.source) for p in PUBLISHED]
    st.html(table(columns, published, label=_("Published English-to-German results")))
    frame.caption(
        "Scores can be compared only on the same test set and with the same BLEU, so none of these can be "
        "compared with this checkpoint's own. They are on other test sets; tokenised BLEU tokenises the "
        "reference differently from sacreBLEU; and all but the first, which was trained only on captions, had far "
        "more data and parameters."
    )


def _measurement(measurement: "Measurement") -> None:
    st.markdown(f"**{plain(facts.headline(measurement))}**")
    st.code(measurement.command, language=None, wrap_lines=True)
    first, of_heads = facts.measured(measurement)
    for columns, rows in facts.tables(first):
        st.html(table(columns, rows, label=facts.headline(measurement)))
    if of_heads:
        columns = [Column(_("Head")), Column(_("Value"), is_number=True)]
        with st.container(height=VOCABULARY_HEIGHT):
            st.html(table(columns, of_heads, label=_("{measured}, each head", measured=facts.headline(measurement))))


def _translations(selection: Selection) -> None:
    """Twenty sentences, translated now."""
    seed = controls.seed()
    sentences, translator = draw(seed), models.writer(selection.model)

    def compute(progress: Progress) -> list[tuple[str, str]]:
        rows = []
        for sentence in sentences:
            try:
                rows.append((sentence, data.translation(translator, sentence)))
            except InputTextError as error:
                rows.append((sentence, said("({error})", error=error)))
            progress(1)
        return rows

    text = said("Translating sentence {next} of {total}")
    task = Task(("translations", translator.key, seed), len(sentences), said("sentences"), compute, text)
    rows = long_work.awaited(task, key="twenty")
    columns = [Column(_("English"), language="en"), Column(_("German, by this model"), language="de")]
    st.html(table(columns, rows, label=_("English sentences and their translations")))
    frame.caption(
        "Twenty of {num_bank} English sentences with this model's unedited translations, good and bad. They were "
        "drawn at random with seed {seed}. The sentences were written for this page, before any was translated.",
        num_bank=len(BANK),
        seed=seed,
    )


def whole_card(selection: Selection) -> None:
    """What the checkpoint's card says of its limits, and the rest of it."""
    text = data.card(selection.model) or ""
    limits = card_section(text, LIMITS)
    if limits:
        st.markdown(f"**{_(LIMITS)}**")
    for paragraph in limits:
        st.text(paragraph)
    # The card's Markdown stays unread: a picture or a link in it would lead outside, and it may be anyone's.
    with st.expander(_("The whole card, unedited"), key="card-whole", expanded=not limits):
        st.code(text, language=None, wrap_lines=True)


def overview(selection: Selection) -> None:
    """What the model is made of, and its vocabulary."""
    _architecture(selection)
    if models.reads(selection.model) != "text":
        return
    frame.unfolding(_("Vocabulary: all tokens, searchable"), "card-vocabulary", _vocabulary, selection)


def _architecture(selection: Selection) -> None:
    """Tables of a model from elsewhere; of Transformers that translate, the paper's two in a table and in bars."""
    abilities = models.abilities(selection.model)
    if abilities.proof is not None or not abilities.has("hyperparameters"):
        _show_other(selection)
    if abilities.has("hyperparameters"):
        with frame.errors_shown():
            _compared(selection)


def _compared(selection: Selection) -> None:
    """The model in the paper's terms, next to its base and big models."""
    shapes = data.shapes(selection.model)
    with st.grid(2, min_column_width=430, gap="medium"):
        with st.container():
            st.html(
                table(
                    *facts.configuration(shapes),
                    label=_("Configuration, compared with the paper's base and big models"),
                )
            )
        with st.container():
            frame.chart(
                parameter_bars([name for name, _ in shapes], [of.counts for _, of in shapes]),
                "parameters",
                file_name("parameters", models.name_of(selection.model)),
                _("Parameters by part, one stacked bar per model: in millions, and as shares of the model"),
                present.PICTURE_HEIGHT,
            )
    frame.caption(
        "Each bar is a model, each colour a part of it. Above: the parameters of each part; below: the same as "
        "shares, so that a small model is legible too. *base* and *big* are the two models of *Attention Is All "
        "You Need*, with its vocabulary of about 37,000 tokens. Point at a segment to see its exact number."
    )


def _show_other(selection: Selection) -> None:
    """The model in a table, its parameters by part, its settings, and a sentence for everything that it lacks."""
    described = data.description(models.reader(selection.model))
    name = models.name_of(selection.model)
    with st.grid(2, min_column_width=330, gap="medium"):
        with st.container():
            st.html(table([Column(_("Model")), Column(name)], described.rows, label=_("Parts of {name}", name=name)))
        with st.container():
            total = sum(described.parts.values())
            rows = [(part, facts.number(count), f"{count / total:.1%}") for part, count in described.parts.items()]
            rows.append((_("Total"), facts.number(total), "100.0%"))
            columns = [Column(_("Part")), Column(_("Parameters"), is_number=True), Column(_("Share"), is_number=True)]
            st.html(table(columns, rows, label=_("Parameters by part")))
            frame.caption(
                "Parameters used in two places, such as an embedding that is also the output, are counted once."
            )
    if described.settings:
        with st.expander(
            plural(
                "config.json: {count} setting differs from the default",
                "config.json: {count} settings differ from the defaults",
                len(described.settings),
            ),
            key="card-settings",
        ):
            st.html(
                table(
                    [Column(_("Setting")), Column(_("Value"))], described.settings, label=_("Settings of config.json")
                )
            )
    if described.lacks:
        st.markdown(_("**Not available for this model**"))
        terms.markdown("\n".join(f"- {with_code(why[0].upper() + why[1:])}" for why in map(shown, described.lacks)))


def card_section(card: str, title: str) -> list[str]:
    """Paragraphs under a heading of any level, up to the next one, their lines joined; none without such a heading."""
    return [
        " ".join(paragraph.split()) for paragraph in "\n".join(_lines(card, title)).split("\n\n") if paragraph.strip()
    ]


def _lines(card: str, title: str) -> Iterator[str]:
    inside = fenced = False
    for line in card.splitlines():
        fenced ^= line.startswith("```")
        if line.startswith("#") and not fenced:
            inside = line.strip("# ").lower() == title.lower()
        elif inside:
            yield line.strip()


def draw(seed: int) -> list[str]:
    """Twenty sentences of the bank: the same for the same seed, everywhere."""
    return Random(seed).sample(BANK, NUM_DRAWN)


def _overview() -> Snippet:
    """What the model is made of, beside the paper's two."""
    if not models.abilities(state.current().model).has("hyperparameters"):
        return of_model({"description": "describe"}, "described = describe(reader)")
    imports = {"config": "PRESETS", "description": "Hyperparameters, hyperparameters"}
    papers = "papers = [Hyperparameters.of_config(PRESETS[name]) for name in ('base', 'big')]"
    return of_model(imports, "own = hyperparameters(reader)", papers)


def _read(*names: str) -> Snippet:
    """Files of the model's folder, each read by the function of this name."""
    read = (f"{name.removeprefix('read_')} = {name}({folder(state.current().model)})" for name in names)
    return alone({"training_record": ", ".join(names)}, *read)


#: Section → whether there is something for it, and what draws its parts.
SECTIONS: Final[dict[ModelSection, tuple[Callable[[Selection], object], ...]]] = {
    "Overview": (lambda selection: True, overview),
    "Masks, positions and cost": (lambda selection: True, mechanisms.show),
    "Data and training": (_is_there("training_log.jsonl", "training.json"), _curves, _training_data),
    "Scores": (lambda selection: models.is_english_german(selection.model), scores),
    "Card": (_is_there("README.md", is_ours=False), whole_card),
}
VIEWS: Final[dict[ModelSection, Callable[[], Snippet]]] = {
    "Overview": _overview,
    "Masks, positions and cost": mechanisms.python,
    "Data and training": lambda: _read("read_log", "read_training"),
    "Scores": lambda: _read("read_metrics"),
    "Card": lambda: _read("read_card"),
}


def python(selection: Selection) -> None:
    """The Python of each section that is shown."""
    downloads.python_of_sections(
        {label: VIEWS[label] for label, (is_there, *_parts) in SECTIONS.items() if is_there(selection)}
    )
