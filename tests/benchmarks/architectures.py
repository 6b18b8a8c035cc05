"""Build a small random model of every kind of text, picture and speech model in the pinned library, and prove each.

    python -m tests.benchmarks.architectures [--only TYPE … [--write]]

Each is saved as a folder and opened as a person's would be, in a process of its own with a limit on time. A line of
JSON says what was found, with how many tensors were used, and which were not or were made. Each folder is then spoiled:
without a tensor of a layer, and with one of a layer more, it has to be refused. Without `--only`,
.github/docs/architectures.md and the tables of both READMEs are written anew, in three to six minutes; with `--write`,
the rows of these kinds in them. Every row says on which day it was proven.
"""

from model import stopping

if __name__ == "__main__":
    # Before what takes seconds to import.
    stopping.end_at_once()

import argparse
import inspect
import json
import os
import re
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any, Final

import torch
import transformers
from safetensors.torch import load_file, save_file
from tqdm import tqdm
from transformers.models.auto import modeling_auto

from model.adapters import inspect_folder, library, model_class, open_folder
from model.errors import HeadlightError
from tests.model.adapters import picture_zoo, zoo

ROOT: Final = Path(__file__).parents[2]
OUT: Final = ROOT / ".github" / "docs" / "architectures.md"
READMES: Final = (ROOT / "README.md", ROOT / ".github" / "README.zh-CN.md")
SECONDS: Final = 120
BEGIN, END = "<!-- models -->", "<!-- /models -->"
#: Numbers of a model beyond which it is not small.
MOST_NUMBERS: Final = 20_000_000
#: Name of a setting → its value in a small model.
SMALL: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "emb_dim", "embed_dim", "word_embed_proj_dim"), 32),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers"), 2),
    **dict.fromkeys(("num_encoder_layers", "num_decoder_layers", "num_sparse_encoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads"), 4),
    **dict.fromkeys(("decoder_attention_heads", "num_encoder_attention_heads", "num_decoder_attention_heads"), 4),
    **dict.fromkeys(("intermediate_size", "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim", "d_ff", "hidden_dim"), 48),
    **dict.fromkeys(("ffn_hidden_size", "n_inner", "d_inner", "dim_ff", "ffn_size", "intermediate_size_mlp"), 48),
    **dict.fromkeys(("vocab_size", "src_vocab_size", "tgt_vocab_size"), zoo.VOCAB),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len"), 96),
    **dict.fromkeys(("num_key_value_heads", "multi_query_group_num"), 2),
    **dict.fromkeys(("head_dim", "d_kv", "kv_channels", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"), 8),
    **dict.fromkeys(("q_lora_rank", "kv_lora_rank", "embedding_size", "expert_ffn_hidden_size"), 16),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"), 4),
    **dict.fromkeys(("num_experts_per_tok", "moe_topk", "moe_k", "top_k_experts"), 2),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size", "expert_hidden_size"), 24),
    **dict.fromkeys(("n_group", "topk_group", "n_shared_experts"), 1),
    **dict.fromkeys(("sliding_window", "window_size", "sliding_window_size"), 5),
    **dict.fromkeys(("mamba_n_heads", "mamba_num_heads", "n_mamba_heads"), 8),
    **dict.fromkeys(("mamba_d_state", "mamba_d_head", "mamba_head_dim", "ssm_state_size", "state_size"), 8),
    **dict.fromkeys(("linear_num_key_heads", "linear_num_value_heads"), 2),
    **dict.fromkeys(("linear_key_head_dim", "linear_value_head_dim"), 8),
    **dict.fromkeys(("encoder_num_hidden_layers", "decoder_num_hidden_layers"), 2),
    **dict.fromkeys(("encoder_num_attention_heads", "decoder_num_attention_heads"), 4),
    **dict.fromkeys(("num_mel_bins", "input_feat_per_channel"), 8),
    "max_target_positions": 96,
    "mamba_dt_rank": 4,
    "mamba_d_ssm": 64,
    "mamba_ngroups": 1,
    "mamba_n_groups": 1,
    "image_size": 24,
    "patch_size": 8,
    "attention_head_dim": 8,
    "query_pre_attn_scalar": 8,
    "vocab_size_per_layer_input": zoo.VOCAB,
    "hidden_size_per_layer_input": 8,
    "num_kv_shared_layers": 0,
}
#: Kinds whose settings depend on one another.
_HYBRID: Final = {"layer_types": ["linear_attention", "full_attention"]}
_ROPE: Final = {"rope_theta": 10_000.0, "rope_type": "default", "mrope_section": [2, 1, 1]}
_GEMMA: Final = {**zoo.CONFIGS["gemma2"], "layer_types": ["sliding_attention", "full_attention"]}
_WINDOWS: Final = {
    "image_size": 24,
    "patch_size": 3,
    "embed_dim": 16,
    "depths": [1, 1],
    "num_heads": [2, 4],
    "num_attention_heads": [2, 4],
    "window_size": 4,
}
_RELATIVE: Final = {"use_relative_position_bias": True}
_NAFLEX: Final = {
    **{name: SMALL[name] for name in ("hidden_size", "num_hidden_layers", "num_attention_heads")},
    "intermediate_size": 48,
    "patch_size": 8,
    "num_patches": 9,
}
OF_KIND: Final[Mapping[str, Mapping[str, Any]]] = {
    "bailing_hybrid": _HYBRID,
    "bamba": {"attn_layer_indices": [1]},
    "cosmos3_edge_text": {"rope_parameters": _ROPE},
    "big_bird": {"attention_type": "original_full"},
    "bigbird_pegasus": {"attention_type": "original_full"},
    "codegen": {"rotary_dim": 4},
    "beit": _RELATIVE,
    "data2vec-vision": _RELATIVE,
    "siglip2": {"vision_config": _NAFLEX},
    "siglip2_vision_model": _NAFLEX,
    **dict.fromkeys(("swin", "swinv2", "donut-swin"), _WINDOWS),
    "yolos": {"image_size": [24, 24]},
    "esm": {"pad_token_id": 0, "mask_token_id": 4},
    "gptj": {"rotary_dim": 4},
    "granitemoehybrid": {"layer_types": ["mamba", "attention"]},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1},
    "kimi_linear": _HYBRID,
    "led": {"attention_window": 64},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"]},
    "lfm2": {"layer_types": ["conv", "full_attention"]},
    "lfm3": {"layer_types": ["conv", "full_attention"]},
    **{
        key: {"rope_parameters": _ROPE}
        for key in (
            "glm4v_text",
            "glm4v_moe_text",
            "glm_image_text",
            "glm_ocr_text",
            "qwen2_vl_text",
            "qwen2_5_vl_text",
        )
    },
    "olmo_hybrid": _HYBRID,
    "mamba2": {"num_heads": 8, "head_dim": 8},
    "nemotron_h": {"layers_block_type": ["mamba", "attention"]},
    "qwen3_next": _HYBRID,
    "qwen4_exp_text": _HYBRID,
    "squeezebert": {"embedding_size": 32},
    "whisper": {"max_source_positions": 50},
    "t5gemma": {"encoder": _GEMMA, "decoder": _GEMMA, "vocab_size": zoo.VOCAB},
    "recurrent_gemma": {"num_hidden_layers": 3},
    "zamba": {"layers_block_type": ["mamba", "hybrid"]},
    "zamba2": {"layers_block_type": ["mamba", "hybrid"]},
    "qwen3_5_text": _HYBRID,
    "qwen3_5_moe_text": _HYBRID,
}


#: Settings of the parts of a model that has one for pictures and one for texts.
SIDES: Final = ("vision_config", "text_config")
#: The library's maps of classes that read text, pictures or sound.
_MAPS: Final = (
    "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES",
    "MODEL_FOR_MASKED_LM_MAPPING_NAMES",
    "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES",
    "MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES",
    "MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES",
    "MODEL_FOR_IMAGE_MAPPING_NAMES",
    "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES",
    "MODEL_FOR_CTC_MAPPING_NAMES",
)
_OTHER_INPUTS: Final = {"bbox", "pixel_values_videos", "visual_embeds", "decoder_input_values"}
#: Wrappers around models of other kinds.
NO_KIND: Final = {"encoder-decoder", "timm_backbone", "timm_wrapper"}


@dataclass(frozen=True)
class Row:
    """What was found of one kind of model."""

    model_type: str
    kind: str = ""
    verdict: str = ""
    difference: float = 0.0
    heads: int = 0
    positions: str = ""
    writes: bool = False
    reason: str = ""
    seconds: float = 0.0
    used: int = 0  #: tensors of the folder
    unused: tuple[str, ...] = ()  #: those that the model has no place for
    made: tuple[str, ...] = ()  #: parameters that the folder lacks: computed by the library, or not read
    day: str = ""  #: on which it was proven


def kinds() -> list[str]:
    """Every `model_type` whose class in the library reads text, pictures or sound alone, or has a side for each; and
    what writes about pictures, much of which is two models joined.
    """
    named = {name for mapping in _MAPS for name in getattr(modeling_auto, mapping)}
    named |= {name for name, made in modeling_auto.MODEL_MAPPING_NAMES.items() if _looks(made)}
    alone = {model_type for model_type in named if model_type not in NO_KIND and not _is_mixed(model_type)}
    return sorted(alone | picture_zoo.SAVED.keys())


def _looks(name: str | Sequence[str]) -> bool:
    """Whether a class of the library reads pictures alone, or has a side that does."""
    made = getattr(transformers, name, None) if isinstance(name, str) else None
    if made is None or not issubclass(made, transformers.PreTrainedModel):
        return False
    return library.ModelClass(made, "trunk").reads == "picture" or library.ModelClass(made, "trunk").has_sides


def _is_mixed(model_type: str) -> bool:
    """Whether it reads pictures, sound or places on a page beside text, or none of text, pictures and sound."""
    try:
        made = model_class.class_of(transformers.CONFIG_MAPPING[model_type]())
    except Exception:  # Whatever a class of the library does without settings.
        return True
    if made.has_sides:
        return False
    given = set(inspect.signature(made.made.forward).parameters)
    return bool(given & _OTHER_INPUTS) or len(given & {"input_ids", "pixel_values", *library.GIVEN["sound"]}) > 1


def small_config(model_type: str) -> Any:
    """The configuration of a small model."""
    if model_type in zoo.CONFIGS:
        return transformers.AutoConfig.for_model(model_type, **zoo.CONFIGS[model_type])
    default = transformers.CONFIG_MAPPING[model_type]()
    settings = _small(default) | dict(OF_KIND.get(model_type, {}))
    return transformers.AutoConfig.for_model(model_type, **settings)


def _small(default: Any) -> dict[str, Any]:
    """The settings that make a model small, those of its parts too."""
    known = {**default.attribute_map, **vars(default)}
    settings = {name: value for name, value in SMALL.items() if name in known and known[name] is not False}
    if "kv_lora_rank" in known:
        settings["num_key_value_heads"] = settings.get("num_attention_heads", 4)
    for name, value in vars(default).items():
        if name.endswith("_token_id") and isinstance(value, int) and value >= zoo.VOCAB:
            settings[name] = {"pad_token_id": 0, "bos_token_id": 1}.get(name, 2)
        elif isinstance(value, transformers.PreTrainedConfig) and name in SIDES:
            settings[name] = _small(value)
    return settings


def save(model_type: str, folder: Path) -> None:
    """Write a folder with a small random model of this kind, its attention far from even."""
    if model_type in picture_zoo.SAVED:
        picture_zoo.SAVED[model_type](folder)
        return
    config = small_config(model_type)
    torch.manual_seed(0)
    made = model_class.class_of(config)
    numbers, _, _ = library.count_numbers(made, config)
    if numbers > MOST_NUMBERS:
        raise ValueError(f"it has {numbers:,} numbers, whatever its settings")
    model = made.made(config).eval()
    model.set_attn_implementation("eager")
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" not in name.lower() and parameter.dim() > 1:
                parameter.normal_(std=0.15)
            elif "sink" in name:
                parameter.normal_(std=1.0)
    model.save_pretrained(folder)
    if made.reads == "picture" or made.has_sides:
        processor_of(model_type).save_pretrained(folder)
    if made.reads == "sound":
        extractor_of(model_type, config).save_pretrained(folder)
    if made.has_words:
        zoo.save_tokenizer(folder, "metaspace")


def processor_of(model_type: str) -> Any:
    """What makes small pictures for a kind of model: of one size, or (SigLIP 2) of as many patches as there may be."""
    if model_type.startswith("siglip2"):
        return transformers.Siglip2ImageProcessorPil(patch_size=8, max_num_patches=12)
    return transformers.ViTImageProcessor(size={"height": 24, "width": 24})


def extractor_of(model_type: str, config: Any) -> Any:
    """The library's own feature extractor of a kind of speech model, as many numbers a moment as the model reads."""
    made: Any = transformers.FEATURE_EXTRACTOR_MAPPING[type(config)]
    if model_type == "wav2vec2-bert":  # as its real ones are saved
        made = transformers.SeamlessM4TFeatureExtractor
    known = inspect.signature(made.__init__).parameters
    sizes = (getattr(config, each, None) for each in ("num_mel_bins", "input_feat_per_channel"))
    bins = next((size for size in sizes if size), None)
    given = {"feature_size": bins, "num_mel_bins": bins, "chunk_length": 1}
    return made(**{each: value for each, value in given.items() if each in known and value})


def prove(model_type: str) -> Row:
    """Save and open one."""
    began = monotonic()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / model_type
        try:
            save(model_type, folder)
        except Exception as error:
            return Row(model_type, verdict="not built", reason=_line(error))
        try:
            reader: Any = open_folder.open_folder(folder, device="cpu")
        except HeadlightError as error:
            return Row(model_type, verdict="refused", reason=str(error), seconds=monotonic() - began)
        except Exception as error:
            return Row(model_type, verdict="RAISED", reason=_line(error))
        spoiled = spoil(folder, reader.model._keys_to_ignore_on_load_missing or ())
    if spoiled:
        return Row(model_type, verdict="NOT WHOLE", reason=f"opened {spoiled}")
    abilities, whole = reader.abilities, reader.abilities.whole
    # Of a model with a side for pictures and one for texts, both are proven.
    sides = [reader.speaking(reads=side).abilities for side in inspect_folder.SIDES if side in reader.offered.reads]
    proofs = [side.proof for side in sides or [abilities]]
    proof = next((each for each in proofs if each and not each.is_exact), proofs[0])
    assert proof is not None
    assert whole is not None
    why = str(abilities.lacks.get("decoding", "")) if abilities.kind == "decoder" else ""
    return Row(
        model_type,
        abilities.kind,
        "exact" if proof.is_exact else "weights only",
        max(each.difference for each in proofs if each),
        sum(each.heads for each in proofs if each),
        abilities.positions,
        abilities.generates,
        proof.why or why,
        monotonic() - began,
        whole.used,
        tuple(whole.unused),
        (*whole.computed, *whole.unread),
    )


def spoil(folder: Path, computed: Collection[str]) -> str:
    """Take a tensor of a layer out of a folder, then put one of another layer into it; what opens so, or "".

    `computed`: patterns of names that a class of the library computes where they lack.
    """
    file = folder / "model.safetensors"
    tensors = load_file(file)
    # What is counted, as by batch norms, is not learned.
    learned = (
        each
        for each, tensor in tensors.items()
        if tensor.is_floating_point() and not any(re.search(one, each) for one in computed)
    )
    name = max((each for each in learned if re.search(r"\.\d+\..+\.", each)), key=len)
    for what, changed in (
        (f"without {name}", {each: tensor for each, tensor in tensors.items() if each != name}),
        (f"with another {name}", tensors | {re.sub(r"\.\d+\.", ".57.", name, count=1): tensors[name].clone()}),
    ):
        save_file(changed, file, metadata={"format": "pt"})
        try:
            open_folder.open_folder(folder, device="cpu")
        except HeadlightError:
            continue
        return what
    return ""


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def prove_apart(model_type: str) -> Row:
    """The same in a process of its own, which may end or hang."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        with os.fdopen(writing, "w") as out:
            out.write(json.dumps(asdict(prove(model_type))))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    _, status = os.waitpid(child, 0)
    if not text:
        return Row(model_type, verdict="ENDED", reason=f"status {status}, after {SECONDS} s at most")
    row = {**json.loads(text), "day": datetime.now(UTC).date().isoformat()}
    return Row(**{**row, "unused": tuple(row["unused"]), "made": tuple(row["made"])})


def rows_of(table: str) -> list[Row]:
    """The rows of a table that `table` wrote."""
    rows = []
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 10 and cells[0] != "kind" and not cells[0].startswith("---"):
            kind, verdict, difference, heads, tensors, stacks, positions, writes, day, why = cells
            used, unused, made = map(int, tensors.split(" + ")) if tensors else (0, 0, 0)
            rows.append(
                Row(
                    kind, stacks, verdict, float(difference or 0), int(heads or 0), positions, bool(writes), why,
                    used=used, unused=("",) * unused, made=("",) * made, day=day,
                )
            )  # fmt: skip
    return rows


#: Of what all rows of a table are.
VERSIONS: Final = (
    f"transformers {transformers.__version__}, torch {torch.__version__.partition('+')[0]} and Python "
    f"{sys.version.partition(' ')[0]}"
)


def table(rows: Sequence[Row]) -> str:
    """The table of all kinds, with versions and counts, and the kinds that were never tried."""
    tried = {row.model_type for row in rows}
    untried = ", ".join(model_type for model_type in kinds() if model_type not in tried)
    lines = [
        "# Models of transformers, proven",
        "",
        f"Written by `python -m tests.benchmarks.architectures` with {VERSIONS}, on a CPU; each row says when.",
        "",
        "Of every kind of text, picture and speech model that this version of the library has, a small random model "
        "was saved and opened as any folder is; of models that read a picture and write about it, a few pairs of the "
        "encoders and decoders that the library joins. *Exact*: the weights that Headlight records are those that the "
        "library's own eager attention returns, heads write weights × values, and six tokens written step by step are "
        "those of `generate`; the number is the largest difference. *Weights only*: the library's own weights are "
        "shown, and nothing that takes queries and keys. *Not built*: its settings make no small model. A real model "
        "is proven again when it is opened: `python -m model verify checkpoints/induction`.",
        "",
        "*Tensors* are those of the folder that the model uses, those that it has no place for, and the parameters "
        "that it makes because the folder lacks them: tables that the library computes. Each folder was opened twice "
        "more, without one tensor of a layer and with one of another layer, and was refused both times.",
        "",
        *([f"Not tried yet: {untried}.", ""] if untried else []),
        *_counts(rows, ENGLISH),
        "",
        "| kind | verdict | largest difference | heads | tensors | stacks | positions | writes | proven | why |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        difference = f"{row.difference:.0e}" if row.verdict == "exact" else ""
        writes, heads = "yes" if row.writes else "", str(row.heads or "")
        why = row.reason.replace("|", "/")[:160]
        tensors = f"{row.used} + {len(row.unused)} + {len(row.made)}" if row.used else ""
        cells = (row.model_type, row.verdict, difference, heads, tensors, row.kind, row.positions, writes, row.day, why)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


ENGLISH: Final = {
    "head": "of transformers {version}",
    "exact": "exact",
    "weights only": "weights only, shorter texts",
    "refused": "nothing: it does not attend, or what it gives cannot be trusted",
    "encoder": "{n} kinds of encoders",
    "decoder": "{n} decoders",
    "encoder-decoder": "{n} with both",
    "image": "{n} of pictures",
    "none": "{n}",
    "between": ", ",
}
CHINESE: Final = {
    "head": "transformers {version} 中的",
    "exact": "精确",
    "weights only": "只有权重、文本较短",
    "refused": "不显示：没有注意力，或给出的不可信",
    "encoder": "{n} 种编码器",
    "decoder": "{n} 种解码器",
    "encoder-decoder": "{n} 种两者兼有",
    "image": "{n} 种读图片的",
    "none": "{n} 种",
    "between": "、",
}


def _counts(rows: Sequence[Row], words: Mapping[str, str]) -> list[str]:
    """A table with one line a verdict; kinds that could not be built small are not counted."""
    lines = [f"| | {words['head'].format(version=transformers.__version__)} |", "|---|---|"]
    for verdict in ("exact", "weights only", "refused"):
        counts = Counter(row.kind or "none" for row in rows if row.verdict == verdict)
        named = (
            words[kind].format(n=counts[kind])
            for kind in ("encoder", "decoder", "encoder-decoder", "image", "none")
            if counts[kind]
        )
        lines.append(f"| {words[verdict]} | {words['between'].join(named)} |")
    return lines


def update_readmes(rows: Sequence[Row]) -> None:
    """Write the tables of the READMEs anew, between their marks."""
    for readme, words in zip(READMES, (ENGLISH, CHINESE), strict=True):
        before, _, rest = readme.read_text(encoding="utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        made = "\n".join(_counts(rows, words))
        readme.write_text(f"{before}{BEGIN}\n{made}\n{END}{after}", encoding="utf-8")


def main() -> None:
    """Prove all, and write the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="*", metavar="TYPE")
    parser.add_argument("--write", action="store_true", help="with --only: write these rows anew, and keep the others")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    known = OUT.read_text(encoding="utf-8")
    if arguments.only and arguments.write and VERSIONS not in known:
        parser.error(f"The rows of the table are not of {VERSIONS}. Write all of them anew, without --only.")
    rows = []
    for model_type in tqdm(arguments.only or kinds()):
        rows.append(prove_apart(model_type))
        print(json.dumps(asdict(rows[-1])), flush=True)
    print(Counter(row.verdict for row in rows), file=sys.stderr)
    if arguments.only:
        proven = {row.model_type: row for row in (*rows_of(known), *rows)}
        rows = [proven[model_type] for model_type in sorted(proven)]
    if not arguments.only or arguments.write:
        OUT.write_text(table(rows), encoding="utf-8")
        update_readmes(rows)


if __name__ == "__main__":
    stopping.leave(main)
