"""The recurrent encoder-decoder that torch_training.py trains: torch.nn.GRU or torch.nn.LSTM with attention.

The encoder is bidirectional and runs over packed sequences. A decoder that attends between its steps (bahdanau) is a
loop over cells, with keys that are computed before, all at once. Any other decoder is one
call of torch.nn.GRU or torch.nn.LSTM, and its attention two batched products.
"""

import math

import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils import rnn


class Recurrent(nn.Module):
    def __init__(self, shape):
        super().__init__()
        d, h, layers = shape["d_model"], shape["d_hidden"], shape["layers"]
        whole, step = (nn.GRU, nn.GRUCell) if shape["cell"] == "gru" else (nn.LSTM, nn.LSTMCell)
        self.is_lstm = shape["cell"] == "lstm"
        self.attention = shape["attention"]
        self.layers, self.hidden, self.dropout = layers, h, shape["dropout"]
        self.embedding = nn.Embedding(shape["vocab_size"], d)
        nn.init.normal_(self.embedding.weight, std=d**-0.5)
        between = self.dropout if layers > 1 else 0.0
        self.encoder = whole(d, h, layers, bidirectional=True, batch_first=True, dropout=between)
        self.first_hidden = nn.Linear(2 * h, layers * h)
        self.first_cell = nn.Linear(2 * h, layers * h) if self.is_lstm else None
        if self.attention != "none":
            self.key = nn.Linear(2 * h, h, bias=False)
        if self.attention == "bahdanau":
            assert layers == 1
            self.cell = step(d + 2 * h, h)
            self.query = nn.Linear(h, h, bias=False)
            self.score = nn.Linear(h, 1, bias=False)
            self.readout = nn.Linear(h + 2 * h + d, d)
        else:
            self.decoder = whole(d, h, layers, batch_first=True, dropout=between)
            self.readout = nn.Linear(h + (2 * h if self.attention == "luong" else 0), d)

    def embed(self, ids):
        return functional.dropout(self.embedding(ids) * math.sqrt(self.embedding.embedding_dim), self.dropout)

    def encode(self, source, mask):
        lengths = torch.full((source.shape[0],), source.shape[1]) if mask is None else mask[:, 0, 0].sum(-1)
        packed = rnn.pack_padded_sequence(self.embed(source), lengths, batch_first=True, enforce_sorted=False)
        states, final = self.encoder(packed)
        states, _ = rnn.pad_packed_sequence(states, batch_first=True, total_length=source.shape[1])
        final = final[0] if self.is_lstm else final
        return functional.dropout(states, self.dropout), torch.cat([final[-2], final[-1]], -1)  # [B, S, 2 H], [B, 2 H]

    def first_state(self, summary):
        def split(map):
            return torch.tanh(map(summary)).view(-1, self.layers, self.hidden).transpose(0, 1).contiguous()

        return (split(self.first_hidden), split(self.first_cell)) if self.is_lstm else split(self.first_hidden)

    def weights(self, scores, mask):
        """scores [B, T, S]"""
        return torch.softmax(scores if mask is None else scores.masked_fill(~mask[:, 0], -math.inf), -1)

    def decode(self, source, target_input, mask=None):
        states, summary = self.encode(source, mask)
        words = self.embed(target_input)
        state = self.first_state(summary)
        if self.attention == "bahdanau":
            rows = torch.cat([self.steps(words, states, state, mask), words], -1)
        else:
            rows, _ = self.decoder(words, state)
            if self.attention == "luong":
                weights = self.weights(rows @ self.key(states).transpose(1, 2), mask)
                rows = torch.cat([rows, weights @ states], -1)
        return functional.dropout(torch.tanh(self.readout(rows)), self.dropout)  # [B, T, D]

    def steps(self, words, states, state, mask):
        keys, rows = self.key(states), []
        hidden, inner = (state[0][0], state[1][0]) if self.is_lstm else (state[0], None)
        for t in range(words.shape[1]):
            scores = self.score(torch.tanh(self.query(hidden)[:, None] + keys)).transpose(1, 2)  # [B, 1, S]
            context = (self.weights(scores, mask) @ states)[:, 0]
            x = torch.cat([words[:, t], context], -1)
            if self.is_lstm:
                hidden, inner = self.cell(x, (hidden, inner))
            else:
                hidden = self.cell(x, hidden)
            rows.append(torch.cat([hidden, context], -1))
        return torch.stack(rows, 1)  # [B, T, 3 H]

    def forward(self, source, target_input, mask=None):
        """mask [B, 1, 1, S] bool, true where the source has a token; None when it has one everywhere."""
        return functional.linear(self.decode(source, target_input, mask), self.embedding.weight)  # [B, T, V]
