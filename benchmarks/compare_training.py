#!/usr/bin/env python3
"""Trains the same models with PyTorch and with dragoman, in turn on the same cores, and prints both speeds.

    benchmarks/compare_training.py [--only base] [--bf16] [--json FILE]
    benchmarks/compare_training.py --only tiny --text SOURCE TARGET [--bf16] [--json FILE]

Both sides compute in float32; with --bf16 also in bfloat16 (PyTorch under autocast), and a third row then sets the
better precision of each side against the other's.

Speed is target tokens a second: those of one update over the median time of an update (forward, backward, clipping,
Adam), on random sentences that are all equally long, so that neither side computes padding. Each side first tries its
ways of working (sentences of one update; PyTorch also: one process with a thread a core, or a process a core with a
part of the batch each) and then runs in its best one, several rounds in turn with the other side, each in a fresh
process. What both were allowed is in docs/performance.md and docs/log/2026-11-21-training-zen5.md.

Recurrent models (gru-bahdanau, lstm-luong, gru-none) are torch.nn.GRU and torch.nn.LSTM on PyTorch's side
(torch_recurrent.py), and the convolutional model (conv) is torch.nn.Conv1d (torch_convolutional.py). They need --text.

With --text the sentences are those of a parallel text, with its mix of lengths, cut into the pieces that dragoman has
learned from it. dragoman is then its command `train` as users run it, packed batches, reading and all; PyTorch gets the
text as ready tensors, sorted by length and padded to the longest sentence of a batch. Padding does not count.

PyTorch comes from, in this order: --python, the environment variable DRAGOMAN_BENCHMARK_PYTHON, the interpreter that
runs this script, .venv-benchmarks in the repository (made on first use, with torch from the package index).
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import peer_python

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent
SOURCE_LENGTH = TARGET_LENGTH = 30
WARMUP = 2  # updates before the measured ones
TRIES = 2  # of each way of working, in turn, before the best of them is measured
TEXT_BATCH_TOKENS = (4096, 8192)  # tried for one update of a text

# sentences: tried for one update; steps: measured in one round
SHAPES = {
    "base": {
        "shape": {"d_model": 512, "d_ff": 2048, "n_heads": 8, "layers": 6, "vocab_size": 32000},
        "sentences": (32, 128, 256),
        "steps": 3,
    },
    "d256": {
        "shape": {"d_model": 256, "d_ff": 1024, "n_heads": 4, "layers": 3, "vocab_size": 8000},
        "sentences": (32, 128, 256),
        "steps": 12,
    },
    "tiny": {
        "shape": {"d_model": 128, "d_ff": 256, "n_heads": 4, "layers": 4, "vocab_size": 10000},
        "sentences": (32, 128, 256),
        "steps": 16,
    },
    "gru-bahdanau": {
        "shape": {"cell": "gru", "attention": "bahdanau", "d_model": 128, "d_hidden": 224, "layers": 1, "vocab_size": 10000},
        "steps": 16,
    },
    "lstm-luong": {
        "shape": {"cell": "lstm", "attention": "luong", "d_model": 128, "d_hidden": 208, "layers": 2, "vocab_size": 10000},
        "steps": 16,
    },
    "gru-none": {
        "shape": {"cell": "gru", "attention": "none", "d_model": 128, "d_hidden": 256, "layers": 2, "vocab_size": 10000},
        "steps": 16,
    },
    "conv": {
        "shape": {
            "kernel_width": 3,
            "d_model": 128,
            "d_hidden": 160,
            "encoder_layers": 4,
            "decoder_layers": 3,
            "vocab_size": 10000,
        },
        "steps": 16,
    },
}


def needs_text(name):
    return "cell" in SHAPES[name]["shape"] or "kernel_width" in SHAPES[name]["shape"]


def fail(text):
    sys.exit(f"compare_training.py: {text}")


def run(command, environment=None):
    """Runs a command and returns what it printed."""
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=HERE)
    if done.returncode != 0:
        fail(f"{' '.join(map(str, command[:3]))} ... ended with status {done.returncode}:\n{done.stderr.strip()}")
    return done.stdout


def last_json(command, environment=None):
    """Runs a command and returns the JSON object on the last line it prints."""
    return json.loads(run(command, environment).strip().splitlines()[-1])


class Dragoman:
    name = "dragoman"

    PRECISIONS = {"f32": "float32", "bf16": "bfloat16"}

    def __init__(self, program, workers, precision):
        self.program = program
        self.workers = workers
        self.precision = precision

    def ways(self, shape):
        return [{"sentences": sentences} for sentences in shape["sentences"]]

    def shape_options(self, sizes):
        if "cell" in sizes:
            names = ("cell", "attention", "layers", "d_model", "d_hidden", "vocab_size")
            return {"preset": "gru-mini", **{name.replace("_", "-"): sizes[name] for name in names}}
        if "kernel_width" in sizes:
            return {"preset": "conv-mini", **{name.replace("_", "-"): size for name, size in sizes.items()}}
        return {
            "vocab-size": sizes["vocab_size"],
            "d-model": sizes["d_model"],
            "d-ff": sizes["d_ff"],
            "n-heads": sizes["n_heads"],
            "encoder-layers": sizes["layers"],
            "decoder-layers": sizes["layers"],
        }

    def train(self, shape, way, steps, warmup):
        options = {
            **self.shape_options(shape["shape"]),
            "sentences": way["sentences"],
            "source-length": SOURCE_LENGTH,
            "target-length": TARGET_LENGTH,
            "steps": steps,
            "warmup": warmup,
            "workers": self.workers,
            "precision": self.PRECISIONS[self.precision],
        }
        flags = [part for name, value in options.items() for part in (f"--{name}", str(value))]
        return last_json([self.program, "benchmark", "--train", "--json", *flags])


class DragomanOnText(Dragoman):
    """The command train on a text; a row of its metrics is the mean speed of some updates."""

    ROWS = 6  # the first of them is warm-up

    def __init__(self, program, workers, precision, text, folder):
        super().__init__(program, workers, precision)
        self.text = text
        self.folder = pathlib.Path(folder)
        self.vocabulary = self.folder / "vocabulary.spm"
        about = last_json([program, "benchmark", "--train", "--json", "--shape", "tiny", "--steps", "1"])
        self.machine = {name: about[name] for name in ("processor", "isa")}

    def ways(self, shape):
        return [{"batch_tokens": tokens} for tokens in TEXT_BATCH_TOKENS]

    def train(self, shape, way, steps, warmup):
        sizes = shape["shape"]
        updates = max(1, steps * 8192 // way["batch_tokens"] // (self.ROWS - 1))
        with tempfile.TemporaryDirectory(dir=self.folder) as model:
            options = {
                "source": self.text[0],
                "target": self.text[1],
                "model": model,
                **self.shape_options(sizes),
                "dropout": 0.1,
                "batch-tokens": way["batch_tokens"],
                "max-steps": updates * self.ROWS,
                "log-every": updates,
                "validate-every": updates * self.ROWS,
                "average": 0,
                "workers": self.workers,
                "precision": self.PRECISIONS[self.precision],
            }
            flags = [part for name, value in options.items() for part in (f"--{name}", str(value))]
            run([self.program, "train", *flags])
            lines = (pathlib.Path(model) / "metrics.jsonl").read_text().splitlines()
            if not self.vocabulary.exists():
                self.vocabulary.write_bytes((pathlib.Path(model) / "vocabulary.spm").read_bytes())
        rows = [row for row in map(json.loads, lines) if row["kind"] == "train"][1:]
        return {
            **self.machine,
            "step_seconds": [1.0 / row["tokens_per_second"] for row in rows],
            "step_tokens": [1] * len(rows),
            "precision": self.PRECISIONS[self.precision],
        }


class PyTorch:
    name = "PyTorch"

    def __init__(self, python, cores, precision):
        self.python = python
        self.cores = cores
        self.precision = precision

    def ways(self, shape):
        processes = {1, self.cores}
        return [{"sentences": s, "processes": p} for s in shape["sentences"] for p in sorted(processes)]

    def sentences(self):
        return {
            "source_length": SOURCE_LENGTH,
            "target_length": TARGET_LENGTH,
            "longest": max(SOURCE_LENGTH, TARGET_LENGTH),
        }

    def train(self, shape, way, steps, warmup):
        sizes = shape["shape"]
        sentences = self.sentences()
        job = {
            "shape": {
                "encoder_layers": sizes.get("layers"),
                "decoder_layers": sizes.get("layers"),
                **sizes,
                "dropout": 0.1,
                "max_length": sentences.pop("longest"),
            },
            **sentences,
            "precision": self.precision,
            "threads": self.cores,
            "steps": steps,
            "warmup": warmup,
            **way,
        }
        # Large tensors stay in the process instead of going back to the system after each use.
        kept = {"MALLOC_MMAP_MAX_": 0, "MALLOC_TRIM_THRESHOLD_": 1 << 40, "MALLOC_TOP_PAD_": 64 << 20}
        environment = {**os.environ, **{name: str(value) for name, value in kept.items()}}
        return last_json([self.python, HERE / "torch_training.py", json.dumps(job)], environment)


class PyTorchOnText(PyTorch):
    def __init__(self, python, cores, precision, text, vocabulary):
        super().__init__(python, cores, precision)
        self.text = {"source": text[0], "target": text[1], "vocabulary": str(vocabulary)}

    def ways(self, shape):
        return [{"batch_tokens": t, "processes": p} for t in TEXT_BATCH_TOKENS for p in sorted({1, self.cores})]

    def sentences(self):
        return {"text": self.text, "longest": 1024}

    def train(self, shape, way, steps, warmup):
        return super().train(shape, way, steps * 8192 // way["batch_tokens"], warmup)


def speed(result):
    """Target tokens a second: of the median update where all are alike, else of all together."""
    seconds = result["step_seconds"]
    tokens = result.get("step_tokens") or [result["target_tokens"]]
    if len(set(tokens)) == 1:
        return tokens[0] / statistics.median(seconds)
    return sum(tokens) / sum(seconds)


def describe(way):
    text = f"{way['sentences']} sentences" if "sentences" in way else f"{way['batch_tokens']} tokens"
    if "processes" in way:
        text += f", {way['processes']} process{'es' if way['processes'] > 1 else ''}"
    return text


def best_way(side, shape, steps):
    """The fastest way of working of one side: that of the fastest try."""
    tried = []
    for way in side.ways(shape) * TRIES:
        tried.append((speed(side.train(shape, way, steps, warmup=1)), way))
        print(f"  {side.name}: {describe(way)}: {tried[-1][0]:.0f} tokens/s", flush=True)
    return max(tried, key=lambda pair: pair[0])[1]


def spread(speeds):
    return f"{statistics.median(speeds):.0f} tokens/s ({min(speeds):.0f} to {max(speeds):.0f})"


def compare(name, ours, theirs, rounds):
    shape = SHAPES[name]
    steps = shape["steps"]
    print(f"{name}, {theirs.precision}", flush=True)
    ways = [best_way(side, shape, max(2, steps // 2)) for side in (ours, theirs)]
    results = ([], [])
    for _ in range(rounds):
        for side, way, found in zip((ours, theirs), ways, results):
            found.append(side.train(shape, way, steps, warmup=WARMUP))
    speeds = [[speed(result) for result in found] for found in results]
    # each round by itself, so that a machine that slows down does not favour one side
    ratio = statistics.median(mine / other for mine, other in zip(*speeds))
    for side, way, found, results_of_side in zip((ours, theirs), ways, speeds, results):
        memory = max(result.get("peak_mib", 0) for result in results_of_side)
        print(f"  {side.name:<9} {spread(found)}, {describe(way)}" + (f", {memory} MiB" if memory else ""))
    print(f"  ratio     {ratio:.2f}", flush=True)
    return {
        "name": name,
        "precision": theirs.precision,
        "ours": round(statistics.median(speeds[0]), 1),
        "theirs": round(statistics.median(speeds[1]), 1),
        "ratio": round(ratio, 3),
        "ours_precision": results[0][0]["precision"],
        "ours_way": describe(ways[0]),
        "theirs_way": describe(ways[1]),
        "ours_speeds": [round(s, 1) for s in speeds[0]],
        "theirs_speeds": [round(s, 1) for s in speeds[1]],
        "processor": results[0][0]["processor"],
        "isa": results[0][0]["isa"],
        "torch": results[1][0]["torch"],
        **matrix_work(results[0]),
    }


def matrix_work(results):
    """Speed and share of the machine's products, and where the time goes; `train` on a text does not report them."""
    if "gflops_per_second" not in results[0]:
        return {}
    work = statistics.median(result["gflops_per_second"] for result in results)
    share = statistics.median(result["gflops_per_second"] / result["gemm_gflops_per_second"] for result in results)
    print(f"  dragoman  {work:.0f} GFLOP/s of matrix work, {share:.0%} of its fastest product alone")
    return {
        "ours_gflops_per_second": round(work, 1),
        "ours_share_of_product": round(share, 3),
        "ours_seconds": results[-1]["seconds"],
    }


def best_of(rows):
    """The row of the better precision of each side."""
    ours = max(rows, key=lambda row: row["ours"])
    theirs = max(rows, key=lambda row: row["theirs"])
    return {
        **ours,
        "precision": "best",
        "theirs": theirs["theirs"],
        "theirs_way": theirs["theirs_way"],
        "theirs_speeds": theirs["theirs_speeds"],
        "theirs_precision": theirs["precision"],
        "ratio": round(ours["ours"] / theirs["theirs"], 3),
    }


def built_program(asked):
    program = pathlib.Path(asked).resolve() if asked else REPOSITORY / "build" / "dragoman"
    if not asked:
        build = REPOSITORY / "build"
        for command in (["-S", REPOSITORY, "-B", build], ["--build", build, "--parallel", "--target", "dragoman"]):
            subprocess.run(["cmake", *command], check=True, stdout=subprocess.DEVNULL)
    if not os.access(program, os.X_OK):
        fail(f"{program} is not a program; build dragoman or name it with --program")
    return program


def print_machine(program, python, cores, rounds, sentences):
    ours = last_json([program, "benchmark", "--train", "--json", "--shape", "tiny", "--steps", "1", "--warmup", "0"])
    question = "import json, torch; print(json.dumps([torch.__version__, torch.backends.cpu.get_cpu_capability()]))"
    version, capability = last_json([python, "-c", question])
    print(f"machine   {ours['processor']}, {cores} cores, load {os.getloadavg()[0]:.1f}")
    build = f"{ours['build']} build, compiler {ours['compiler']}"
    print(f"dragoman  {ours['dragoman']}, {build}, instruction set {ours['isa']}")
    print(f"PyTorch   {version}, instruction set {capability}")
    sentences = sentences or f"{SOURCE_LENGTH} source + {TARGET_LENGTH} target tokens a pair"
    print(f"both      {cores} threads, {rounds} rounds in turn, {WARMUP} warm-up updates each, {sentences}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--only", choices=SHAPES, help="one of the shapes; all by default")
    parser.add_argument("--text", nargs=2, metavar=("SOURCE", "TARGET"), help="sentences of a text, not random ones")
    parser.add_argument("--rounds", type=int, default=3, help="measured rounds of each side (3)")
    parser.add_argument("--bf16", action="store_true", help="also both sides in bfloat16, PyTorch under autocast")
    parser.add_argument("--json", metavar="FILE", help="write the rows there")
    parser.add_argument("--program", help="dragoman; built into build/ by default")
    parser.add_argument("--python", help="an interpreter with torch")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        fail("--rounds must be at least 1")
    text = [os.path.abspath(name) for name in arguments.text or ()]
    for name in text:
        if not os.path.exists(name):
            fail(f"{name} is not there")

    if arguments.only and needs_text(arguments.only) and not text:
        fail(f"{arguments.only} needs --text SOURCE TARGET")
    shapes = [arguments.only] if arguments.only else [name for name in SHAPES if not needs_text(name)]

    cores = len(os.sched_getaffinity(0))
    program = built_program(arguments.program)
    packages = ("torch", "numpy", "sentencepiece") if text else ("torch", "numpy")
    python = peer_python.find(packages, arguments.python, fail)
    print_machine(program, python, cores, arguments.rounds, "sentences of a text" if text else None)
    rows = []
    for name in shapes:
        with tempfile.TemporaryDirectory() as folder:
            for precision in ("f32", "bf16") if arguments.bf16 else ("f32",):
                if text:
                    ours = DragomanOnText(program, cores, precision, text, folder)
                    sides = ours, PyTorchOnText(python, cores, precision, text, ours.vocabulary)
                else:
                    sides = Dragoman(program, cores, precision), PyTorch(python, cores, precision)
                rows.append(compare(name, *sides, arguments.rounds))
        if arguments.bf16:
            rows.append(best_of(rows[-2:]))
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(rows, indent=2) + "\n")
    print(f"{'shape':<14}{'precision':<11}{'dragoman':>10}{'PyTorch':>10}{'ratio':>8}")
    for row in rows:
        print(f"{row['name']:<14}{row['precision']:<11}{row['ours']:>10.0f}{row['theirs']:>10.0f}{row['ratio']:>8.2f}")


if __name__ == "__main__":
    main()
