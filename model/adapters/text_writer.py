"""Write text with Hugging Face models: step by step, by beam search, or by sampling."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

import torch
from torch import Tensor

from model.adapters.decoder_sizes import library_sizes
from model.adapters.generate_call import GenerationRows, write_greedily
from model.adapters.generation import GenerationSession, beginning_of, check_writes
from model.adapters.library import settings_of_model
from model.adapters.text_reader import TextReader
from model.decoding.beam import LARGEST_WIDTH, BeamRule, BeamTree, Penalty, SentenceBeam, Stop, grow_tree
from model.decoding.cost import DecoderSizes
from model.decoding.sampling import UNCHANGED, SampledTranslation, Sampling, draw_samples, draws_of
from model.decoding.search import StepsDone, run_searches
from model.decoding.side_by_side import BatchMasks, names_in_batch
from model.errors import ConfigError, InputTextError, TraceError
from model.interruption import Progress, no_progress
from model.nn.edit_hooks import Edits
from model.nn.hooks import listen
from model.nn.masks import pad
from model.reader import LARGEST_ALPHA, Writer
from model.trace.steps import Spread
from model.trace.trace import Trace

#: transformers' `early_stopping` → how we call it.
STOPS: Final[Mapping[bool | str, Stop]] = {False: "unlikely", True: "full", "never": "unbeatable"}

#: Texts of which an encoder–decoder writes together: more are hardly quicker, and a stop waits longer.
WRITTEN_TOGETHER: Final = 16


class TextWriter(TextReader, Writer):
    """A `TextReader` whose model writes; safe to share between threads as well."""

    penalty: Penalty = "power"  #: how beam search takes the length of a text into account

    @property
    def reserved_ids(self) -> frozenset[int]:
        """Special tokens that a person may not force: padding, the beginning, the unknown piece."""
        tokenizer = self.pieces.tokenizer
        named = (tokenizer.pad_token_id, tokenizer.unk_token_id, tokenizer.bos_token_id)
        return frozenset(token_id for token_id in named if token_id is not None) - self.end_ids

    def spell(self, word: str) -> tuple[int, ...] | None:
        """The tokens of a word that is written after others; None where the vocabulary lacks one of its characters."""
        spelled = self.pieces.encode(word if word[:1] == " " else f" {word}", with_special=False).ids
        return None if self.reserved_ids.intersection(spelled) else spelled

    def decode(self, text: str, *, extras: Collection[str] = (), edits: Edits | None = None) -> GenerationSession:
        """Begin to write step by step; what is asked for, and what may be wrong, as in `GenerationSession`."""
        return GenerationSession(self, text, extras=extras, edits=edits)

    def translate(self, text: str, *, beam: int = 1) -> str:
        """What the model writes greedily, or by its own beam search: a translation, or how the text goes on.

        Raises as `decode`, or as `beam_tree` if `beam` is not 1.
        """
        if beam != 1:
            tree = self.beam_tree(text, beam)
            return self.pieces.decode(tree.token_ids(tree.hypotheses[0]))
        session = self.decode(text)
        session.run()
        return session.translation

    def trace_batch(self, sentences: Sequence[tuple[str, str | None]]) -> Iterator[tuple[int, Trace | InputTextError]]:
        """See `Reader`. An encoder–decoder writes of texts of like length together, and reads each alone.

        What it wrote among others is its greedy text if it writes so when it reads alone; else it writes again.
        """
        if "batch masks" in self.abilities.lacks:
            yield from super().trace_batch(sentences)
            return
        unwritten: list[tuple[int, str, tuple[int, ...]]] = []
        for number, (text, target) in enumerate(sentences):
            try:
                if target is None:
                    unwritten.append((number, text, self.source(text).ids))
                else:
                    yield number, self.trace(text, target)
            except InputTextError as error:
                yield number, error
        unwritten.sort(key=lambda one: len(one[2]))
        for start in range(0, len(unwritten), WRITTEN_TOGETHER):
            some = unwritten[start : start + WRITTEN_TOGETHER]
            written = self._written_together([source_ids for _, _, source_ids in some])
            for (number, text, source_ids), ids in zip(some, written, strict=True):
                try:
                    trace = self.trace_written(text, source_ids, ids)
                    yield number, trace if self._is_greedy(trace, source_ids, ids) else self.trace(text)
                except InputTextError as error:
                    yield number, error

    @torch.inference_mode()
    def _written_together(self, sources: Sequence[Sequence[int]]) -> list[list[int]]:
        """What is written of each, with the tokens that begin it and without what follows its end."""
        pad_id = int(self.pieces.tokenizer.pad_token_id or 0)
        read = {
            "input_ids": pad(sources, pad_id).to(self.device),
            "attention_mask": pad([[1] * len(ids) for ids in sources], 0).to(self.device),
        }
        most = [self.most_steps(source_ids) for source_ids in sources]
        found = []
        for limit, ids in zip(most, write_greedily(self.model, read, max(most), self.start_options), strict=True):
            begun = len(self.begin_before(ids))
            ends = (place + 1 for place in range(begun, len(ids)) if ids[place] in self.end_ids)
            found.append(ids[: min(begun + limit, next(ends, len(ids)))])
        return found

    def _is_greedy(self, trace: Trace, source_ids: Sequence[int], written: Sequence[int]) -> bool:
        """Whether each token that was written, up to an end, is the most probable one after those before it."""
        first = len(self.first_target(source_ids))
        return written[-1] in self.end_ids and list(written[first:]) == list(trace.predicted_ids[first - 1 :])

    def translate_all(self, texts: Sequence[str], *, beam: int = 1, progress: Progress = no_progress) -> list[str]:
        """See `model.reader.Writer`; one after another."""
        written = []
        for text in texts:
            written.append(self.translate(text, beam=beam))
            progress(1)
        return written

    @torch.inference_mode()
    def beam_tree(
        self,
        text: str,
        beam: int = 4,
        alpha: float | None = None,
        *,
        early_stopping: bool | str | None = None,
        progress: StepsDone = no_progress,
    ) -> BeamTree:
        """Beam search as `generate(num_beams=beam)` does it, with everything that it compared on the way.

        Args:
            text: to translate, or to go on with.
            beam: width.
            alpha: exponent of the length penalty n^α; by default the library's, 1.
            early_stopping: False, True or "never" (see `BeamRule`); by default the library's, False.
            progress: called after every step with the number of steps done and the most there can be.

        Raises:
            SessionError: the model does not write.
            InputTextError: the text is blank or too long.
            ConfigError: the beam is not 1 to 12 wide, `alpha` lies outside ±5, or there is no such `early_stopping`.
        """
        check_writes(self)
        if not 1 <= beam <= LARGEST_WIDTH:
            message = "To keep the tree, the beam width must be between 1 and {largest_width}, got {beam}."
            raise ConfigError(message, largest_width=LARGEST_WIDTH, beam=beam)
        source_ids = self.source(text).ids
        most = self.most_steps(source_ids)
        beginning = beginning_of(self, source_ids, most)
        alpha = beginning.length_penalty if alpha is None else alpha
        early_stopping = beginning.early_stopping if early_stopping is None else early_stopping
        if not -LARGEST_ALPHA <= alpha <= LARGEST_ALPHA:
            message = "The exponent of the length penalty must be within ±{largest_alpha:g}, got {alpha}."
            raise ConfigError(message, largest_alpha=LARGEST_ALPHA, alpha=alpha)
        if early_stopping not in STOPS:
            raise ConfigError(
                'early_stopping must be False, True or "never", got {early_stopping!r}.', early_stopping=early_stopping
            )
        rows, last = self._rows_before_last(
            beginning.token_ids, GenerationRows(self.model, beginning, caches=self.caches)
        )
        begun = SentenceBeam(most, beam, alpha, rule=BeamRule("power", STOPS[early_stopping]))
        (search,) = run_searches([begun], rows, last, beginning.eos_ids, progress)
        return grow_tree(search, beginning.token_ids[-1], self.pieces)

    @torch.inference_mode()
    def sample(
        self, text: str, *, n: int = 1, sampling: Sampling = UNCHANGED, seed: int = 0, progress: StepsDone = no_progress
    ) -> list[SampledTranslation]:
        """Draw `n` texts, at most 64, as `Translator.sample` does. Raises as it does, or a SessionError."""
        check_writes(self)
        draws = draws_of(n, sampling, seed)
        source_ids = self.source(text).ids
        most = self.most_steps(source_ids)
        beginning = beginning_of(self, source_ids, most)
        rows, last = self._rows_before_last(
            beginning.token_ids, GenerationRows(self.model, beginning, caches=self.caches)
        )
        drawn = draw_samples(rows, last, draws, limit=most, eos_ids=beginning.eos_ids, progress=progress)
        return [SampledTranslation(**vars(sample), text=self.pieces.decode(sample.token_ids)) for sample in drawn]

    def trace_tokens(self, text: str, token_ids: Sequence[int]) -> Trace:
        """What a session that wrote these tokens would leave behind, with their steps alone. Raises as it does."""
        session = self.decode(text)
        for token_id in token_ids:
            session.force(token_id)
        return session.trace().only_written(session.steps)

    def spread(self, trace: Trace) -> Spread:
        """How each step's probability is spread. Raises a TraceError if the trace is not of a session."""
        if trace.spread is None:
            raise TraceError("Probabilities of alternatives exist only for generated text; decode the text.")
        return trace.spread

    @torch.inference_mode()
    def masks(self, texts: Sequence[str]) -> BatchMasks:
        """See `model.reader.Writer`."""
        if "batch masks" in self.abilities.lacks:
            raise TraceError(self.abilities.lacks["batch masks"])
        limit, names = self.abilities.max_length, names_in_batch(texts)
        source = [self.checked_tokens(text, name, limit).ids for text, name in zip(texts, names, strict=True)]
        target = [self.write(ids) for ids in source]
        target = [ids[:-1] if ids[-1] in self.end_ids else ids for ids in target]
        pad_id = int(self.pieces.tokenizer.pad_token_id or 0)
        real = [pad([[1] * len(ids) for ids in side], 0).to(self.device) for side in (source, target)]
        read, written = (pad(side, pad_id).to(self.device) for side in (source, target))
        with listen(record={"hook_mask"}) as recorded, settings_of_model():
            logits = self.model(
                input_ids=read, attention_mask=real[0], decoder_input_ids=written, decoder_attention_mask=real[1]
            ).logits
        given = (written, self.allowed(logits).argmax(-1))
        own, following = ([self.pieces.tokens(ids) for ids in each.tolist()] for each in given)
        named = [self.pieces.source_tokens(ids) for ids in read.tolist()]
        return BatchMasks.of(recorded, named, own, following, [len(ids) for ids in target])

    def decoder_sizes(self, trace: Trace) -> DecoderSizes:
        """See `model.reader.Writer`."""
        return library_sizes(self, trace)

    def _rows_before_last(self, token_ids: tuple[int, ...], rows: GenerationRows) -> tuple[GenerationRows, Tensor]:
        """All of a beginning read but its last token, and that token."""
        given = torch.tensor([token_ids], device=self.device)
        if len(token_ids) > 1:
            rows.read(given[:, :-1])
        return rows, given[:, -1]
