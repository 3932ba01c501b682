#!/usr/bin/env python3
"""Makes the stored golden runs of convolutional models: small encoder-decoders of torch.nn.Conv1d and F.glu.

Each file holds the parameters, one packed batch, the logits, the loss, every gradient, and the losses of ten Adam
steps on that batch (label smoothing 0.1, no dropout), all computed by PyTorch in float64 and stored as float32.
Attention and residual sums are written with plain operations, one sentence at a time.
Needs torch, numpy and safetensors:  python3 make_golden_convolutional.py FOLDER
"""

import math
import sys

import torch
import torch.nn.functional as F
from torch import nn

import make_golden
from make_golden import VOCAB

D, H, POSITIONS = 12, 10, 16
HALF_ROOT = math.sqrt(0.5)


class Model:
    def __init__(self, width, encoder_layers, decoder_layers):
        torch.manual_seed(13)
        self.width, self.plain, self.convolutions = width, {}, {}
        self.table = self.new("embedding.weight", VOCAB, D)
        for stack, layers in (("encoder", encoder_layers), ("decoder", decoder_layers)):
            self.new(f"{stack}.embedding.positions", POSITIONS, D)
            self.linear(f"{stack}.input", D, H)
            self.linear(f"{stack}.output", H, D)
            for layer in range(layers):
                path = f"{stack}.layers.{layer}"
                convolution = self.convolutions[path] = nn.Conv1d(H, 2 * H, width, dtype=torch.float64)
                for value in convolution.parameters():
                    value.data = (torch.randn_like(value) * 0.3).float().double()
                if stack == "decoder":
                    self.linear(f"{path}.attention.query", H, D)
                    self.linear(f"{path}.attention.context", D, H)
        self.parameters = dict(self.plain)
        for path, convolution in self.convolutions.items():
            self.parameters[path + ".weight"], self.parameters[path + ".bias"] = convolution.weight, convolution.bias

    def new(self, path, *shape, scale=0.25):
        self.plain[path] = (torch.randn(*shape, dtype=torch.float64) * scale).float().double().requires_grad_()
        return self.plain[path]

    def linear(self, path, d_in, d_out):
        self.new(path + ".weight", d_in, d_out)
        self.new(path + ".bias", d_out, scale=0.1)

    def apply(self, path, x):
        return x @ self.plain[path + ".weight"] + self.plain[path + ".bias"]

    def stored(self, of):
        """dragoman's parameters of PyTorch's values or gradients: weights [K*D, E] with value and gate apart."""
        tensors = {name: of(value) for name, value in self.plain.items()}
        for path, convolution in self.convolutions.items():
            weight, bias = of(convolution.weight), of(convolution.bias)
            for part, rows in (("value", slice(0, H)), ("gate", slice(H, 2 * H))):
                tensors[f"{path}.{part}.weight"] = weight[rows].permute(2, 1, 0).reshape(self.width * H, H)
                tensors[f"{path}.{part}.bias"] = bias[rows]
        return tensors

    def convolve(self, path, x, before):
        padded = F.pad(x.T[None], (before, self.width - 1 - before))
        return F.glu(self.convolutions[path](padded), dim=1)[0].T

    def layers(self, stack):
        return [path for path in self.convolutions if path.startswith(stack)]

    def embed(self, stack, ids):
        return self.table[ids] * math.sqrt(D) + self.plain[f"{stack}.embedding.positions"][: len(ids)]

    def logits(self, source, target):
        words = self.embed("encoder", source)
        x = self.apply("encoder.input", words)
        for path in self.layers("encoder"):
            x = (self.convolve(path, x, (self.width - 1) // 2) + x) * HALF_ROOT
        keys = self.apply("encoder.output", x)
        values = (keys + words) * HALF_ROOT * math.sqrt(len(source))
        words = self.embed("decoder", target)
        y = self.apply("decoder.input", words)
        for path in self.layers("decoder"):
            h = self.convolve(path, y, self.width - 1)
            query = (self.apply(path + ".attention.query", h) + words) * HALF_ROOT
            found = torch.softmax(query @ keys.T, -1) @ values
            h = (h + self.apply(path + ".attention.context", found)) * HALF_ROOT
            y = (h + y) * HALF_ROOT
        return self.apply("decoder.output", y) @ self.table.T


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    make_golden.store(Model(3, 2, 2), f"{folder}/convolutional_3.safetensors")
    make_golden.store(Model(4, 1, 3), f"{folder}/convolutional_4.safetensors")
