"""What lessons show, each in about ten lines of PyTorch that need nothing else: lessons and a notebook quote them.

They are written to be read and copied, and compute nothing of the app; `tests/model/analysis/test_ten_lines.py` holds
each against what the model, or torch, computes.
"""

from collections.abc import Callable

import torch
from torch import Tensor


def translate(logits_after: Callable[[list[int]], Tensor], begin: int, end: int, longest: int) -> list[int]:
    """Write greedily, one token a step; each step reads all that was written before (§3.1)."""
    written = [begin]
    while written[-1] != end and len(written) <= longest:
        logits = logits_after(written)  # [vocab]
        probabilities = logits.softmax(-1)
        written.append(int(probabilities.argmax()))
    return written[1:]


def look_up(query: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Look up one query [d_k] in keys [key, d_k]: an average of their values [key, d_v], and its weights (§3.2)."""
    scores = keys @ query / len(query) ** 0.5  # how well each key matches; why ÷ √dₖ: lesson 2
    powers = scores.exp()
    weights = powers / powers.sum()  # they sum to 1
    output = sum(weight * value for weight, value in zip(weights, values, strict=True))
    return torch.as_tensor(output), weights


def scaled_dot_product_attention(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Attend from all rows at once, softmax(QKᵀ ÷ √dₖ) V; the output and the weights (§3.2.1, eq. 1)."""
    d_k = q.size(-1)
    scores = q @ k.transpose(-2, -1) / d_k**0.5  # [query, key]
    weights = scores.softmax(dim=-1)  # each row sums to 1
    return weights @ v, weights


def multi_head_attention(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, heads: int) -> Tensor:
    """Attend from x [token, d_model] to itself by several heads; all matrices are [d_model, d_model] (§3.2.2)."""
    d_k = x.size(-1) // heads
    outputs = []
    for head in range(heads):
        own = slice(head * d_k, (head + 1) * d_k)  # each head has columns of its own
        q, k, v = x @ w_q[:, own], x @ w_k[:, own], x @ w_v[:, own]
        weights = (q @ k.T / d_k**0.5).softmax(dim=-1)
        outputs.append(weights @ v)
    return torch.cat(outputs, dim=-1) @ w_o


def masked_weights(q: Tensor, k: Tensor) -> Tensor:
    """Attend only to the position itself and those before it, the decoder's weights [query, key] (§3.2.3)."""
    scores = q @ k.T / q.size(-1) ** 0.5
    is_later = torch.ones_like(scores).triu(diagonal=1).bool()
    scores = scores.masked_fill(is_later, float("-inf"))  # exp(−∞) = 0
    weights: Tensor = scores.softmax(dim=-1)
    return weights


def feed_forward(x: Tensor, w_1: Tensor, b_1: Tensor, w_2: Tensor, b_2: Tensor, gain: Tensor, bias: Tensor) -> Tensor:
    """Normalise x [position, d_model], run the network (§3.3), add x: pre-norm; in §3.1 the norm is after the sum."""
    mean = x.mean(dim=-1, keepdim=True)
    variance = x.var(dim=-1, keepdim=True, unbiased=False)
    normed = gain * (x - mean) / (variance + 1e-5).sqrt() + bias
    hidden = (normed @ w_1 + b_1).clamp(min=0)  # max(0, ·)
    return x + hidden @ w_2 + b_2


def embed_and_predict(token_ids: Tensor, matrix: Tensor, layers: Callable[[Tensor], Tensor]) -> Tensor:
    """Look token_ids up in one matrix [vocab, d_model], which gives the logits [position, vocab] as well (§3.4)."""
    d_model = matrix.size(1)
    x = matrix[token_ids] * d_model**0.5  # one row for each token
    x = layers(x)  # adds positions, too
    return x @ matrix.T  # a dot product with each token's row


def positional_encoding(positions: int, d_model: int) -> Tensor:
    """Sines and cosines [position, d_model], a pair for each frequency (§3.5)."""
    position = torch.arange(positions, dtype=torch.float64)[:, None]
    pair = torch.arange(d_model // 2)
    angle = position / 10_000 ** (2 * pair / d_model)  # pos · ω
    encoding = torch.empty(positions, d_model, dtype=torch.float64)
    encoding[:, 0::2] = angle.sin()
    encoding[:, 1::2] = angle.cos()
    return encoding.float()


def recurrent_layer(x: Tensor, w: Tensor, u: Tensor) -> Tensor:
    """Carry one state from token to token of x [token, d]: n steps in turn, where attention takes one (§4)."""
    state = torch.zeros(u.size(0))
    states = []
    for token in x:  # each step waits for the one before
        state = torch.tanh(token @ w + state @ u)
        states.append(state)
    return torch.stack(states)


def smoothed_loss(logits: Tensor, token_ids: Tensor, epsilon: float) -> Tensor:
    """Mean cross-entropy, in nats, of logits [position, vocab] with a smoothed target (§5.4)."""
    vocab = logits.size(-1)
    target = torch.full_like(logits, epsilon / vocab)
    rows = torch.arange(len(token_ids))
    target[rows, token_ids] += 1 - epsilon
    log_p = logits.log_softmax(dim=-1)
    return -(target * log_p).sum(dim=-1).mean()


def adam(weight: Tensor, gradients: list[Tensor], rate: float) -> Tensor:
    """Move a weight by Adam, one step for each gradient (§5.3)."""
    beta_1, beta_2, epsilon = 0.9, 0.98, 1e-9
    mean, square = torch.zeros_like(weight), torch.zeros_like(weight)
    for step, gradient in enumerate(gradients, 1):
        mean = beta_1 * mean + (1 - beta_1) * gradient
        square = beta_2 * square + (1 - beta_2) * gradient**2
        corrected = mean / (1 - beta_1**step), square / (1 - beta_2**step)
        weight = weight - rate * corrected[0] / (corrected[1].sqrt() + epsilon)
    return weight


def beam_search(log_p_after: Callable[[list[int]], Tensor], begin: int, end: int, width: int, steps: int) -> list[int]:
    """Keep the `width` best unfinished texts at each step; the best finished one with the penalty of α = 0.6 (§6.1)."""
    living, finished = [(0.0, [begin])], []
    for _step in range(steps):
        longer = [
            (log_p + float(more), [*text, token])
            for log_p, text in living
            for token, more in enumerate(log_p_after(text))
        ]
        best = sorted(longer, key=lambda one: -one[0])[: 2 * width]
        finished += [(log_p / ((4 + len(text)) / 6) ** 0.6, text) for log_p, text in best if text[-1] == end]
        living = [one for one in best if one[1][-1] != end][:width]
    return max(finished)[1][1:]


def without_head(outputs: Tensor, w_o: Tensor, head: int) -> Tensor:
    """Switch off one head: of outputs [head, token, d_k], the sum after W_O [head · d_k, d_model] without it."""
    kept = outputs.clone()
    kept[head] = 0
    joined = kept.transpose(0, 1).flatten(1)  # heads side by side
    return joined @ w_o


def query_or_keys(q: Tensor, k: Tensor, other_q: Tensor, other_k: Tensor) -> tuple[Tensor, Tensor]:
    """Split the change of a score q · k ÷ √dₖ between two sentences into that of its query and that of its key."""
    root = len(q) ** 0.5
    mean_q, mean_k = (q + other_q) / 2, (k + other_k) / 2
    of_query = (q - other_q) @ mean_k / root
    of_key = mean_q @ (k - other_k) / root
    return of_query, of_key  # together: q · k − other_q · other_k, ÷ √dₖ


def added_norms(weights: Tensor, values: Tensor, w_o: Tensor) -> Tensor:
    """The norm of the vector that each key adds, [query, key]: its weight times that of its projected value."""
    projected = values @ w_o  # [key, d_model]; w_o: the head's rows of W_O
    norms: Tensor = weights * projected.norm(dim=-1)
    return norms
