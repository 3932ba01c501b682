#!/usr/bin/env python3
"""Makes the stored golden runs of recurrent models: small encoder-decoders of torch.nn.GRU and torch.nn.LSTM.

Each file holds the parameters, one packed batch, the logits, the loss, every gradient, and the losses of ten Adam
steps on that batch (label smoothing 0.1, no dropout), all computed by PyTorch in float64 and stored as float32. The
layers are PyTorch's own; attention and readout are written with plain operations, one sentence at a time.
Needs torch, numpy and safetensors:  python3 make_golden_recurrent.py FOLDER
"""

import math
import sys

import torch
from torch import nn

import make_golden
from make_golden import VOCAB

D, H = 12, 10


class Model:
    def __init__(self, cell, attention, feeding=False, layers=1):
        torch.manual_seed(11)
        self.cell, self.attention, self.feeding, self.layers = cell, attention, feeding, layers
        whole, step = (nn.GRU, nn.GRUCell) if cell == "gru" else (nn.LSTM, nn.LSTMCell)
        self.plain, self.modules = {}, {}
        self.table = self.new("embedding.weight", VOCAB, D)
        self.encoder = whole(D, H, layers, bidirectional=True, dtype=torch.float64)
        self.fed_width = 2 * H if attention == "bahdanau" else D if feeding else 0
        if self.fed_width:
            assert layers == 1
            self.decoder = step(D + self.fed_width, H, dtype=torch.float64)
        else:
            self.decoder = whole(D, H, layers, dtype=torch.float64)
        for module in (self.encoder, self.decoder):
            for value in module.parameters():
                value.data = (torch.randn_like(value) * 0.3).float().double()
        for layer in range(layers):
            for part in ("hidden", "cell") if cell == "lstm" else ("hidden",):
                self.linear(f"decoder.layers.{layer}.initial_{part}", 2 * H, H)
        if attention != "none":
            self.new("decoder.attention.key.weight", 2 * H, H)
        if attention == "bahdanau":
            self.new("decoder.attention.query.weight", H, H)
            self.new("decoder.attention.score", H)
            self.linear("readout.top", 3 * H, D)
            self.new("readout.words.weight", D, D)
        elif feeding:
            self.linear("decoder.attention.combine", 3 * H, D)
        else:
            self.linear("readout.top", H, D)
            if attention == "luong":
                self.new("readout.context.weight", 2 * H, D)
        self.parameters = {**self.plain, **dict(self.named())}

    def new(self, path, *shape, scale=0.4):
        self.plain[path] = (torch.randn(*shape, dtype=torch.float64) * scale).float().double().requires_grad_()
        return self.plain[path]

    def linear(self, path, d_in, d_out):
        self.new(path + ".weight", d_in, d_out)
        self.new(path + ".bias", d_out, scale=0.1)

    def apply(self, path, x):
        return x @ self.plain[path + ".weight"] + self.plain[path + ".bias"]

    def named(self):
        """PyTorch's parameters, under names that dragoman's are made of."""
        for layer in range(self.layers):
            for suffix, direction in (("", "forward"), ("_reverse", "backward")):
                for kind, path in (("ih", "input"), ("hh", "state")):
                    for what in ("weight", "bias"):
                        name = f"encoder.layers.{layer}.{direction}.{path}.{what}"
                        yield name, getattr(self.encoder, f"{what}_{kind}_l{layer}{suffix}")
            for kind, path in (("ih", "input"), ("hh", "state")):
                for what in ("weight", "bias"):
                    own = f"{what}_{kind}" if self.fed_width else f"{what}_{kind}_l{layer}"
                    yield f"decoder.layers.{layer}.{path}.{what}", getattr(self.decoder, own)

    def stored(self, of):
        """dragoman's parameters of PyTorch's values or gradients: transposed, and what is fed apart."""
        tensors = {}
        for name, value in self.parameters.items():
            value = of(value)
            if name in self.plain:
                tensors[name] = value
            elif name == "decoder.layers.0.input.weight" and self.fed_width:
                tensors[name], tensors["decoder.fed.weight"] = value[:, :D].T, value[:, D:].T
            else:
                tensors[name] = value.T if value.dim() == 2 else value
        return tensors

    def attend(self, states, state):
        keys = states @ self.plain["decoder.attention.key.weight"]
        if self.attention == "bahdanau":
            query = state @ self.plain["decoder.attention.query.weight"]
            scores = torch.tanh(query + keys) @ self.plain["decoder.attention.score"]
        else:
            scores = keys @ state
        return torch.softmax(scores, -1) @ states

    def first_state(self, final):
        summary = torch.cat([final[-2], final[-1]])  # the last state of each direction of the top layer
        first = lambda part: torch.stack(
            [torch.tanh(self.apply(f"decoder.layers.{i}.initial_{part}", summary)) for i in range(self.layers)])
        return first("hidden"), first("cell") if self.cell == "lstm" else None

    def logits(self, source, target):
        embed = lambda ids: self.table[ids] * math.sqrt(D)
        states, final = self.encoder(embed(source))  # [S, 2 H]
        hidden, inner = self.first_state(final[0] if self.cell == "lstm" else final)
        words = embed(target)
        if self.fed_width:
            rows = self.steps(words, states, hidden[0], inner[0] if inner is not None else None)
        else:
            tops, _ = self.decoder(words, hidden if inner is None else (hidden, inner))  # [T, H]
            rows = self.apply("readout.top", tops)
            if self.attention == "luong":
                contexts = torch.stack([self.attend(states, top) for top in tops])
                rows = rows + contexts @ self.plain["readout.context.weight"]
            rows = torch.tanh(rows)
        return rows @ self.table.T

    def steps(self, words, states, state, inner):
        rows, fed = [], torch.zeros(self.fed_width, dtype=torch.float64)
        for word in words:
            if self.attention == "bahdanau":
                fed = self.attend(states, state)
            x = torch.cat([word, fed])
            if self.cell == "lstm":
                state, inner = self.decoder(x, (state, inner))
            else:
                state = self.decoder(x, state)
            if self.feeding:
                fed = torch.tanh(self.apply("decoder.attention.combine", torch.cat([self.attend(states, state), state])))
                rows.append(fed)
            else:
                deep = self.apply("readout.top", torch.cat([state, fed])) + word @ self.plain["readout.words.weight"]
                rows.append(torch.tanh(deep))
        return torch.stack(rows)


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    make_golden.store(Model("gru", "none", layers=2), f"{folder}/recurrent_gru_2.safetensors")
    make_golden.store(Model("gru", "bahdanau"), f"{folder}/recurrent_gru_bahdanau.safetensors")
    make_golden.store(Model("lstm", "luong", layers=2), f"{folder}/recurrent_lstm_luong_2.safetensors")
    make_golden.store(Model("lstm", "luong", feeding=True), f"{folder}/recurrent_lstm_feeding.safetensors")
