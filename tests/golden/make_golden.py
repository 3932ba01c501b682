#!/usr/bin/env python3
"""Makes the stored golden runs: a small encoder-decoder in PyTorch, post- and pre-norm.

Each file holds the parameters, one packed batch, the logits, the loss, every gradient, the losses of ten Adam steps on
that batch (label smoothing 0.1, no dropout), and a digest of how far these steps moved each parameter. All is computed
by PyTorch in float64 and stored as float32.
Needs torch, numpy and safetensors:  python3 make_golden.py FOLDER
"""

import math
import sys

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.numpy import save_file

D, FF, HEADS, LAYERS, VOCAB = 16, 40, 4, 2, 29
EPSILON, SMOOTHING = 1e-5, 0.1
ADAM = dict(lr=2e-3, betas=(0.9, 0.98), eps=1e-9)


def positions(length):
    table = torch.zeros(length, D, dtype=torch.float64)
    angle = torch.arange(length, dtype=torch.float64)[:, None] / 10000 ** (torch.arange(0, D, 2, dtype=torch.float64) / D)
    table[:, 0::2], table[:, 1::2] = torch.sin(angle), torch.cos(angle)
    return table


class Model:
    """The definition under test written a second time, one sentence at a time, with plain torch operations."""

    past = "self_attention"  # the sub-layer of the decoder over the words so far

    def __init__(self, order, tying):
        self.order, self.parameters = order, {}
        torch.manual_seed(7)
        if tying == "all":
            self.source = self.target = self.output = self.new("embedding.weight", VOCAB, D)
        else:
            self.source = self.new("source_embedding.weight", VOCAB, D)
            self.target = self.new("target_embedding.weight", VOCAB, D)
            self.output = self.new("output.weight", VOCAB, D)
        for stack, attentions in (("encoder", ["self_attention"]), ("decoder", [self.past, "cross_attention"])):
            for layer in range(LAYERS):
                path = f"{stack}.layers.{layer}."
                for attention in attentions:
                    self.declare(path + attention)
                    self.norm(path + attention + ".norm")
                self.linear(path + "feed_forward.inner", D, FF)
                self.linear(path + "feed_forward.outer", FF, D)
                self.norm(path + "feed_forward.norm")
            if order == "pre":
                self.norm(stack + ".norm")

    def declare(self, path):
        for name in ("query", "key", "value", "output"):
            self.linear(path + "." + name, D, D)

    def new(self, path, *shape, scale=0.25, shift=0.0):
        value = (torch.randn(*shape, dtype=torch.float64) * scale + shift).float().double().requires_grad_()
        self.parameters[path] = value
        return value

    def linear(self, path, d_in, d_out):
        self.new(path + ".weight", d_in, d_out)
        self.new(path + ".bias", d_out, scale=0.1)

    def norm(self, path):
        self.new(path + ".gain", D, scale=0.1, shift=1.0)
        self.new(path + ".bias", D, scale=0.1)

    def stored(self, of):
        """The parameters by name, or something of each."""
        return {name: of(value) for name, value in self.parameters.items()}

    def apply_linear(self, path, x):
        return x @ self.parameters[path + ".weight"] + self.parameters[path + ".bias"]

    def apply_norm(self, path, x):
        return F.layer_norm(x, (D,), self.parameters[path + ".gain"], self.parameters[path + ".bias"], EPSILON)

    def attention(self, path, x, memory, causal):
        split = lambda y: y.view(y.shape[0], HEADS, D // HEADS).transpose(0, 1)
        q = split(self.apply_linear(path + ".query", x))
        k = split(self.apply_linear(path + ".key", memory))
        v = split(self.apply_linear(path + ".value", memory))
        scores = q @ k.transpose(1, 2) / math.sqrt(D // HEADS)
        if causal:
            allowed = torch.ones(x.shape[0], memory.shape[0]).tril().bool()
            scores = scores.masked_fill(~allowed, float("-inf"))
        context = torch.softmax(scores, -1) @ v
        return self.apply_linear(path + ".output", context.transpose(0, 1).reshape(x.shape[0], D))

    def read_past(self, path, x):
        return self.attention(path, x, x, True)

    def residual(self, path, x, sublayer):
        if self.order == "pre":
            return x + sublayer(self.apply_norm(path + ".norm", x))
        return self.apply_norm(path + ".norm", x + sublayer(x))

    def feed_forward(self, path, x):
        return self.apply_linear(path + ".outer", torch.relu(self.apply_linear(path + ".inner", x)))

    def embed(self, table, ids):
        return table[ids] * math.sqrt(D) + positions(len(ids))

    def logits(self, source, target):
        return self.decode(self.encode(source), target)

    def encode(self, source):
        x = self.embed(self.source, source)
        for layer in range(LAYERS):
            path = f"encoder.layers.{layer}."
            x = self.residual(path + "self_attention", x, lambda h: self.attention(path + "self_attention", h, h, False))
            x = self.residual(path + "feed_forward", x, lambda h: self.feed_forward(path + "feed_forward", h))
        return self.apply_norm("encoder.norm", x) if self.order == "pre" else x

    def decode(self, memory, target):
        y = self.embed(self.target, target)
        for layer in range(LAYERS):
            path = f"decoder.layers.{layer}."
            y = self.residual(path + self.past, y, lambda h: self.read_past(path + self.past, h))
            y = self.residual(
                path + "cross_attention", y, lambda h: self.attention(path + "cross_attention", h, memory, False))
            y = self.residual(path + "feed_forward", y, lambda h: self.feed_forward(path + "feed_forward", h))
        if self.order == "pre":
            y = self.apply_norm("decoder.norm", y)
        return y @ self.output.T


def make_batch():
    generator = np.random.default_rng(3)
    lengths = [(5, 4), (1, 1), (9, 11), (3, 7)]
    draw = lambda n: generator.integers(4, VOCAB, n).tolist()
    return [(draw(s) + [3], draw(t)) for s, t in lengths]


def total_loss(model, batch):
    pairs = [(torch.tensor(s), torch.tensor([2] + t)) for s, t in batch]
    alone = lambda: torch.cat([model.logits(source, target) for source, target in pairs])
    logits = model.logits_of_batch(pairs) if hasattr(model, "logits_of_batch") else alone()
    expected = torch.tensor(sum((t + [3] for _, t in batch), []))
    return logits, F.cross_entropy(logits, expected, label_smoothing=SMOOTHING, reduction="mean")


def digest(movement):
    """The norm, the sum, and the sum with the weights cos 0, cos 1, ... of the elements, row by row."""
    x = movement.flatten()
    return [x.norm().item(), x.sum().item(), (x @ torch.cos(torch.arange(len(x), dtype=torch.float64))).item()]


def store(model, path):
    batch = make_batch()
    start = {name: value.clone() for name, value in model.stored(torch.Tensor.detach).items()}
    stored = {"param." + name: value.float().numpy() for name, value in start.items()}
    offsets = lambda lengths: np.cumsum([0] + lengths).astype(np.int32)
    stored["source"] = np.concatenate([s for s, _ in batch]).astype(np.int32)
    stored["source_offsets"] = offsets([len(s) for s, _ in batch])
    stored["target_input"] = np.concatenate([[2] + t for _, t in batch]).astype(np.int32)
    stored["target_output"] = np.concatenate([t + [3] for _, t in batch]).astype(np.int32)
    stored["target_offsets"] = offsets([len(t) + 1 for _, t in batch])
    optimizer = torch.optim.Adam(model.parameters.values(), **ADAM)
    losses = []
    for step in range(10):
        optimizer.zero_grad()
        logits, loss = total_loss(model, batch)
        loss.backward()
        if step == 0:
            stored["logits"] = logits.detach().float().numpy()
            for name, value in model.stored(lambda parameter: parameter.grad).items():
                stored["grad." + name] = value.clone().float().numpy()
        losses.append(loss.item())
        optimizer.step()
    end, learned = model.stored(torch.Tensor.detach), model.stored(lambda parameter: parameter.grad)
    movements = [digest(end[name] - start[name]) for name in sorted(learned)]
    stored["movements"] = np.array(movements, dtype=np.float32)  # a row for each gradient, in the order of the names
    for name, value in getattr(model, "buffers", dict)().items():
        stored["after." + name] = value.float().numpy()
    stored["losses"] = np.array(losses, dtype=np.float32)
    save_file({name: np.ascontiguousarray(value) for name, value in stored.items()}, path)
    print(path, "losses", " ".join(f"{loss:.6f}" for loss in losses))


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    store(Model("post", "all"), f"{folder}/transformer_post_norm.safetensors")
    store(Model("pre", "none"), f"{folder}/transformer_pre_norm.safetensors")
