"""The convolutional encoder-decoder that torch_training.py trains (Gehring et al. 2017), of torch.nn.Conv1d and glu.

Weights have no normalisation, as dragoman's have none. Rows of padding are 0 before each convolution of the encoder.
"""

import math

import torch
from torch import nn
from torch.nn import functional

MAX_POSITIONS = 1024
HALF_ROOT = math.sqrt(0.5)


class Layer(nn.Module):
    def __init__(self, width, hidden, before, dropout):
        super().__init__()
        self.pads = (before, width - 1 - before)
        self.convolution = nn.Conv1d(hidden, 2 * hidden, width)
        self.dropout = dropout

    def forward(self, x, mask=None):
        x = functional.dropout(x, self.dropout)
        if mask is not None:
            x = x * mask
        windows = functional.pad(x.transpose(1, 2), self.pads)
        return functional.glu(self.convolution(windows), dim=1).transpose(1, 2)


class Attention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.query, self.context = nn.Linear(h, d), nn.Linear(d, h)

    def forward(self, rows, words, keys, values, mask):
        query = (self.query(rows) + words) * HALF_ROOT
        scores = query @ keys.transpose(1, 2)  # [B, T, S]
        if mask is not None:
            scores = scores.masked_fill(~mask[:, 0], -math.inf)
        return (rows + self.context(torch.softmax(scores, -1) @ values)) * HALF_ROOT


class Convolutional(nn.Module):
    def __init__(self, shape):
        super().__init__()
        d, h, width, self.dropout = shape["d_model"], shape["d_hidden"], shape["kernel_width"], shape["dropout"]
        self.embedding = nn.Embedding(shape["vocab_size"], d)
        self.positions = nn.ModuleList(nn.Embedding(MAX_POSITIONS, d) for _ in range(2))
        for table in (self.embedding, *self.positions):
            nn.init.normal_(table.weight, std=d**-0.5)
        self.encoder_input, self.encoder_output = nn.Linear(d, h), nn.Linear(h, d)
        self.decoder_input, self.decoder_output = nn.Linear(d, h), nn.Linear(h, d)
        layers = lambda count, before: nn.ModuleList(Layer(width, h, before, self.dropout) for _ in range(count))
        self.encoder = layers(shape["encoder_layers"], (width - 1) // 2)
        self.decoder = layers(shape["decoder_layers"], width - 1)
        self.attention = nn.ModuleList(Attention(d, h) for _ in range(shape["decoder_layers"]))

    def embed(self, ids, side):
        words = self.embedding(ids) * math.sqrt(self.embedding.embedding_dim)
        words = words + self.positions[side].weight[: ids.shape[1]]
        return functional.dropout(words, self.dropout)

    def encode(self, source, mask):
        words = self.embed(source, 0)
        x = self.encoder_input(words)
        is_word = None if mask is None else mask[:, 0, 0, :, None]  # [B, S, 1]
        for layer in self.encoder:
            x = (layer(x, is_word) + x) * HALF_ROOT
        keys = self.encoder_output(x)
        lengths = source.shape[1] if mask is None else mask[:, 0, 0].sum(-1)[:, None, None]
        return keys, (keys + words) * HALF_ROOT * torch.as_tensor(lengths, dtype=keys.dtype).sqrt()

    def decode(self, source, target_input, mask=None):
        keys, values = self.encode(source, mask)
        words = self.embed(target_input, 1)
        y = self.decoder_input(words)
        for layer, attention in zip(self.decoder, self.attention):
            y = (attention(layer(y), words, keys, values, mask) + y) * HALF_ROOT
        return functional.dropout(self.decoder_output(y), self.dropout)  # [B, T, D]

    def forward(self, source, target_input, mask=None):
        """mask [B, 1, 1, S] bool, true where the source has a token; None when it has one everywhere."""
        return functional.linear(self.decode(source, target_input, mask), self.embedding.weight)  # [B, T, V]
