"""What is chosen on each page, and what several pages share: a frozen dataclass each, whose fields make addresses."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal, NamedTuple, get_args

from viz.selection.examples import BATCH_SENTENCES, EXAMPLES
from viz.selection.fields import (
    MAX_TEXT_IN_URL,
    MaxLength,
    OneOf,
    OnlyWith,
    Param,
    Proposed,
    ResetBy,
    SessionOnly,
    Shape,
    ShownOn,
)
from viz.text.metrics import OF_A_CORPUS, OF_FILMS, OF_SENTENCES
from viz.text.written import CROSS, ENCODER, Site

Measure = Literal["weights", "norms", "rollout"]
PictureFormat = Literal["PNG", "SVG", "PDF"]
PicturePaper = Literal["shown", "white", "transparent"]
Presented = Literal["", "1"]

MEASURE_NAMES: Final[tuple[Measure, ...]] = get_args(Measure)
PICTURE_FORMATS: Final[tuple[PictureFormat, ...]] = get_args(PictureFormat)


_HEADS: Final = ShownOn("learn", "attention", "decoding", "coreference", "atlas")
_TEXTS: Final = ShownOn("learn", "attention", "decoding", "coreference")


@dataclass(frozen=True, slots=True)
class Common:
    """What several pages share."""

    text: str = EXAMPLES[0].text  #: what the model reads
    site: Annotated[Site, _HEADS, Proposed("head_chosen")] = ENCODER  #: which of the three attentions
    #: layer, head: which head of it.
    layer: Annotated[int, _HEADS, Proposed("head_chosen")] = 0
    head: Annotated[int, _HEADS, Proposed("head_chosen")] = 0
    #: whether a person chose site, layer and head; else the page proposes what is most worth seeing.
    head_chosen: Annotated[bool, SessionOnly()] = False
    #: heads drawn beside it.
    further_heads: Annotated[tuple[int, ...], ShownOn("attention", "decoding"), Param("also")] = ()
    #: the query that is looked at; None leaves that to the page.
    token: Annotated[
        int | None,
        _TEXTS,
        ResetBy("text", "given_file", "site", "checkpoint", "second_text", "chat", "pair", "pronoun"),
    ] = None
    #: the key that is looked at; None leaves that to the page.
    key_token: Annotated[
        int | None, _TEXTS, ResetBy("text", "given_file", "site", "checkpoint", "second_text", "chat")
    ] = None
    #: from_words, to_words: the words that are chosen, those that look and those looked at, as `viz.access.texts`
    #: counts them; none leave that to the cell that is kept.
    from_words: Annotated[
        tuple[int, ...], _TEXTS, Param("from"), ResetBy("text", "given_file", "checkpoint", "second_text", "chat")
    ] = ()
    to_words: Annotated[
        tuple[int, ...], _TEXTS, Param("to"), ResetBy("text", "given_file", "checkpoint", "second_text", "chat")
    ] = ()
    #: the second sentence, with which the text is compared; "" where the page offers one.
    other_text: Annotated[str, ShownOn("coreference", "attention"), Param("other"), ResetBy("text")] = ""
    #: which token of what the model writes is looked at.
    step: Annotated[int, _TEXTS, Proposed("step_chosen"), ResetBy("text", "checkpoint", "chat")] = 0
    #: whether a person chose the step; else the page proposes the one most worth seeing.
    step_chosen: Annotated[bool, SessionOnly(), ResetBy("text", "checkpoint", "chat")] = False
    #: which of a classifier's labels is asked about; None for what it says.
    label: Annotated[int | None, _TEXTS, ResetBy("text", "checkpoint", "second_text")] = None
    measure: Annotated[Measure, _TEXTS] = "weights"  #: what the numbers of an open head are
    whole_words: Annotated[bool, _TEXTS, Param("words")] = True  #: whether the pieces of a word are joined
    #: whether keys are shown on which heads rest that have nothing to do (`Trace.sinks`).
    sinks: Annotated[bool, ShownOn("attention", "decoding", "coreference", "atlas"), Param("special")] = True
    #: scaled, masked: whether scores are divided by √d_k and masked, where a weight is computed step by step.
    scaled: Annotated[bool, ShownOn("learn", "attention")] = True
    masked: Annotated[bool, ShownOn("learn", "attention")] = True
    picture_format: Annotated[PictureFormat, Param("pictures")] = "PNG"  #: what the camera of a chart saves
    picture_paper: Annotated[PicturePaper, Param("paper")] = "shown"  #: what saved pictures lie on
    #: "1" where a projector shows the page, one picture a screen; "" else.
    presented: Annotated[Presented, Param("present")] = ""
    screen: Annotated[int, ResetBy("attention_tab", "presented")] = 0  #: which of the page's screens it shows then
    story: int = 0  #: the step of the story “Start here” that is shown, counted from 1; 0 where its bar is closed
    collection: bool = False  #: whether the list of pinned views is open
    #: these views, as `viz.selection.url` writes them.
    pins: Annotated[str, OnlyWith("collection", True), MaxLength(MAX_TEXT_IN_URL)] = ""
    pin: int = 0  #: which of them a presentation shows, counted from 1; 0 for none
    #: the tabs that alone are shown, as `viz.ui.sidebar` names them; none for all.
    shown_tabs: Annotated[tuple[str, ...], Param("only")] = ()
    #: the code of the language that the app speaks; "" is the browser's.
    language: Annotated[str, Param("lang"), MaxLength(16)] = ""


Device = Literal["auto", "cpu", "cuda"]
#: Characters of a language's code ("zho_Hans"), or of what a model is told to write ("transcribe-timestamps").
LONGEST_CODE: Final = 24
DEVICES: Final[tuple[Device, ...]] = get_args(Device)
_OF_EXAMPLES: Final = r"line|receipt|(line|receipt)?(/\d{1,5}){4}/(grey|mean)"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model and its device."""

    checkpoint: str = ""  #: its name in the catalogue; "" is the first of the list
    device: Device = "auto"  #: where it computes; "auto" is the graphics card where there is one
    #: where it is on disk, if only this session has it on its list; "" else. An address never says it.
    folder: Annotated[str, SessionOnly()] = ""
    #: the language that it reads, by its code, if a person said it: one of many, or one that its files do not tell; ""
    #: else.
    reads: Annotated[str, MaxLength(LONGEST_CODE), ResetBy("checkpoint")] = ""
    #: the code of the language that it writes, or what a model is told to, if a person chose it; "" else.
    writes: Annotated[str, MaxLength(LONGEST_CODE), ResetBy("checkpoint")] = ""
    chat: bool = True  #: whether a model that has a chat template reads the text as a chat
    #: what an encoder alone reads after every text, as the second of a pair; "" for none.
    second_text: Annotated[str, Param("second"), MaxLength(MAX_TEXT_IN_URL)] = ""
    #: the file that a person gave, or a part of it (`viz.access.given_files.Given`), where the model reads none but
    #: files; "" for the example. An address holds other examples, and a part of an example that is hidden.
    given_file: Annotated[str, Param("example"), Shape(_OF_EXAMPLES)] = ""


LearnTab = Literal["Lessons", "The Transformer"]
Depth = Literal["model", "layer", "head", "cell", "number"]
PathEnd = Literal["", "input", "output"]
Lines = Literal["strongest", "mean", "chosen", "token"]
WalkEdit = Literal["", "off", "point", "forced"]
Side = Literal["source", "target"]


_LESSONS: Final = OnlyWith("learn_tab", "Lessons")
_EXPLORE: Final = OnlyWith("explore", True)
_WALK: Final = OnlyWith("learn_tab", "The Transformer")


@dataclass(frozen=True, slots=True)
class LearnChoices:
    """What is chosen on the page that teaches the paper."""

    learn_tab: Annotated[LearnTab, Param("learn")] = "Lessons"  #: the open tab
    lesson: Annotated[str, _LESSONS] = ""  #: the open lesson, by the name of its file; "" for the first
    #: the step of it that is shown, counted from 1.
    lesson_step: Annotated[int, _LESSONS, Param("step_of_lesson"), ResetBy("lesson")] = 1
    #: what a person predicts there, counted from 1; 0 before that.
    answer: Annotated[int, _LESSONS, Param("answer"), ResetBy("lesson", "lesson_step")] = 0
    #: whether Explore is unfolded below the step.
    explore: Annotated[bool, _LESSONS, ResetBy("lesson", "lesson_step")] = False
    #: what shares a batch with the text, one sentence a line.
    batch_sentences: Annotated[str, _EXPLORE, Param("companion")] = BATCH_SENTENCES
    #: which sentence of the batch is looked at; None leaves that to the page.
    batch_member: Annotated[int | None, _EXPLORE, Param("member")] = None
    score_width: Annotated[int, _EXPLORE, Param("dk")] = 64  #: d_k of the random queries and keys
    #: σ of the kernel, in hundredths.
    pooling_width: Annotated[int, _EXPLORE, Param("sigma"), Proposed("pooling_width_chosen")] = 20
    #: whether a person chose it; else the page proposes the one that predicts best.
    pooling_width_chosen: Annotated[bool, SessionOnly()] = False
    #: where the query lies whose weights are looked at, in hundredths.
    pooling_query: Annotated[int, _EXPLORE, Param("at")] = 250
    #: layer_length, layer_width: n and d for which layers are counted.
    layer_length: Annotated[int, _EXPLORE, Param("n")] = 1_024
    layer_width: Annotated[int, _EXPLORE, Param("d")] = 64
    kernel_width: Annotated[int, _EXPLORE, Param("k")] = 3  #: k of the convolutions
    window_size: Annotated[int, _EXPLORE, Param("r")] = 9  #: r of restricted self-attention
    side: Annotated[Side, _EXPLORE] = "source"  #: the source or its translation
    #: position, dimension, shift: which curves of the encodings are drawn.
    position: Annotated[int, _EXPLORE] = 10
    dimension: Annotated[int, _EXPLORE] = 20
    shift: Annotated[int, _EXPLORE] = 3
    width: Annotated[int, _EXPLORE] = 0  #: dimensions that the encodings' formula is given; 0 for the model's own
    base: Annotated[int, _EXPLORE] = 10_000  #: of the formula's wavelengths
    #: the class whose answers are counted together; "" for none.
    classroom: Annotated[str, Param("class"), MaxLength(16)] = ""
    #: how far the picture of the Transformer is zoomed in; its layer, head, row and key are those of all pages.
    depth: Annotated[Depth, _WALK] = "model"
    #: at the depth of a layer, the input or the output of the stack instead.
    path_end: Annotated[PathEnd, _WALK, Param("end")] = ""
    #: of query and key, the one that is looked at; None leaves that to the page.
    component: Annotated[int | None, _WALK, Param("dim"), ResetBy("checkpoint")] = None
    #: the stop of the way through the picture, counted from 1; 0 for whoever goes where they like.
    walk_stop: Annotated[int, _WALK, Param("walk"), ResetBy("checkpoint")] = 0
    #: whose weights the lines of the whole model are: each cell's strongest head, the mean, the open head; or the open
    #: head's into one token alone.
    lines: Annotated[Lines, _WALK] = "strongest"
    #: what the model is compared with: the open head switched off, or pointed at the key; or (forced) the decoder
    #: reading the reference.
    walk_edit: Annotated[WalkEdit, _WALK, Param("change"), ResetBy("text", "checkpoint", "second_text", "chat")] = ""
    #: where the film of the model stands; None for its end, where all is drawn.
    map_step: Annotated[int | None, _WALK, Param("map"), ResetBy("text", "checkpoint", "chat")] = None
    #: the step whose target is smoothed; None leaves that to the page.
    smoothed_step: Annotated[int | None, _EXPLORE, Param("target_of"), ResetBy("text", "checkpoint", "chat")] = None
    smoothing: Annotated[int, _EXPLORE, Param("epsilon")] = 10  #: ε, in hundredths
    #: schedule_width, schedule_warmup: d_model and the warm-up's steps in the paper's schedule.
    schedule_width: Annotated[int, _EXPLORE] = 512
    schedule_warmup: Annotated[int, _EXPLORE] = 4_000
    #: the translation that the decoder is made to read; "" leaves that to the page.
    forced_reference: Annotated[str, Param("reference"), MaxLength(2_000), ResetBy("text", "checkpoint", "chat")] = ""
    #: where the two films stand; None where they part.
    forced_step: Annotated[int | None, Param("forced"), ResetBy("text", "checkpoint", "chat", "forced_reference")] = (
        None
    )


AttentionTab = Literal["All heads", "Why"]
Order = Literal["layers", "highest", "lowest"]
DrawnAs = Literal["Heatmap", "Lines", "bertviz"]
BertvizView = Literal["Head view", "Model view"]

#: The metric that is the weight between two words, or in the kept cell.
KEPT: Final = "kept"
ALL_HEADS: Final[AttentionTab] = "All heads"
WHY: Final[AttentionTab] = "Why"
ORDERS: Final[tuple[Order, ...]] = get_args(Order)
DRAWN_AS: Final[tuple[DrawnAs, ...]] = get_args(DrawnAs)
BERTVIZ_VIEWS: Final[tuple[BertvizView, ...]] = get_args(BertvizView)


_OfQuestion: Final = ResetBy("text", "checkpoint", "second_text", "chat", "site", "layer", "head", "token", "key_token")


@dataclass(frozen=True, slots=True)
class AttentionChoices:
    """What is chosen on the attention page."""

    attention_tab: Annotated[AttentionTab, Param("view")] = ALL_HEADS  #: the open tab
    #: the number that the tile of each head carries; "" for none.
    metric: Annotated[str, OneOf(("", *OF_SENTENCES, KEPT)), Param("figure"), ResetBy("checkpoint", only=KEPT)] = ""
    order: Order = "layers"  #: how tiles are sorted: layer by layer, or by the metric
    max_heads: Annotated[int, Param("keep")] = 0  #: how many heads stay, the first in that order; 0 for all
    drawn_as: Annotated[DrawnAs, Param("drawn")] = "Heatmap"  #: how the open head is drawn
    threshold: int = 0  #: lines of fewer percent are left out
    #: the first query of a long text that is drawn as lines; None leaves that to the page.
    window_start: Annotated[
        int | None, Param("window"), ResetBy("text", "site", "checkpoint", "second_text", "chat")
    ] = None
    #: a rectangle of the picture that is read: left, top, right and bottom in pixels as the model sees it.
    area: Annotated[tuple[int, ...], Shape(r"\d+([.]\d+){3}"), ResetBy("given_file", "checkpoint")] = ()
    distance: int = 1  #: how many tokens before its query each key stands, where QK of rotary positions is shown
    bertviz_view: Annotated[BertvizView, Param("bertviz")] = "Head view"  #: which of bertviz's views
    #: the steps back that were asked for in the tab Why, as codes of `model.analysis.reasons.trail`.
    trail: Annotated[tuple[str, ...], _OfQuestion] = ()
    #: the key that the one asked about is compared with there; None leaves that to the page.
    rival_key: Annotated[int | None, Param("rival"), _OfQuestion] = None
    #: whether a person wants no twin there.
    without_twin: Annotated[bool, Param("alone"), ResetBy("text", "other_text")] = False
    #: codes of the heads by which words of a sound have times; none for the model's own.
    timed_by: Annotated[tuple[str, ...], Param("timed"), ResetBy("checkpoint")] = ()
    #: whether the atlas led to the sentence, so that a link leads back.
    from_atlas: Annotated[bool, ResetBy("text", "checkpoint", "second_text", "chat")] = False


DecodingTab = Literal["Film", "Inside"]
Search = Literal["Greedy", "Beam search", "Sampling"]
Inside = Literal["Logit lens", "Attribution"]
Edit = Literal["off", "uniform", "point"]

#: Compared with no other token.
ALONE: Final = 0
EDITS: Final[tuple[Edit, ...]] = get_args(Edit)


class TokenFilter(NamedTuple):
    """Which tokens can be sampled: temperature and top p in hundredths; a top k of 0 and a top p of 100 keep all."""

    temperature: int
    top_k: int
    top_p: int


#: The model's own probabilities.
NO_FILTER: Final = TokenFilter(temperature=100, top_k=0, top_p=100)
#: What leaves out the unlikely tokens, from which a translation derails.
LIKELY_TOKENS: Final = TokenFilter(temperature=70, top_k=0, top_p=90)


@dataclass(frozen=True, slots=True)
class DecodingChoices:
    """What is chosen on the decoding page."""

    decoding_tab: Annotated[DecodingTab, Param("studio")] = "Film"  #: the open tab
    search: Search = "Greedy"  #: how the translation is found
    inside: Inside = "Logit lens"  #: what is read inside the model at each step
    #: what made other translations, as codes of `viz.selection.branch_codes`.
    branches: Annotated[tuple[str, ...], ResetBy("text", "checkpoint", "chat")] = ()
    #: the one that is shown; 0 is the model's own translation.
    branch: Annotated[int, ResetBy("text", "checkpoint", "chat")] = 0
    #: the one that it is compared with, if any.
    compared_branch: Annotated[int | None, Param("against"), ResetBy("text", "checkpoint", "chat")] = None
    num_candidates: Annotated[int, Param("candidates")] = 10  #: how many candidates are listed
    #: temperature, top_k, top_p: as in `TokenFilter`.
    temperature: Annotated[int, Proposed("filter_chosen")] = 100
    top_k: Annotated[int, Proposed("filter_chosen")] = 0
    top_p: Annotated[int, Proposed("filter_chosen")] = 100
    #: whether a person chose these three; else each tab proposes its own.
    filter_chosen: Annotated[bool, SessionOnly()] = False
    #: milliseconds of a sound that attribution hides at once; 0 leaves that to the page.
    hidden_span: Annotated[int, Param("span"), ResetBy("checkpoint")] = 0
    num_samples: Annotated[int, Param("samples")] = 5  #: how many translations are drawn
    sampling_seed: Annotated[int, Param("draw")] = 1  #: the seed of the first of them
    beam_size: Annotated[int, Param("beam")] = 4  #: how many hypotheses beam search keeps
    length_penalty: Annotated[int, Param("penalty")] = 60  #: by which they compete, in hundredths
    #: the hypothesis that is open; None for the winner.
    beam_node: Annotated[
        int | None, Param("node"), ResetBy("text", "checkpoint", "chat", "beam_size", "length_penalty")
    ] = None
    #: 1 + the id of the token that the written one is compared with, where it is explained; or `ALONE`.
    rival: Annotated[int, Param("than"), Proposed("rival_chosen"), ResetBy("text", "step", "checkpoint", "chat")] = (
        ALONE
    )
    #: whether a person chose that; else the page proposes it.
    rival_chosen: Annotated[bool, SessionOnly(), ResetBy("text", "step", "checkpoint", "chat")] = False

    @property
    def token_filter(self) -> TokenFilter:
        """The temperature, top k and top p."""
        return TokenFilter(self.temperature, self.top_k, self.top_p)


CoreferenceTab = Literal["Side by side", "Cause", "Measured", "Two models"]
TextsOfBoth = Literal["text", "corpus"]
PairSet = Literal["curated", "file"]
Replacement = Literal["zero", "mean"]
CauseScope = Literal["pair", "set"]
CauseBy = Literal["off", "estimate", "swapped", "direct"]
OthersOf = Literal["model", "attention", "layer"]

PAIR_SETS: Final[tuple[PairSet, ...]] = get_args(PairSet)
#: The fields of words marked in the first sentence, and in the second.
MARKS: Final = ("pronoun", "antecedent", "distractor")
OTHER_MARKS: Final = ("other_pronoun", "other_antecedent", "other_distractor")

_OfText = Annotated[int | None, ResetBy("text")]
_OfOtherText = Annotated[int | None, ResetBy("text", "other_text")]


@dataclass(frozen=True, slots=True)
class CoreferenceChoices:
    """What is chosen on the page that compares two sentences."""

    coreference_tab: Annotated[CoreferenceTab, Param("lab")] = "Side by side"  #: the open tab
    #: the query that is looked at in the second; None leaves that to the page.
    other_token: Annotated[
        int | None, ResetBy("other_text", "site", "checkpoint", "second_text", "chat", "pair", "other_pronoun")
    ] = None
    #: the name of a pair of a set; "" compares the two texts.
    pair: Annotated[str, MaxLength(60), ResetBy("text", "other_text")] = ""
    #: pronoun, antecedent, distractor: positions of words marked in the text; None where the page guesses.
    pronoun: _OfText = None
    antecedent: _OfText = None
    distractor: _OfText = None
    #: other_pronoun, other_antecedent, other_distractor: the same in the second sentence.
    other_pronoun: _OfOtherText = None
    other_antecedent: _OfOtherText = None
    other_distractor: _OfOtherText = None
    pair_set: Annotated[PairSet, Param("given")] = "curated"  #: what heads are measured on: the curated set, or a file
    heads_off: Annotated[tuple[str, ...], Param("off")] = ()  #: codes of the heads that are switched off
    others_off: Annotated[bool, Param("spare")] = False  #: whether these stay on, and all others are switched off
    #: of what all others are: of the whole model, or of the attentions or the layers of the chosen heads.
    others_of: Annotated[OthersOf, Param("of")] = "model"
    #: what a head that is switched off gives instead of its output.
    replacement: Annotated[Replacement, Param("instead")] = "zero"
    #: the name of the model that the chosen one is compared with; "" leaves that to the page.
    second_model: Annotated[str, MaxLength(200), Param("beside")] = ""
    #: over what the heads of two models are compared: the open text, or our own sentences.
    texts_of_both: Annotated[TextsOfBoth, Param("over")] = "text"
    #: whether a cause is looked for in one pair or in all of them.
    cause_scope: Annotated[CauseScope, Param("scope")] = "pair"
    cause_by: Annotated[CauseBy, Param("by")] = "off"  #: by which intervention heads are ranked there
    edit: Annotated[Edit, Proposed("edit_chosen")] = "off"  #: what happens to the weights of the chosen head
    edit_chosen: Annotated[bool, SessionOnly()] = False  #: whether a person chose that; else the page proposes it
    edit_once: Annotated[bool, Param("once")] = False  #: whether that holds in this step only, and not from it on


AtlasTab = Literal["Heads", "Scatter"]
NamesShown = Literal["few", "all", "none"]
Corpus = Literal["own", "file"]
ReadOff = Literal["weights", "norms"]


@dataclass(frozen=True, slots=True)
class AtlasChoices:
    """What is chosen on the atlas page."""

    atlas_tab: Annotated[AtlasTab, Param("atlas")] = "Heads"  #: the open tab
    atlas_table: Annotated[bool, Param("table")] = False  #: whether the table below the maps is unfolded
    corpus: Corpus = "own"  #: what was read: our own sentences, or a file
    #: the number of a head over the whole corpus that is looked at.
    corpus_metric: Annotated[str, OneOf(OF_A_CORPUS), Param("corpus_figure"), Proposed("metric_chosen")] = "confidence"
    metric_chosen: Annotated[bool, SessionOnly()] = False  #: whether a person chose that; else the page proposes it
    read_off: ReadOff = "weights"  #: what it is computed from
    #: scatter_x, scatter_y: the two metrics by which heads are points.
    scatter_x: Annotated[str, OneOf(OF_A_CORPUS), Param("across"), Proposed("scatter_chosen")] = "confidence"
    scatter_y: Annotated[str, OneOf(OF_A_CORPUS), Param("up"), Proposed("scatter_chosen")] = "distance"
    scatter_chosen: Annotated[bool, SessionOnly()] = False  #: whether a person chose them; else the page proposes them
    scatter_names: Annotated[NamesShown, Param("names")] = "few"  #: which points are named


ExperimentsTab = Literal["Ablations", "Through training"]


@dataclass(frozen=True, slots=True)
class ExperimentsChoices:
    """What is chosen on the page of experiments."""

    experiments_tab: Annotated[ExperimentsTab, Param("claim")] = "Ablations"  #: the open tab
    #: the small models that one sentence goes through, by their presets.
    ablations: Annotated[tuple[str, ...], Param("models"), Proposed("ablations_chosen")] = ()
    #: whether a person chose them; else the tab proposes those that differ most.
    ablations_chosen: Annotated[bool, SessionOnly()] = False
    ablation_site: Site = CROSS  #: the attention that is shown of each
    #: ablation_layer, ablation_head: the layer and head that are shown, counted from 1; 0 for each model's surest.
    ablation_layer: int = 0
    ablation_head: int = 0
    live_switches: Annotated[bool, Param("switches")] = False  #: whether parts are taken out of the chosen translator
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
    film_metric: Annotated[str, OneOf(OF_FILMS), Proposed("film_metric_chosen")] = "word_out"
    film_metric_chosen: Annotated[bool, SessionOnly(), ResetBy("film_site", "film_of")] = False


ModelSection = Literal["Overview", "Masks, positions and cost", "Data and training", "Scores", "Card"]


@dataclass(frozen=True, slots=True)
class ModelCardChoices:
    """What is chosen on the model page."""

    model_section: Annotated[ModelSection, Param("about")] = "Overview"  #: the section that is asked for
    example_seed: Annotated[int, Param("seed")] = 1  #: which of the training sentences are drawn as examples
