"""What a person has chosen, as one frozen value. Numbers count from 0.

Knows nothing of URLs, sessions, widgets or models: whether a layer exists is for the page to say (`Selection.within`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Self

from viz.selection.examples import COMPANIONS, EXAMPLES

SITES: Final = ("encoder.self", "decoder.self", "decoder.cross")
DEVICES: Final = ("auto", "cpu", "cuda")
SIDES: Final = ("source", "target")
#: The tabs of each page, by their labels.
VIEWS: Final = ("All heads", "Where a weight comes from", "bertviz", "Take it with you")
PARTS: Final = ("Masks", "Positional encodings")
ABOUT: Final = ("Vocabulary", "Training data", "Curves", "Scores", "Translations", "Card")
STUDIO: Final = (
    "Film", "Branches", "Edit attention", "Logit lens", "Beam search", "Sampling", "Cost", "Take it with you"
)  # fmt: skip
LAB: Final = ("Side by side", "Measured", "Cause")
#: Words marked in the first sentence and in the second, by their places.
MARKS: Final = ("pronoun", "antecedent", "distractor")
OTHER_MARKS: Final = ("other_pronoun", "other_antecedent", "other_distractor")
#: The name of a pair is no longer than this.
MAX_NAME: Final = 60
#: What the heads are measured on, and what stands in place of a head that is switched off.
SETS: Final = ("curated", "file")
REPLACEMENTS: Final = ("zero", "mean")
#: Whether a cause is looked for in one pair of sentences or in all of them.
SCOPES: Final = ("pair", "set")
ATLAS: Final = ("Layer × head", "Map of heads", "Table")
#: Whose row a picture of decoding shows: that of the token the decoder reads, or of the token that it writes.
WHOSE: Final = ("in", "out")
#: What can be done to a head's attention.
EDITS: Final = ("off", "uniform", "point")
#: A longer text stays in the session but not in the link: servers refuse very long addresses.
MAX_TEXT_IN_URL: Final = 2_000

#: Figures of a head that its tile can carry ("" for none), and the orders in which heads can stand.
FIGURES: Final = (
    "", "entropy", "distance", "previous", "same", "next", "first", "last", "diagonal", "punctuation"
)  # fmt: skip
ORDERS: Final = ("layers", "highest", "lowest")
#: Figures of a head over a whole corpus, and what they are read off.
CORPUS_FIGURES: Final = (
    "entropy", "distance", "confidence", "previous", "same", "next", "first", "last", "diagonal", "punctuation",
    "induction", "aer_word_in", "aer_word_out",
)  # fmt: skip
READ_OFF: Final = ("weights", "norms")
#: The corpus of the atlas: our own sentences, or a file.
CORPORA: Final = ("own", "file")
#: How the open head is drawn, what its numbers are, and bertviz's two views.
DRAWN: Final = ("Heatmap", "Lines")
MEASURES: Final = ("weights", "norms", "rollout")
BERTVIZ: Final = ("Head view", "Model view")
#: What the camera of a chart saves.
PICTURES: Final = ("PNG", "SVG")


@dataclass(frozen=True, slots=True)
class Selection:
    """Everything that defines a view.

    No checkpoint (`""`) means the first of the list, no token: the page chooses. On the attention page, `figure` is the
    one that tiles carry, by which `order` sorts and of which `keep` (0: all) heads stay; `also` are further heads drawn
    as lines, those above `threshold` percent, of a long text from its place `window` on; `words` joins pieces,
    `special` shows special tokens; `scaled` and `masked` are the two switches of where a weight comes from, `key_token`
    the key that is followed there. On the masks page, `companion` holds the sentences that share a batch, one a line,
    and `member` says which of the batch is looked at; `position`, `dimension` and `shift` choose curves, `width` (0:
    the model's own) and `base` other encodings.

    On the decoding page, `branches` are the choices that made other translations
    (`viz.pages.decoding.translations`), `branch` the one that
    is shown and `against` the one that it is compared with; `whose` says which row belongs to a token, `candidates` how
    many are listed; `temperature`, `top_k` and `top_p` (hundredths; 0 and 100 switch the last two off) filter what
    `samples` many drawn translations, begun with `draw` as seed, are drawn from; `beam` wide searches penalise length
    with `penalty` hundredths, `node` is a hypothesis of the tree; `edit` is what happens to the head, from this step on
    or, `once`, in this step only.

    On the compare page, `lab` is the tab, and `pair` names one of the curated set; without it, `text` and `other` are
    compared, and `pronoun`, `antecedent`, `distractor` (and those that begin with `other_`, of the second sentence) are
    places of words in them, which the page guesses where there is none.
    There, `given` is the set that heads are measured on; the heads `off` are switched off or, with `spare`, all others,
    and `instead` stands in their place; `scope` is one pair or all of them.

    On the atlas page, `atlas` is the open tab, `corpus` what was read, `corpus_figure` the figure that is looked at and
    `read_off` what it is computed from.

    Two choices stay in the session and are in no address: `folder`, where the model lies if only this session has it on
    its list, and `picture`, by which a picture that was given is asked for ("": the one that we draw).
    """

    checkpoint: str = ""
    device: str = DEVICES[0]
    text: str = EXAMPLES[0].text
    other: str = EXAMPLES[0].twin
    site: str = SITES[0]
    layer: int = 0
    head: int = 0
    token: int | None = None
    other_token: int | None = None
    key_token: int | None = None
    step: int = 0
    side: str = SIDES[0]
    view: str = VIEWS[0]
    part: str = PARTS[0]
    companion: str = COMPANIONS
    member: int | None = None
    about: str = ABOUT[0]
    seed: int = 1
    figure: str = FIGURES[0]
    order: str = ORDERS[0]
    keep: int = 0
    drawn: str = DRAWN[0]
    measure: str = MEASURES[0]
    also: tuple[int, ...] = ()
    threshold: int = 0
    window: int | None = None
    words: bool = False
    special: bool = True
    scaled: bool = True
    masked: bool = True
    bertviz: str = BERTVIZ[0]
    position: int = 10
    dimension: int = 20
    shift: int = 3
    width: int = 0
    base: int = 10_000
    pictures: str = PICTURES[0]
    studio: str = STUDIO[0]
    branches: tuple[str, ...] = ()
    branch: int = 0
    against: int | None = None
    whose: str = WHOSE[1]
    candidates: int = 10
    temperature: int = 100
    top_k: int = 0
    top_p: int = 100
    samples: int = 5
    draw: int = 1
    beam: int = 4
    penalty: int = 60
    node: int | None = None
    edit: str = EDITS[0]
    once: bool = False
    lab: str = LAB[0]
    pair: str = ""
    pronoun: int | None = None
    antecedent: int | None = None
    distractor: int | None = None
    other_pronoun: int | None = None
    other_antecedent: int | None = None
    other_distractor: int | None = None
    given: str = SETS[0]
    off: tuple[str, ...] = ()
    spare: bool = False
    instead: str = REPLACEMENTS[0]
    scope: str = SCOPES[0]
    atlas: str = ATLAS[0]
    corpus: str = CORPORA[0]
    corpus_figure: str = CORPUS_FIGURES[2]
    read_off: str = READ_OFF[0]
    folder: str = ""
    picture: str = ""

    def for_model(self, shapes: Mapping[str, tuple[int, int]]) -> Self:
        """The same selection, with an attention, layer or head that this model lacks set back to its first.

        Args:
            shapes: attention → its layers and heads.
        """
        site = self.site if self.site in shapes else next(iter(shapes))
        return replace(self, site=site).within(*shapes[site])

    def within(self, num_layers: int, num_heads: int) -> Self:
        """The same selection, with a layer or head that this model lacks set back to the first."""
        return replace(
            self,
            layer=self.layer if self.layer < num_layers else 0,
            head=self.head if self.head < num_heads else 0,
        )
