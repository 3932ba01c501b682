#!/usr/bin/env python3
"""Makes the stored golden runs of Transformers whose decoder has an SSRU or average attention for self-attention.

As make_golden.py. The recurrence is a loop over words, the average a sum over all words so far.
Needs torch, numpy and safetensors:  python3 make_golden_decoder_sublayers.py FOLDER
"""

import sys

import torch

import make_golden
from make_golden import D, FF


class Ssru(make_golden.Model):
    """Kim et al. 2019, section 3.1."""

    past = "ssru"

    def declare(self, path):
        if not path.endswith(self.past):
            return super().declare(path)
        self.linear(path + ".forget", D, D)
        self.new(path + ".input.weight", D, D)

    def read_past(self, path, x):
        state, rows = torch.zeros(D, dtype=torch.float64), []
        for word in x:
            forget = torch.sigmoid(self.apply_linear(path + ".forget", word))
            state = forget * state + (1 - forget) * (word @ self.parameters[path + ".input.weight"])
            rows.append(torch.relu(state))
        return torch.stack(rows)


class AverageAttention(make_golden.Model):
    """Zhang et al. 2018, section 3."""

    past = "average_attention"

    def declare(self, path):
        if not path.endswith(self.past):
            return super().declare(path)
        self.linear(path + ".feed_forward.inner", D, FF)
        self.linear(path + ".feed_forward.outer", FF, D)
        self.linear(path + ".input_gate", 2 * D, D)
        self.linear(path + ".forget_gate", 2 * D, D)

    def read_past(self, path, x):
        average = torch.stack([x[: t + 1].mean(0) for t in range(len(x))])
        g = self.feed_forward(path + ".feed_forward", average)
        both = torch.cat([x, g], 1)
        gate = lambda name: torch.sigmoid(self.apply_linear(path + name, both))
        return gate(".input_gate") * x + gate(".forget_gate") * g


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    for model in (Ssru, AverageAttention):
        for order in ("post", "pre"):
            make_golden.store(model(order, "all"), f"{folder}/decoder_{model.past}_{order}.safetensors")
