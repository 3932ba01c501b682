"""Compares `dragoman evaluate` with sacreBLEU on every test and development text of a folder of corpora.

    python sacrebleu_check.py build/dragoman ../shared/corpora [--full] [--only NAME]

Each text is scored as a reference against perturbed copies of itself (words or characters dropped, swapped,
replaced, lines emptied; seeded). Compared are every key of the JSON that sacreBLEU prints, with 10 digits after the
point, the text line, the single sentences, the confidence intervals and the paired bootstrap. Needs sacrebleu 2.6.
Prints one line a text and ends with status 1 if anything differs. --full takes every tokenizer for every text.
"""

import argparse
import json
import logging
import pathlib
import random
import subprocess
import sys
import tempfile
import unicodedata

from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

WIDTH = 10
TOKENIZERS = ["13a", "intl", "zh", "char", "none"]
SMOOTHING = [("exp", None), ("floor", None), ("floor", 0.05), ("add-k", None), ("add-k", 0.5), ("none", None)]
HELD_OUT = ("test", "dev", "val", "newstest")
CHINESE = (".zh", ".lzh")


def read_lines(path):
    lines = path.read_bytes().decode().split("\n")
    return [line.rstrip() for line in (lines[:-1] if lines[-1] == "" else lines)]


def write_lines(path, lines):
    path.write_bytes("".join(line + "\n" for line in lines).encode())


def perturbed(lines, rng, rate, by_character):
    """A bad translation: units dropped, swapped with the next, or replaced by one seen elsewhere."""
    split = list if by_character else str.split
    seen = [unit for line in lines[:200] for unit in split(line)] or ["x"]
    result = []
    for line in lines:
        units = split(line)
        kept = []
        for unit in units:
            draw = rng.random()
            if draw < rate / 3:
                continue
            if draw < 2 * rate / 3:
                kept.append(rng.choice(seen))
            elif draw < rate and kept:
                kept.insert(len(kept) - 1, unit)
            else:
                kept.append(unit)
        if rng.random() < 0.003:
            kept = []
        if rng.random() < 0.05:
            kept = [unit.upper() for unit in kept]
        result.append(("" if by_character else " ").join(kept))
    return result


def every_character():
    """Each character of Python's Unicode in the places that tokenizers look at."""
    lines = []
    for code in range(0x20, 0x110000):
        char = chr(code)
        if unicodedata.category(char) not in ("Cn", "Cs", "Co"):
            lines.append(f"a{char}b 1{char}2 {char}. 3{char} ({char}) {char}")
    return lines


class Check:
    def __init__(self, program, folder):
        self.program = program
        self.folder = pathlib.Path(folder)
        self.failures = 0
        self.compared = 0

    def run(self, hypothesis, references, *options):
        command = [self.program, "evaluate", "--hypothesis", hypothesis, *options]
        for reference in references:
            command += ["--reference", reference]
        done = subprocess.run([str(word) for word in command], capture_output=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, command))}\nstatus {done.returncode}: {done.stderr.decode()}")
        return done.stdout.decode()

    def expect(self, what, expected, seen):
        self.compared += 1
        if expected != seen:
            self.failures += 1
            print(f"  DIFFERS {what}\n    sacreBLEU {expected}\n    dragoman  {seen}")

    def corpus(self, what, metric, name, hypothesis, references, options, resamples=1):
        hypothesis_lines = read_lines(hypothesis)
        score = metric.corpus_score(hypothesis_lines, [read_lines(r) for r in references], n_bootstrap=resamples)
        signature = metric.get_signature().format()
        if resamples > 1:
            options = [*options, "--confidence", "--confidence-n", resamples]
        options = ["--metrics", name, "--width", WIDTH, *options]
        text = self.run(hypothesis, references, *options).rstrip("\n")
        self.expect(f"{what} {name} text", score.format(WIDTH, False, signature), text)
        seen = json.loads(self.run(hypothesis, references, "--json", *options))
        self.expect(f"{what} {name} json", json.loads(score.format(WIDTH, False, signature, True)), seen)

    def sentences(self, what, metric, name, hypothesis, references, options):
        rows = zip(read_lines(hypothesis), *[read_lines(r) for r in references])
        expected = [metric.sentence_score(row[0], list(row[1:])) for row in rows]
        signature = metric.get_signature().format()
        output = self.run(hypothesis, references, "--sentence-level", "--metrics", name, "--width", WIDTH, *options)
        seen = output.split("\n")[:-1]
        self.expect(f"{what} {name} number of sentences", len(expected), len(seen))
        for number, (score, line) in enumerate(zip(expected, seen), 1):
            self.expect(f"{what} {name} line {number}", score.format(WIDTH, False, signature), line)

    def paired(self, what, systems, reference):
        named = [(str(path), read_lines(path)) for path in systems]
        metrics = {"BLEU": BLEU(), "CHRF": CHRF(word_order=2), "TER": TER()}
        signatures, scores = PairedTest(named, metrics, [read_lines(reference)], "bs", 300)()
        seen = json.loads(self.run(systems[0], [reference], "--json", "--metrics", "bleu,chrf++,ter", "--tokenize", "13a",
                                   "--ter-normalized=false", "--confidence-n", 300,
                                   *[word for path in systems[1:] for word in ("--paired", path)]))
        for index, row in enumerate(seen):
            for name in ("BLEU", "chrF2++", "TER"):
                expected = {key: None if value is None else round(float(value), WIDTH)
                            for key, value in scores[name][index].__dict__.items()}
                got = {key: None if value is None else round(value, WIDTH) for key, value in row[name].items()}
                self.expect(f"{what} paired {row['system']} {name}", expected, got)


def check_text(check, path, number, full):
    lines = read_lines(path)
    by_character = path.suffix in CHINESE
    rng = random.Random(path.parent.name + path.name)
    systems = [check.folder / f"{path.parent.name}.{path.name}.{k}" for k in range(3)]
    for rate, system in zip((0.15, 0.17, 0.6), systems):
        write_lines(system, perturbed(lines, rng, rate, by_character))
    what = f"{path.parent.name}/{path.name}"
    usual = "zh" if by_character else "13a"
    others = [t for t in TOKENIZERS if t != usual]
    for tokenizer in TOKENIZERS if full else [usual, others[number % 4]]:
        for lowercase in (False, True):
            options = ["--tokenize", tokenizer] + (["--lowercase"] if lowercase else [])
            metric = BLEU(tokenize=tokenizer, lowercase=lowercase)
            check.corpus(f"{what} {tokenizer}", metric, "bleu", systems[0], [path], options)
    lowercase = number % 2 == 1
    flags = ["--lowercase"] if lowercase else []
    check.corpus(what, CHRF(lowercase=lowercase), "chrf", systems[0], [path], flags)
    check.corpus(what, CHRF(word_order=2, lowercase=lowercase), "chrf++", systems[2], [path], flags)
    smooth, value = SMOOTHING[number % len(SMOOTHING)]
    flags = ["--tokenize", "13a", "--smooth-method", smooth] + ([] if value is None else ["--smooth-value", value])
    check.corpus(f"{what} {smooth}", BLEU(smooth_method=smooth, smooth_value=value), "bleu", systems[2], [path], flags)
    if number % 4 == 0 or full:
        few = check.folder / "reference"
        heads = [check.folder / f"head{k}" for k in range(3)]
        write_lines(few, lines[:200])
        for head, system in zip(heads, systems):
            write_lines(head, read_lines(system)[:200])
        check_details(check, what, heads, few, usual)


def ter_flags(number, by_character):
    """Options of sacreBLEU and of the command, another choice for each number."""
    names = {"normalized": "--ter-normalized", "no_punct": "--ter-no-punct", "asian_support": "--ter-asian-support",
             "case_sensitive": "--ter-case-sensitive"}
    options = {name: bool(number >> bit & 1) for bit, name in enumerate(names)}
    if by_character:  # otherwise a line is one word
        options.update(normalized=True, asian_support=True)
    return TER(**options), [flag for name, flag in names.items() if options[name]]


def check_details(check, what, heads, reference, tokenizer):
    """The slower comparisons, on a text of a few hundred lines."""
    tok = ["--tokenize", tokenizer]
    check.sentences(what, BLEU(tokenize=tokenizer, effective_order=True), "bleu", heads[2], [reference], tok)
    check.sentences(what, CHRF(), "chrf", heads[0], [reference], [])
    check.sentences(what, CHRF(word_order=2), "chrf++", heads[0], [reference, heads[2]], [])
    check.corpus(f"{what} interval", BLEU(tokenize=tokenizer), "bleu", heads[0], [reference], tok, 1000)
    check.corpus(f"{what} interval", CHRF(), "chrf", heads[0], [reference], [], 500)
    check.corpus(f"{what} 2 references", BLEU(tokenize=tokenizer), "bleu", heads[2], [reference, heads[0]], tok)
    check.corpus(f"{what} 2 references", CHRF(word_order=2), "chrf++", heads[2], [reference, heads[0]], [])
    for number in range(16):
        ter, flags = ter_flags(number, tokenizer == "zh")
        check.corpus(f"{what} {' '.join(flags)}", ter, "ter", heads[number % 3], [reference], flags)
    ter, flags = ter_flags(0, tokenizer == "zh")
    check.sentences(what, ter, "ter", heads[2], [reference, heads[0], heads[1]], flags)
    check.corpus(f"{what} 2 references", ter, "ter", heads[2], [reference, heads[0]], flags)
    check.corpus(f"{what} interval", ter, "ter", heads[2], [reference], flags, 300)
    check.paired(what, heads, reference)


def check_characters(check):
    reference = check.folder / "characters.reference"
    hypothesis = check.folder / "characters.hypothesis"
    lines = every_character()
    write_lines(reference, lines)
    # The other spacing makes each tokenization visible in the counts.
    write_lines(hypothesis, [f"{line[0]} {line[1]} {line[2:]}" for line in lines])
    for tokenizer in TOKENIZERS:
        metric = BLEU(tokenize=tokenizer, effective_order=True)
        flags = ["--tokenize", tokenizer]
        check.sentences(f"every character {tokenizer}", metric, "bleu", hypothesis, [reference], flags)
    check.sentences("every character", CHRF(word_order=2, lowercase=True), "chrf++", hypothesis, [reference],
                    ["--lowercase"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("corpora", type=pathlib.Path)
    parser.add_argument("--full", action="store_true", help="every tokenizer and every test for every text")
    parser.add_argument("--only", default="", help="texts whose path holds this")
    parser.add_argument("--no-characters", action="store_true", help="leave out the run over all of Unicode")
    args = parser.parse_args()
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)  # it warns of texts with detached periods
    with tempfile.TemporaryDirectory() as folder:
        check = Check(args.program, folder)
        if not args.no_characters:
            check_characters(check)
            print(f"every character of Unicode: {check.compared} compared, {check.failures} differ", flush=True)
        paths = [p for p in sorted(args.corpora.glob("*/*.*")) if p.name.startswith(HELD_OUT) and args.only in str(p)]
        for number, path in enumerate(paths):
            before = check.failures
            check_text(check, path, number, args.full)
            print(f"{path.parent.name}/{path.name}: {'same' if check.failures == before else 'DIFFERS'}", flush=True)
        print(f"{len(paths)} texts, {check.compared} comparisons, {check.failures} differences")
    sys.exit(1 if check.failures or not check.compared else 0)


if __name__ == "__main__":
    main()
