#!/usr/bin/env python3
"""Makes the stored tokenizers of T5 that are tokenizer.json alone, each with the ids that the `tokenizers` package gives.

A folder has spiece.model, tokenizer.json made of it, and expected.json (lines and ids). now: as T5Tokenizer of transformers 5
saves it; older: as transformers 4 did; plain: without a normalizer. Folder model: tokenizer.json of the stored model silu_tied.
Needs transformers, tokenizers, sentencepiece:  python3 make_hf_t5_tokenizers.py FOLDER
"""

import json
import pathlib
import shutil
import sys
import tempfile

import sentencepiece
from make_hf_t5 import texts_of
from tokenizers import Tokenizer
from transformers import T5Tokenizer

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "peers"))
from t5_tokenizer_check import older  # noqa: E402

SENTINELS = 4
RULES = [("\u00a0", " "), ("\t", " "), ("\u3000", " "), ("\uff21", "A"), ("\ufb01", "fi"), ("e\u0301", "\u00e9")]
LINES = ["", " ", "  the  cat ", "the\tcat\u00a0sleeps", "\uff21n old house, \ufb01ne", "caf\u0065\u0301 and caf\u00e9",
         "<extra_id_0> cat<extra_id_3>sleeps", "<extra_id_4> is text", "<extra_id_", "\u4e2d\u6587 the\u4e2dcat", "zzzz ZZZ 123!"]


def learn_pieces(folder, has_rules):
    rules = folder / "rules.tsv"
    rules.write_text("".join("\t".join(" ".join(f"{ord(c):04X}" for c in text) for text in rule) + "\n" for rule in RULES))
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts_of(400, 1, False) + ["caf\u00e9 fine An"] * 9), model_prefix=str(folder / "spiece"), vocab_size=90,
        model_type="unigram", pad_id=0, eos_id=1, unk_id=2, bos_id=-1, pad_piece="<pad>", hard_vocab_limit=False,
        num_threads=1, minloglevel=2,
        **({"normalization_rule_tsv": str(rules)} if has_rules else {"normalization_rule_name": "identity"}))
    (folder / "spiece.vocab").unlink()
    rules.unlink()


def tokenizer_text(folder, sentinels):
    with tempfile.TemporaryDirectory() as place:
        source = pathlib.Path(place) / "source"
        source.mkdir()
        shutil.copy(folder / "spiece.model", source)
        T5Tokenizer.from_pretrained(source, extra_ids=sentinels).save_pretrained(pathlib.Path(place) / "saved")
        return json.dumps(json.loads((pathlib.Path(place) / "saved" / "tokenizer.json").read_text()), ensure_ascii=False)


def main():
    root = pathlib.Path(sys.argv[1])
    for name in ("now", "older", "plain"):
        folder = root / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        learn_pieces(folder, name != "plain")
        text = tokenizer_text(folder, SENTINELS)
        text = older(text) if name == "older" else text
        (folder / "tokenizer.json").write_text(text + "\n")
        tokenizer = Tokenizer.from_str(text)
        lines = texts_of(6, 5, True) + [line for line in LINES if name != "plain" or "\t" not in line and "\u00a0" not in line]
        rows = [dict(text=line, ids=tokenizer.encode(line).ids) for line in lines]
        (folder / "expected.json").write_text(json.dumps(rows, ensure_ascii=False, indent=0) + "\n")
    (root / "model").mkdir(exist_ok=True)
    text = tokenizer_text(pathlib.Path(__file__).parent / "hf_t5" / "silu_tied", 10)
    (root / "model" / "tokenizer.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
