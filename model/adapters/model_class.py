"""Choose the class of the library that a folder is opened as.

It is the one that config.json names. Where it names none that Headlight runs, it is one that says words, if the folder
has all weights of its head, else the model without a head.
"""

import inspect
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import Any

import transformers

from model.abilities import SourceKind
from model.adapters import library
from model.adapters.joined import halves
from model.adapters.library import ModelClass, Role
from model.errors import CheckpointError, Message, said


def with_type(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a config.json with a `model_type`; where it has none, as before 2020, that of the classes it names.

    Raises a CheckpointError that says what to add if the library knows none of them.
    """
    if "model_type" in values:
        return dict(values)
    found = {str(made.config_class.model_type) for made in _named(values.get("architectures"))}
    if len(found) != 1:
        raise CheckpointError(
            "config.json does not name the type of the model (some from before 2020 do not). Add a line with it, for "
            'example "model_type": "bert".'
        )
    return {**values, "model_type": found.pop()}


def class_of(config: Any, tensors: Collection[str] | None = None) -> ModelClass:
    """The class of the library for a folder, as of this module.

    Args:
        config: from `library.make_config`.
        tensors: names of the folder's tensors; None for a model that is to be made, which has all.

    Raises a CheckpointError if the library has no class for it that reads text, pictures or sound alone; one that can
    be given text and pictures is run on a text alone only where config.json names it, and a model of texts is a part.
    """
    known = classes_of(config)
    if given := {each.reads for each in known if each.role == "trunk"} - {"text"}:
        # A decoder without the encoder that hears or sees is none of these.
        known = [each for each in known if each.reads in given]
    named = [made for made in _named(config.architectures) if isinstance(config, made.config_class)]
    trunks = [each for each in known if each.role == "trunk"]
    stated = [
        each for made in named for each in known if each.made is made and (each.has_words or each.reads != "picture")
    ]
    if not stated:
        _refuse_mixed(named, {each.reads for each in trunks}, config)
    # What compares pictures with texts is no part of a model that writes about them.
    writes = any(made.can_generate() for made in named)
    chosen = stated[:1] or list(_with_filled_head(config, known, tensors))
    for each in (*chosen, *trunks, *known):
        if any(each.made.main_input_name in names for names in library.GIVEN.values()):
            joins_both = each.reads_both and (writes or not each.has_sides)
            if joins_both and (each not in stated or not _has_text_model(each, config)):
                # Without the head that says words, a text alone would run a part of it.
                break
            return replace(each, why=_why(each, each in stated, named))
    kind = str(config.model_type)[:60]
    if reads_both := [each for each in known if each.reads_both]:
        of_text = [ModelClass(made, "causal") for made in named if made.can_generate()] or reads_both
        if config.is_encoder_decoder or _crosses(library.empty_model(of_text[0], config)):
            message = (
                "This folder contains a model that reads text and pictures together ({kind}). Headlight does not open "
                "such models yet."
            )
            raise CheckpointError(message, kind=kind)
        message = (
            "This folder contains a decoder that reads the tokens of a picture within its text ({kind}): it attends to "
            "them as to words, and has no cross-attention. Headlight does not open such models yet."
        )
    elif {"encoder", "decoder"} <= config.sub_configs.keys():
        message = (
            "This folder contains an encoder combined with the decoder of another model ({kind}). Headlight does not "
            "open such models yet, so their heads cannot be shown."
        )
    else:
        message = (
            "This folder contains a model of type {kind!r}. transformers has no class for it that reads only text, "
            "only pictures or only sound, and Headlight opens no other models yet."
        )
    raise CheckpointError(message, kind=kind)


def _refuse_mixed(named: Sequence[Any], read: Collection[SourceKind], config: Any) -> None:
    """Raise a CheckpointError if one of these classes can be given what no class reads alone, beside other input."""
    given = {name for made in named for name in inspect.signature(made.forward).parameters}
    for kind, module in library.READERS.items():
        for part, message in import_module(module, __package__).OPENING.mixed.items():
            if kind not in read and any(part in name for name in given):
                raise CheckpointError(message, kind=str(config.model_type)[:60])


def classes_of(config: Any) -> list[ModelClass]:
    """The classes that the library's own maps have for a configuration, by what they are for, `trunk` last; of those
    that write about a picture, the ones that read it by an encoder, and nothing else.
    """
    found = [
        (auto, ModelClass(made, role))
        for role, maps in library.MAPS.items()
        for auto in maps
        for made in library.mapped(auto, type(config))
    ]
    about = transformers.AutoModelForImageTextToText
    return [
        replace(each, is_made_of_two=auto is about and not each.has_two_stacks)
        for auto, each in found
        if auto is not about or _reads_by_encoder(each, config)
    ]


def _reads_by_encoder(each: ModelClass, config: Any) -> bool:
    """Whether what writes about a picture has an encoder of it, and a decoder that reads what that puts out."""
    if each.reads != "picture" or (each.has_two_stacks and each.reads_both):
        return False
    return each.has_two_stacks or halves(library.empty_model(each, config)) is not None


def _has_text_model(model_class: ModelClass, config: Any) -> bool:
    """Whether a part of a model is one that reads texts alone."""
    model = library.empty_model(model_class, config)
    parts = (part for part in model.modules() if part is not model and isinstance(part, transformers.PreTrainedModel))
    return any(part.main_input_name == "input_ids" and not ModelClass(type(part), "trunk").reads_both for part in parts)


def _crosses(model: Any) -> bool:
    """Whether a part of a model attends to what another one put out, by what the library calls such modules."""
    return any(re.search("cross|encoder_att|EncDec", name) for name, _ in model.named_modules())


def _why(chosen: ModelClass, is_stated: bool, named: Sequence[Any]) -> Message:
    made = chosen.made.__name__
    if is_stated:
        return said("{made}, as config.json says", made=made)
    if named:
        message = "{made}; Headlight does not run {named}, which config.json names"
        return said(message, made=made, named=named[0].__name__)
    return said("{made}; config.json names no class of transformers", made=made)


def _named(names: Any) -> list[Any]:
    """The classes of models that the library has under these names, of a folder's config.json."""
    found = []
    for name in names if isinstance(names, list) else []:
        made = getattr(transformers, name, None) if isinstance(name, str) else None
        if isinstance(made, type) and issubclass(made, transformers.PreTrainedModel) and made.config_class is not None:
            found.append(made)
    return found


def _with_filled_head(
    config: Any, known: Sequence[ModelClass], tensors: Collection[str] | None
) -> Iterator[ModelClass]:
    """The classes that predict words whose heads find all their weights among the tensors, the most usual first."""
    masks = any(each.role == "masked" for each in known) and not getattr(config, "is_decoder", False)
    wanted: list[Role] = ["seq2seq"] if config.is_encoder_decoder else ["masked", "causal"] if masks else ["causal"]
    if tensors is None:
        # Of a model that is made, nothing says that it is to mask words.
        yield from (each for each in known if each.role == wanted[0] != "masked")
        return
    trunk = next((each for each in known if each.role == "trunk"), None)
    for each in (
        each for role in wanted for each in known if each.role == role and (each.has_words or each.reads != "picture")
    ):
        if trunk is not None and _is_filled(each, trunk, config, tensors):
            yield each


def _is_filled(model_class: ModelClass, trunk: ModelClass, config: Any, tensors: Collection[str]) -> bool:
    """Whether the tensors of a folder have all parameters that a class has beside those of the model without a head."""
    model, without = (library.empty_model(each, config) for each in (model_class, trunk))
    ties = {name for pair in model.all_tied_weights_keys.items() for name in pair}
    beneath = {name for key in without.state_dict() for name in (key, f"{model.base_model_prefix}.{key}")}
    head = {name for name, _ in model.named_parameters(remove_duplicate=False)} - beneath - ties
    return head <= set(library.names_in(model, tensors).values())


def classes_beside(model: Any) -> Iterator[Any]:
    """Empty models of the other classes that the library has of a model's kind, where it has the model's own."""
    for made in vars(sys.modules[type(model).__module__]).values():
        if made in _named([getattr(made, "__name__", "")]) and made is not type(model):
            with suppress(CheckpointError):
                yield library.empty_model(ModelClass(made, "trunk"), model.config)
