"""Views of training: schedule, log, smoothed targets, dropout; and small models that lack a part, over their seeds."""

from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from model import later
from model.analysis.ablations.results import AblationResults, dev_sets, score_of
from model.analysis.label_smoothing import smoothed_target, step_log_probs, step_loss
from model.errors import CheckpointError, DataError
from model.training.optimizer import learning_rate, moved_by_adam
from model.training_record import TrainingLog, read_log
from viz.access import models, traces
from viz.pages.learn.lessons.data.search import differing, shortened
from viz.pages.learn.lessons.data.shipped import PRESETS
from viz.pages.learn.lessons.pictures import Bars, Curves, FullPage, Rows, View
from viz.pages.learn.transformer.data import additions
from viz.text.html import Column, Marked
from viz.text.messages import Message, said
from viz.text.written import DECODER, ENCODER, display_token, signed, spoken, total_shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from model.analysis.ablations.results import LengthScore
    from model.analysis.ablations.table import Reading
    from viz.pages.learn.lessons.data.shipped import Shipped

#: Characters of a translation without an end that are shown.
_LONGEST = 160
#: How a model stands beside the full one; None where fewer than two seeds were measured.
_READINGS: "Final[Mapping[Reading | None, Message]]" = {
    "worse": said("worse"),
    "better": said("better"),
    "not told apart": said("within seed noise"),
    None: said("one seed"),
}


def through(shipped: "Shipped", *, text: str, presets: list[str]) -> View:
    """One sentence through several small models, the first of which the others are compared with."""
    written = [traces.trace(shipped.small(preset), text).translation for preset in presets]
    first, *others = [shortened(text, _LONGEST) for text in written]
    found: dict[str, float | str] = {"same": sum(text == written[0] for text in written[1:])}
    for preset, own in zip(presets, [first, *others], strict=True):
        found |= {preset.replace("-", "_"): own or said("nothing")}
    texts: list[str | Marked] = [first, *(differing(first, other) for other in others)]
    rows = tuple((PRESETS[preset], own) for preset, own in zip(presets, texts, strict=True))
    picture = Rows((Column(said("small model")), Column(said("German"), language="de")), rows)
    caption = said(
        "The small models were all trained in the same way for 2,000 steps, with seed 0. Differences from the first "
        "are marked."
    )
    choices = {"text": text, "experiments_tab": "Ablations", "ablations": tuple(presets), "ablations_chosen": True}
    return View(picture, found, caption, FullPage("experiments", choices))


def bleu(shipped: "Shipped", *, presets: list[str], dev_set: str) -> View:
    """BLEU of small models on one set: mean and standard deviation over their seeds."""
    measured = _results()
    sets = dev_sets(measured)
    found: dict[str, float | str] = {}
    means, deviations = [], []
    for preset in presets:
        spread = score_of(measured, preset, dev_set)
        if spread is None:
            raise _not_measured(preset, dev_set)
        means.append(spread.mean)
        deviations.append(spread.deviation)
        name = preset.replace("-", "_")
        found |= {name: spread.mean, f"{name}_deviation": spread.deviation, "seeds": spread.runs}
        found |= {} if (paper := later.ablations_table.paper_difference(preset)) is None else {f"{name}_paper": paper}
        found |= {
            f"{name}_less": spread.mean - means[0],
            f"{name}_told": later.ablations_table.told_apart(measured, preset, sets) or "",
        }
    worst, *_, best = np.argsort(means)
    found |= {"best": PRESETS[presets[best]], "worst": PRESETS[presets[worst]]}
    picture = Bars(
        labels=[PRESETS[preset] for preset in presets], series={"BLEU": np.array(means)},
        number=said("BLEU on {dev_set}", dev_set=dev_set), digits=1, spread=np.array(deviations), marked=0,
    )  # fmt: skip
    caption = said(
        "Mean over {seeds} seeds each, with the standard deviation. The marked model is the one the others are "
        "compared with.",
        seeds=found["seeds"],
    )
    choices = {"experiments_tab": "Ablations", "ablations": tuple(presets), "ablations_chosen": True}
    return View(picture, found, caption, FullPage("experiments", choices))


def differences(shipped: "Shipped", *, presets: list[str]) -> View:
    """BLEU less the full model's, here and in the paper's Table 3, and whether the seeds tell it apart."""
    measured = _results()
    sets = dev_sets(measured)
    rows, found, agree = [], dict[str, float | str](), 0
    for preset in presets:
        pairs = [(score_of(measured, preset, name), score_of(measured, "full", name)) for name in sets]
        less = [own.mean - full.mean for own, full in pairs if own is not None and full is not None]
        paper, told = (
            later.ablations_table.paper_difference(preset),
            later.ablations_table.told_apart(measured, preset, sets),
        )
        name = preset.replace("-", "_")
        found |= {f"{name}_told": told or ""} | {f"{name}_less_{i}": value for i, value in enumerate(less, 1)}
        found |= {} if paper is None else {f"{name}_paper": paper}
        agree += paper is not None and told != "not told apart" and all(value * paper > 0 for value in less)
        in_table = said("not in Table 3") if paper is None else signed(paper, 1)
        rows.append((PRESETS[preset], *(signed(value, 1) for value in less), _READINGS[told], in_table))
    kinds = [found[f"{preset.replace('-', '_')}_told"] for preset in presets]
    found |= {"presets": len(presets), "agree": agree, "not_told": kinds.count("not told apart")}
    found |= {"better": kinds.count("better"), "worse": kinds.count("worse")}
    columns = (
        Column(said("small model")), *(Column(name, is_number=True) for name in sets),
        Column(said("compared with the full model")),
        Column(said("Table 3"), is_number=True),
    )  # fmt: skip
    caption = said(
        "BLEU minus that of the full model. A difference counts if it exceeds the sum of the two standard deviations "
        "on every set."
    )
    choices = {"experiments_tab": "Ablations", "ablations": tuple(presets), "ablations_chosen": True}
    return View(Rows(columns, tuple(rows)), found, caption, FullPage("experiments", choices))


def by_length(shipped: "Shipped", *, presets: list[str], dev_set: str) -> View:
    """chrF of two small models by the length of the source: how far apart they are at short and at long sentences."""
    runs = {run.preset: run for run in _results().runs if run.seed == 0}
    groups = {}
    for preset in presets:
        own = runs.get(preset)
        groups[preset] = [] if own is None else [score for score in own.lengths if score.set == dev_set]
        if not groups[preset]:
            raise _not_measured(preset, dev_set)
    curves = {preset: np.array([score.chrf for score in scores]) for preset, scores in groups.items()}
    (first, *_), (with_it, without) = groups.values(), curves.values()
    apart, (_shortest, then, *_) = with_it - without, first
    falls = [total_shown((curve[0], -curve[-1]), 1) for curve in (with_it, without)]
    found: dict[str, float | str] = {
        "dev_set": dev_set, "sentences": sum(score.sentences for score in first),
        "short": first[0].at_most, "long": first[-1].at_least,
        "short_with": with_it[0], "short_without": without[0], "long_with": with_it[-1], "long_without": without[-1],
        "apart_short": apart[0], "apart_least": apart[1:].min(), "apart_most": apart[1:].max(),
        "then_least": then.at_least, "then_most": then.at_most, "falls_with": falls[0], "falls_without": falls[1],
    }  # fmt: skip
    found["verdict"] = said("The model without attention") if falls[1] > falls[0] else said("The model with attention")
    picture = Bars(
        labels=[_words(score) for score in first], series={PRESETS[name]: values for name, values in curves.items()},
        number=said("chrF on {dev_set}", dev_set=dev_set), digits=1,
    )  # fmt: skip
    caption = said(
        "chrF, 0 to 100, of greedy translations of {sentences:,} sentences of {dev_set}, by the number of words of the "
        "English sentence (in parentheses: how many sentences). One training run (seed 0) of each model.",
        sentences=found["sentences"], dev_set=dev_set,
    )  # fmt: skip
    choices = {"experiments_tab": "Ablations", "ablations": tuple(presets), "ablations_chosen": True}
    return View(picture, found, caption, FullPage("experiments", choices))


def _words(score: "LengthScore") -> Message:
    return said(
        "{least} to {most} words ({sentences})", least=score.at_least, most=score.at_most, sentences=score.sentences
    )


def _results() -> AblationResults:
    """What was measured of all seeds. Raises a DataError where nobody has measured, or the file is damaged."""
    measured = models.ablation_results()
    if measured is None:
        message = "There are no results of ablations ({results}) for the small models."
        raise DataError(message, results=later.ablations.RESULTS)
    return measured


def _not_measured(preset: str, dev_set: str) -> DataError:
    return DataError("The results of ablations lack the model {preset!r} on {dev_set}.", preset=preset, dev_set=dev_set)


#: The paper's base model (§5.3) and its steps of training (§5.2).
D_MODEL, WARMUP, STEPS = 512, 4_000, 100_000
#: Steps over which the noise of a log is averaged, in lines of it.
SMOOTH: Final = 20
#: Candidates of a step, and numbers of a vector, that a picture has room for.
CANDIDATES, NUMBERS = 6, 24
_CURVES: Final = FullPage("model_card", {"model_section": "Data and training"})


def schedule(shipped: "Shipped", *, others: list[int]) -> View:
    """The paper's learning rate over its steps of training, with its warm-up and with others."""
    steps = np.arange(100, STEPS + 1, 100)
    lines: dict[str, np.ndarray] = {
        said("warm-up of {warmup:,} steps", warmup=warmup): np.array(
            [learning_rate(int(s), decay="paper", warmup=warmup, d_model=D_MODEL, peak=1.0, total=STEPS) for s in steps]
        )
        for warmup in (WARMUP, *others)
    }
    own, other, *_ = lines.values()
    found: dict[str, float | str] = {
        "warmup": WARMUP, "peak": float(own.max()), "peak_step": int(steps[own.argmax()]), "steps": STEPS,
        "d_model": D_MODEL, "share": float(own[-1] / own.max()), "other": others[0], "other_peak": float(other.max()),
    }  # fmt: skip
    found["verdict"] = said("At step {step:,}", step=int(steps[own.argmax()]))
    picture = Curves(
        x=steps.astype(float), lines=lines, x_name=said("step"), y_name=said("learning rate"), upright=float(WARMUP)
    )
    caption = said(
        "d_model^−0.5 · min(step^−0.5, step · warmup^−1.5), for d_model = 512. Dotted line: the paper's 4,000 steps."
    )
    return View(picture, found, caption, FullPage("learn", topic="schedule"))


def own_rate(shipped: "Shipped") -> View:
    """The learning rate in the log of the model that ships."""
    log = _log(shipped)
    steps, rates = np.array(log.learning_rate.steps, float), np.array(log.learning_rate.values)
    found: dict[str, float | str] = {
        "steps": int(steps[-1]), "peak": float(rates.max()), "rises": _rises(rates), "last": float(rates[-1]),
    }  # fmt: skip
    rate = said("learning rate")
    picture = Curves(x=steps, lines={rate: rates}, x_name=said("step"), y_name=rate)
    caption = said("From the log that ships with the model.")
    return View(picture, found, caption, _CURVES)


def own_loss(shipped: "Shipped") -> View:
    """The loss in the log of the model that ships, as logged and averaged."""
    log = _log(shipped)
    steps, losses = np.array(log.loss.steps, float), np.array(log.loss.values)
    width = min(SMOOTH, len(losses))
    averaged = np.convolve(losses, np.ones(width) / width, "valid")
    smooth = np.concatenate([np.full(len(losses) - len(averaged), np.nan), averaged])
    epsilon = models.label_smoothing(shipped.choice) or 0.0
    vocabulary = shipped.translator.config.vocab_size
    found: dict[str, float | str] = {
        "first": float(averaged[0]), "least": float(averaged.min()), "last": float(averaged[-1]),
        "epsilon": epsilon, "vocabulary": vocabulary, "floor": _least(epsilon, vocabulary),
        "lines": len(losses), "width": width,
    }  # fmt: skip
    lines: dict[str, np.ndarray] = {said("as logged"): losses, said("mean of {count} lines", count=width): smooth}
    picture = Curves(x=steps, lines=lines, x_name=said("step"), y_name=said("loss, nats per token"))
    caption = said(
        "The training loss of the model that ships. Pronouns have a larger weight in it than other words; in the last "
        "three stages it includes other terms, so these numbers cannot be compared with those before."
    )
    return View(picture, found, caption, _CURVES)


def smoothed(shipped: "Shipped", *, text: str, word: str, percent: int) -> View:
    """What a step should have said: the target as one-hot and smoothed, beside what the model said."""
    trace, translator = shipped.trace(text), shipped.translator
    at = shipped.row(trace, DECODER, word)
    of_step = step_log_probs(translator, text, trace.target_ids[: at + 1])
    right, vocabulary, epsilon = trace.steps[at].token_id, translator.config.vocab_size, percent / 100
    loss, target = step_loss(of_step, right, epsilon), smoothed_target(vocabulary, right, epsilon).numpy()
    log_probs = of_step.numpy()
    shown = np.argsort(-log_probs)[:CANDIDATES]
    if right not in shown:
        shown = np.append(shown[:-1], right)
    found: dict[str, float | str] = {
        "word": word, "epsilon": epsilon, "vocabulary": vocabulary, "right": loss.target,
        "each": epsilon / vocabulary, "model": loss.probability, "loss": loss.one_hot,
        "smoothed_loss": loss.smoothed, "floor": loss.least,
    }  # fmt: skip
    found["verdict"] = f"{found['right']:.2f}"
    series: dict[str, np.ndarray] = {
        said("one-hot target"): (shown == right).astype(float), said("smoothed target"): target[shown],
        said("the model"): np.exp(log_probs[shown]),
    }  # fmt: skip
    labels = [f"{display_token(translator.all_tokens()[one])}" for one in shown]
    picture = Bars(labels=labels, series=series, number=said("probability"), top=1.0, digits=3)
    caption = said(
        "The step that writes “{word}”, with the {count} tokens that the model finds most probable.",
        word=word, count=len(shown),
    )  # fmt: skip
    choices = {"text": text, "step": at, "step_chosen": True}
    return View(picture, found, caption, FullPage("decoding", choices))


def loss_over_certainty(shipped: "Shipped", *, percent: int) -> View:
    """The loss of a token over the probability that it is given, the others alike: one-hot, and smoothed above 0 %."""
    epsilon, vocabulary = percent / 100, shipped.translator.config.vocab_size
    x = np.concatenate([np.linspace(0.02, 0.98, 97), 1 - np.geomspace(0.0199, 1e-6, 60)])
    right = 1 - epsilon + epsilon / vocabulary
    plain = -np.log(x)
    both = -right * np.log(x) - (1 - right) * np.log((1 - x) / (vocabulary - 1))
    found: dict[str, float | str] = {
        "epsilon": epsilon, "vocabulary": vocabulary, "least_at": float(x[both.argmin()]), "least": float(both.min()),
        "plain_least": float(plain.min()), "sure": float(both[-1]), "sure_at": float(x[-1]), "right": right,
        "half": f"{np.log(2):.2f}",
    }  # fmt: skip
    found["verdict"] = f"{found['least_at']:.2f}"
    lines: dict[str, np.ndarray] = {said("one-hot target"): plain}
    caption = said("The loss of one token. The loss falls to 0 as the correct token gets all the probability.")
    if epsilon:
        lines[said("smoothed, ε = {epsilon}", epsilon=epsilon)] = both
        message = "The rest of the probability is spread over {others:,} other tokens. Dotted line: the smallest loss."
        caption = said(message, others=vocabulary - 1)
    picture = Curves(
        x=x, lines=lines, x_name=said("probability of the correct token"), y_name=said("loss, nats"),
        upright=float(x[both.argmin()]) if epsilon else None,
    )  # fmt: skip
    return View(picture, found, caption, FullPage("learn", topic="smoothing"))


def sureness(shipped: "Shipped", *, text: str, target: str, presets: list[str]) -> View:
    """The probability that small models give each token of a translation that is given to them."""
    traces = [shipped.experiment(preset).trace(text, target) for preset in presets]
    series: dict[str, np.ndarray] = {
        PRESETS[preset]: np.exp([step.log_prob for step in trace.steps])
        for preset, trace in zip(presets, traces, strict=True)
    }
    found: dict[str, float | str] = {"tokens": len(traces[0].steps)}
    for preset, trace in zip(presets, traces, strict=True):
        name = preset.replace("-", "_")
        found[f"{name}_largest"] = float(np.mean([np.exp(step.candidates[0].log_prob) for step in trace.steps]))
        found[f"{name}_entropy"] = float(np.mean([step.entropy for step in trace.steps]))
    found["surest"] = PRESETS[max(presets, key=lambda name: float(found[f"{name.replace('-', '_')}_largest"]))]
    labels = [step.token for step in traces[0].steps]
    picture = Bars(labels=labels, series=series, number=said("probability of this token"), top=1.0)
    caption = said(
        "The tokens of one correct translation, and the probability that each model gives them (teacher forcing)."
    )
    choices = {"text": text, "experiments_tab": "Ablations", "ablations": tuple(presets), "ablations_chosen": True}
    return View(picture, found, caption, FullPage("experiments", choices))


def gradient(shipped: "Shipped", *, text: str, word: str, percent: int) -> View:
    """The gradient of a step's smoothed loss by its logits, p − target: of the right token and its strongest rivals."""
    trace, translator = shipped.trace(text), shipped.translator
    at = shipped.row(trace, DECODER, word)
    log_probs = step_log_probs(translator, text, trace.target_ids[: at + 1])
    right = trace.steps[at].token_id
    epsilon, p = percent / 100, log_probs.exp().numpy()
    target = smoothed_target(len(p), right, epsilon).numpy()
    slopes = p - target
    shown = np.argsort(-np.abs(slopes))[:CANDIDATES]
    names = [display_token(translator.all_tokens()[one]) for one in shown]
    rival = next(at for at, one in enumerate(shown) if one != right)
    found: dict[str, float | str] = {
        "word": word, "of_word": float(slopes[right]), "rival": spoken(names[rival]), "right": float(p[right]),
        "of_rival": float(slopes[shown[rival]]), "sum": abs(float(slopes.sum())),
        "epsilon": epsilon, "target": float(target[right]), "unsmoothed": float(p[right] - 1),
    }  # fmt: skip
    picture = Bars(labels=names, series={said("gradient"): slopes[shown]}, number=said("∂ loss / ∂ logit"))
    caption = said(
        "Loss of one token, smoothed with ε = {epsilon}. A training step moves each logit in the direction opposite to "
        "its bar: a bar to the left of 0 means that the logit is raised.",
        epsilon=epsilon,
    )
    choices = {"text": text, "step": at, "step_chosen": True}
    return View(picture, found, caption, FullPage("decoding", choices))


def adam(shipped: "Shipped", *, gradients: list[float], steps: int, rate: float) -> View:
    """How far weights with constant gradients have moved after each step: by plain descent, and by Adam (§5.3)."""
    x, of_adam = np.arange(1.0, steps + 1), moved_by_adam(gradients, steps, rate)
    lines: dict[str, np.ndarray] = {
        said("plain step, gradient {gradient:g}", gradient=gradient): rate * gradient * x for gradient in gradients
    }
    lines |= {
        said("Adam, gradient {gradient:g}", gradient=gradient): of
        for gradient, of in zip(gradients, of_adam, strict=True)
    }
    found: dict[str, float | str] = {
        "ratio": max(gradients) / min(gradients), "rate": rate, "steps": steps,
        "apart": float(of_adam[:, -1].max() / of_adam[:, -1].min()), "moved": float(of_adam[0, -1]),
    }  # fmt: skip
    picture = Curves(x=x, lines=lines, x_name=said("step"), y_name=said("distance moved"), log_y=True)
    caption = said("Two weights whose gradients never change, at a learning rate of {rate:g}.", rate=rate)
    return View(picture, found, caption, _CURVES)


def dropout(shipped: "Shipped", *, text: str, word: str, percent: int) -> View:
    """What a feed-forward network adds at a word, and the same with some numbers dropped and the rest scaled up."""
    trace = shipped.trace(text)
    added = additions(trace, shipped.translator, "encoder")[0][-1].added
    values = added[shipped.row(trace, ENCODER, word)].numpy()
    share = percent / 100
    kept = np.random.default_rng(0).random(len(values)) >= share
    dropped = np.where(kept, values / (1 - share), 0.0)
    found: dict[str, float | str] = {
        "word": word, "share": share, "numbers": len(values), "dropped": int((~kept).sum()), "scale": 1 / (1 - share),
        "shown": min(NUMBERS, len(values)), "length": float(np.linalg.norm(values)),
        "length_after": float(np.linalg.norm(dropped)), "own": shipped.translator.config.dropout,
    }  # fmt: skip
    labels = [str(number) for number in range(1, NUMBERS + 1)][: len(values)]
    series: dict[str, np.ndarray] = {said("as computed"): values[:NUMBERS], said("after dropout"): dropped[:NUMBERS]}
    picture = Bars(labels=labels, series=series, number=said("value"))
    caption = said(
        "The first components of what the feed-forward network of layer 1 adds at “{word}”. This model was trained "
        "with P_drop = {own}.",
        word=word, own=found["own"],
    )  # fmt: skip
    return View(
        picture, found, caption, FullPage("learn", {"text": text, "learn_tab": "The Transformer", "depth": "layer"})
    )


def _least(epsilon: float, vocabulary: int) -> float:
    """The entropy of a smoothed target: the least loss that there can be, in nats."""
    target = smoothed_target(vocabulary, 0, epsilon).double().numpy()
    return float(-(target[target > 0] * np.log(target[target > 0])).sum())


def _log(shipped: "Shipped") -> TrainingLog:
    log = read_log(models.folder(shipped.choice))
    if log is None or not log.loss.values or not log.learning_rate.values:
        raise CheckpointError("{name} ships without its training log.", name=models.name_of(shipped.choice))
    return log


def _rises(rates: Float[np.ndarray, "line"]) -> int:
    """How often a rate rises from 0, the beginning with it."""
    return 1 + int(((rates[1:] > 0) & (rates[:-1] == 0)).sum())
