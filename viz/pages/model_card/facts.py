"""What a checkpoint says of itself, and what others measured elsewhere, as the cells of tables."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from viz.text.html import Column
from viz.text.messages import _, said, shown
from viz.text.written import display_token, head_label
from viz.ui import trace_tables

if TYPE_CHECKING:
    from model.description import Hyperparameters
    from model.training_record import Measurement, Metrics, Score, Training

#: What stands between the parts of a name.
BETWEEN: Final = " · "
_KNOWN: Final[frozenset[str]] = frozenset((
    said("accuracy"), said("baselines"), said("best head"), said("both right"), said("cases"), said("chance"),
    said("diagonal"), said("head"), said("head averaged"), said("heads"), said("layer"),
    said("links"), said("names"), said("numbers"), said("pairs"), said("predicted"), said("right"), said("rows"),
    said("sentences"), said("skipped"), said("token read"), said("token predicted"), said("words"),
))  # fmt: skip
#: Names that say too little as they are.
_CALLED: Final[Mapping[str, str]] = {
    "aer": said("alignment error rate"),
    "babbling": said("repetitive translations"),
    "best known": said("best-known pairs"),
    "chosen on first half": said("chosen on the first half"),
    "chosen on second half": said("chosen on the second half"),
    "combinations": said("new combinations of noun and property"),
    "copied": said("copied exactly"),
    "cross selected": said("chosen on one half, tested on the other"),
    "drawn frames": said("new sentence frames drawn from a large table"),
    "equal": said("“it”: two nouns side by side"),
    "first": said("first candidate"),
    "frames": said("new sentence frames"),
    "groups": said("by kind"),
    "it": said("“it”: a subject and another noun"),
    "kinds": said("by kind"),
    "nearest": said("nearest candidate"),
    "nouns": said("new nouns"),
    "part": said("dev or test part"),
    "people": said("people: he, she, they"),
    "possessive": said("possessives: its, his, her"),
    "reflexive": said("reflexives: himself, herself"),
    "set": said("set of sentences"),
    "skipped because": said("reasons for skipping"),
    "sure": said("manual links"),
}


@dataclass(frozen=True, slots=True)
class PublishedResult:
    """One English-to-German BLEU score: of what, trained on what, on which test set, by which BLEU and said where."""

    system: str
    trained_on: str
    test_set: str
    bleu: float
    kind: str
    source: str


_TOKENISED, _MILLIONS = said("tokenised"), said("4.5 million pairs")
_TABLE_2: Final = said("the paper, Table 2")
PUBLISHED: Final = (
    PublishedResult(
        "Transformer-Tiny (Wu et al. 2021)",
        said("Multi30k only (29,000 captions)"),
        "Multi30k test2016",
        41.02,
        _TOKENISED,
        "github.com/LividWo/Revisit-MMT, README-baseline.md",
    ),
    PublishedResult(said("base (Vaswani et al. 2017)"), _MILLIONS, "newstest2014", 27.3, _TOKENISED, _TABLE_2),
    PublishedResult(said("big (Vaswani et al. 2017)"), _MILLIONS, "newstest2014", 28.4, _TOKENISED, _TABLE_2),
    PublishedResult(
        said("JoeyNMT, 60.5 million parameters"),
        "WMT14",
        "newstest2014",
        24.38,
        "sacreBLEU",
        "github.com/joeynmt/joeynmt, docs/source/benchmarks.rst",
    ),
)
Rows = list[tuple[str, ...]]
#: Command of this project → what it measures, where that is not its own name.
SUBJECTS: Final = {
    "align": said("Alignment"),
    "coreference": said("Coreference"),
    "copying": said("Copying"),
    "pronouns": said("Pronouns"),
    "reasons": said("Why a head attends to a different word in the twin"),
}
#: Set, by the name of its file → what it is.
SETS: Final = {
    "curated": said("Headlight's curated pairs"),
    "en-de_dev": said("English–German alignments, dev set"),
    "multi30k_flickr2017": said("Multi30k captions, test of 2017"),
    "multi30k_val": said("Multi30k captions, dev set"),
    "newstest2013": said("news, newstest2013"),
    "tatoeba_dev": said("Tatoeba, dev set"),
    "visitors": said("sentences from visitors"),
    "winobias_anti_type1_dev": said("WinoBias type 1, against the stereotype"),
    "winobias_anti_type2_dev": said("WinoBias type 2, against the stereotype"),
    "winobias_pro_type1_dev": said("WinoBias type 1, with the stereotype"),
    "winobias_pro_type2_dev": said("WinoBias type 2, with the stereotype"),
    "winograd_dev": said("Winograd schemas, dev set"),
}
#: Of what a command measures, the value that is read first.
_FIRST: Final = {
    "frames · both_right": said("both pronouns right in new sentence frames"),
    "copied": said("words copied exactly"),
    "word_in · best_head · aer": said("alignment error of the best head"),
    "best_head · accuracy": said("accuracy of the best head"),
    "mechanism · query · value": said("share of the query in the change"),
}
SPECIAL, BYTE_KIND, BEGINS, CONTINUES = said("special"), said("byte"), said("begins a word"), said("within a word")


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of a vocabulary as a table shows it."""

    id: int
    shown: str
    kind: str


def shown_name(name: str) -> str:
    """A name, or a part of one, as people read it."""
    parts = (part.replace("_", " ") for part in name.split(BETWEEN))
    return BETWEEN.join(_(_CALLED.get(part, part)) if part in _KNOWN | _CALLED.keys() else part for part in parts)


def number(value: str | float | bool) -> str:
    """A value as it is read: thousands apart, at most four decimals, none that say nothing."""
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    if 0 < abs(value) < 1e-3:
        return f"{value:.3g}"
    return f"{value:,.4f}".rstrip("0").rstrip(".")


def configuration(shapes: Sequence[tuple[str, "Hyperparameters"]]) -> tuple[list[Column], Rows]:
    """One column a model, one row a setting, named as in the paper."""
    of_all = [of for _, of in shapes]
    settings = (
        (_("Layers (encoder + decoder)"), [" + ".join(map(number, of.layers)) for of in of_all]),
        (_("Heads"), [_each(of.heads) for of in of_all]),
        ("d_model", [number(of.d_model) for of in of_all]),
        ("d_ff", [_each(of.d_ff) for of in of_all]),
        ("d_k", [_each(of.d_k) for of in of_all]),
        (_("Vocabulary"), [_each(of.vocabularies) for of in of_all]),
        (_("Embedding matrices"), [_("1, shared") if of.matrices == 1 else number(of.matrices) for of in of_all]),
        (_("Norm"), [_each(of.norms) for of in of_all]),
        (_("Activation"), [_each(of.activations) for of in of_all]),
        (_("Dropout"), [number(of.dropout) for of in of_all]),
        (_("Parameters"), [number(of.counts.total) for of in of_all]),
    )
    columns = [Column(""), *(Column(name, is_number=True) for name, _ in shapes)]
    return columns, [(name, *values) for name, values in settings]


def _each(values: Sequence[int | str]) -> str:
    """What differs between the parts of a model."""
    return " / ".join(map(number, values))


def pieces(vocabulary: Sequence[str], special_ids: Collection[int], byte_ids: Collection[int]) -> list[Piece]:
    """Every piece, by its id; spaces and signs that cannot be seen are made visible."""

    def kind(i: int, piece: str) -> str:
        if i in special_ids:
            return SPECIAL
        if i in byte_ids:
            return BYTE_KIND
        return BEGINS if piece.startswith("▁") else CONTINUES

    return [Piece(i, display_token(piece), kind(i, piece)) for i, piece in enumerate(vocabulary)]


def matching(pieces: Sequence[Piece], wanted: str) -> list[Piece]:
    """The pieces that hold what was typed, in any case; a space is the ▁ before a word, a number is also an id."""
    sign = wanted.replace(" ", "▁").lower()
    return [piece for piece in pieces if sign in piece.shown.lower() or str(piece.id) == wanted.strip()]


def pieces_table(pieces: Sequence[Piece]) -> bytes:
    """Pieces as CSV, a row for each."""
    return trace_tables.table(("id", "piece", "kind"), ((p.id, trace_tables.cell(p.shown), p.kind) for p in pieces))


def training_data(training: "Training") -> tuple[list[Column], Rows]:
    """One row a set of pairs, and their sum."""
    titles = (_("Set"), _("Pairs"), _("Weight"), _("Description"), _("Licence"))
    columns = [Column(title, is_number=position in (1, 2)) for position, title in enumerate(titles)]
    rows: Rows = [(d.name, number(d.pairs), number(d.weight), d.what or "–", d.licence or "–") for d in training.data]
    return columns, [*rows, (_("Total"), number(sum(d.pairs for d in training.data)), "", "", "")]


def scores(metrics: "Metrics") -> tuple[list[Column], Rows]:
    """One row a set, BLEU and chrF of greedy search, then BLEU of every beam width that was measured."""
    by_set: dict[tuple[str, int], dict[int, Score]] = {}
    for score in metrics.scores:
        by_set.setdefault((score.set, score.sentences), {})[score.beam] = score
    beams = sorted({score.beam for score in metrics.scores} - {1})
    titles = [_("Sentences"), _("BLEU, greedy"), _("chrF, greedy")]
    titles += [_("BLEU, beam {beam}", beam=beam) for beam in beams]
    rows: Rows = []
    for (name, sentences), by_beam in by_set.items():
        greedy = _both(by_beam, 1)
        rows.append((set_name(name), number(sentences), *greedy, *(_both(by_beam, beam)[0] for beam in beams)))
    return [Column(_("Set")), *(Column(title, is_number=True) for title in titles)], rows


def _both(by_beam: Mapping[int, "Score"], beam: int) -> tuple[str, str]:
    score = by_beam.get(beam)
    return ("–", "–") if score is None else (f"{score.bleu:.1f}", f"{score.chrf:.1f}")


def headline(measurement: "Measurement") -> str:
    """What was measured, on which set, and the number that is read first."""
    values = dict(measurement.rows)
    of = [subject(measurement.command), *(set_name(values[name]) for name in ("set", "part") if name in values)]
    first = next((name for name in _FIRST if name in values), None)
    if first is None:
        return BETWEEN.join(of)
    value = values[first]
    # As many digits of each, so that one can be compared with the next.
    shown_value = f"{value:.2f}" if isinstance(value, float) else number(value)
    return _("{measured}: {what} {value}", measured=BETWEEN.join(of), what=_(_FIRST[first]), value=shown_value)


def measured(measurement: "Measurement") -> tuple[Rows, Rows]:
    """What a person reads first, and the values of each head; heads are named as everywhere on pages."""
    rows, of_heads = Rows(), Rows()
    layer = 0
    for name, value in measurement.rows:
        *before, last = name.split(BETWEEN)
        if len(before) > 1 and before[-1].isdecimal() and last.isdecimal():
            label = head_label(int(before[-1]), int(last))
            of_heads.append((BETWEEN.join([*map(shown_name, before[:-2]), label]), number(value)))
        elif last == "layer" and isinstance(value, int):
            layer = value
        elif last == "head" and isinstance(value, int):
            rows.append((BETWEEN.join(before), head_label(layer, value)))
        else:
            rows.append((name, set_name(value) if name == "set" else number(value)))
    return rows, of_heads


def set_name(name: object) -> str:
    """What a set is, where it is one of ours; else its own name."""
    return shown(SETS.get(str(name), str(name)))


def tables(rows: Sequence[tuple[str, ...]]) -> list[tuple[list[Column], Rows]]:
    """Measured values as tables: names that have the same parts share one, a row each; what stands alone comes first.

    “frames · right” and “nouns · right” are the rows “frames” and “nouns” of a column “right”.
    """
    groups: dict[str, dict[str, str]] = {}
    for name, value in rows:
        before, _dot, part = name.rpartition(BETWEEN)
        groups.setdefault(before, {})[part] = value
    alike: dict[tuple[str, ...], list[str]] = {}
    for before, values in groups.items():
        alike.setdefault(tuple(values), []).append(before)
    shared = {parts: befores for parts, befores in alike.items() if len(befores) > 1}
    in_shared = {before for befores in shared.values() for before in befores}
    alone = [(shown_name(name), value) for name, value in rows if name.rpartition(BETWEEN)[0] not in in_shared]
    made: list[tuple[list[Column], Rows]] = (
        [([Column(_("Measured")), Column(_("Value"))], list(alone))] if alone else []
    )
    for parts, befores in shared.items():
        columns = [Column(_("Measured")), *(Column(shown_name(part), is_number=True) for part in parts)]
        made.append((columns, [(shown_name(before), *groups[before].values()) for before in befores]))
    return made


def subject(command: str) -> str:
    """What a command of this project measures, by its own name: `python -m model pronouns --json` is “Pronouns”."""
    words = command.split()
    name = words[3] if words[:3] == ["python", "-m", "model"] and len(words) > 3 else "measured"
    return shown(SUBJECTS.get(name, name.capitalize()))
