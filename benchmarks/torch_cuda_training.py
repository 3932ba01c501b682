"""Trains the base shape with PyTorch on a GPU and prints target tokens/s, for comparison with cuda_speed.

    python3 torch_cuda_training.py [SECONDS]

Needs torch with CUDA, torch_training.py and torch_transformer.py beside this file. Sentences have 30 + 30 tokens.
Each line has the median of ten updates after five. A measurement does not begin later than SECONDS (default 40).
"""

import gc
import statistics
import sys
import time

import torch

import torch_training

SHAPE = {
    "d_model": 512,
    "d_ff": 2048,
    "n_heads": 8,
    "encoder_layers": 6,
    "decoder_layers": 6,
    "dropout": 0.1,
    "vocab_size": 32000,
    "max_length": 64,
}
LENGTH = 30


def job_of(sentences, how, device, shape):
    return {
        "shape": shape,
        "device": device,
        "compile": how,
        "precision": "bf16",
        "sentences": sentences,
        "source_length": LENGTH,
        "target_length": LENGTH,
        "processes": 1,
        "warmup": 5,
        "steps": 10,
    }


def measure(sentences, how, device="cuda", shape=SHAPE):
    torch.manual_seed(1)
    seconds, tokens = torch_training.train_on_gpu(job_of(sentences, how, device, shape))
    median = statistics.median(seconds)
    print(
        f"torch {torch.__version__}, {how or 'eager'}, {sentences} sentences: "
        f"{tokens[0] / median:.0f} target tokens/s, update {median * 1e3:.2f} ms "
        f"(fastest {min(seconds) * 1e3:.2f}, slowest {max(seconds) * 1e3:.2f})",
        flush=True,
    )


def main():
    limit = float(sys.argv[1]) if len(sys.argv) > 1 else 40.0
    begin = time.monotonic()
    for how in ("", "layers", "model"):
        for sentences in (1024, 256):
            if time.monotonic() - begin > limit:
                print(f"torch, {how or 'eager'}, {sentences} sentences: no time left")
                continue
            try:
                measure(sentences, how)
            except Exception as error:  # such as no compiler for torch.compile; the other lines count
                print(f"torch, {how or 'eager'}, {sentences} sentences: {type(error).__name__}: {str(error)[:200]}")
            torch._dynamo.reset()
            gc.collect()
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
