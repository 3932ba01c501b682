#!/usr/bin/env python3
"""Times the training of a GPT in PyTorch, as one JSON object: a peer of `dragoman benchmark --train --shape gpt-...`.

    torch_gpt.py '{"layers": 4, "d_model": 128, "n_heads": 4, "context": 64, "vocab_size": 65, "windows": 12,
                   "length": 64, "steps": 10, "warmup": 2, "threads": 2, "precision": "f32", "compiled": false}'

The model is that of GPT-2 with its parts from torch.nn: learned positions, pre-norm, GELU, fused causal attention, tied
output. The optimizer is AdamW with its fused form where there is one, and gradients are clipped to norm 1. With
"device": "cuda" it trains on a GPU; torch_cuda_training.py calls it so.
"""

import json
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.norm_1 = nn.LayerNorm(d_model)
        self.query_key_value = nn.Linear(d_model, 3 * d_model)
        self.output = nn.Linear(d_model, d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.inner = nn.Linear(d_model, 4 * d_model)
        self.outer = nn.Linear(4 * d_model, d_model)

    def forward(self, x):
        batch, length, width = x.shape
        heads = [
            part.view(batch, length, self.n_heads, -1).transpose(1, 2)
            for part in self.query_key_value(self.norm_1(x)).split(width, dim=2)
        ]
        attended = functional.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.output(attended.transpose(1, 2).reshape(batch, length, width))
        return x + self.outer(functional.gelu(self.inner(self.norm_2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, job):
        super().__init__()
        self.tokens = nn.Embedding(job["vocab_size"], job["d_model"])
        self.positions = nn.Embedding(job["context"], job["d_model"])
        self.blocks = nn.ModuleList(Block(job["d_model"], job["n_heads"]) for _ in range(job["layers"]))
        self.norm = nn.LayerNorm(job["d_model"])
        self.head = nn.Linear(job["d_model"], job["vocab_size"], bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids, targets):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def train(job):
    """Seconds of each update after the warm-up, and the number of weights."""
    device = torch.device(job.get("device", "cpu"))
    model = Gpt(job).to(device)
    step_model = torch.compile(model) if job["compiled"] else model
    try:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    except (RuntimeError, TypeError):
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    seconds = []
    for step in range(job["warmup"] + job["steps"]):
        ids = torch.randint(job["vocab_size"], (job["windows"], job["length"] + 1)).to(device)
        begin = time.perf_counter()
        with torch.autocast(device.type, torch.bfloat16, enabled=job["precision"] == "bf16"):
            loss = step_model(ids[:, :-1], ids[:, 1:])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if device.type == "cuda":
            torch.cuda.synchronize()
        if step >= job["warmup"]:
            seconds.append(time.perf_counter() - begin)
    return seconds, sum(parameter.numel() for parameter in model.parameters())


def main():
    job = json.loads(sys.argv[1])
    torch.manual_seed(1)
    torch.set_num_threads(job["threads"])
    seconds, parameters = train(job)
    print(
        json.dumps(
            {
                "step_seconds": seconds,
                "tokens_per_second": job["windows"] * job["length"] / statistics.median(seconds),
                "parameters": parameters,
                "torch": torch.__version__,
            }
        )
    )


if __name__ == "__main__":
    main()
