#!/usr/bin/env python3
"""How the cost of training grows: one table a dimension, all other sizes as in the shape.

    benchmarks/training_cost.py [--shape d256] [--precision auto] [--rounds 3] [--only NAME] [--json FILE]

Each row is the median of `--rounds` runs of `dragoman benchmark --train`, each in a fresh process. Rows of a table are
measured in turn, round by round, so that a machine that slows down does not favour one of them.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
SHAPES = ("base", "d256", "tiny")
TOKENS = 1920  # target tokens of an update, where nothing else is said


def sentences(length):
    return {"sentences": max(1, TOKENS // length), "source-length": length, "target-length": length}


# name: what changes, and the options of each row
TABLES = {
    "tokens": ("target tokens of an update", {30 * n: {"sentences": n} for n in (4, 16, 64, 256)}),
    "length": ("tokens of a sentence", {n: sentences(n) for n in (10, 30, 100, 250, 500)}),
    "layers": ("layers of encoder and of decoder", {n: {"encoder-layers": n, "decoder-layers": n} for n in (1, 3, 6, 12)}),
    "d_model": (
        "d_model, d_ff = 4 d_model, heads of 64",
        {n: {"d-model": n, "d-ff": 4 * n, "n-heads": n // 64} for n in (128, 256, 512, 1024)},
    ),
    "vocabulary": ("pieces of the vocabulary", {n: {"vocab-size": n} for n in (2000, 8000, 32000)}),
    "workers": ("workers", {n: {"workers": n} for n in (1, 2)}),
    "ranks": ("processes of one worker each, connected by TCP", {n: {"workers": 1, "processes": n} for n in (1, 2, 4)}),
}
# Sockets also where processes could share memory, so that what a network would carry can be counted.
MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo"]


def loopback_bytes():
    lines = pathlib.Path("/proc/net/dev").read_text().splitlines()
    return next(int(line.split()[9]) for line in lines if line.strip().startswith("lo:"))


def measure(program, shape, precision, options):
    flags = {"shape": shape, "precision": precision, "steps": 3, "warmup": 1, **sentences(30), **options}
    processes = flags.pop("processes", None)
    words = [str(part) for name, value in flags.items() for part in (f"--{name}", value)]
    launcher = [] if processes is None else [*MPIRUN, "-np", str(processes)]
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    before = loopback_bytes()
    done = subprocess.run(
        [*launcher, program, "benchmark", "--train", "--json", *words], capture_output=True, text=True, env=environment
    )
    if done.returncode != 0:
        sys.exit(f"training_cost.py: {' '.join(words)}: {done.stderr.strip()}")
    result = json.loads(done.stdout)
    result["carried_bytes"] = (loopback_bytes() - before) / (flags["steps"] + flags["warmup"])  # an update, all ranks
    return result


def median(results, *path):
    def of(result):
        for name in path:
            result = result[name]
        return result

    return statistics.median(of(result) for result in results)


def row_of(value, results):
    return {
        "value": value,
        "target_tokens": results[0]["target_tokens"],
        "tokens_per_second": median(results, "tokens_per_second"),
        "gflops_per_second": median(results, "gflops_per_second"),
        "seconds": statistics.median(statistics.median(result["step_seconds"]) for result in results),
        "activation_mib": median(results, "activation_mib"),
        "processes": results[0]["processes"],
        "sent_bytes": results[0]["sent_bytes"],
        "carried_bytes": median(results, "carried_bytes"),
        "sums_seconds": median(results, "seconds", "between_processes"),
        "waiting_seconds": median(results, "seconds", "gradients"),
    }


def print_table(title, rows):
    print(f"\n| {title} | ms an update | target tokens/s | GFLOP/s | us a token | MiB of activations per 1,000 tokens |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        tokens = row["target_tokens"]
        print(
            f"| {row['value']:,} | {row['seconds'] * 1e3:,.0f} | {row['tokens_per_second']:,.0f} "
            f"| {row['gflops_per_second']:.0f} | {row['seconds'] * 1e6 / tokens:,.0f} "
            f"| {row['activation_mib'] * 1e3 / tokens:,.0f} |",
            flush=True,
        )


def print_ranks(rows):
    """What processes say to each other; see sent_bytes in docs/training_on_many_machines.md."""
    print("\n| processes | MB a process sends an update | the same, counted on the wire | sums under way, ms | waited for, ms |")
    print("|---|---|---|---|---|")
    for row in rows:
        print(
            f"| {row['processes']} | {row['sent_bytes'] * 1e-6:.1f} | {row['carried_bytes'] / row['processes'] * 1e-6:.1f} "
            f"| {row['sums_seconds'] * 1e3:.0f} | {row['waiting_seconds'] * 1e3:.0f} |"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--shape", choices=SHAPES, default="d256", help="what all rows start from (d256)")
    parser.add_argument("--precision", default="auto", help="auto, float32 or bfloat16")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each row (3)")
    parser.add_argument("--only", choices=TABLES, help="one of the tables")
    parser.add_argument("--json", metavar="FILE", help="write the rows there")
    parser.add_argument("--program", default=REPOSITORY / "build" / "dragoman")
    arguments = parser.parse_args()
    report = {}
    for name, (title, changes) in TABLES.items():
        if arguments.only not in (None, name):
            continue
        results = {value: [] for value in changes}
        for _ in range(arguments.rounds):
            for value, options in changes.items():
                results[value].append(measure(arguments.program, arguments.shape, arguments.precision, options))
        report[name] = [row_of(value, found) for value, found in results.items()]
        if len(report) == 1:
            first = next(iter(results.values()))[0]
            print(
                f"{first['processor']}, {first['cores']} cores, {first['isa']}, compiler {first['compiler']}, "
                f"{first['build']} build, {arguments.shape}, {first['precision']}, {arguments.rounds} rounds"
            )
        print_table(title, report[name])
        if name == "ranks":
            print_ranks(report[name])
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
