#!/usr/bin/env python3
"""Makes the stored golden runs of recurrent models: small encoder-decoders of torch.nn.GRU and torch.nn.LSTM.

Each file holds what make_golden.py says. The layers are PyTorch's own; attention and readout are written with plain
operations, one sentence at a time. If what was attended to goes into a decoder of several layers, the first layer is a
cell, and the layers above read what the first gives, one whole sentence after another.
Needs torch, numpy and safetensors:  python3 make_golden_recurrent.py FOLDER
"""

import math
import sys

import torch
from torch import nn

import make_golden
from make_golden import VOCAB


class Model:
    def __init__(self, cell, attention, feeding=False, layers=1, d_model=12, d_hidden=10):
        torch.manual_seed(11)
        self.cell, self.attention, self.feeding, self.layers = cell, attention, feeding, layers
        self.d_model, self.d_hidden = D, H = d_model, d_hidden
        whole, step = (nn.GRU, nn.GRUCell) if cell == "gru" else (nn.LSTM, nn.LSTMCell)
        self.plain, self.modules = {}, {}
        self.table = self.new("embedding.weight", VOCAB, D)
        self.encoder = whole(D, H, layers, bidirectional=True, dtype=torch.float64)
        self.fed_width = 2 * H if attention == "bahdanau" else D if feeding else 0
        first_width = 3 * H if attention == "bahdanau" else D  # of what the first layer gives, if it is fed
        is_deep = self.fed_width > 0 and layers > 1
        if self.fed_width:
            self.decoder = step(D + self.fed_width, H, dtype=torch.float64)
        else:
            self.decoder = whole(D, H, layers, dtype=torch.float64)
        self.above = whole(first_width, H, layers - 1, dtype=torch.float64) if is_deep else None
        for module in filter(None, (self.encoder, self.decoder, self.above)):
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
            self.linear("readout.top", H if is_deep else first_width, D)
            self.new("readout.words.weight", D, D)
        elif feeding:
            self.linear("decoder.attention.combine", 3 * H, D)
            if is_deep:
                self.linear("readout.top", H, D)
        else:
            self.linear("readout.top", H, D)
            if attention == "luong":
                self.new("readout.context.weight", 2 * H, D)
        if is_deep:
            self.new("readout.first.weight", first_width, D)
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
                    if not self.fed_width:
                        module, own = self.decoder, f"{what}_{kind}_l{layer}"
                    elif layer == 0:
                        module, own = self.decoder, f"{what}_{kind}"
                    else:
                        module, own = self.above, f"{what}_{kind}_l{layer - 1}"
                    yield f"decoder.layers.{layer}.{path}.{what}", getattr(module, own)

    def stored(self, of):
        """dragoman's parameters of PyTorch's values or gradients: transposed, and what is fed apart."""
        tensors = {}
        for name, value in self.parameters.items():
            value = of(value)
            if name in self.plain:
                tensors[name] = value
            elif name == "decoder.layers.0.input.weight" and self.fed_width:
                tensors[name], tensors["decoder.fed.weight"] = value[:, : self.d_model].T, value[:, self.d_model :].T
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
        embed = lambda ids: self.table[ids] * math.sqrt(self.d_model)
        states, final = self.encoder(embed(source))  # [S, 2 H]
        hidden, inner = self.first_state(final[0] if self.cell == "lstm" else final)
        words = embed(target)
        if self.fed_width:
            rows = self.fed_rows(words, states, hidden, inner)
        else:
            tops, _ = self.decoder(words, hidden if inner is None else (hidden, inner))  # [T, H]
            rows = self.apply("readout.top", tops)
            if self.attention == "luong":
                contexts = torch.stack([self.attend(states, top) for top in tops])
                rows = rows + contexts @ self.plain["readout.context.weight"]
            rows = torch.tanh(rows)
        return rows @ self.table.T

    def fed_rows(self, words, states, hidden, inner):
        """The rows of the output layer if what was attended to goes into the first layer."""
        first = top = self.first_layer(words, states, hidden[0], None if inner is None else inner[0])
        if self.above is not None:
            top, _ = self.above(first, hidden[1:] if inner is None else (hidden[1:], inner[1:]))  # [T, H]
        elif self.feeding:
            return first
        rows = self.apply("readout.top", top)
        if self.above is not None:
            rows = rows + first @ self.plain["readout.first.weight"]
        if self.attention == "bahdanau":
            rows = rows + words @ self.plain["readout.words.weight"]
        return torch.tanh(rows)

    def first_layer(self, words, states, state, inner):
        """What the first layer gives, step by step: [state, context], with input feeding the attentional vectors."""
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
            rows.append(fed if self.feeding else torch.cat([state, fed]))
        return torch.stack(rows)


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    for name, model in {
        "gru_2": Model("gru", "none", layers=2),
        "gru_luong": Model("gru", "luong"),
        "gru_bahdanau": Model("gru", "bahdanau"),
        "gru_bahdanau_2": Model("gru", "bahdanau", layers=2),
        "gru_feeding_3": Model("gru", "luong", feeding=True, layers=3, d_model=8, d_hidden=6),
        "lstm": Model("lstm", "none"),
        "lstm_bahdanau_2": Model("lstm", "bahdanau", layers=2),
        "lstm_luong_2": Model("lstm", "luong", layers=2),
        "lstm_feeding": Model("lstm", "luong", feeding=True),
        "lstm_feeding_4": Model("lstm", "luong", feeding=True, layers=4, d_model=8, d_hidden=6),
    }.items():
        make_golden.store(model, f"{folder}/recurrent_{name}.safetensors")
