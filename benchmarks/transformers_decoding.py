"""Translates lines with MarianMTModel.generate of transformers and prints, as one line of JSON, tokens, seconds and memory.

    python transformers_decoding.py '{"folder": ..., "lines": FILE, ...}'

compare_decoding.py calls it. The seconds are those of generating; loading is measured apart, and the lines are cut into
pieces before.
"""

import json
import resource
import sys
import time

import torch
import transformers


def batches(encoded, size):
    """Lines of similar length together, the longest first."""
    order = sorted(range(len(encoded)), key=lambda line: -len(encoded[line]))
    return [[encoded[line] for line in order[begin : begin + size]] for begin in range(0, len(order), size)]


def main():
    job = json.loads(sys.argv[1])
    torch.set_num_threads(job["threads"])
    with open(job["lines"], encoding="utf-8", newline="\n") as file:
        lines = [line.rstrip("\n") for line in file]
    tokenizer = transformers.MarianTokenizer.from_pretrained(job["folder"])
    begin = time.perf_counter()
    model = transformers.MarianMTModel.from_pretrained(job["folder"]).eval()
    load_seconds = time.perf_counter() - begin
    encoded = [tokenizer(line)["input_ids"] for line in lines]
    options = {
        "num_beams": job["beam_size"],
        "do_sample": False,
        "min_new_tokens": job["min_length"],
        "max_new_tokens": job["max_length"],
        "length_penalty": job["length_penalty"],
    }

    def generate(batch):
        padded = tokenizer.pad({"input_ids": batch}, return_tensors="pt")
        with torch.inference_mode():
            return model.generate(**padded, **options)

    generate(encoded[:8])  # warm-up
    latencies, tokens = [], 0
    begin = time.perf_counter()
    for batch in batches(encoded, job["batch"]) if job["batch"] > 1 else [[line] for line in encoded]:
        start = time.perf_counter()
        written = generate(batch)[:, 1:]  # without what the decoder is fed first
        tokens += int((written != model.config.pad_token_id).sum())
        latencies.append(time.perf_counter() - start)
    seconds = time.perf_counter() - begin
    print(
        json.dumps(
            {
                "tokens": tokens,
                "seconds": seconds,
                "latencies": latencies if job["batch"] == 1 else [],
                "load_seconds": load_seconds,
                "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
                "version": f"transformers {transformers.__version__}, torch {torch.__version__}",
            }
        )
    )


if __name__ == "__main__":
    main()
