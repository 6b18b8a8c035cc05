"""One number, many ways to it: whichever part of Headlight is asked how probable a token is, the answer is the same."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch

from model import Translator
from model.analysis.attribution.choice import TokenChoice, choice_at, visible
from model.analysis.attribution.methods import choice_run
from model.analysis.interventions.head_effects import estimate_effects, measure_effects, remove_heads
from model.analysis.interventions.patching import ChoicePair, patch_heads, patch_paths
from model.decoding.search import translate_all
from model.opening import open_reader
from model.sequence_translator import SequenceTranslator
from model.trace.trace import Trace
from model.training.objective import Objective
from model.word_choice import Chooser, TextChoice, WordChoice
from tests.model.adapters import zoo
from tests.model.adapters.zoo import writer
from tests.model.analysis.interventions.test_choices import reader_of
from tests.often import often
from tests.paths import ROOT

CHECKPOINTS = ROOT / "checkpoints"
SHIPPED = sorted(str(path.parent.relative_to(CHECKPOINTS)) for path in CHECKPOINTS.rglob("config.json"))
#: Models of the zoo that write: LayerNorm and RMS norm, before and after, with scaled, capped and biased logits.
WRITING = ["bart", "gemma2", "gpt2", "gpt_oss", "granite", "llama", "marian", "t5"]
MASKED = "bert"
ENGLISH, LONGER = "A dog sleeps.", "The old man was too tired to cross the street."
MOST_STEPS = 4

Routes = Mapping[str, Sequence[float]]


@pytest.mark.long
@pytest.mark.parametrize("name", SHIPPED)
def test_every_route_to_a_shipped_models_numbers_agrees(name: str) -> None:
    reader: Any = open_reader(CHECKPOINTS / name, "cpu")
    trace = written_trace(reader, ENGLISH)
    routes = writer_routes(reader, ENGLISH, trace)
    if isinstance(reader, SequenceTranslator):
        routes |= training_routes(reader, trace)
        batch = translate_all(reader.model, reader.tokenizer, [ENGLISH, LONGER])
        assert batch[0] == reader.translate(ENGLISH) == reader.trace(ENGLISH).translation
    check(routes)
    check(odds_routes(reader, trace))


@pytest.mark.parametrize("model_type", often(WRITING, ("bart", "gpt2", "gemma2")))
def test_every_route_to_a_number_of_a_library_model_that_writes_agrees(model_type: str) -> None:
    reader = writer(model_type, eos_token_id=None)
    trace = written_trace(reader, LONGER)
    choices = [choice_at(trace, len(trace.steps) - 1 - back) for back in range(MOST_STEPS)][::-1]
    check(library_routes(model_type, choices) | writer_routes(reader, LONGER, trace))
    check(odds_routes(reader, trace))


def test_every_route_to_the_number_of_a_masked_word_agrees() -> None:
    reader = reader_of(MASKED)
    place = reader.place("Tom saw a [MASK].")
    choices = [TokenChoice(place, token) for token in reader.place_logits(place)[0].topk(MOST_STEPS).indices.tolist()]
    check(library_routes(MASKED, choices) | choice_routes(reader, choices))


def written_trace(reader: Any, text: str) -> Trace:
    """What a session leaves behind after a few steps of its own."""
    session = reader.decode(text)
    while len(session.steps) < MOST_STEPS:
        session.step()
    return session.trace()


def writer_routes(reader: Any, text: str, trace: Trace) -> dict[str, Sequence[float]]:
    """Log-probabilities of the last tokens of a trace: by sessions, traces, the lens, places, attribution."""
    numbers = range(len(trace.steps) - MOST_STEPS, len(trace.steps))
    written = [trace.steps[number].token_id for number in numbers]
    session, spread = reader.decode(text), reader.spread(trace)
    for token_id in written:
        session.force(token_id)
    ranks = spread.chosen_ranks.tolist()[-MOST_STEPS:]
    routes: dict[str, Sequence[float]] = {
        "trace": [trace.steps[number].log_prob for number in numbers],
        "session": [step.log_prob for step in session.steps],
        "trace of tokens": [step.log_prob for step in reader.trace_tokens(text, written).steps],
        "spread": [float(best[rank - 1]) for best, rank in zip(spread.best[-MOST_STEPS:], ranks, strict=True)],
    }
    if "logit lens" not in reader.abilities.lacks:
        routes["lens"] = reader.logit_lens(trace).chosen_probabilities[-1, -MOST_STEPS:].log().tolist()
    return routes | choice_routes(reader, [choice_at(trace, number) for number in numbers])


@torch.no_grad()
def choice_routes(reader: Chooser, choices: Sequence[TokenChoice]) -> dict[str, Sequence[float]]:
    """Log-probabilities of tokens, each asked for at its place: the place's logits, and what attribution explains."""
    routes: dict[str, Sequence[float]] = {
        "place": [float(reader.place_logits(at.place, 2)[1].log_softmax(-1)[at.token]) for at in choices]
    }
    if reader.abilities.has("word choice"):
        runs = [choice_run(reader, choice) for choice in choices]
        routes["attribution of embeddings"] = [float(run.of_embeddings(*run.embeddings())) for run in runs]
        whole = [visible(len(choice.read), [[]]) for choice in choices]
        routes["attribution of what is seen"] = [
            float(run.seen_logits(seen)[0].log_softmax(-1)[run.choice.token])
            for run, seen in zip(runs, whole, strict=True)
        ]
    return routes


def training_routes(translator: SequenceTranslator, trace: Trace) -> Routes:
    """Log-probabilities as training computes them: its loss, without smoothing, of one row at a time."""
    objective = Objective(translator.model, 0.0, 1.0, (), bf16=False)
    source, read = torch.tensor([trace.source_ids]), torch.tensor([trace.target_ids])
    written = torch.tensor([[step.token_id for step in trace.steps]])
    rows = torch.eye(MOST_STEPS, dtype=torch.bool)
    with torch.inference_mode():
        losses = [objective(source, read, torch.where(row, written, translator.config.pad_id)) for row in rows]
    return {"training": [-float(loss) for loss in losses]}


def odds_routes(reader: Any, trace: Trace) -> Routes:
    """Log-odds of the last token of a trace against the next most probable: of whatever switches heads off."""
    step = trace.steps[-1]
    rival = next(candidate for candidate in step.candidates if candidate.token_id != step.token_id)
    place = choice_at(trace, len(trace.steps) - 1).place
    choice = WordChoice(place, step.token_id, rival.token_id)
    routes: dict[str, Sequence[float]] = {"trace": [step.log_prob - rival.log_prob]}
    if "word choice" not in reader.abilities.lacks:
        pair = ChoicePair(choice, choice)
        routes |= {
            "measured": measure_effects(reader, [choice]).intact.tolist(),
            "estimated": estimate_effects(reader, [choice]).intact.tolist(),
            "removed": remove_heads(reader, [choice], []).removed.tolist(),
            "patched": patch_heads(reader, [pair]).patched[0, :1].tolist(),
            "path": patch_paths(reader, [pair]).patched[0, -1:].tolist(),
        }
    if isinstance(reader, Translator):
        longer = replace(choice, place=replace(place, source=place.source * 2))
        routes["padded"] = reader.log_odds([choice, longer])[0, :1].tolist()
        routes["whole texts, padded"] = [contrast_odds(reader, choice)]
    return routes


@torch.inference_mode()
def contrast_odds(translator: Translator, choice: WordChoice) -> float:
    """The same in a batch with a longer case."""
    source, (begin, *before) = choice.place.source, choice.place.target
    texts = TextChoice(source, (begin,), (*before, choice.right), (*before, choice.wrong))
    longer = TextChoice(source * 2, (begin,), (*texts.right, choice.right), (*texts.wrong, choice.right))
    return float(translator.log_odds([texts, longer])[0, 0])


@torch.inference_mode()
def library_routes(model_type: str, choices: Sequence[TokenChoice]) -> dict[str, Sequence[float]]:
    """The library's own model with its own attention, which none of Headlight's code touches."""
    model = zoo.tiny(model_type, head="masked" if model_type == MASKED else None)
    found = []
    for choice in choices:
        given = {"input_ids": torch.tensor([choice.read])}
        if choice.source and choice.prefix:
            given["decoder_input_ids"] = torch.tensor([choice.prefix])
        found.append(float(model(**given).logits[0, choice.place.row].log_softmax(-1)[choice.token]))
    return {"the library": found}


def check(routes: Routes) -> None:
    """All agree with the first, in nats."""
    (first, expected), *others = routes.items()
    for name, found in others:
        assert found == pytest.approx(expected, abs=1e-4), f"{name} differs from {first}"
