#!/usr/bin/env python3
"""Cuts running text into sentences with dragoman, ICU and pySBD, and prints how many borders each finds.

    benchmarks/compare_sentences.py [--half even|odd] [--only wmt-en] [--json FILE] [--wrong 20]

The text is that of files with one sentence a line: WMT news and Tatoeba in English, German, French and Chinese. Five lines
are joined by a space (by nothing in Chinese), and the four borders between them are searched. Rules are tuned with the odd
blocks; the even ones are reported. Precision is the share of the borders found that are right, recall the share of the
right borders that are found, F1 their harmonic mean. Rows of one language are summed below. A line of the files may hold two sentences or half of one, so that no
program reaches 100. ICU is its sentence iterator with its own list of abbreviations.

Needs the target `sentence_ends` of the build, and pysbd from the package index: in the interpreter named by --python or
DRAGOMAN_BENCHMARK_PYTHON, or in .venv-benchmarks, which is made on first use. Without the text (--corpora) this ends with
status 77.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys

import peer_python

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent
LINES = 5  # of a block

# name of a row: language, files
TEXTS = {
    "wmt-en": ("en", "wmt-news-en-de/newstest*.en"),
    "wmt-de": ("de", "wmt-news-en-de/newstest*.de"),
    "wmt-fr": ("fr", "wmt-news-en-fr/newstest*.fr"),
    "wmt-zh": ("zh", "wmt-news-en-zh/newstest*.zh"),
    "tatoeba-en": ("en", "tatoeba-en-de/*.en"),
    "tatoeba-de": ("de", "tatoeba-en-de/*.de"),
    "tatoeba-fr": ("fr", "tatoeba-en-fr/*.fr"),
    "tatoeba-zh": ("zh", "tatoeba-en-zh/*.zh"),
}
PROGRAMS = ("dragoman", "ICU", "pySBD")
MOST_LINES = 32000  # of a text


def fail(text, status=1):
    print(f"compare_sentences.py: {text}", file=sys.stderr)
    sys.exit(status)


def blocks_of(files, glue, half):
    """Every second block of the files: the lines of each."""
    lines = []
    for file in files:
        lines += [line.strip() for line in file.read_text(encoding="utf-8").split("\n")]
    lines = [" ".join(line.split()) for line in lines if line.strip()][:MOST_LINES]
    blocks = [lines[at : at + LINES] for at in range(0, len(lines) - LINES + 1, LINES)]
    return [(block, glue.join(block)) for block in blocks[1 if half == "odd" else 0 :: 2]]


def borders_in(text, byte_ends):
    """Ends as numbers of characters before them, blanks left out, so that an end may stand on either side of a blank."""
    coded = text.encode("utf-8")
    whole = len("".join(text.split()))
    places = (len("".join(coded[:end].decode("utf-8").split())) for end in byte_ends)
    return {place for place in places if 0 < place < whole}


def right_borders(lines):
    places, sum_of = set(), 0
    for line in lines[:-1]:
        sum_of += len("".join(line.split()))
        places.add(sum_of)
    return places


def command_of(program, language, arguments, python):
    if program == "pySBD":
        return [python, HERE / "pysbd_sentences.py", language]
    return [arguments.program, "icu" if program == "ICU" else "dragoman", language]


def ends_of(command, blocks):
    text = "".join(text + "\n" for _, text in blocks)
    done = subprocess.run([str(part) for part in command], input=text.encode("utf-8"), capture_output=True)
    if done.returncode != 0:
        fail(f"{command[0]} ended with status {done.returncode}:\n{done.stderr.decode().strip()}")
    return [[int(end) for end in line.split()] for line in done.stdout.decode().split("\n")[:-1]]


def shown(text, place):
    """The text around a border."""
    at = count = 0
    while count < place:
        count += not text[at].isspace()
        at += 1
    return f"{text[max(at - 40, 0):at]} | {text[at:at + 30].strip()}"


def score(blocks, ends, wrong):
    found = right = both = 0
    for (lines, text), byte_ends in zip(blocks, ends):
        ours, true = borders_in(text, byte_ends), right_borders(lines)
        found, right, both = found + len(ours), right + len(true), both + len(ours & true)
        for place in sorted(ours ^ true):
            if wrong[0] > 0:
                wrong[0] -= 1
                print("  missed" if place in true else "  wrong ", shown(text, place))
    return collections.Counter(found=found, right=right, both=both)


def rates(counts):
    precision, recall = counts["both"] / max(counts["found"], 1), counts["both"] / max(counts["right"], 1)
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    return {"precision": 100 * precision, "recall": 100 * recall, "f1": 100 * f1}


def row_of(name, counts):
    """Prints the row and returns its figures; the counts are those of each program."""
    row = {"borders": next(iter(counts.values()))["right"]} | {program: rates(of) for program, of in counts.items()}
    cells = (f"{row[program][part]:.2f}" for program in counts for part in row[program])
    print(f"| {name} | {row['borders']:,} | " + " | ".join(cells) + " |", flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=pathlib.Path, default=REPOSITORY.parent / "shared" / "corpora")
    parser.add_argument("--program", type=pathlib.Path, default=REPOSITORY / "build" / "benchmarks" / "sentence_ends")
    parser.add_argument("--half", choices=("even", "odd"), default="even")
    parser.add_argument("--only", choices=TEXTS, action="append", help="a text; may be given again")
    parser.add_argument("--peers", nargs="*", choices=PROGRAMS[1:], default=PROGRAMS[1:])
    parser.add_argument("--python", help="an interpreter with pysbd")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures here")
    parser.add_argument("--wrong", type=int, default=0, help="print this many wrong borders of dragoman for each text")
    arguments = parser.parse_args()
    if not arguments.program.exists():
        fail(f"{arguments.program}: no such program; build the target sentence_ends")
    python = peer_python.find(["pysbd"], arguments.python, fail) if "pySBD" in arguments.peers else None
    figures, sums = {}, {}
    print("| text | borders |" + "".join(f" {name} P | R | F1 |" for name in ("dragoman", *arguments.peers)))
    print("|---|---|" + "---|---|---|" * (1 + len(arguments.peers)))
    for name in arguments.only or TEXTS:
        language, pattern = TEXTS[name]
        files = sorted(arguments.corpora.glob(pattern), reverse=True)  # tatoeba: train, test, dev
        if not files:
            fail(f"{arguments.corpora / pattern}: no such files; name their folder with --corpora", 77)
        blocks = blocks_of(files, "" if language == "zh" else " ", arguments.half)
        counts = {}
        for program in ("dragoman", *arguments.peers):
            ends = ends_of(command_of(program, language, arguments, python), blocks)
            counts[program] = score(blocks, ends, [arguments.wrong if program == "dragoman" else 0])
            sums.setdefault(language, {}).setdefault(program, collections.Counter()).update(counts[program])
        figures[name] = row_of(name, counts)
    for language, counts in sums.items():
        figures[language] = row_of(f"all {language}", counts)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
