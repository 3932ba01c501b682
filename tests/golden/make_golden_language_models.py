#!/usr/bin/env python3
"""Makes the stored golden runs of language models: a small GPT-2 and a small Llama of the package transformers.

Each file holds the parameters under dragoman's paths, one ragged batch, the logits, every gradient, and the losses of ten
AdamW steps on that batch (weight decay 0.1 on matrices alone, no dropout), computed in float64 and stored as float32.
Needs torch, transformers and safetensors:  python3 make_golden_language_models.py FOLDER
"""

import sys

import numpy as np
import torch
import torch.nn.functional as functional
from safetensors.numpy import save_file
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

VOCAB, D, LAYERS, HEADS, CONTEXT = 29, 16, 2, 4, 24
ADAM = dict(lr=2e-3, betas=(0.9, 0.98), eps=1e-9)
DECAY = 0.1


def gpt2():
    config = GPT2Config(vocab_size=VOCAB, n_positions=CONTEXT, n_embd=D, n_layer=LAYERS, n_head=HEADS, n_inner=40,
                        embd_pdrop=0.0, attn_pdrop=0.0, resid_pdrop=0.0)
    model = GPT2LMHeadModel(config).double()
    names = {"embedding.weight": ("transformer.wte.weight", None), "embedding.positions": ("transformer.wpe.weight", None)}
    for i in range(LAYERS):
        ours, theirs = f"layers.{i}.", f"transformer.h.{i}."
        for part, column in (("query", 0), ("key", 1), ("value", 2)):
            for kind in ("weight", "bias"):
                names[f"{ours}self_attention.{part}.{kind}"] = (f"{theirs}attn.c_attn.{kind}", column)
        for a, b in (("self_attention.output", "attn.c_proj"), ("feed_forward.inner", "mlp.c_fc"), ("feed_forward.outer", "mlp.c_proj")):
            for kind in ("weight", "bias"):
                names[f"{ours}{a}.{kind}"] = (f"{theirs}{b}.{kind}", None)
        for a, b in (("self_attention.norm", "ln_1"), ("feed_forward.norm", "ln_2")):
            names[f"{ours}{a}.gain"], names[f"{ours}{a}.bias"] = (f"{theirs}{b}.weight", None), (f"{theirs}{b}.bias", None)
    names["norm.gain"], names["norm.bias"] = ("transformer.ln_f.weight", None), ("transformer.ln_f.bias", None)
    return model, names


def llama():
    config = LlamaConfig(vocab_size=VOCAB, hidden_size=D, intermediate_size=40, num_hidden_layers=LAYERS,
                         num_attention_heads=HEADS, num_key_value_heads=2, max_position_embeddings=CONTEXT,
                         rms_norm_eps=1e-5, tie_word_embeddings=False)
    model = LlamaForCausalLM(config).double()
    names = {"embedding.weight": ("model.embed_tokens.weight", None), "output.weight": ("lm_head.weight", None),
             "norm.gain": ("model.norm.weight", None)}
    for i in range(LAYERS):
        ours, theirs = f"layers.{i}.", f"model.layers.{i}."
        for a, b in (("query", "q"), ("key", "k"), ("value", "v"), ("output", "o")):
            names[f"{ours}self_attention.{a}.weight"] = (f"{theirs}self_attn.{b}_proj.weight", "transposed")
        for a, b in (("gate", "gate"), ("inner", "up"), ("outer", "down")):
            names[f"{ours}feed_forward.{a}.weight"] = (f"{theirs}mlp.{b}_proj.weight", "transposed")
        names[f"{ours}self_attention.norm.gain"] = (f"{theirs}input_layernorm.weight", None)
        names[f"{ours}feed_forward.norm.gain"] = (f"{theirs}post_attention_layernorm.weight", None)
    return model, names


def part_of(value, column):
    if column == "transposed":
        return value.T
    return value if column is None else value.chunk(3, dim=-1)[column]


def total_loss(model, windows):
    logits = torch.cat([model(torch.tensor([window[:-1]])).logits[0] for window in windows])
    expected = torch.tensor(sum((window[1:] for window in windows), []))
    return logits, functional.cross_entropy(logits, expected)


def make(maker, path):
    torch.manual_seed(7)
    model, names = maker()
    with torch.no_grad():
        for parameter in model.parameters():  # larger than fresh weights, so that every part has an effect
            shift = 1.0 if parameter.dim() == 1 and parameter.abs().sum() > 0 else 0.0
            parameter.copy_((torch.randn_like(parameter) * 0.25 + shift).float().double())
    generator = np.random.default_rng(3)
    windows = [generator.integers(0, VOCAB, n).tolist() for n in (13, 5, 2, 9)]
    values = dict(model.named_parameters())
    stored = {f"param.{ours}": part_of(values[theirs].detach(), column) for ours, (theirs, column) in names.items()}
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": DECAY}, {"params": vectors, "weight_decay": 0.0}], **ADAM)
    losses = []
    for step in range(10):
        optimizer.zero_grad()
        logits, loss = total_loss(model, windows)
        loss.backward()
        if step == 0:
            stored["logits"] = logits.detach()
            for ours, (theirs, column) in names.items():
                stored[f"grad.{ours}"] = part_of(values[theirs].grad, column)
        losses.append(loss.item())
        optimizer.step()
    stored = {name: np.ascontiguousarray(value.float().numpy()) for name, value in stored.items()}
    stored["losses"] = np.array(losses, dtype=np.float32)
    stored["target_input"] = np.array(sum((w[:-1] for w in windows), []), dtype=np.int32)
    stored["target_output"] = np.array(sum((w[1:] for w in windows), []), dtype=np.int32)
    stored["target_offsets"] = np.cumsum([0] + [len(w) - 1 for w in windows]).astype(np.int32)
    save_file(stored, path)
    print(path, "losses", " ".join(f"{loss:.6f}" for loss in losses))


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    make(gpt2, f"{folder}/gpt2.safetensors")
    make(llama, f"{folder}/llama.safetensors")
