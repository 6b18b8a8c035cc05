"""Views of how many parameters a head, an attention, a layer and the model have, in the paper and in the checkpoint."""

from typing import TYPE_CHECKING, Final

from model.analysis.embedding_space import is_shared
from model.config import TransformerConfig
from model.decoding.cost import ParameterCounts, count_parameters
from model.description import hyperparameters
from viz.pages.learn.lessons.pictures import FullPage, Rows, View
from viz.text.html import Column
from viz.text.messages import Message, said

if TYPE_CHECKING:
    from viz.pages.learn.lessons.data.shipped import Shipped

#: The paper's base model (Table 3), with the shared vocabulary of §5.1.
BASE: Final = TransformerConfig(vocab_size=37_000)
#: Of the paper's two models: English–German and English–French on newstest2014 (Table 2).
BLEU: Final = {"base": (27.3, 38.1), "big": (28.4, 41.8)}
#: The best results before, those of the ensembles of ConvS2S (Table 2).
BEFORE: Final = (26.36, 41.29)
_FULL: Final = FullPage("model_card", {"model_section": "Overview"})
_COLUMNS: Final = (
    Column(said("part")), Column(said("parameters")), Column(said("base model"), is_number=True),
    Column(said("this model"), is_number=True),
)  # fmt: skip


def matrices(shipped: "Shipped") -> View:
    """The matrices of a head and of a whole attention by their sizes, in the base model and in the one shown."""
    config, counted = shipped.translator.config, hyperparameters(shipped.translator).counts
    d, d_k, heads = config.d_model, config.d_k, config.num_heads
    names = {
        said("W_Q, W_K, W_V of one head"): "3 · d_model · dₖ",
        said("its rows of W_O"): "dₖ · d_model",
        said("one head"): "4 · d_model · dₖ",
        said("all h heads"): "h · 4 · d_model · dₖ",
        said("with biases"): "4 · (d_model² + d_model)",
    }
    of_both = zip(_of_attention(BASE), _of_attention(config), strict=True)
    rows = tuple(
        (name, formula, f"{one:,}", f"{other:,}")
        for (name, formula), (one, other) in zip(names.items(), of_both, strict=True)
    )
    found: dict[str, float | str] = {
        "d_model": d, "d_k": d_k, "heads": heads, "one_head": 4 * d * d_k, "all_heads": 4 * heads * d * d_k,
        "single": 4 * d * d, "biased": 4 * (d * d + d), "in_base": 4 * BASE.d_model**2,
        "counted": counted.encoder_self_attention // config.num_layers,
    }  # fmt: skip
    found["verdict"] = said("As many") if found["all_heads"] == found["single"] else said("Fewer")
    caption = said(
        "Base model of the paper: d_model = {d_model}, h = {heads}. The checkpoint has {counted:,} numbers for one "
        "attention.",
        d_model=BASE.d_model, heads=BASE.num_heads, counted=found["counted"],
    )  # fmt: skip
    return View(Rows(_COLUMNS, rows), found, caption, _FULL)


def counted(shipped: "Shipped") -> View:
    """The parameters of each kind of sub-layer, of a layer and of the model; the last as the checkpoint has them."""
    config = shipped.translator.config
    computed, real = count_parameters(config), hyperparameters(shipped.translator).counts
    base = count_parameters(BASE)
    names = {
        said("attention"): "4 · (d_model² + d_model)",
        said("feed-forward network"): "2 · d_model · d_ff + d_ff + d_model",
        said("LayerNorm"): "2 · d_model",
        said("layer of the encoder"): said("attention + network + 2 norms"),
        said("layer of the decoder"): said("2 attentions + network + 3 norms"),
        said("embedding matrix"): "|V| · d_model",
        said("model"): said("all layers and matrix; with pre-norm also 2 final norms"),
    }
    of_both = zip(_sizes(BASE, base), _sizes(config, real), strict=True)
    rows: tuple[tuple[str | Message, ...], ...] = tuple(
        (name, formula, f"{one:,}", f"{other:,}")
        for (name, formula), (one, other) in zip(names.items(), of_both, strict=True)
    )
    attentions = real.encoder_self_attention + real.decoder_self_attention + real.cross_attention
    networks = real.encoder_feed_forward + real.decoder_feed_forward
    found: dict[str, float | str] = {
        "total": computed.total, "counted": sum(each.numel() for each in shipped.translator.model.parameters()),
        "base_total": base.total, "attentions": attentions, "networks": networks, "embedding": real.embedding,
        "d_model": config.d_model, "d_ff": config.d_ff, "layers": config.num_layers, "vocabulary": config.vocab_size,
        "encoder_layer": _sizes(config, real)[3], "decoder_layer": _sizes(config, real)[4],
        "part": networks / real.total, "share": real.embedding / real.total,
        "unshared": computed.total + 2 * real.embedding,
        "shared": "one" if is_shared(shipped.translator) else "several",
    }  # fmt: skip
    largest = max(attentions, networks, real.embedding)
    of_largest = {
        attentions: said("The attentions"), networks: said("The feed-forward networks"),
        real.embedding: said("The embedding matrix"),
    }  # fmt: skip
    found["verdict"] = of_largest[largest]
    caption = said(
        "The right column is counted in the checkpoint; the formulas give the same. |V| is {base:,} in the paper "
        "(§5.1), {own:,} here. The paper's model is post-norm and has no final norms (lesson 5). Its formulas show no "
        "biases in attention; they are {biases:.2%} of the base model.",
        base=BASE.vocab_size, own=config.vocab_size, biases=3 * 4 * BASE.num_layers * BASE.d_model / base.total,
    )  # fmt: skip
    return View(Rows(_COLUMNS, rows), found, caption, _FULL)


def base_and_big(shipped: "Shipped") -> View:
    """What the paper's big model has more of than its base model (Tables 2 and 3), beside the model that ships."""
    own = shipped.translator.config
    total = hyperparameters(shipped.translator).counts.total
    rows: tuple[tuple[str | Message, ...], ...] = (
        (said("BLEU, English–German"), f"{BLEU['base'][0]}", f"{BLEU['big'][0]}", f"{BEFORE[0]}", ""),
        (said("BLEU, English–French"), f"{BLEU['base'][1]}", f"{BLEU['big'][1]}", f"{BEFORE[1]}", ""),
        (said("training cost, FLOPs, English–German"), "3.3 · 10¹⁸", "2.3 · 10¹⁹", "7.7 · 10¹⁹", ""),
        (said("training cost, FLOPs, English–French"), "3.3 · 10¹⁸", "2.3 · 10¹⁹", "1.2 · 10²¹", ""),
        ("d_model", f"{BASE.d_model:,}", "1,024", "", f"{own.d_model:,}"),
        ("d_ff", f"{BASE.d_ff:,}", "4,096", "", f"{own.d_ff:,}"),
        (said("heads"), f"{BASE.num_heads}", "16", "", f"{own.num_heads}"),
        ("dₖ = dᵥ", f"{BASE.d_k}", "64", "", f"{own.d_k}"),
        (said("layers of the encoder, and of the decoder, N"), f"{BASE.num_layers}", "6", "", f"{own.num_layers}"),
        (said("million parameters"), "65", "213", "", f"{total / 1e6:.0f}"),
        (said("P_drop, English–German"), f"{BASE.dropout}", "0.3", "", f"{own.dropout}"),
        (said("training steps"), "100,000", "300,000", "", ""),
        (said("training on 8 P100 GPUs"), said("12 hours"), said("3.5 days"), "", ""),
    )
    found: dict[str, float | str] = {
        f"{name}_{language}": value
        for name, values in BLEU.items()
        for language, value in zip(("german", "french"), values, strict=True)
    }
    found |= {
        "ahead": BLEU["big"][0] - BEFORE[0], "base_ahead": BLEU["base"][0] - BEFORE[0],
        "over_base": BLEU["big"][0] - BLEU["base"][0],
    }  # fmt: skip
    columns = (
        Column(said("quantity")), Column(said("base model"), is_number=True), Column(said("big model"), is_number=True),
        Column(said("previous best"), is_number=True), Column(said("this model"), is_number=True),
    )  # fmt: skip
    caption = said(
        "Tables 2 and 3 and §5.2 of the paper. BLEU on newstest2014 is that of averaged checkpoints: the last 5 of "
        "the base model, the last 20 of the big one (§6.1). Previous best: the ConvS2S ensemble; the best single "
        "model (MoE) had 26.03 and 40.56. The big English–French model was trained with P_drop = 0.1; the text of "
        "§6.1 gives it 41.0. The last column is read from the checkpoint."
    )
    return View(Rows(columns, rows), found, caption, _FULL)


def _of_attention(config: TransformerConfig) -> tuple[int, ...]:
    """Parameters of a head's W_Q, W_K and W_V, of its rows of W_O, of a head, of all, and of all with biases."""
    matrix, of_all = config.d_model * config.d_k, 4 * config.num_heads * config.d_model * config.d_k
    return 3 * matrix, matrix, 4 * matrix, of_all, of_all + 4 * config.d_model


def _sizes(config: TransformerConfig, counts: ParameterCounts) -> tuple[int, ...]:
    """Parameters of an attention, a network, a norm, a layer of either stack, the matrix, and the model."""
    attention, network = counts.encoder_self_attention // config.num_layers, counts.encoder_feed_forward
    network, norm = network // config.num_layers, 2 * config.d_model
    layers = attention + network + 2 * norm, 2 * attention + network + 3 * norm
    return attention, network, norm, *layers, counts.embedding, counts.total
