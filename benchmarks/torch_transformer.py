"""The encoder-decoder Transformer in PyTorch, written to train as fast on a CPU as PyTorch can.

The same mathematics as dragoman's `base` recipe: post-norm, ReLU, sinusoidal positions, one embedding matrix for both
sides and the output, dropout on embeddings and residuals, label-smoothed cross-entropy, Adam with clipping. One
projection for query, key and value, and PyTorch's fused attention kernel. A batch whose sentences are equally long needs
no mask; one of real text is padded, and the source is masked where it holds padding. Padding at the end of a target
needs none: the causal mask hides it from the tokens before it.
"""

import math

import torch
from torch import nn
from torch.nn import functional


class Attention(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.n_heads = shape["n_heads"]
        self.query_key_value = nn.Linear(shape["d_model"], 3 * shape["d_model"])
        self.output = nn.Linear(shape["d_model"], shape["d_model"])

    def split_heads(self, x):  # [B, T, D] -> [B, H, T, Dh]
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def attend(self, query, key, value, causal, mask=None):
        context = functional.scaled_dot_product_attention(
            self.split_heads(query), self.split_heads(key), self.split_heads(value), attn_mask=mask, is_causal=causal
        )
        return self.output(context.transpose(1, 2).flatten(2))

    def self_attention(self, x, causal, mask=None):
        return self.attend(*self.query_key_value(x).chunk(3, dim=-1), causal, mask)

    def cross_attention(self, x, memory, mask):
        d_model = x.shape[-1]
        weight, bias = self.query_key_value.weight, self.query_key_value.bias
        query = functional.linear(x, weight[:d_model], bias[:d_model])
        key, value = functional.linear(memory, weight[d_model:], bias[d_model:]).chunk(2, dim=-1)
        return self.attend(query, key, value, False, mask)


class Layer(nn.Module):
    """An encoder layer, or a decoder layer if it is given a memory."""

    def __init__(self, shape, is_decoder):
        super().__init__()
        d_model = shape["d_model"]
        self.dropout = shape["dropout"]
        self.attention = Attention(shape)
        self.cross = Attention(shape) if is_decoder else None
        self.inner = nn.Linear(d_model, shape["d_ff"])
        self.outer = nn.Linear(shape["d_ff"], d_model)
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(3 if is_decoder else 2))

    def add_and_norm(self, norm, x, sublayer):
        return norm(x + functional.dropout(sublayer, self.dropout))

    def forward(self, x, memory=None, mask=None):
        is_encoder = memory is None
        own = self.attention.self_attention(x, not is_encoder, mask if is_encoder else None)
        x = self.add_and_norm(self.norms[0], x, own)
        if not is_encoder:
            x = self.add_and_norm(self.norms[1], x, self.cross.cross_attention(x, memory, mask))
        return self.add_and_norm(self.norms[-1], x, self.outer(functional.relu(self.inner(x))))


class Transformer(nn.Module):
    def __init__(self, shape):
        super().__init__()
        d_model = shape["d_model"]
        self.dropout = shape["dropout"]
        self.embedding = nn.Embedding(shape["vocab_size"], d_model)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        self.encoder = nn.ModuleList(Layer(shape, False) for _ in range(shape["encoder_layers"]))
        self.decoder = nn.ModuleList(Layer(shape, True) for _ in range(shape["decoder_layers"]))
        self.register_buffer("positions", sinusoids(shape["max_length"], d_model), persistent=False)

    def embed(self, ids):
        x = self.embedding(ids) * math.sqrt(self.embedding.embedding_dim) + self.positions[: ids.shape[1]]
        return functional.dropout(x, self.dropout)

    def forward(self, source, target_input, mask=None):
        """mask [B, 1, 1, S] bool, true where the source has a token; None when it has one everywhere."""
        return functional.linear(self.decode(source, target_input, mask), self.embedding.weight)  # [B, T, V]

    def decode(self, source, target_input, mask=None):
        memory = self.embed(source)
        for layer in self.encoder:
            memory = layer(memory, mask=mask)
        x = self.embed(target_input)
        for layer in self.decoder:
            x = layer(x, memory, mask)
        return x  # [B, T, D]


def sinusoids(length, d_model):
    rates = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    angles = torch.arange(length)[:, None] * rates
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)
