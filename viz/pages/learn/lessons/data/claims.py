"""Views of what is often said of the Transformer, each run on the model."""

from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float, Int

from model import Trace, Translator, later
from model.analysis.metrics.measures import value_weighted_norms
from model.analysis.scoring import with_scale
from model.errors import TraceError
from model.nn.attention import MultiHeadAttention
from model.nn.edits import SwitchOff
from viz.access import attention, traces
from viz.pages.learn.lessons.data.shipped import is_most, nearest_share
from viz.pages.learn.lessons.pictures import Bars, FullPage, Rows, View
from viz.server.caches import cached
from viz.text.html import Column
from viz.text.messages import said
from viz.text.written import CROSS, ENCODER, NAMES, SITES, NamedHead, display_token, head_label, spoken, written_number

if TYPE_CHECKING:
    from viz.pages.learn.lessons.data.shipped import Shipped

#: Heads that a picture has room for.
HEADS: Final = 12
#: A row has saturated where one key has more weight than this.
SATURATED: Final = 0.99


def strongest_off(shipped: "Shipped", *, text: str) -> View:
    """For each token written: the head that looks hardest at the source, and what is written with it switched off."""
    trace = shipped.trace(text)
    layers, rows_of = _strongest(trace)
    probabilities, written = _without(shipped.translator, trace)
    own = np.exp([step.log_prob for step in trace.steps])
    stays = written == [step.token_id for step in trace.steps]
    rows, weights = [], []
    for row, (layer, head, key) in enumerate(rows_of):
        weights.append(float(layers[layer, head, row, key]))
        rows.append(
            (
                display_token(trace.steps[row].token), NamedHead(CROSS, layer, head),
                display_token(trace.source_tokens[key]), f"{weights[row]:.2f}", f"{own[row]:.2f}",
                f"{probabilities[row]:.2f}", said("no") if stays[row] else said("yes"),
            )
        )  # fmt: skip
    most = int(np.argmax(own - probabilities))
    layer, head, _ = rows_of[most]
    found: dict[str, float | str] = {
        "tokens": len(rows), "changed": int((~stays).sum()), "same": int(stays.sum()),
        "weight": float(np.mean(weights)), "translation": trace.translation, "head": NamedHead(CROSS, layer, head),
        "ends": sum(key == len(trace.source_tokens) - 1 for *_head, key in rows_of),
        "loss": spoken(trace.steps[most].token), "before": float(own[most]), "after": float(probabilities[most]),
    }  # fmt: skip
    options = {0.0: said("Few or none"), 0.5: said("About half"), 1.0: said("Nearly all")}
    found["verdict"] = nearest_share(options, float((~stays).mean()))
    columns = (
        Column(said("writes"), language="de"), Column(said("head")), Column(said("attends to"), language="en"),
        Column(said("weight"), is_number=True), Column("p", is_number=True), Column(said(
            "p without the head"), is_number=True),
        Column(said("changed?")),
    )  # fmt: skip
    caption = said(
        "For each row, the cross-attention head with the largest weight is switched off; all tokens before are kept."
    )
    choices = {"text": text, "site": CROSS, "layer": layer, "head": head, "step": most, "coreference_tab": "Cause"}
    return View(Rows(columns, tuple(rows)), found, caption, FullPage("coreference", choices))


def shares(shipped: "Shipped", *, text: str, site: str, word: str, key: str) -> View:
    """The share of a word's weight that another one gets, in the heads that give it most, and over all."""
    trace = shipped.trace(text)
    at, keys = shipped.row(trace, site, word), shipped.keys(trace, site, key)
    weights = attention.all_weights(trace, site)[:, :, at]
    given = weights[..., list(keys)].sum(-1)
    largest = np.isin(weights.argmax(-1), keys)
    order = np.argsort(-given.ravel())[:HEADS]
    places = [divmod(int(one), given.shape[1]) for one in order]
    (layer, head), *_ = places
    found: dict[str, float | str] = {
        "word": word, "key": key, "attention": NAMES[site].phrase, "heads": int(given.size),
        "mean": float(given.mean()), "most": float(given.max()), "least": float(given.min()),
        "head": NamedHead(site, layer, head), "largest_in": int(largest.sum()), "median": float(np.median(given)),
        "even": len(keys) / weights.shape[-1],
    }  # fmt: skip
    labels = [*(head_label(*place) for place in places), said("mean of all {heads} heads", heads=given.size)]
    values = np.append(given.ravel()[order], given.mean())
    weight = said("weight")
    picture = Bars(labels=labels, series={weight: values}, number=weight, top=1.0, marked=len(order))
    caption = said(
        "The weight of “{word}” on “{key}” in the {count} heads where it is largest, and its mean over all heads.",
        word=word, key=key, count=len(order),
    )  # fmt: skip
    choices = {"text": text, "site": site, "layer": layer, "head": head, "token": at}
    return View(picture, found, caption, FullPage("attention", choices))


def saturated(shipped: "Shipped", *, text: str) -> View:
    """The rows of each attention in which one key has nearly all weight, divided by √d_k and not."""
    trace = shipped.trace(text)
    counts: dict[str, list[int]] = {"scaled": [], "dot": []}
    rows = 0
    for site in SITES:
        sums = dict.fromkeys(counts, 0)
        for layer in range(trace.layers_of(site)):
            inputs = trace.attention(site, layer)
            choice = inputs.mask.rows()[0].sum(-1).numpy() > 1
            rows += int(choice.sum()) * inputs.num_heads
            for name in counts:
                weights = with_scale(inputs, name).weights(None, slice(None)).numpy()[:, choice]
                sums[name] += int((weights.max(-1) > SATURATED).sum())
        for name, count in sums.items():
            counts[name].append(count)
    scaled, raw = (sum(counts[name]) for name in ("scaled", "dot"))
    found: dict[str, float | str] = {
        "rows": rows, "scaled": scaled, "raw": raw, "scaled_share": scaled / rows, "raw_share": raw / rows,
        "root": float(shipped.translator.config.d_k**0.5), "d_k": shipped.translator.config.d_k, "limit": SATURATED,
    }  # fmt: skip
    found["verdict"] = said("Most rows") if is_most(raw, rows) else said("Some rows")
    series: dict[str, np.ndarray] = {
        said("divided by √dₖ"): np.array(counts["scaled"], float),
        said("not divided"): np.array(counts["dot"], float),
    }
    labels = [NAMES[site].phrase for site in SITES]
    number = said("rows with a weight above {limit}", limit=SATURATED)
    picture = Bars(labels=labels, series=series, number=number, digits=0)
    caption = said("Of {rows:,} rows of all heads; rows that may attend to only one key are excluded.", rows=rows)
    return View(picture, found, caption, FullPage("learn", {"text": text}, topic="scores"))


def keys_of_memory(shipped: "Shipped", *, text: str, target: str, other: str) -> View:
    """Keys of cross-attention recomputed from the encoder's output, with another translation, and another sentence."""
    translator = shipped.translator
    trace = shipped.trace(text)
    forced, changed = translator.trace(text, target), shipped.trace(other)
    memory = _memory(translator, trace)
    rows, worst = [], {"key": 0.0, "target": 0.0, "source": 0.0}
    for layer in range(trace.layers_of(CROSS)):
        attention = translator.model.get_submodule(f"decoder.layers.{layer}.cross_attention")
        own = _keys(trace, layer)
        reach = min(len(own), len(_keys(changed, layer)))
        misses = {
            "key": float(np.abs(_projected(attention, memory) - own).max()),
            "target": float(np.abs(_keys(forced, layer) - own).max()),
            "source": float(np.abs(_keys(changed, layer)[:reach] - own[:reach]).max()),
        }
        worst = {name: max(worst[name], miss) for name, miss in misses.items()}
        rows.append(
            (
                f"L{layer + 1}",
                *(written_number(misses[of], ".1g") for of in ("key", "target")),
                f"{misses['source']:.2f}",
            )
        )
    found: dict[str, float | str] = {
        "layers": len(rows), "recomputed": worst["key"], "other_target": worst["target"],
        "other_source": worst["source"], "largest": float(np.abs(_keys(trace, 0)).max()), "target": target,
        "other": other,
    }  # fmt: skip
    is_source = worst["source"] > 1e-3 > worst["target"]
    found["verdict"] = said("Another source") if is_source else said("Another translation")
    columns = (
        Column(said("layer")), Column(said("recomputed from the memory"), is_number=True),
        Column(said("another translation"), is_number=True),
        Column(said("another source"), is_number=True),
    )  # fmt: skip
    caption = said("The largest difference between a component of the keys and the one that the model used.")
    return View(Rows(columns, tuple(rows)), found, caption, FullPage("attention", {"text": text, "site": CROSS}))


def order_without_positions(shipped: "Shipped", *, text: str) -> View:
    """A model without positions: what changes in its encoder backwards, and in its decoder with two tokens swapped."""
    translator = shipped.experiment("no-positions")
    trace = traces.trace(translator, text)
    if len(trace.target_ids) < 4:
        raise TraceError(
            "The small model writes too few tokens here: there are no two tokens before the last that could be swapped."
        )
    reversed_words = later.outputs.read_backwards(translator, trace)
    swapped = later.outputs.swap_earlier_tokens(translator, trace, 1, 2)
    names = [
        said("encoder, words backwards"),
        *(said("decoder’s last row, after layer {layer}", layer=n) for n in range(1, len(swapped.differences) + 1)),
    ]
    values = (reversed_words.difference, *swapped.differences)
    rows = tuple((name, written_number(value, ".1g")) for name, value in zip(names, values, strict=True))
    first, *_ = swapped.differences
    *_, last = swapped.differences
    _start, one, other, *_ = trace.target_tokens
    found: dict[str, float | str] = {
        "encoder": reversed_words.difference, "first": first, "last": last, "layers": len(swapped.differences),
        "translation": trace.translation, "one": spoken(one), "other": spoken(other),
    }  # fmt: skip
    found["verdict"] = said("It knows some of it") if last > 1e-3 else said("It knows nothing of it")
    picture = Rows((Column(said("what is compared")), Column(said("largest difference"), is_number=True)), rows)
    caption = said(
        "The encoder's output for the same tokens; and the decoder's last row, after two tokens are swapped."
    )
    choices = {
        "text": text,
        "experiments_tab": "Ablations",
        "ablations": ("full", "no-positions"),
        "ablations_chosen": True,
    }
    return View(picture, found, caption, FullPage("experiments", choices))


def weight_and_norm(shipped: "Shipped", *, text: str) -> View:
    """How often the key with most weight is not the one whose vector, times its weight, is longest."""
    trace = shipped.trace(text)
    layers, heads = trace.shapes[ENCODER]
    rows, differ = 0, np.zeros((layers, heads))
    largest: Int[np.ndarray, "head query"]
    for layer in range(layers):
        inputs = trace.attention(ENCODER, layer)
        weights = trace.weights(ENCODER, layer)
        norms = value_weighted_norms(weights, inputs.values(), shipped.translator.output_projection(ENCODER, layer))
        largest = weights.argmax(-1).numpy()
        differ[layer] = (largest != norms.argmax(-1).numpy()).mean(-1)
        rows += largest.size
    layer, head = map(int, np.unravel_index(differ.argmax(), differ.shape))
    found: dict[str, float | str] = {
        "rows": rows, "share": float(differ.mean()), "count": round(float(differ.mean()) * rows),
        "head": NamedHead(ENCODER, layer, head), "most": float(differ.max()),
    }  # fmt: skip
    often = said("In most rows") if is_most(differ.sum(), differ.size) else said("In some rows")
    found["verdict"] = often if differ.any() else said("Never")
    labels = [said("layer {number}", number=number + 1) for number in range(layers)]
    number = said("share of rows where the two differ")
    picture = Bars(labels=labels, series={said("share"): differ.mean(-1)}, number=number, top=1)
    caption = said(
        "Encoder self-attention: rows in which the key with the largest weight is not the key whose weighted vector "
        "has the largest norm."
    )
    choices = {"text": text, "site": ENCODER, "layer": layer, "head": head, "measure": "norms"}
    return View(picture, found, caption, FullPage("attention", choices))


def _strongest(trace: Trace) -> tuple[Float[np.ndarray, "layer head row key"], list[tuple[int, int, int]]]:
    """The weights of cross-attention, and of each row the layer, head and key with the largest."""
    weights = attention.all_weights(trace, CROSS)
    rows = [weights[:, :, row] for row in range(len(trace.steps))]
    places = [tuple(map(int, np.unravel_index(row.argmax(), row.shape))) for row in rows]
    return weights, [(layer, head, key) for layer, head, key in places]


@cached(max_entries=16)
def _without(translator: Translator, trace: Trace) -> tuple[Float[np.ndarray, "row"], Int[np.ndarray, "row"]]:
    """Of each row without its strongest head: the probability of the token that was written, and the best token."""
    ids = [step.token_id for step in trace.steps]
    _, places = _strongest(trace)
    edited = [
        translator.trace_tokens(trace.text, ids, edits=[SwitchOff(CROSS, layer, head, row=row)])
        for row, (layer, head, _) in enumerate(places)
    ]
    probabilities = np.exp([run.steps[row].log_prob for row, run in enumerate(edited)])
    return probabilities, np.array([run.predicted_ids[row] for row, run in enumerate(edited)])


def _memory(translator: Translator, trace: Trace) -> Float[np.ndarray, "source d_model"]:
    """What the encoder hands to the decoder."""
    output = trace.recorded[f"encoder.layers.{translator.config.num_layers - 1}.hook_output"]
    norm = translator.model.encoder.norm
    memory: np.ndarray = norm(output.to(translator.device)).detach().float().cpu().numpy()
    return memory


def _keys(trace: Trace, layer: int) -> Float[np.ndarray, "source width"]:
    """The keys of cross-attention, heads beside each other."""
    keys = trace.attention(CROSS, layer).key.float().numpy()
    joined: np.ndarray = np.hstack([*keys])
    return joined


def _projected(attention: object, memory: Float[np.ndarray, "source d_model"]) -> Float[np.ndarray, "source width"]:
    """memory · W_K + b_K (§3.2.2), from the weights of an attention."""
    assert isinstance(attention, MultiHeadAttention)
    weight, bias = (values.detach().float().cpu().numpy() for values in (attention.key.weight, attention.key.bias))
    projected: np.ndarray = memory @ weight.T + bias
    return projected
