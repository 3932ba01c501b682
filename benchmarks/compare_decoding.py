#!/usr/bin/env python3
"""Translates the same lines with the same weights, with another program and with dragoman, and prints both speeds.

    benchmarks/compare_decoding.py [--peer ctranslate2|transformers] [--only NAME] [--json FILE] [--rounds 3]
    benchmarks/compare_decoding.py --only text --model MODEL --input FILE

Shapes (base, d256, tiny, deep, m2m100) have random weights: both sides then write sentences of a given length, so that a token is
worth the same work on both. `text` is a model that was trained, a whole file, cutting into pieces and joining included.
The other program runs in the best of its ways that are tried here (threads, sentences of a batch), dragoman likewise
(tokens in work); then several rounds in turn, each in a fresh process on the same cores. Seconds are those of translating, loading
left out on both sides; in dragoman's they always include reading, cutting and writing text and the first, cold steps. The
seconds of loading are those of making the translator in a process that has started, tokenizer included, on both sides.
Batches of random weights work for several seconds, so that the cold steps of one side (the other warms up) count little.

Needs ctranslate2, sentencepiece, safetensors and numpy from the package index (torch, transformers, sentencepiece and
sacremoses for transformers): in the interpreter named by --python or
DRAGOMAN_BENCHMARK_PYTHON, or in .venv-benchmarks, which is made on first use. The text that vocabularies are learned from
and lines are taken from is --text (a folder with newstest*.en and .de); without it this ends with status 77.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import peer_python

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent
LENGTH = 30  # tokens of a written sentence with random weights, and about that of the sentences read
TRIES = 2  # of each way of working, before the best of them is measured

SHAPES = {
    "base": {"d-model": 512, "d-ff": 2048, "n-heads": 8, "encoder-layers": 6, "decoder-layers": 6, "vocab-size": 32000},
    "d256": {"d-model": 256, "d-ff": 1024, "n-heads": 4, "encoder-layers": 3, "decoder-layers": 3, "vocab-size": 8000},
    "tiny": {"d-model": 128, "d-ff": 256, "n-heads": 4, "encoder-layers": 4, "decoder-layers": 4, "vocab-size": 10000},
    "deep": {"d-model": 512, "d-ff": 2048, "n-heads": 8, "encoder-layers": 6, "decoder-layers": 2, "vocab-size": 32000},
    # of M2M-100 with 418 million parameters; BPE, because unigram pieces of the text are too few
    "m2m100": {"d-model": 1024, "d-ff": 4096, "n-heads": 16, "encoder-layers": 12, "decoder-layers": 12, "vocab-size": 128000,
               "vocab-type": "bpe", "norm-order": "pre"},
}
# name of a row: shape, precision, beam, one at a time or not, sentences
WORK = {
    "base-int8-greedy": ("base", "int8", 1, False, 2048),
    "base-int8-beam4": ("base", "int8", 4, False, 1024),
    "base-int8-greedy-single": ("base", "int8", 1, True, 24),
    "base-int8-beam4-single": ("base", "int8", 4, True, 24),
    "base-float32-greedy": ("base", "float32", 1, False, 768),
    "base-float32-beam4": ("base", "float32", 4, False, 256),
    "d256-int8-greedy": ("d256", "int8", 1, False, 7600),
    "d256-int8-beam4": ("d256", "int8", 4, False, 4096),
    "tiny-int8-greedy": ("tiny", "int8", 1, False, 7600),
    "tiny-int8-beam4": ("tiny", "int8", 4, False, 7600),
    "deep-int8-greedy": ("deep", "int8", 1, False, 3072),
    "deep-int8-beam4": ("deep", "int8", 4, False, 1024),
    "m2m100-int8-greedy": ("m2m100", "int8", 1, False, 192),
}


def fail(text, status=1):
    print(f"compare_decoding.py: {text}", file=sys.stderr)
    sys.exit(status)


def run(command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        fail(f"{' '.join(map(str, command[:3]))} ... ended with status {done.returncode}:\n{done.stderr.strip()}")
    return done


class Job:
    """What both sides are asked to do."""

    def __init__(self, name, model, precision, beam, single, lines, text_row):
        self.name, self.model, self.precision, self.beam, self.single = name, model, precision, beam, single
        self.lines, self.text_row = lines, text_row  # lines: a file


class Dragoman:
    name = "dragoman"

    def __init__(self, program):
        self.program = program

    def ways(self, job):
        if job.single:
            return [{}]
        return [{"batch-tokens": tokens} for tokens in (256, 512, 1024, 2048)]

    def flags(self, job, way):
        flags = ["--model", job.model, "--precision", job.precision, "--beam-size", job.beam]
        if job.text_row:
            flags += ["--length-penalty", "length", "--alpha", 1]
        else:
            flags += ["--min-length", LENGTH - 1, "--max-length-ratio", 0, "--max-length-extra", LENGTH]
        for name, value in way.items():
            flags += [f"--{name}", value]
        return [str(flag) for flag in flags]

    def load_seconds(self, job):
        """Of a run that translates nothing."""
        done = run([self.program, "translate", *self.flags(job, {})], stdin=subprocess.DEVNULL)
        return float(re.search(r"loading the model took ([\d.]+) s", done.stderr).group(1))

    def translate(self, job, way):
        if job.single:
            return self.one_by_one(job, way)
        with tempfile.NamedTemporaryFile() as output:
            files = ["--input", job.lines, "--output", output.name]
            process = subprocess.Popen(
                [self.program, "translate", *self.flags(job, way), *files], stderr=subprocess.PIPE, text=True
            )
            said = process.stderr.read()
            _, status, usage = os.wait4(process.pid, 0)
            if status != 0:
                fail(f"dragoman translate ended with status {status}:\n{said}")
        tokens, rate = re.search(r"into (\d+) tokens in .*\((\d+) tokens/s\)", said).groups()
        return {"tokens": int(tokens), "speed": float(rate), "peak_mib": usage.ru_maxrss // 1024, "latencies": []}

    def one_by_one(self, job, way):
        command = [self.program, "translate", *self.flags(job, way)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines = pathlib.Path(job.lines).read_text(encoding="utf-8").splitlines()
        latencies = []
        for number, line in enumerate([lines[0], *lines]):
            begin = time.perf_counter()
            process.stdin.write(line + "\n")
            process.stdin.flush()
            process.stdout.readline()
            if number > 0:  # the first is the warm-up
                latencies.append(time.perf_counter() - begin)
        process.stdin.close()
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            fail(f"dragoman translate ended with status {status}:\n{said}")
        tokens = LENGTH * len(lines)
        return {
            "tokens": tokens,
            "speed": tokens / sum(latencies),
            "latencies": latencies,
            "peak_mib": usage.ru_maxrss // 1024,
        }


class CTranslate2:
    name = "CTranslate2"
    packages = ("ctranslate2", "sentencepiece", "safetensors", "numpy")

    def __init__(self, python, cores, _program):
        self.python, self.cores = python, cores

    def ways(self, job):
        if job.single:
            return [{"inter_threads": 1, "intra_threads": threads} for threads in (1, self.cores)]
        if job.text_row:
            batches = [(4096, "tokens"), (2048, "tokens"), (32, "examples"), (64, "examples")]
        else:
            batches = [(32, "examples"), (64, "examples")]
        return [
            {"inter_threads": self.cores, "intra_threads": 1, "batch": batch, "batch_type": kind}
            for batch, kind in batches
        ]

    def translate(self, job, way):
        folder = pathlib.Path(str(job.model) + ".ctranslate2")
        if not folder.exists():
            run([self.python, HERE / "ctranslate2_folder.py", job.model, folder])
        with tempfile.NamedTemporaryFile() as output:
            task = {
                "folder": str(folder),
                "vocabulary": str(pathlib.Path(job.model) / "vocabulary.spm"),
                "lines": str(job.lines),
                "output": output.name,
                "compute_type": job.precision,
                "beam_size": job.beam,
                "max_length": 256 if job.text_row else LENGTH,
                "min_length": 1 if job.text_row else LENGTH,
                "length_penalty": 1,
                "with_text": job.text_row,
                "batch": 1,
                "batch_type": "examples",
                **way,
            }
            done = run([self.python, HERE / "ctranslate2_decoding.py", json.dumps(task)])
        result = json.loads(done.stdout.strip().splitlines()[-1])
        return {**result, "speed": result["tokens"] / result["seconds"]}


class Transformers:
    """In float32, whatever the row: it has no ready-made int8 for MarianMT on the CPU."""

    name = "transformers"
    packages = ("torch", "transformers", "sentencepiece", "sacremoses")

    def __init__(self, python, cores, program):
        self.python, self.cores, self.program = python, cores, program

    def ways(self, job):
        return [{"batch": 1}] if job.single else [{"batch": 32}, {"batch": 64}]

    def translate(self, job, way):
        folder = pathlib.Path(str(job.model) + ".hf-marian")
        if not folder.exists():
            run([self.program, "export", "--to", "hf-marian", "--model", job.model, folder])
        task = {
            "folder": str(folder),
            "lines": str(job.lines),
            "threads": self.cores,
            "beam_size": job.beam,
            "max_length": 256 if job.text_row else LENGTH,
            "min_length": 1 if job.text_row else LENGTH,
            "length_penalty": 1.0,
            **way,
        }
        done = run([self.python, HERE / "transformers_decoding.py", json.dumps(task)])
        result = json.loads(done.stdout.strip().splitlines()[-1])
        return {**result, "speed": result["tokens"] / result["seconds"]}


PEERS = {"ctranslate2": CTranslate2, "transformers": Transformers}


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def latency_text(results):
    latencies = [1000 * latency for result in results for latency in result["latencies"]]
    if not latencies:
        return ""
    return f", p50 {percentile(latencies, 0.5):.1f} ms, p99 {percentile(latencies, 0.99):.1f} ms"


def best_way(side, job):
    """The way with the fastest of its tries, which take turns: what else the machine does seldom slows all of one way."""
    ways = side.ways(job)
    speeds = [[side.translate(job, way)["speed"] for way in ways] for _ in range(TRIES if len(ways) > 1 else 0)]
    fastest = [max(of_way) for of_way in zip(*speeds)]
    return ways[fastest.index(max(fastest))] if fastest else ways[0]


def compare(job, sides, rounds):
    print(f"{job.name}", flush=True)
    ways = [best_way(side, job) for side in sides]
    results = ([], [])
    for _ in range(rounds):
        for side, way, found in zip(sides, ways, results):
            found.append(side.translate(job, way))
    theirs = [result["load_seconds"] for result in results[1]]
    loads = min(sides[0].load_seconds(job) for _ in theirs), min(theirs)
    speeds = [[result["speed"] for result in found] for found in results]
    ratio = statistics.median(mine / other for mine, other in zip(*speeds))
    for side, way, found, rates, load in zip(sides, ways, results, speeds, loads):
        memory = max(result["peak_mib"] for result in found)
        spread = f"{statistics.median(rates):.0f} tokens/s ({min(rates):.0f} to {max(rates):.0f})"
        how = ", ".join(f"{name} {value}" for name, value in way.items()) or "as it comes"
        print(f"  {side.name:<12}{spread}{latency_text(found)}, {how}, {memory} MiB, loaded in {load:.3f} s")
    print(f"  ratio       {ratio:.2f}", flush=True)
    return {
        "name": job.name,
        "precision": job.precision,
        "beam": job.beam,
        "batch": 1 if job.single else ways[1]["batch"],
        "ours": round(statistics.median(speeds[0]), 1),
        "theirs": round(statistics.median(speeds[1]), 1),
        "ratio": round(ratio, 3),
        "ours_mib": max(result["peak_mib"] for result in results[0]),
        "theirs_mib": max(result["peak_mib"] for result in results[1]),
        "ours_load_seconds": round(loads[0], 3),
        "theirs_load_seconds": round(loads[1], 3),
        "ours_latencies": [round(latency, 6) for result in results[0] for latency in result["latencies"]],
        "theirs_latencies": [round(latency, 6) for result in results[1] for latency in result["latencies"]],
        "peer": results[1][0]["version"],
    }


def random_model(program, folder, name, text):
    """A model of that shape after one update: nearly its initial, random weights."""
    model = folder / name
    if not (model / "manifest.json").exists():
        shape = [part for option, value in SHAPES[name].items() for part in (f"--{option}", value)]
        files = [sorted(text.glob(f"newstest20*.{language}")) for language in ("en", "de")]
        run(
            [program, "train", "--preset", "base", "--model", model, *shape, "--max-steps", 1, "--batch-tokens", 1000]
            + ["--average", 0, "--source", *files[0], "--target", *files[1]]
        )
    return model


def sentences(folder, text, count):
    """Lines of about LENGTH pieces."""
    path = folder / f"lines.{count}"
    lines = []
    for file in sorted(text.glob("newstest20*.en")):
        lines += [line for line in file.read_text(encoding="utf-8").splitlines() if 18 <= len(line.split()) <= 25]
    path.write_text("".join(line + "\n" for line in lines[:count]), encoding="utf-8")
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--only", choices=[*WORK, "text"], action="append", help="a row; may be given repeatedly")
    parser.add_argument("--peer", choices=PEERS, default="ctranslate2", help="the other side (ctranslate2)")
    parser.add_argument("--rounds", type=int, default=3, help="measured rounds of each side (3)")
    parser.add_argument("--json", metavar="FILE", help="write the rows there")
    parser.add_argument("--program", default=REPOSITORY / "build" / "dragoman", help="dragoman (build/dragoman)")
    parser.add_argument("--python", help="an interpreter with the packages")
    parser.add_argument("--text", type=pathlib.Path, default=REPOSITORY.parent / "shared" / "corpora" / "wmt-news-en-de")
    parser.add_argument("--folder", type=pathlib.Path, help="keeps the models for the next run (else a temporary one)")
    parser.add_argument("--model", type=pathlib.Path, help="of the row text: a folder that was trained")
    parser.add_argument("--input", type=pathlib.Path, help="of the row text: what to translate")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        fail("--rounds must be at least 1", 2)
    names = arguments.only or list(WORK) + (["text"] if arguments.model else [])
    if "text" in names and not (arguments.model and arguments.input):
        fail("the row text needs --model and --input", 2)
    if not any(arguments.text.glob("newstest20*.en")) and names != ["text"]:
        fail(f"skipped: {arguments.text} has no newstest20*.en", 77)

    peer = PEERS[arguments.peer]
    python = peer_python.find(peer.packages, arguments.python, fail)
    about = json.loads(run([arguments.program, "benchmark", "--train", "--json", "--shape", "tiny", "--steps", 1]).stdout)
    cores = len(os.sched_getaffinity(0))
    print(f"machine   {about['processor']}, {cores} cores, instruction set {about['isa']}, load {os.getloadavg()[0]:.1f}")
    print(f"dragoman  {about['dragoman']}, {about['build']} build, compiler {about['compiler']}")
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        sides = Dragoman(str(arguments.program)), peer(python, cores, str(arguments.program))
        for name in names:
            if name == "text":
                job = Job(name, arguments.model, "int8", 4, False, arguments.input, True)
            else:
                shape, precision, beam, single, count = WORK[name]
                model = random_model(arguments.program, folder, shape, arguments.text)
                lines = sentences(folder, arguments.text, count)
                job = Job(name, model, precision, beam, single, lines, False)
            rows.append(compare(job, sides, arguments.rounds))
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(rows, indent=2) + "\n")
    print(f"{'row':<26}{'dragoman':>10}{peer.name:>13}{'ratio':>8}")
    for row in rows:
        print(f"{row['name']:<26}{row['ours']:>10.0f}{row['theirs']:>13.0f}{row['ratio']:>8.2f}")


if __name__ == "__main__":
    main()
