#!/usr/bin/env python3
"""Compares imported models of the family of BART with transformers on many lines: ids, logits, greedy and beam search of 4.

Makes the folders of tests/golden/make_hf_m2m100.py (M2M-100, NLLB-200, mBART-50) and make_hf_bart.py with COUNT lines each (200
unless given), random weights included, and runs the tests of the stored folders on them. Then imports and exports each
folder with the program, and compares the exported model in transformers with the one it was made of: logits, greedy search, and
of a BART the ids of AutoTokenizer.
Needs torch, transformers, sentencepiece, tokenizers, safetensors:  python3 hf_bart_check.py PROGRAM CORPORA [COUNT]
CORPORA is not used; every peer check takes the same arguments. PROGRAM is build/dragoman; its tests must be built.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

KINDS = [("make_hf_m2m100.py", "interop_hf_m2m100_test", "*StoredM2m100*", "DRAGOMAN_M2M100_FOLDERS"),
         ("make_hf_bart.py", "interop_hf_bart_test", "*StoredBart*", "DRAGOMAN_BART_FOLDERS")]


def run(*arguments):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, arguments))}: {done.stderr}")


def greedy(model, row, languages):
    start = languages.get(row.get("target"), 0)
    return model.generate(torch.tensor([row["ids"]]), num_beams=1, do_sample=False, max_length=20, forced_bos_token_id=start,
                          forced_eos_token_id=2, bad_words_ids=[[1], [3]], decoder_start_token_id=2, eos_token_id=2,
                          pad_token_id=1)[0].tolist()


def compare_export(program, folder, place):
    """The largest difference of logits, and the number of lines that differ in greedy search or in ids."""
    kind = {"m2m_100": "m2m100"}.get(json.loads((folder / "config.json").read_text())["model_type"],
                                     json.loads((folder / "config.json").read_text())["model_type"])
    model, exported = place / "model", place / "exported"
    run(program, "import", "--from", f"hf-{kind}", folder, "--model", model)
    run(program, "export", "--to", f"hf-{kind}", exported, "--model", model)
    theirs, ours = (AutoModelForSeq2SeqLM.from_pretrained(f).eval() for f in (folder, exported))
    rows = json.loads((folder / "expected.json").read_text())["lines"]
    languages = {row["source"]: row["ids"][0] for row in rows if "source" in row}
    tokenizer = AutoTokenizer.from_pretrained(exported) if kind == "bart" else None
    difference = wrong = 0
    with torch.no_grad():
        for row in rows:
            source, target = torch.tensor([row["ids"]]), torch.tensor([[2] + row["ids"][:-1]])
            a, b = (m(input_ids=source, decoder_input_ids=target).logits for m in (theirs, ours))
            difference = max(difference, (a - b).abs().max().item())
            wrong += greedy(theirs, row, languages) != greedy(ours, row, languages)
            wrong += tokenizer is not None and tokenizer(row["line"]).input_ids != row["ids"]
    print(f"export of {folder.name}: {len(rows)} lines, largest difference of logits {difference}, {wrong} lines differ")
    return difference > 1e-5 or wrong > 0


def main():
    build, count = pathlib.Path(sys.argv[1]).resolve().parent, sys.argv[3] if len(sys.argv) > 3 else "200"
    golden = pathlib.Path(__file__).parent.parent / "golden"
    status = 0
    for maker, program, tests, variable in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, str(golden / maker), folder, count], check=True)
            done = subprocess.run([str(build / "tests" / "interop" / program), f"--gtest_filter={tests}"], env=os.environ | {variable: folder})
            for made in sorted(pathlib.Path(folder).iterdir()):
                with tempfile.TemporaryDirectory() as place:
                    status = compare_export(build / "dragoman", made, pathlib.Path(place)) or status
        print(f"{maker}: {count} lines of each folder: {'equal' if done.returncode == 0 else 'DIFFERENT'}")
        status = status or done.returncode
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
