"""Attribution by every method, of our models and the library's, against float64 recomputations from the weights.

A float64 copy of the model is run with its own modules, and again layer by layer with values of keys taken away.
"""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from model import Trace, Translator
from model.analysis.attribution import methods
from model.analysis.attribution.choice import AttentionSum, ChoiceRun, TokenChoice, choice_at, visible
from model.analysis.attribution.methods import (
    METHODS,
    Deletion,
    HiddenAlone,
    Method,
    attribute,
    choice_run,
    contributions,
    delete,
    integrated_gradients,
    most_runs,
    order_of,
    random_orders,
    shares,
)
from model.config import TransformerConfig
from model.errors import DataError
from model.nn.hooks import listen
from model.nn.transformer import Transformer
from model.tokenizer import Tokenizer
from model.training_record import LANGUAGES
from model.word_choice import TokenPlace
from tests.model.adapters import zoo
from tests.often import often

TEXT, TARGET = "The dog did not run because it was tired.", "Das Tier war müde, weil es lief."
STEP = 4
OURS = ["pre", "post"]
#: Post-norm, parallel, a bias of distances, a cap and two norms, norms of queries, experts; both stacks.
LIBRARY = ["bert", "gpt2", "gpt_neox", "phi", "llama", "qwen3", "gemma2", "mixtral", "bart", "t5"]


class Names(NamedTuple):
    """What an attention's modules are called in its layer: of values, of what it adds, of a norm behind that."""

    values: str
    output: str
    norm: str = ""


PROJECTED = Names("self_attn.v_proj", "self_attn.o_proj")
MODULES: dict[str, list[Names]] = {
    "bert": [Names("attention.self.value", "attention.output.dense", "attention.output.LayerNorm")],
    "gpt2": [Names("attn.c_attn", "attn.c_proj")],
    "gpt_neox": [Names("attention.query_key_value", "attention.dense")],
    "phi": [Names("self_attn.v_proj", "self_attn.dense")],
    "llama": [PROJECTED],
    "qwen3": [PROJECTED],
    "gemma2": [PROJECTED._replace(norm="post_attention_layernorm")],
    "mixtral": [PROJECTED],
    "bart": [Names(f"{at}.v_proj", f"{at}.out_proj", f"{at}_layer_norm") for at in ("self_attn", "encoder_attn")],
    "t5": [Names(f"layer.{at}.v", f"layer.{at}.o") for at in ("0.SelfAttention", "1.EncDecAttention")],
    "pre": [Names(f"{at}_attention.value", f"{at}_attention.output") for at in ("self", "cross")],
}
MODULES["post"] = [
    names._replace(norm=names.values.replace("attention.value", "attention_residual.norm")) for names in MODULES["pre"]
]
#: Which columns of a projection are values where it makes queries and keys too.
VALUES: dict[str, Any] = {"gpt2": slice(64, None)}
VALUES |= {"gpt_neox": [24 * head + 16 + column for head in range(4) for column in range(8)]}


@dataclass
class Exact:
    """A float64 copy of a model, and what it reads."""

    kind: str
    model: Any
    choice: TokenChoice

    @property
    def sides(self) -> list[tuple[int, ...]]:
        return [ids for ids in (self.choice.source, self.choice.prefix) if ids]

    def embeddings(self) -> list[Tensor]:
        if self.kind in OURS:
            tables = [self.model.encoder.embedding.tokens, self.model.decoder.embedding.tokens]
        else:
            tables = [self.model.get_input_embeddings()] * 2
        return [table(torch.tensor([ids])).detach() for table, ids in zip(tables, self.sides, strict=False)]

    def odds(self, vectors: Sequence[Tensor], seen: Tensor | None = None, **options: Any) -> Tensor:
        """What is explained, where these vectors are read; of those that are not seen no row attends to."""
        if self.kind in OURS:
            left = list(vectors)
            tables = {self.model.encoder.embedding.tokens, self.model.decoder.embedding.tokens}
            hooks = [table.register_forward_hook(lambda *_: left.pop(0)) for table in tables]
            ids = [torch.tensor([ids] * len(vectors[0])) for ids in self.sides]
            logits = self.model(*ids, seen)
            for hook in hooks:
                hook.remove()
        else:
            given = dict(zip(("inputs_embeds", "decoder_inputs_embeds"), vectors, strict=False)) | options
            if zoo.KINDS[self.kind] == "decoder":
                given["position_ids"] = torch.arange(vectors[0].size(1))[None]
            mask = torch.ones(vectors[0].shape[:2]) if seen is None else seen
            logits = self.model(**given, attention_mask=mask.long(), use_cache=False).logits
        log_probs = logits[:, self.choice.place.row].log_softmax(-1)
        return log_probs[:, 7] - (0 if self.choice.against is None else log_probs[:, self.choice.against])

    def weights(self) -> dict[str, list[Tensor]]:
        """Site → the mean over the heads of each layer."""
        if self.kind in OURS:
            with listen(record={"hook_weights"}) as found:
                self.odds(self.embeddings())
            sites = {"encoder.self": "encoder", "decoder.cross": "cross"}
            return {
                site: [each[0][0].mean(0) for name, each in found.items() if key in name] for site, key in sites.items()
            }
        given = dict(zip(("input_ids", "decoder_input_ids"), (torch.tensor([ids]) for ids in self.sides), strict=False))
        found = self.model(**given, output_attentions=True, use_cache=False)
        names = {"encoder.self": "encoder_attentions", "decoder.cross": "cross_attentions"}
        if len(self.sides) == 1:
            names = {f"{zoo.KINDS[self.kind]}.self": "attentions"}
        return {site: [each[0].mean(0) for each in found[name]] for site, name in names.items()}

    def layers(self) -> list[tuple[str, nn.Module, Callable[[], Tensor]]]:
        """The stack of each layer, the layer, and what runs it again on what it read."""
        lists = [name for name, module in self.model.named_modules() if isinstance(module, nn.ModuleList)]
        tops = [name for name in lists if not any(name.startswith(f"{other}.") for other in lists)]
        found: list[tuple[str, nn.Module, Callable[[], Tensor]]] = []
        hooks = []
        for name in tops:
            stack = "encoder" if "encoder" in name else "decoder"
            for layer in self.model.get_submodule(name):

                def note(layer: nn.Module, args: Any, kwargs: Any, stack: str = stack) -> None:
                    found.append((stack, layer, lambda: _first(layer(*args, **kwargs))))

                hooks.append(layer.register_forward_pre_hook(note, with_kwargs=True))
        self.odds(self.embeddings())
        for hook in hooks:
            hook.remove()
        return found

    def sites(self, stack: str) -> list[tuple[Names, int]]:
        """The attentions of a layer and how many keys each has."""
        keys = [len(self.choice.source if stack == "encoder" else self.choice.prefix), len(self.choice.source)]
        return list(zip(MODULES[self.kind], keys, strict=False))[: 1 if stack == "encoder" or not keys[1] else 2]

    @contextmanager
    def values(self, layer: nn.Module, names: Names, kept: Tensor) -> Iterator[dict[str, Tensor]]:
        """Take away the values of the keys of an attention that are not kept; yields what its modules put out."""
        found: dict[str, Tensor] = {}

        def edit(_: nn.Module, args: Any, out: Tensor) -> Tensor:
            out = out.clone()
            out[0][:, VALUES.get(self.kind, slice(None))] *= kept[:, None]
            return out

        def note(module: nn.Module, args: Any, out: Tensor) -> None:
            found["output" if module is output else "normed"] = out[0]

        output = layer.get_submodule(names.output)
        hooks = [layer.get_submodule(names.values).register_forward_hook(edit), output.register_forward_hook(note)]
        if names.norm:
            hooks.append(layer.get_submodule(names.norm).register_forward_hook(note))
        try:
            yield found
        finally:
            for hook in hooks:
                hook.remove()

    def followed(self, mixes: Sequence[tuple[str, list[Tensor]]]) -> Tensor:
        """The shares of all tokens in the row of the choice: of each layer those of its rows in each of its sites."""
        count, total = len(self.choice.source), sum(map(len, self.sides))
        whole = torch.eye(total, dtype=torch.float64)
        for stack, of_sites in mixes:
            layer = torch.eye(total, dtype=torch.float64)
            own = slice(0, count) if stack == "encoder" else slice(count, total)
            layer[own, own] = of_sites[0]
            if len(of_sites) > 1:
                layer[own, :count] = of_sites[1]
            whole = layer @ whole
        return whole[self.choice.place.row + (count if self.choice.prefix else 0)]


def _first(output: Any) -> Tensor:
    return (output[0] if isinstance(output, tuple) else output)[0]


def weights(exact: Exact) -> Tensor:
    *_, of_layers = exact.weights().values()
    return torch.stack(of_layers).mean(0)[exact.choice.place.row]


def rollout(exact: Exact) -> Tensor:
    """Of self-attention ½ A + ½ I (Abnar & Zuidema 2020); the last layer's cross-attention reads what they made."""
    by_site = exact.weights()
    cross = by_site.pop("decoder.cross", None)
    (own,) = by_site.values()
    whole = torch.eye(len(own[0]), dtype=torch.float64)
    for layer in own:
        whole = (layer + torch.eye(len(layer))) / 2 @ whole
    return (whole if cross is None else cross[-1] @ whole)[exact.choice.place.row]


def gradient(exact: Exact) -> Tensor:
    vectors = [vector.requires_grad_() for vector in exact.embeddings()]
    found = torch.autograd.grad(exact.odds(vectors).sum(), vectors)
    return torch.cat([(each * vector).sum(-1)[0].detach() for each, vector in zip(found, vectors, strict=True)])


def integrated(exact: Exact) -> Tensor:
    """By the same points: sixteen on each half of the path."""
    points, width = np.polynomial.legendre.leggauss(methods.POINTS)
    along = torch.tensor([begin + (point + 1) / 4 for begin in (0, 0.5) for point in points])[:, None, None]
    vectors = [(along * vector).requires_grad_() for vector in exact.embeddings()]
    found = torch.autograd.grad(exact.odds(vectors).sum(), vectors)
    each = torch.cat([(one * vector).sum(-1) for one, vector in zip(found, exact.embeddings(), strict=True)], 1)
    return (each * torch.tensor([*width, *width])[:, None] / 4).sum(0)


@torch.no_grad()
def zeroing(exact: Exact) -> Tensor:
    mixes = []
    for stack, layer, again in exact.layers():
        whole, away = again(), []
        for names, keys in exact.sites(stack):
            columns = []
            for key in range(keys):
                with exact.values(layer, names, torch.arange(keys) != key):
                    columns.append(1 - torch.cosine_similarity(again(), whole, dim=-1))
            away.append(torch.stack(columns, 1))
        total = torch.cat(away, 1).sum(1, keepdim=True)
        mixes.append((stack, [each / total for each in away]))
    return exact.followed(mixes)


@torch.no_grad()
def alti(exact: Exact) -> Tensor:
    mixes = []
    for stack, layer, again in exact.layers():
        stream = read_by(layer, again)
        mixed: list[Tensor] = []
        for names, keys in exact.sites(stack):
            with exact.values(layer, names, torch.zeros(keys)) as bias:
                again()
            parts = []
            for key in range(keys):
                with exact.values(layer, names, torch.arange(keys) == key) as alone:
                    again()
                parts.append(alone["output"] - bias["output"])
            with exact.values(layer, names, torch.ones(keys)) as real:
                again()
            moved, is_post = torch.stack(parts, 1), bool(names.norm) and exact.kind != "gemma2"
            if names.norm and not is_post:
                moved = through(layer.get_submodule(names.norm), moved, real["output"])
            if mixed:
                moved = torch.cat((moved, stream[:, None]), 1)
            else:
                moved[range(len(stream)), range(len(stream))] += stream
            output = stream + real["normed" if names.norm and not is_post else "output"]
            if is_post:
                moved, output = through(layer.get_submodule(names.norm), moved, output), real["normed"]
            nearer = (output.abs().sum(-1)[:, None] - (output[:, None] - moved).abs().sum(-1)).clamp_min(0)
            nearer /= nearer.sum(1, keepdim=True)
            mixed = [mixed[0] * nearer[:, -1:], nearer[:, :-1]] if mixed else [nearer]
            stream = output
        mixes.append((stack, mixed))
    return exact.followed(mixes)


def read_by(layer: nn.Module, again: Callable[[], Tensor]) -> Tensor:
    read = []

    def note(_: nn.Module, args: Any, kwargs: Mapping[str, Any]) -> None:
        read.append(args[0] if args else kwargs["hidden_states"])

    hook = layer.register_forward_pre_hook(note, with_kwargs=True)
    again()
    hook.remove()
    return read[0][0]


def through(norm: Any, parts: Tensor, whole: Tensor) -> Tensor:
    """Parts through a norm, divided as the whole is; Gemma's takes no mean off and multiplies by 1 + weight."""
    if is_centred := isinstance(norm, nn.LayerNorm):
        parts, whole = (each - each.mean(-1, keepdim=True) for each in (parts, whole))
    deviation = (whole.square().mean(-1) + norm.eps).sqrt()
    return parts / deviation[:, None, None] * (norm.weight + (not is_centred))


RECOMPUTED: Mapping[Method, Callable[[Exact], Tensor]] = {
    "weights": weights,
    "rollout": rollout,
    "gradient": gradient,
    "integrated": integrated,
    "zeroing": zeroing,
    "alti": alti,
}


def our_translator(norm: Any, config: TransformerConfig, tokenizer: Tokenizer) -> Translator:
    """No gain of a norm is 1, no bias 0, and ε is so large that whoever left it out would notice."""
    torch.manual_seed(3)
    model = Transformer(replace(config, norm=norm)).eval()
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            module.eps = 0.1
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter), alpha=0.3)
    return Translator(model, tokenizer, name="x", languages=LANGUAGES)


@pytest.fixture(scope="module", params=often([*OURS, *LIBRARY], (*OURS, "bert", "gpt2", "gemma2", "bart")))
def both(request: pytest.FixtureRequest, config: TransformerConfig, tokenizer: Tokenizer) -> tuple[ChoiceRun, Exact]:
    """A choice of a model, and the same of its float64 copy."""
    kind = request.param
    if kind in OURS:
        own = our_translator(kind, config, tokenizer)
        place = choice_at(own.trace(TEXT, TARGET), STEP).place
        choice = TokenChoice(place, 7, None if kind == "pre" else 9)
        return choice_run(own, choice), Exact(kind, copy.deepcopy(own.model).double(), choice)
    of = zoo.KINDS[kind]
    head = "masked" if of == "encoder" else None
    reader = zoo.random_reader(kind, head=head)
    ids = reader.source(TEXT).ids
    places = {"encoder": TokenPlace(ids, (), 5), "decoder": TokenPlace((), ids, len(ids) - 1)}
    choice = TokenChoice(places.get(of, TokenPlace(ids, (2, 11, 12), 2)), 7, None if kind == "gpt2" else 9)
    theirs = zoo.tiny(kind, head=head)
    theirs.load_state_dict(reader.model.state_dict())
    if kind == "mixtral":
        theirs.set_experts_implementation("eager")
    return choice_run(reader, choice), Exact(kind, theirs.double(), choice)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_agrees_with_float64(
    both: tuple[ChoiceRun, Exact], method: Method, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, exact = both
    monkeypatch.setattr(methods, "MOST_POINTS", 2 * methods.POINTS)
    found = attribute(run, method)
    joined = torch.cat([found.read, torch.zeros(0) if found.prefix is None else found.prefix]).double()
    # The library's own modules would compute norms and softmax in float32.
    monkeypatch.setattr(torch, "float32", torch.float64)
    expected = RECOMPUTED[method](exact).detach()
    assert len(joined) == len(expected)
    assert joined.isfinite().all()
    assert (joined - expected).abs().max() <= 1e-4 * expected.abs().max()


@torch.no_grad()
def test_hidden_tokens_are_those_that_the_mask_hides(both: tuple[ChoiceRun, Exact]) -> None:
    run, exact = both
    seen = visible(len(run.choice.read), [[], [1, 3, 4]])
    found = run.choice.of_logits(run.seen_logits(seen)).double()
    vectors = [vector.expand(2, -1, -1) for vector in exact.embeddings()]
    torch.testing.assert_close(found, exact.odds(vectors, seen), atol=1e-4, rtol=1e-4)
    assert abs(float(found[1] - found[0])) > 1e-4


@pytest.fixture(scope="module")
def trace(config: TransformerConfig, tokenizer: Tokenizer) -> Trace:
    return our_translator("post", config, tokenizer).trace(TEXT, TARGET)


@pytest.fixture(scope="module")
def run(config: TransformerConfig, tokenizer: Tokenizer, trace: Trace) -> ChoiceRun:
    return choice_run(our_translator("post", config, tokenizer), choice_at(trace, STEP))


def test_steps_that_are_not_and_a_token_against_itself_are_refused(trace: Trace) -> None:
    count = len(trace.steps)
    assert [choice_at(trace, step).place.row for step in (0, count - 1)] == [0, count - 1]
    assert [len(choice_at(trace, step).prefix) for step in (0, STEP)] == [1, STEP + 1]
    for step in (-1, count):
        with pytest.raises(DataError, match=rf"Steps run from 0 to {count - 1}, got {step}"):
            choice_at(trace, step)
    with pytest.raises(DataError, match="with itself"):
        choice_at(trace, STEP, against=trace.steps[STEP].token_id)


def test_shares_of_a_row_add_up_and_where_nothing_moves_all_is_the_rows_own() -> None:
    amounts = torch.tensor([[0.1, 0.3, 0.0], [0.0, 0.0, 0.0]])
    expected = torch.tensor([[0.25, 0.75, 0.0], [0.0, 1.0, 0.0]])
    torch.testing.assert_close(shares(amounts, torch.tensor([0, 1])), expected)
    # Parts that lead away from the output bring nothing nearer: a row keeps what it had, by the residual connection.
    away, output = -torch.ones(2, 3, 4), torch.ones(2, 4)
    for is_across, own in ((True, [2, 2]), (False, [0, 1])):
        found = contributions(AttentionSum(is_across, away, output))
        assert found.argmax(-1).tolist() == own
        assert found.sum(-1).tolist() == [1, 1]


def test_integrated_gradients_add_up_to_what_is_gained(run: ChoiceRun) -> None:
    scores, found = integrated_gradients(run)
    with torch.no_grad():
        whole = float(run.choice.of_logits(run.seen_logits(visible(len(run.choice.source), [[]]))))
        nothing = float(run.of_embeddings(*map(torch.zeros_like, run.embeddings())))
    assert found.gained == pytest.approx(whole - nothing, abs=1e-4)
    assert found.is_converged
    assert abs(float(scores.source.sum() + scores.prefix.sum()) - found.gained) <= found.worst + 1e-5


@pytest.mark.long
def test_each_score_that_has_converged_is_that_of_many_more_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """ModernBERT's first norm reads embeddings alone: near zero its gradients are so large, and of both signs, that
    their sum can be right while no score is."""
    reader = zoo.random_reader("modernbert", head="masked")
    reader.model.double()
    run = choice_run(reader, TokenChoice(TokenPlace(reader.source(TEXT).ids, (), 5), 7, 9))
    found = attribute(run, "integrated")
    assert found.uncertain is not None
    assert found.integration is not None
    (inputs,) = run.embeddings()
    exact = path_integral(run.of_embeddings, inputs)
    off = (found.read.double() - exact).abs()
    assert found.integration.is_converged
    assert (off <= found.uncertain + 1e-3).all()
    assert off.max() <= methods.TOLERANCE * exact.abs().max()
    sure = found.read.abs() > found.uncertain
    assert torch.equal(found.read.sign()[sure], exact.sign()[sure].float())
    assert sure.sum() > len(sure) / 2
    monkeypatch.setattr(methods, "MOST_POINTS", 160)
    few = attribute(run, "integrated").integration
    assert few is not None
    assert not few.is_converged


def path_integral(choice: Callable[[Tensor], Tensor], inputs: Tensor) -> Tensor:
    """∫ gradient · input along the path, by 32 points on each of 4 parts of each of 30 stretches that double."""
    points, weights = (torch.tensor(each) for each in np.polynomial.legendre.leggauss(32))
    total, edges = torch.zeros(inputs.size(1)).double(), [0.0, *(2.0**-power for power in range(29, -1, -1))]
    for begin, end in pairwise(edges):
        for part in range(4):
            width = (end - begin) / 4
            along = begin + width * (part + (points + 1) / 2)
            vectors = (along[:, None, None] * inputs.detach()).requires_grad_()
            (gradients,) = torch.autograd.grad(choice(vectors).sum(), vectors)
            total += ((gradients * inputs.detach()).sum(-1) * weights[:, None] * width / 2).sum(0)
    return total


@torch.no_grad()
def test_each_value_is_the_choice_with_so_many_words_hidden(run: ChoiceRun) -> None:
    words = [[0], [1, 2], [3]]
    ((found,), alone) = delete(run, words, [(1, 2, 0)])
    hidden = [[], [1, 2], [1, 2, 3], [0, 1, 2, 3], *words]
    expected = run.choice.of_logits(run.seen_logits(visible(len(run.choice.source), hidden)))
    assert found.values == pytest.approx(expected[:4].tolist(), abs=1e-4)
    assert alone.values == pytest.approx(expected[4:].tolist(), abs=1e-4)
    assert alone.before == found.values[0]


def test_what_hiding_does_is_told_by_the_largest_fall_and_by_what_is_said_instead() -> None:
    alone = HiddenAlone(2.0, np.array([1.5, -1.0, 2.5, 0.25]), said_before=7, said=(7, 3, 9, 4))
    assert alone.losses == pytest.approx([0.5, 3.0, -0.5, 1.75])
    assert alone.most_needed == 1
    assert alone.changes == (1, 3, 2)
    assert Deletion((1, 0, 2), np.array([4.0, 3.0, 1.0, -3.0])).fall == pytest.approx(11 / 3)


def test_words_go_by_what_they_are_given_and_of_equal_ones_the_earlier_first() -> None:
    assert order_of([0.25, 2.0, -3.0, 2.0, 0.5]) == (1, 3, 4, 0, 2)
    orders = random_orders(6)
    assert all(sorted(order) == list(range(6)) for order in orders)
    assert len(set(orders)) > 1
    assert random_orders(6) == orders


@pytest.mark.parametrize(("words", "orders"), [(1, 3), (2, 3), (3, 1), (6, 4)])
def test_no_more_runs_are_told_than_there_are_sets_of_words(words: int, orders: int) -> None:
    """As different from one another as orders can be: nothing, each word, everything, and each order's sets between."""
    drawn = random_orders(words)[:orders]
    sets = [frozenset(order[:hidden]) for order in drawn for hidden in range(2, words)]
    fixed = {frozenset[int](), *(frozenset({word}) for word in range(words)), frozenset(range(words))}
    assert most_runs(words, orders) == len(fixed) + len(sets)
