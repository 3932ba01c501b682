#!/usr/bin/env python3
"""Makes the stored golden run of a convolutional model with weight normalisation: torch.nn.utils.parametrizations.weight_norm.

Every convolution and every linear map has a length and a direction for each of its outputs; the gains differ from the
lengths of the directions. The rest is as in make_golden_convolutional.py.
Needs torch, numpy and safetensors:  python3 make_golden_weight_norm.py FOLDER
"""

import sys

import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

import make_golden
from make_golden_convolutional import H, Model


class NormedModel(Model):
    def __init__(self, width, encoder_layers, decoder_layers):
        super().__init__(width, encoder_layers, decoder_layers)
        self.maps = {}
        for path in [name[: -len(".weight")] for name, value in self.plain.items() if name.endswith(".weight") and name != "embedding.weight"]:
            weight, bias = self.plain.pop(path + ".weight"), self.plain.pop(path + ".bias")
            self.maps[path] = nn.Linear(*weight.shape, dtype=torch.float64)
            self.maps[path].weight.data, self.maps[path].bias.data = weight.data.T.contiguous(), bias.data
        self.parameters = dict(self.plain)
        for path, module in {**self.convolutions, **self.maps}.items():
            weight_norm(module)  # dim 0: the outputs
            kept = module.parametrizations.weight
            kept.original0.data = (kept.original0.data * (1 + 0.2 * torch.randn_like(kept.original0))).float().double()
            for name, value in (("gain", kept.original0), ("direction", kept.original1), ("bias", module.bias)):
                self.parameters[f"{path}.{name}"] = value

    def apply(self, path, x):
        return self.maps[path](x)

    def stored(self, of):
        tensors = {name: of(value) for name, value in self.plain.items()}
        for path, module in self.maps.items():
            kept = module.parametrizations.weight
            tensors[path + ".weight"], tensors[path + ".weight_gain"] = of(kept.original1).T, of(kept.original0).flatten()
            tensors[path + ".bias"] = of(module.bias)
        for path, module in self.convolutions.items():
            kept = module.parametrizations.weight
            gain, direction, bias = of(kept.original0), of(kept.original1), of(module.bias)
            for part, rows in (("value", slice(0, H)), ("gate", slice(H, 2 * H))):
                tensors[f"{path}.{part}.weight"] = direction[rows].permute(2, 1, 0).reshape(self.width * H, H)
                tensors[f"{path}.{part}.weight_gain"] = gain[rows].flatten()
                tensors[f"{path}.{part}.bias"] = bias[rows]
        return tensors


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    make_golden.store(NormedModel(3, 2, 2), f"{folder}/convolutional_normed.safetensors")
