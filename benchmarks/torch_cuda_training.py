"""Trains shapes of cuda_speed with PyTorch on a GPU and prints target tokens/s, for comparison.

    python3 torch_cuda_training.py [SECONDS] [JOB ...]

A JOB is SHAPE:COUNT:HOW. SHAPE is base or big, with COUNT sentences of 30 + 30 tokens, or gpt2-small, with COUNT windows
of 1,024 tokens. HOW is eager, layers (each layer and the loss compiled) or model (all compiled as one); gpt2-small has no
layers. Without a JOB, base of 1,024 and 256 sentences is trained in each way.
Needs torch with CUDA, and torch_training.py, torch_transformer.py and torch_gpt.py beside this file. Weights and ids are
random; numbers are bfloat16 by autocast, attention is scaled_dot_product_attention, and the optimizer is fused.
Each line has the median of ten updates after five. A measurement does not begin later than SECONDS (default 40).
"""

import gc
import statistics
import sys
import time

import torch

import torch_gpt
import torch_training

LENGTH = 30
BASE = {
    "d_model": 512,
    "d_ff": 2048,
    "n_heads": 8,
    "encoder_layers": 6,
    "decoder_layers": 6,
    "dropout": 0.1,
    "vocab_size": 32000,
    "max_length": 64,
}
SHAPES = {"base": BASE, "big": {**BASE, "d_model": 1024, "d_ff": 4096, "n_heads": 16}}
GPT2_SMALL = {"layers": 12, "d_model": 768, "n_heads": 12, "context": 1024, "vocab_size": 50257, "length": 1024}


def seconds_of_transformer(shape, sentences, how, device):
    job = {
        "shape": SHAPES[shape],
        "device": device,
        "compile": "" if how == "eager" else how,
        "precision": "bf16",
        "sentences": sentences,
        "source_length": LENGTH,
        "target_length": LENGTH,
        "processes": 1,
        "warmup": 5,
        "steps": 10,
    }
    return torch_training.train_on_gpu(job)[0]


def seconds_of_gpt(windows, how, device):
    torch.set_float32_matmul_precision("high")
    job = {**GPT2_SMALL, "windows": windows, "precision": "bf16", "device": device, "compiled": how == "model"}
    return torch_gpt.train({**job, "warmup": 5, "steps": 10})[0]


def measure(shape, count, how, device="cuda"):
    torch.manual_seed(1)
    if shape == "gpt2-small":
        seconds, tokens = seconds_of_gpt(count, how, device), count * GPT2_SMALL["length"]
    else:
        seconds, tokens = seconds_of_transformer(shape, count, how, device), count * LENGTH
    median = statistics.median(seconds)
    print(
        f"torch {torch.__version__}, {shape}, {how}, {count}: {tokens / median:.0f} target tokens/s, update "
        f"{median * 1e3:.2f} ms (fastest {min(seconds) * 1e3:.2f}, slowest {max(seconds) * 1e3:.2f}), memory "
        f"{torch.cuda.max_memory_allocated() / 2**30:.1f} GiB",
        flush=True,
    )


def main():
    limit = float(sys.argv[1]) if len(sys.argv) > 1 else 40.0
    usual = [f"base:{count}:{how}" for how in ("eager", "layers", "model") for count in (1024, 256)]
    begin = time.monotonic()
    for job in sys.argv[2:] or usual:
        shape, count, how = job.split(":")
        if time.monotonic() - begin > limit:
            print(f"torch, {job}: no time left")
            continue
        try:
            measure(shape, int(count), how)
        except Exception as error:  # such as no compiler for torch.compile; the other lines count
            print(f"torch, {job}: {type(error).__name__}: {str(error)[:200]}")
        torch._dynamo.reset()
        gc.collect()
        torch.cuda.empty_cache()
        if torch.cuda.is_available():
            torch.cuda.reset_peak_memory_stats()


if __name__ == "__main__":
    main()
