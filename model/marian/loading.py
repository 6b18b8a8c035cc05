"""Load a MarianMT folder (OPUS-MT and others) as a model and tokenizer of our own: same architecture, same numbers.

A folder may come from anywhere: names and shapes are compared with the configuration before memory is taken for
weights, and nothing but JSON, SentencePiece and safetensors is read (`model.marian.files`).
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from model import checked
from model.checked import Malformed
from model.checkpoint import Checkpoint, check_weights
from model.config import Activation, TransformerConfig
from model.errors import CheckpointError, ConfigError, said
from model.marian import files
from model.marian.tokenizer import MarianTokenizer
from model.nn.architectures import model_of_shapes, unfilled_model

ACTIVATIONS: Mapping[str, Activation] = {"relu": "relu", "silu": "silu", "swish": "silu", "gelu": "gelu"}

#: What a configuration that leaves it out means (transformers' MarianConfig).
DEFAULTS: Mapping[str, Any] = {
    "activation_function": "gelu",
    "scale_embedding": False,
    "share_encoder_decoder_embeddings": True,
    "tie_word_embeddings": True,
    "max_position_embeddings": 1024,
    "decoder_vocab_size": None,
}
SAME_ON_BOTH_SIDES: Final = ("attention_heads", "ffn_dim")

#: The last parts of parameter names, theirs and ours.
ATTENTION: Mapping[str, str] = {"q_proj": "query", "k_proj": "key", "v_proj": "value", "out_proj": "output"}
SUBLAYERS: Mapping[str, str] = {
    "self_attn": "self_attention",
    "encoder_attn": "cross_attention",
    "self_attn_layer_norm": "self_attention_residual.norm",
    "encoder_attn_layer_norm": "cross_attention_residual.norm",
    "final_layer_norm": "feed_forward_residual.norm",
    "fc1": "feed_forward.inner",
    "fc2": "feed_forward.outer",
}


def load_marian(folder: Path, device: torch.device, dtype: torch.dtype = torch.float32) -> Checkpoint:
    """Read and check a MarianMT folder; the model comes in evaluation mode and never writes <pad>.

    That the padding is never written is what every OPUS-MT folder asks of `generate` (`bad_words_ids`): its entry in
    the output's bias becomes −∞, so that the probabilities of the other tokens sum to one (`renormalize_logits`).
    Raises a CheckpointError if a file is missing, damaged, too large or outside of the folder, or does not fit the
    others.
    """
    if files.has_two_vocabularies(folder):
        raise CheckpointError(
            "{name} has separate vocabularies for the source and the target, so it is opened as a model of "
            "transformers: `open_reader(folder)`.",
            name=folder.name,
        )
    tokenizer = MarianTokenizer(
        *(files.file_bytes(folder, name) for name in (files.SOURCE, files.TARGET, files.VOCABULARY))
    )
    config = read_config(folder, tokenizer.unk_id)
    tokenizer.check(config)
    weights = _read_weights(folder, config)
    check_weights(weights, config)
    model = unfilled_model(config)
    model.load_state_dict(weights, strict=False)  # check_weights is strict, and allows for shared matrices
    with torch.no_grad():
        model.projection.bias[config.pad_id] = -torch.inf
    return Checkpoint(model.to(device=device, dtype=dtype).eval(), tokenizer, files.digest(folder))


def read_config(folder: Path, unk_id: int) -> TransformerConfig:
    """The settings of a MarianMT folder as ours.

    Raises a CheckpointError if a value is missing or wrong, or asks for what our Transformer does not have.
    """
    content = {**DEFAULTS, **files.json_file(folder, files.CONFIG)}
    try:
        numbers = {
            name: checked.count(content.get(name), name)
            for name in (
                "vocab_size", "d_model", "encoder_layers", "decoder_layers", "encoder_attention_heads",
                "decoder_attention_heads", "encoder_ffn_dim", "decoder_ffn_dim", "max_position_embeddings",
                "pad_token_id", "eos_token_id", "decoder_start_token_id",
            )
        }  # fmt: skip
        _check_form(content, numbers)
        shares = content["share_encoder_decoder_embeddings"]
        return TransformerConfig(
            vocab_size=numbers["vocab_size"],
            d_model=numbers["d_model"],
            num_layers=numbers["encoder_layers"],
            num_decoder_layers=numbers["decoder_layers"],
            num_heads=numbers["encoder_attention_heads"],
            d_ff=numbers["encoder_ffn_dim"],
            share_embeddings=shares,
            tie_output=content["tie_word_embeddings"] and not shares,
            max_length=numbers["max_position_embeddings"],
            pad_id=numbers["pad_token_id"],
            unk_id=unk_id,
            bos_id=numbers["decoder_start_token_id"],
            eos_id=numbers["eos_token_id"],
            activation=ACTIVATIONS[content["activation_function"]],
            position_layout="halves",
            scale_embedding=content["scale_embedding"],
            output_bias=True,
        )
    except (Malformed, ConfigError) as error:
        raise CheckpointError("{name}/{config}: {error}", name=folder.name, config=files.CONFIG, error=error) from error


def _check_form(content: Mapping[str, Any], numbers: Mapping[str, int]) -> None:
    """Refuse what our Transformer could not compute, each with a sentence."""
    for name in ("scale_embedding", "share_encoder_decoder_embeddings", "tie_word_embeddings"):
        if not isinstance(content[name], bool):
            raise checked.wrong(name, said("true or false"), content[name])
    for what in SAME_ON_BOTH_SIDES:
        ours, theirs = numbers[f"encoder_{what}"], numbers[f"decoder_{what}"]
        if ours != theirs:
            message = "encoder_{what} and decoder_{what} must be the same, got {ours} and {theirs}"
            raise Malformed(message, what=what, ours=ours, theirs=theirs)
    if content["activation_function"] not in list(ACTIVATIONS):  # a list need not be hashable to be looked for
        known = said("one of {names}", names=", ".join(ACTIVATIONS))
        raise checked.wrong("activation_function", known, content["activation_function"])
    if content["decoder_vocab_size"] not in (None, numbers["vocab_size"]):
        message = "source and target must share one vocabulary, got {source} and {target} tokens"
        raise Malformed(message, source=numbers["vocab_size"], target=content["decoder_vocab_size"])
    if numbers["decoder_start_token_id"] != numbers["pad_token_id"]:
        raise Malformed("decoding must begin with the padding token, as Marian's does")
    if content["share_encoder_decoder_embeddings"] and not content["tie_word_embeddings"]:
        raise Malformed("embeddings shared by source and target must be the output's too (tie_word_embeddings)")


def _read_weights(folder: Path, config: TransformerConfig) -> dict[str, Tensor]:
    """All weights under our names, in float32; shared matrices once.

    Raises a CheckpointError if a tensor is missing, left over, or of another shape; a copy of a matrix differs from it.
    """
    shapes = parameter_names(config)
    weights: dict[str, Tensor] = {}
    for name, tensor in _tensors(folder, {name: shape for name, (_, shape) in shapes.items()}):
        own = shapes[name][0]
        tensor = tensor.reshape(-1) if name == "final_logits_bias" else tensor
        if not tensor.is_floating_point():
            raise CheckpointError(
                "{model}: {weight} does not contain floating-point numbers.", model=folder.name, weight=name
            )
        if own in weights and not torch.equal(weights[own], tensor.float()):
            message = "{model}: {weight} should be the matrix that {config} says is shared; it differs."
            raise CheckpointError(message, model=folder.name, weight=name, config=files.CONFIG)
        weights[own] = tensor.float()
    # Their programs leave it out where it is zero.
    weights.setdefault("projection.bias", torch.zeros(config.vocab_size))
    return weights


def parameter_names(config: TransformerConfig) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Marian's name of every tensor that a file may hold → our name of it and its shape in the file."""
    own = {name: tuple(p.shape) for name, p in model_of_shapes(config).named_parameters(remove_duplicate=False)}
    names: dict[str, tuple[str, tuple[int, ...]]] = {"final_logits_bias": ("projection.bias", (1, config.vocab_size))}
    for stack, layers in (("encoder", config.num_layers), ("decoder", config.decoder_layers)):
        for layer in range(layers):
            for theirs, ours in SUBLAYERS.items():
                if stack == "encoder" and theirs.startswith("encoder_attn"):
                    continue
                parts = ATTENTION.items() if theirs.endswith("_attn") else [("", "")]
                for kind in ("weight", "bias"):
                    for part, our_part in parts:
                        left = ".".join(filter(None, (f"model.{stack}.layers.{layer}", theirs, part, kind)))
                        right = ".".join(filter(None, (f"{stack}.layers.{layer}", ours, our_part, kind)))
                        names[left] = (right, own[right])
    shared = "encoder.embedding.tokens.weight"
    target = shared if config.share_embeddings else "decoder.embedding.tokens.weight"
    output = target if config.share_embeddings or config.tie_output else "projection.weight"
    matrices = {"model.encoder.embed_tokens": shared, "model.decoder.embed_tokens": target, "lm_head": output}
    if config.share_embeddings:
        matrices["model.shared"] = shared
    return names | {f"{theirs}.weight": (ours, own[ours]) for theirs, ours in matrices.items()}


def _tensors(folder: Path, shapes: Mapping[str, tuple[int, ...]]) -> Iterator[tuple[str, Tensor]]:
    """Every tensor of the weight files, all of whose shapes were compared before the first is read."""
    with ExitStack() as stack:
        holders = {}
        for file in files.weight_files(folder):
            try:
                path = stack.enter_context(files.named_weights(folder, file))
                opened = stack.enter_context(safe_open(path, framework="pt"))
                for name in opened.keys():  # noqa: SIM118 - no mapping
                    _check_shape(f"{folder.name}/{file}", name, tuple(opened.get_slice(name).get_shape()), shapes)
                    holders[name] = opened
            except SafetensorError as error:
                message = "{name}/{file} is not a safetensors file: {error}."
                raise CheckpointError(message, name=folder.name, file=file, error=error) from error
        for name, opened in holders.items():
            # Sinusoids are computed; the tables of them that some files have are skipped.
            if name in shapes:
                yield name, opened.get_tensor(name)


def _check_shape(file: str, name: str, shape: tuple[int, ...], shapes: Mapping[str, tuple[int, ...]]) -> None:
    if name in shapes and shape != shapes[name]:
        message = "{file}: {name} should have the shape {shapes} according to {config}, but it has {shape}."
        raise CheckpointError(message, file=file, name=name, shapes=shapes[name], config=files.CONFIG, shape=shape)
    if name not in shapes and not name.endswith("embed_positions.weight"):
        message = "{file} contains {name!r}, which the model that {config} describes does not have."
        raise CheckpointError(message, file=file, name=name[:100], config=files.CONFIG)
