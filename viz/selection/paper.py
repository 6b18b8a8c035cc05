"""What is chosen on the page that tests the paper's claims."""

from dataclasses import dataclass
from typing import Annotated, Literal

from viz.selection.examples import BATCH_SENTENCES
from viz.selection.fields import Param, Proposed, ResetBy, SessionOnly
from viz.text.sites import CROSS, Site

PaperTab = Literal[
    "Scores", "Positions", "Masks", "Pooling", "Table 1", "Ablations", "Through training", "Live switches"
]
Side = Literal["source", "target"]
#: What the lines of the film of a training can be.
FilmMetric = Literal[
    "entropy", "distance", "previous", "same", "next", "first", "last", "diagonal", "punctuation", "word_in", "word_out"
]


@dataclass(frozen=True, slots=True)
class PaperChoices:
    """What is chosen on the page that tests the paper's claims."""

    paper_tab: Annotated[PaperTab, Param("claim")] = "Scores"  #: the open tab
    #: what shares a batch with the text, one sentence a line.
    batch_sentences: Annotated[str, Param("companion")] = BATCH_SENTENCES
    #: which sentence of the batch is looked at; None leaves that to the page.
    batch_member: Annotated[int | None, Param("member")] = None
    side: Side = "source"  #: the source or its translation
    #: position, dimension, shift: which curves of the encodings are drawn.
    position: int = 10
    dimension: int = 20
    shift: int = 3
    width: int = 0  #: dimensions that the encodings' formula is given; 0 for the model's own
    base: int = 10_000  #: of the formula's wavelengths
    score_width: Annotated[int, Param("dk")] = 64  #: d_k of the random queries and keys
    #: how many queries and keys the cost of a score function is measured with, at most.
    score_size: Annotated[int, Param("pairs")] = 512
    #: σ of the kernel, in hundredths.
    pooling_width: Annotated[int, Param("sigma"), Proposed("pooling_width_chosen")] = 20
    #: whether a person chose it; else the page proposes the one that predicts best.
    pooling_width_chosen: Annotated[bool, SessionOnly()] = False
    pooling_query: Annotated[int, Param("at")] = 250  #: where the query lies whose weights are looked at, in hundredths
    #: layer_length, layer_width: n and d up to which layers are measured.
    layer_length: Annotated[int, Param("n")] = 1_024
    layer_width: Annotated[int, Param("d")] = 64
    kernel_width: Annotated[int, Param("k")] = 3  #: k of the convolutions
    window_size: Annotated[int, Param("r")] = 9  #: r of restricted self-attention
    #: the small models that one sentence goes through, by their presets.
    ablations: Annotated[tuple[str, ...], Param("models"), Proposed("ablations_chosen")] = ()
    #: whether a person chose them; else the tab proposes those that differ most.
    ablations_chosen: Annotated[bool, SessionOnly()] = False
    ablation_site: Site = CROSS  #: the attention that is shown of each
    #: ablation_layer, ablation_head: the layer and head that are shown, counted from 1; 0 for each model's surest.
    ablation_layer: int = 0
    ablation_head: int = 0
    off_layer: Annotated[int, Param("without")] = 0  #: the layer that parts are taken out of, counted from 1; 0 for all
    kept_head: Annotated[int, Param("kept")] = 0  #: the head that stays where all others are taken out
    film_of: str = ""  #: the model whose training is shown as a film; "" for that of the experiments, from nothing
    #: film_site, film_sentence, film_layer, film_head, film_step, film_metric: what is shown of the film of a training:
    #: which attention, sentence and head, at which step, and the metric of the lines.
    film_site: Annotated[Site, Proposed("film_site_chosen")] = CROSS
    #: film_site_chosen, film_sentence_chosen, film_head_chosen, film_step_chosen, film_metric_chosen: whether a person
    #: chose these; else the page proposes what changes most.
    film_site_chosen: Annotated[bool, SessionOnly(), ResetBy("film_of")] = False
    film_sentence: Annotated[int, Proposed("film_sentence_chosen")] = 0
    film_sentence_chosen: Annotated[bool, SessionOnly(), ResetBy("film_of")] = False
    film_layer: Annotated[int, Proposed("film_head_chosen")] = 0
    film_head: Annotated[int, Proposed("film_head_chosen")] = 0
    film_head_chosen: Annotated[bool, SessionOnly(), ResetBy("film_site", "film_of")] = False
    film_step: Annotated[int, Proposed("film_step_chosen")] = 0
    film_step_chosen: Annotated[bool, SessionOnly(), ResetBy("film_of")] = False
    film_metric: Annotated[FilmMetric, Proposed("film_metric_chosen")] = "word_out"
    film_metric_chosen: Annotated[bool, SessionOnly(), ResetBy("film_site", "film_of")] = False
