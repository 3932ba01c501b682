#!/usr/bin/env python3
"""Makes the stored golden runs of Transformers with torch.nn.BatchNorm1d in the encoder, post- and pre-norm.

As make_golden.py, but the encoder reads all sentences at once, since its norms are over the rows of all of them. Each
file also holds the running statistics before the first and after the tenth step.
Needs torch, numpy and safetensors:  python3 make_golden_batch_norm.py FOLDER
"""

import sys

import torch
from torch import nn

import make_golden
from make_golden import D, EPSILON, LAYERS


class Model(make_golden.Model):
    def __init__(self, order):
        super().__init__(order, "all")
        self.norms = {}
        for gain in [name for name in self.parameters if name.startswith("encoder") and name.endswith("norm.gain")]:
            path = gain.removesuffix(".gain")
            norm = self.norms[path] = nn.BatchNorm1d(D, EPSILON, dtype=torch.float64)
            norm.weight = self.parameters[gain] = nn.Parameter(self.parameters[gain].detach())
            norm.bias = self.parameters[path + ".bias"] = nn.Parameter(self.parameters[path + ".bias"].detach())
            norm.running_mean += (torch.randn(D, dtype=torch.float64) * 0.1).float().double()
        self.first_buffers = {name: value.clone() for name, value in self.buffers().items()}

    def buffers(self):
        return {
            f"{path}.{name}": getattr(norm, theirs)
            for path, norm in self.norms.items()
            for name, theirs in (("running_mean", "running_mean"), ("running_variance", "running_var"))
        }

    def stored(self, of):
        tensors = super().stored(of)
        return {**tensors, **self.first_buffers} if of is torch.Tensor.detach else tensors

    def apply_norm(self, path, x):
        return self.norms[path](x) if path in self.norms else super().apply_norm(path, x)

    def logits_of_batch(self, pairs):
        lengths = [len(source) for source, _ in pairs]
        x = torch.cat([self.embed(self.source, source) for source, _ in pairs])

        def attend(path, rows):
            return torch.cat([self.attention(path, part, part, False) for part in rows.split(lengths)])

        for layer in range(LAYERS):
            path = f"encoder.layers.{layer}."
            x = self.residual(path + "self_attention", x, lambda h: attend(path + "self_attention", h))
            x = self.residual(path + "feed_forward", x, lambda h: self.feed_forward(path + "feed_forward", h))
        x = self.apply_norm("encoder.norm", x) if self.order == "pre" else x
        return torch.cat([self.decode(memory, target) for memory, (_, target) in zip(x.split(lengths), pairs)])


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    make_golden.store(Model("post"), f"{folder}/batch_norm_post.safetensors")
    make_golden.store(Model("pre"), f"{folder}/batch_norm_pre.safetensors")
