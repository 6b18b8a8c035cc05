"""Whisper over a whole window of 30 s: python -m tests.benchmarks.speech [FOLDER] [SOUND] [--shape base|large].

Without a folder, random weights: of Whisper-base's shape, or (large) its 32 layers, 20 heads, 1,500 frames and 448
tokens with narrower vectors, for those of the real one take 6 GB. Prints what opening takes; whether every attention is
the library's eager one, compared layer by layer as it runs, and whether what is written is what `generate` writes; time
and memory of a captured pass beside the plain one; of all heads' tiles; and of a layer's tiles of 2,880 tokens × 32
heads beside its explicit softmax. A part is printed alone by `--only`.
"""

import argparse
import gc
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

import torch
import transformers
from torch.profiler import ProfilerActivity, profile

from model.adapters.speech_reader import SpeechReader
from model.nn.attention import AttentionInputs
from model.nn.hooks import CALL, listen
from model.nn.masks import AttentionMask
from model.opening import open_reader
from model.sources.sound_file import Sound, open_sound
from model.trace.trace import Trace
from model.word_choice import TokenPlace
from tests.model.adapters import speech_zoo, zoo
from viz.access import attention
from viz.server.background_jobs import Progress

#: Shape → what `WhisperConfig` is given.
SHAPES: Final[dict[str, dict[str, int]]] = {
    "base": {"d_model": 512, "layers": 6, "attention_heads": 8, "ffn_dim": 2_048},
    "large": {"d_model": 320, "layers": 32, "attention_heads": 20, "ffn_dim": 1_280},
}
WINDOW: Final = 30.0
#: Tokens of the longest target, and of a usual half minute of speech.
LENGTHS: Final = (448, 120)
RUNS: Final = 5
TILES: Final = (2_880, 32, 64)  #: tokens, heads, d_k
PARTS: Final = ("equal", "written", "capture", "tiles", "layer")


def saved(shape: str, folder: Path) -> Path:
    """A folder with a random model of a shape."""
    sizes = SHAPES[shape]
    both: dict[str, Any] = {
        f"{stack}_{name}": sizes[name] for stack in ("encoder", "decoder") for name in sizes if name != "d_model"
    }
    tokenizer = zoo.byte_level()
    tokenizer.add_special_tokens({"additional_special_tokens": list(speech_zoo.TOLD)})
    config = transformers.WhisperConfig(
        d_model=sizes["d_model"], **both, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        decoder_start_token_id=tokenizer.get_vocab()[speech_zoo.TOLD[0]], suppress_tokens=None,
        begin_suppress_tokens=None,
    )  # fmt: skip
    torch.manual_seed(0)
    model = transformers.WhisperForConditionalGeneration(config)
    no_times = tokenizer.get_vocab()["<|notimestamps|>"]
    model.generation_config = transformers.GenerationConfig(
        pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=config.decoder_start_token_id,
        is_multilingual=False, no_timestamps_token_id=no_times,
    )  # fmt: skip
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    transformers.WhisperFeatureExtractor(feature_size=80).save_pretrained(folder)
    return folder


def equal(reader: SpeechReader, folder: Path, trace: Trace) -> str:
    """The largest difference of each attention from eager attention; of no layer more than its weights is held."""
    model: Any = transformers.AutoModelForSpeechSeq2Seq.from_pretrained(folder, attn_implementation="eager").eval()
    found: dict[str, float] = dict.fromkeys(trace.sites, 0.0)
    stacks = {"encoder.self": model.model.encoder.layers, "decoder.self": model.model.decoder.layers}
    places = {layer.self_attn: (site, number) for site, layers in stacks.items() for number, layer in enumerate(layers)}
    places |= {layer.encoder_attn: ("decoder.cross", number) for number, layer in enumerate(stacks["decoder.self"])}

    def compare(module: torch.nn.Module, _given: Any, output: Any) -> None:
        site, layer = places[module]
        apart = (trace.weights(site, layer) - output[1][0]).abs().max()
        found[site] = max(found[site], float(apart))

    for module in places:
        module.register_forward_hook(compare)
    with torch.inference_mode():
        model(**given_to(reader, trace))
    return "from eager: " + ", ".join(f"{site} {apart:.1e}" for site, apart in found.items())


def given_to(reader: SpeechReader, trace: Trace) -> dict[str, Any]:
    """What the library's model is called with to read the same."""
    numbers = reader.given().numbers
    return {**numbers, "decoder_input_ids": torch.tensor([list(trace.target_ids)]), "use_cache": False}


def written(reader: SpeechReader, folder: Path) -> Iterator[str]:
    """For each task, with timestamps and without, whether its tokens are those of `generate`."""
    model: Any = transformers.AutoModelForSpeechSeq2Seq.from_pretrained(folder).eval()
    # The library drops what it does not know of a folder's settings.
    model.generation_config = reader.model.generation_config
    for code in reader.offered.writes or ("",):
        spoken = reader.speaking("", code)
        session = spoken.decode("")
        session.run()
        options = dict(spoken.start_options)
        ids = model.generate(**reader.given().numbers, max_new_tokens=session.max_steps, **options)[0].tolist()
        same = "equal" if list(session.target_ids) == ids else "DIFFERENT"
        yield f"written, {code}: {len(session.written_ids)} tokens, {same} to generate"


def capture(reader: SpeechReader, folder: Path, trace: Trace) -> Iterator[str]:
    """A captured pass beside the plain one, over a long and a usual target, and what is kept of it."""
    model: Any = transformers.AutoModelForSpeechSeq2Seq.from_pretrained(folder).eval()
    filler = [each for each in trace.target_ids if each not in reader.special_ids][-1]
    for length in LENGTHS:
        ids = (*trace.target_ids, *[filler] * length)[:length]
        place = TokenPlace(tuple(trace.source_ids), ids, length - 1)
        given = {**reader.given().numbers, "decoder_input_ids": torch.tensor([list(ids)]), "use_cache": False}

        def plain(given: dict[str, Any] = given) -> None:
            with torch.inference_mode():
                model(**given)

        def captured(given: dict[str, Any] = given) -> None:
            with torch.inference_mode(), listen(record={CALL}):
                reader.model(**given)

        def traced(place: TokenPlace = place) -> Trace:
            return reader.trace_place(place, filler)

        base, with_capture, with_steps = map(statistics.median, alternately(plain, captured, traced))
        yield (
            f"{length} tokens: plain {base:.2f} s of processors, all heads captured {with_capture:.2f} s, ratio "
            f"{with_capture / base:.2f}, with the candidates of every step {with_steps:.2f} s, ratio "
            f"{with_steps / base:.2f}"
        )
        (most, _), (most_traced, kept) = allocated(plain), allocated(traced)
        yield f"{length} tokens: {kept:.1f} MB kept; at once {most:.1f} MB plain, {most_traced:.1f} MB traced"


def alternately(*uses: Callable[[], object]) -> list[list[float]]:
    """Seconds that processors were busy for each, in turn, after one that warms up."""
    times: list[list[float]] = [[] for _ in uses]
    for number in range(RUNS + 1):
        for use, seconds in zip(uses, times, strict=True):
            gc.collect()
            start = time.process_time()
            use()
            if number:
                seconds.append(time.process_time() - start)
    return times


def allocated(use: Callable[[], object]) -> tuple[float, float]:
    """The most MB that torch holds at once for a use, and what is left of it with what it returns."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as heard:
        result = use()
    events = [event for event in heard.profiler.kineto_results.events() if event.name() == "[memory]"]
    sizes = [event.nbytes() for event in sorted(events, key=lambda event: event.start_ns())]
    del result
    return max(accumulate(sizes)) / 1e6, sum(sizes) / 1e6


def tiles(trace: Trace) -> Iterator[str]:
    """What all heads of a site cost as tiles, as a page draws them."""
    for site in trace.sites:
        before, start = largest(), time.perf_counter()
        task = attention.tiles_task(trace, site)
        task.compute(Progress(task.total, task.unit))
        seconds, heads = time.perf_counter() - start, sum(layer.num_heads for layer in trace.inputs[site])
        yield f"tiles of {site}: {heads} heads, {seconds:.1f} s, {largest() - before:.0f} MB more"


def layer() -> str:
    """A layer's tiles of a long text beside its explicit softmax."""
    count, heads, width = TILES
    torch.manual_seed(1)
    query, key, value = torch.randn(3, heads, count, width)
    mask = AttentionMask(num_queries=count, num_keys=count)
    inputs = AttentionInputs(query=query, key=key, value=value, mask=mask, scale=width**-0.5)
    edges: Sequence[int] = [*range(0, count, 24), count]
    before = largest()

    def of_tiles() -> object:
        from model.trace.row_blocks import pooled_weights

        return pooled_weights(inputs, edges, edges)

    of_tiles()
    grown = largest() - before

    def explicit() -> object:
        return torch.softmax(query @ key.mT * inputs.scale, -1)

    one, other = map(statistics.median, alternately(of_tiles, explicit))
    return (
        f"a layer of {count:,} tokens × {heads} heads: tiles {one:.2f} s and {grown:.0f} MB more, explicit softmax "
        f"{other:.2f} s and {4 * heads * count**2 / 1e6:,.0f} MB, ratio {one / other:.2f}"
    )


def largest() -> float:
    """The most memory that this process has held, in MB (Linux)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, help="of a real Whisper")
    parser.add_argument("sound", nargs="?", type=Path, help="whose first 30 s are read; else noise")
    parser.add_argument("--shape", choices=SHAPES, default="base", help="of a random model, without a folder")
    parser.add_argument("--only", choices=PARTS, action="append", help="parts to print; all by default")
    asked = parser.parse_args()
    parts = asked.only or PARTS
    torch.set_num_threads(2)
    if "layer" in parts:
        print(layer(), flush=True)
    if parts == ["layer"]:
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.folder or saved(asked.shape, Path(scratch))
        start = time.perf_counter()
        opened = open_reader(folder, "cpu")
        print(f"opened in {time.perf_counter() - start:.1f} s, {largest():,.0f} MB at most", flush=True)
        assert isinstance(opened, SpeechReader)
        sound = speech_zoo.sound(WINDOW) if asked.sound is None else open_sound(asked.sound)
        sound = Sound(sound.samples[: round(WINDOW * sound.rate)], sound.rate)
        reader = opened.reading("window", sound)
        start = time.perf_counter()
        trace = reader.trace("", target=None if asked.folder else "a" * (LENGTHS[0] - 8))
        print(f"one trace of {len(trace.target_ids)} tokens in {time.perf_counter() - start:.1f} s, "
              f"{largest():,.0f} MB at most", flush=True)  # fmt: skip
        if "equal" in parts:
            print(equal(reader, folder, trace), flush=True)
        found: list[Iterator[str]] = []
        found += [written(reader, folder)] if "written" in parts else []
        found += [capture(reader, folder, trace)] if "capture" in parts else []
        found += [tiles(trace)] if "tiles" in parts else []
        for lines in found:
            for line in lines:
                print(line, flush=True)


if __name__ == "__main__":
    main()
