"""Text in, translation or trace out: what joins tokenizer, encoder–decoder, hooks and decoding, whatever the model."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from model.checkpoint import load_checkpoint
from model.config import ModelConfig
from model.decoding.beam import LARGEST_WIDTH, BeamTree, Penalty, grow_tree
from model.decoding.cost import DecoderSizes
from model.decoding.logit_lens import log_probs_of, logits_of, spread
from model.decoding.sampling import UNCHANGED, SampledTranslation, Sampling, sample
from model.decoding.search import EXTRA_LENGTH, StepsDone, beam_search, greedy_search, search_beams, translate_all
from model.decoding.session import DecodingSession
from model.decoding.side_by_side import BatchMasks, Tokenized, trace_side_by_side
from model.errors import ConfigError, InputTextError, TokenError, TraceError, said
from model.folder_files import named_folder
from model.input_text import checked_ids
from model.interruption import Progress, no_progress
from model.nn.edit_hooks import Edits, edit_functions
from model.nn.encoder_decoder import EncoderDecoder
from model.nn.hooks import ALWAYS_RECORDED, Edit, listen
from model.nn.masks import key_padding, pad
from model.reader import LARGEST_ALPHA, Writer, choose_device, choose_dtype
from model.tokenizer import Tokenizer
from model.trace.steps import Spread, describe_steps
from model.trace.trace import Trace, build_trace, join_recorded
from model.word_choice import NO_EDITS, Choice, Chooser, ReadsOn, TextChoice, TokenPlace, WordChoice, first_difference


class ReadFolder(NamedTuple):
    """What a folder holds: the arguments of a `SequenceTranslator`."""

    model: EncoderDecoder
    tokenizer: Tokenizer
    name: str
    digest: str


def read_folder(folder: Path, device: str | None, dtype: str) -> ReadFolder:
    """Read a checkpoint folder of ours. Raises as `model.opening.open_translator`."""
    folder, chosen = named_folder(folder), choose_device(device)
    checkpoint = load_checkpoint(folder, chosen, choose_dtype(dtype, chosen))
    return ReadFolder(checkpoint.model, checkpoint.tokenizer, folder.name, checkpoint.digest)


def odds_from_memory(
    model: EncoderDecoder,
    memory: Float[Tensor, "copy_and_choice source width"],
    padding: Bool[Tensor, "choice source"] | None,
    choices: Sequence[Choice],
) -> Float[Tensor, "copy choice"]:
    """The log-odds of choices whose sources the encoder has read, in nats, float32.

    Contrastive evaluation (Sennrich 2017, "How Grammatical is Character-level Neural Machine Translation? Assessing MT
    Quality with Contrastive Translation Pairs"): of whole texts both are read along, and what is before the first token
    in which they differ cancels out. Of words only that token's logits are compared.

    Args:
        memory: of all choices, once for each copy.
        padding: True at real tokens; None if all are.
        choices: all of words, or all of texts.
    """
    device, copies = memory.device, memory.size(0) // len(choices)
    places = [place for of_kind in zip(*(choice.places for choice in choices), strict=True) for place in of_kind]
    times = len(places) // len(choices)
    target = pad([place.target for place in places], model.config.pad_id).to(device)
    of_each = memory.view(copies, 1, len(choices), *memory.shape[1:]).expand(-1, times, -1, -1, -1).flatten(0, 2)
    hidden = model.decode(
        target.repeat(copies, 1), of_each, None if padding is None else padding.repeat(copies * times, 1)
    )
    words = [choice for choice in choices if isinstance(choice, WordChoice)]
    if words:
        rows = torch.arange(len(hidden)), torch.tensor([choice.place.row for choice in words] * copies)
        both = torch.tensor([(choice.right, choice.wrong) for choice in words] * copies, device=device)
        logits = logits_of(model, hidden[rows], both)
        return (logits[:, 0] - logits[:, 1]).view(copies, -1)
    texts = [choice for choice in choices if isinstance(choice, TextChoice)]
    written = [*(choice.right for choice in texts), *(choice.wrong for choice in texts)]
    begins = torch.tensor([choice.differs_at for choice in texts] * times)[:, None]
    positions, ends = torch.arange(target.size(1)), torch.tensor([len(text) for text in written])[:, None]
    counted = ((positions >= begins) & (positions < ends)).to(device).repeat(copies, 1)
    emitted = pad(written, model.config.pad_id).to(device).repeat(copies, 1)
    log_probs = log_probs_of(model, hidden[counted], emitted[counted])
    totals = torch.zeros(len(counted), device=device).index_add(0, counted.nonzero()[:, 0], log_probs)
    right, wrong = totals.view(copies, times, -1).unbind(1)
    return right - wrong


class SequenceTranslator(Chooser, Writer):
    """A loaded encoder–decoder of ours, and its tokenizer."""

    model: EncoderDecoder
    penalty: Penalty = "wu"  #: how beam search takes the length of a text into account
    pads = True

    def __init__(
        self,
        model: EncoderDecoder,
        tokenizer: Tokenizer,
        *,
        name: str = "",
        digest: str = "",
        languages: tuple[str, str] = ("", ""),
    ) -> None:
        super().__init__(model, name=name, digest=digest, languages=languages)
        self.tokenizer = tokenizer

    @property
    def config(self) -> ModelConfig:
        """The model's hyperparameters."""
        return self.model.config

    @property
    def vocabulary(self) -> Tokenizer:
        """What tells tokens by their ids."""
        return self.tokenizer

    @property
    def vocab_size(self) -> int:
        """Token ids that the model knows."""
        return self.config.vocab_size

    def all_tokens(self, *, of_source: bool = False) -> tuple[str, ...]:
        """Every piece of the one vocabulary, in the order of their ids."""
        return self.tokenizer.tokens(range(self.tokenizer.vocab_size))

    @property
    def end_ids(self) -> frozenset[int]:
        """</s>, which ends a translation."""
        return frozenset((self.config.eos_id,))

    @property
    def reserved_ids(self) -> frozenset[int]:
        """Special tokens that a person may not force: <pad>, <unk>, <s>."""
        return frozenset((self.config.pad_id, self.config.unk_id, self.config.bos_id)) - self.end_ids

    @property
    def special_ids(self) -> frozenset[int]:
        """The ids of the tokens that stand for no text."""
        return self.reserved_ids | self.end_ids

    @property
    def byte_ids(self) -> frozenset[int]:
        """The ids of the tokens of single bytes."""
        return self.tokenizer.byte_ids

    def spell(self, word: str) -> list[int] | None:
        """The pieces of a word; None where the vocabulary lacks one of its characters and would write its bytes."""
        token_ids = self.tokenizer.encode(word)
        return token_ids if (self.reserved_ids | self.tokenizer.byte_ids).isdisjoint(token_ids) else None

    def translate(self, text: str, *, beam: int = 1, alpha: float = 0.6) -> str:
        """Translate greedily, or by beam search with length penalty exponent `alpha` if `beam` is above 1 (§6.1).

        Raises an InputTextError if the text is blank or too long.
        """
        if beam < 1:
            raise InputTextError("The beam width must be at least 1, got {beam}.", beam=beam)
        source_ids = torch.tensor([self.source_ids(text)], device=self.device)
        if beam == 1:
            return self.tokenizer.decode(greedy_search(self.model, source_ids, None)[0])
        return self.tokenizer.decode(beam_search(self.model, source_ids, None, beam=beam, alpha=alpha)[0][0].token_ids)

    def translate_all(self, texts: Sequence[str], *, beam: int = 1, progress: Progress = no_progress) -> list[str]:
        """See `model.reader.Writer`; side by side, and of a text that is too long its beginning."""
        return translate_all(self.model, self.tokenizer, texts, beam=beam, progress=progress)

    def sample(
        self, text: str, *, n: int = 1, sampling: Sampling = UNCHANGED, seed: int = 0, progress: StepsDone = no_progress
    ) -> list[SampledTranslation]:
        """Draw `n` translations, at most 64; `progress` is told the steps done and the most there can be.

        The same seed gives the same ones again, and the first of them for a smaller `n`.

        Raises:
            InputTextError: the text is blank or too long.
            ConfigError: `n` or `seed` is out of range.
        """
        source_ids = torch.tensor(self.source_ids(text), device=self.device)
        return [
            SampledTranslation(**vars(drawn), text=self.tokenizer.decode(drawn.token_ids))
            for drawn in sample(self.model, source_ids, n, sampling, seed, progress)
        ]

    def beam_tree(self, text: str, beam: int = 4, alpha: float = 0.6, *, progress: StepsDone = no_progress) -> BeamTree:
        """Beam search as in `translate`, with everything that it compared on the way; `progress` as in `sample`.

        Raises:
            InputTextError: the text is blank or too long.
            ConfigError: the beam is not 1 to 12 wide, or `alpha` is below 0 or above 5.
        """
        if not 1 <= beam <= LARGEST_WIDTH:
            message = "To keep the tree, the beam width must be between 1 and {largest_width}, got {beam}."
            raise ConfigError(message, largest_width=LARGEST_WIDTH, beam=beam)
        if not 0 <= alpha <= LARGEST_ALPHA:
            message = "The exponent of the length penalty must be between 0 and {largest_alpha:g}, got {alpha}."
            raise ConfigError(message, largest_alpha=LARGEST_ALPHA, alpha=alpha)
        source_ids = torch.tensor([self.source_ids(text)], device=self.device)
        (search,) = search_beams(self.model, source_ids, None, beam=beam, alpha=alpha, progress=progress)
        return grow_tree(search, self.config.bos_id, self.tokenizer)

    def decode(self, text: str, *, extras: Collection[str] = (), edits: Edits | None = None) -> DecodingSession:
        """Begin to decode step by step. Arguments and errors are those of `trace`, without a target."""
        ids, key = self.source_ids(text), self.key
        return DecodingSession(
            self.model, self.tokenizer, text, ids, reader_key=key, extras=frozenset(extras), edits=edits
        )

    def trace(
        self, text: str, target: str | None = None, *, extras: Collection[str] = (), edits: Edits | None = None
    ) -> Trace:
        """Run once with every hook recorded.

        Args:
            target: a translation to read along (teacher forcing); by default the model's own, decoded greedily.
            extras: further hooks to record, from `hooks.EXTRAS`.
            edits: named edits of heads, or full hook name → function from the value there to the one to go on with.

        Raises:
            InputTextError: a text is blank or too long.
            EditError: an edit names what does not exist, or a key that the mask forbids.
        """
        if target is not None:
            return self._forced_trace(text, self.source_ids(text), self.target_ids(target), extras, edits)
        source_ids = self.source_ids(text)
        num_source = len(source_ids)
        functions = edit_functions(edits, self.model, num_source=num_source, num_target=num_source - 1 + EXTRA_LENGTH)
        session = self.decode(text, extras=set(extras) & {"hook_head_output"}, edits=functions)
        session.run()
        if set(extras) <= {"hook_head_output"}:
            return session.trace()
        # Scores and weights of a whole pass are recorded in one: over the tokens just decoded.
        return self._forced_trace(text, source_ids, session.target_ids[1:], extras, functions)

    def spread(self, trace: Trace) -> Spread:
        """How each step's probability is spread. Raises a TraceError if the trace was made by another model."""
        return spread(trace, self.model)

    def masks(self, texts: Sequence[str]) -> BatchMasks:
        """See `model.reader.Writer`."""
        raise TraceError(self.abilities.lacks["batch masks"])

    def decoder_sizes(self, trace: Trace) -> DecoderSizes:
        """See `model.reader.Writer`."""
        raise TraceError(self.abilities.lacks["cost"])

    def labels(self, text: str) -> tuple[str, ...]:
        """None: it predicts words."""
        return ()

    def asked(self, text: str) -> str:
        """The same text."""
        return text

    def place(self, text: str) -> TokenPlace:
        """Where the model says the first token of a translation, as of `Chooser.place`."""
        return TokenPlace(tuple(self.source_ids(text)), (self.config.bos_id,), 0)

    def word_choice(self, text: str, right: str, wrong: str) -> WordChoice:
        """The first token in which two translations differ, as of `Chooser.word_choice`."""
        row, before, *chosen = first_difference(*(self.target_ids(translation) for translation in (right, wrong)))
        return WordChoice(TokenPlace(tuple(self.source_ids(text)), (self.config.bos_id, *before), row), *chosen)

    def place_logits(
        self, place: TokenPlace, copies: int = 1, edits: Mapping[str, Edit] = NO_EDITS
    ) -> Float[Tensor, "copy vocab"]:
        """The logits of a place, as `model.word_choice.Chooser` says."""
        self.model.check_edits(edits)
        source, target = (torch.tensor([ids] * copies, device=self.device) for ids in (place.source, place.target))
        with listen(edits=edits):
            hidden = self.model.decode(target, self.model.encode(source))
        logits: Tensor = self.model.projection(hidden[:, place.row])
        return logits.float()

    def reads_on(self, source: Sequence[int]) -> ReadsOn:
        """See `model.word_choice.Chooser`."""
        memory, cache = self.model.encode(torch.tensor([source], device=self.device)), self.model.new_cache()

        def read(token_ids: Sequence[int]) -> Float[Tensor, "vocab"]:
            hidden = self.model.decode(torch.tensor([token_ids], device=self.device), memory, cache=cache)
            logits: Tensor = self.model.projection(hidden[0, -1])
            return logits.float()

        return read

    def trace_place(self, place: TokenPlace, token: int, edits: Edits | None = None) -> Trace:
        """See `model.word_choice.Chooser`."""
        return self._forced_trace("", place.source, [*place.target[1:], token], edits=edits)

    def text_choice(self, text: str, right: str, wrong: str) -> TextChoice:
        """Two whole translations. Raises as `word_choice`."""
        both = [tuple(self.target_ids(translation)) for translation in (right, wrong)]
        first_difference(*both)
        return TextChoice(tuple(self.source_ids(text)), (self.config.bos_id,), *both)

    def log_odds(
        self, choices: Sequence[Choice], copies: int = 1, edits: Mapping[str, Edit] = NO_EDITS
    ) -> Float[Tensor, "copy choice"]:
        """See `model.word_choice.Chooser`."""
        self.model.check_edits(edits)
        pad_id = self.config.pad_id
        source = pad([choice.places[0].source for choice in choices], pad_id).to(self.device)
        padding = key_padding(source, pad_id)
        times = copies if any(name.startswith("encoder.") for name in edits) else 1
        with listen(edits=edits):
            read = None if bool(padding.all()) else padding.repeat(times, 1)
            memory = self.model.encode(source.repeat(times, 1), read).repeat(copies // times, 1, 1)
            return odds_from_memory(self.model, memory, None if read is None else padding, choices)

    def trace_tokens(
        self, text: str, token_ids: Sequence[int], *, extras: Collection[str] = (), edits: Edits | None = None
    ) -> Trace:
        """Run once over a translation that is given as token ids, finished or not, with every hook recorded.

        A text may be cut into tokens in several ways; this reads just those that a session, a sample, or a node of a
        `BeamTree` (`tree.token_ids(node)`) wrote. The trace has one target row per token: the row that emits it. Raises
        a TokenError if there are no tokens, too many, or one that the vocabulary does not hold.

        Args:
            text, extras, edits: as of `trace`, which may raise the same errors.
            token_ids: what was written, without <s>.
        """
        most = self.config.max_length + EXTRA_LENGTH
        if not 1 <= len(token_ids) <= most:
            message = "A translation of 1 to {most:,} tokens can be traced, got {num_token_ids:,}."
            raise TokenError(message, most=most, num_token_ids=len(token_ids))
        if unknown := [token_id for token_id in token_ids if not 0 <= token_id < self.config.vocab_size]:
            message = "Token ids run from 0 to {vocab_size}, got {unknown}."
            raise TokenError(message, vocab_size=self.config.vocab_size - 1, unknown=unknown[0])
        return self._forced_trace(text, self.source_ids(text), token_ids, extras, edits)

    def trace_batch(self, sentences: Sequence[tuple[str, str | None]]) -> Iterator[tuple[int, Trace | InputTextError]]:
        """Read many sentences side by side: the number of each with its trace, which has no steps.

        `sentences` is each with the translation to read along; None for the model's own, decoded greedily.

        Returns:
            First the numbers of sentences that are refused with the reason, then those of like length together.
        """
        tokenized = []
        for number, (text, target) in enumerate(sentences):
            try:
                emitted = None if target is None else self.target_ids(target)
                tokenized.append(Tokenized(number, text, self.source_ids(text), emitted))
            except InputTextError as error:
                yield number, error
        with torch.inference_mode():
            yield from trace_side_by_side(self.model, self.tokenizer, self.key, tokenized)

    def source_ids(self, text: str, name: str = said("The sentence")) -> list[int]:
        """Token ids ending with </s>. Raises an InputTextError that says `name` for a blank or too long text."""
        return [*checked_ids(text, name, self.config.max_length - 1, self.tokenizer.encode), self.config.eos_id]

    def target_ids(self, text: str) -> list[int]:
        """Token ids that a given translation emits, ending with </s>. Raises as `source_ids`."""
        limit = self.config.max_length + EXTRA_LENGTH - 1
        return [*checked_ids(text, said("The target"), limit, self.tokenizer.encode), self.config.eos_id]

    def source_offsets(self, text: str) -> list[tuple[int, int]]:
        """The characters of a text behind each token of `source_ids`, without the end."""
        return self.tokenizer.offsets(text)

    def target_offsets(self, text: str) -> list[tuple[int, int]]:
        """The same of a translation and `target_ids`."""
        return self.tokenizer.offsets(text)

    @torch.inference_mode()
    def _forced_trace(
        self,
        text: str,
        source_ids: Sequence[int],
        emitted: Sequence[int],
        extras: Collection[str] = (),
        edits: Edits | None = None,
    ) -> Trace:
        functions = edit_functions(edits, self.model, num_source=len(source_ids), num_target=len(emitted))
        target_ids = [self.config.bos_id, *emitted[:-1]]
        given = [torch.tensor([list(ids)], device=self.device) for ids in (source_ids, target_ids)]
        with listen(record=ALWAYS_RECORDED | set(extras), edits=functions) as recorded:
            logits = self.model(*given)[0].float()
        return build_trace(
            self.model,
            self.tokenizer,
            self.key,
            text,
            source_ids,
            emitted,
            join_recorded([recorded]),
            predicted_ids=logits.argmax(-1).tolist(),
            steps=describe_steps(logits, emitted, 0, self.tokenizer),
            edits=functions,
        )
