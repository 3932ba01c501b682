#!/usr/bin/env python3
"""Compares the ids of T5 folders that have tokenizer.json alone with those of the `tokenizers` package, line by line.

    python t5_tokenizer_check.py build/dragoman ../shared/corpora [--lines 4000] [--random 5000]

Texts: the lines of tokenizer_check.py, and lines with sentinels. Tokenizers: the real piece file of T5 (vocabularies/t5 in the
folder of corpora) and one that is trained here as mT5, each as T5Tokenizer of transformers saves it (WhitespaceSplit, then
Metaspace) and as transformers 4 did (Strip and Replace in the normalizer, Metaspace alone). Each becomes the folder of a
tiny random model, which `dragoman import --from hf-t5` reads without spiece.model and with spiece.model alone.

The `tokenizers` package normalises each grapheme by itself and SentencePiece the text, so some texts of several code points to a
character differ; such lines are counted apart: there the ids must be those of SentencePiece, with which the model was trained.
Needs torch, transformers, tokenizers, sentencepiece, safetensors. Prints a line a tokenizer; status 1 if any other line differs.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import sentencepiece
from tokenizer_check import ids_of, random_lines, sampled_lines
from tokenizers import Tokenizer
from transformers import T5Config, T5ForConditionalGeneration, T5Tokenizer

SPECIAL = ("<pad>", "</s>", "<unk>")
SENTINELS = 100


def older(text):
    """The file as transformers 4 saved it."""
    data = json.loads(text)
    data["normalizer"] = {"type": "Sequence", "normalizers": ([data["normalizer"]] if data["normalizer"] else []) + [
        {"type": "Strip", "strip_left": False, "strip_right": True},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "\u2581"}]}
    data["pre_tokenizer"] = {"type": "Metaspace", "replacement": "\u2581", "add_prefix_space": True}
    return json.dumps(data, ensure_ascii=False)


def learn_pieces(lines, folder):
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_prefix=str(folder / "spiece"), vocab_size=4000, model_type="unigram",
        pad_id=0, eos_id=1, unk_id=2, bos_id=-1, pad_piece="<pad>", character_coverage=0.9995, num_threads=2,
        max_sentence_length=20000, input_sentence_size=30000, minloglevel=2)
    return folder / "spiece.model"


def imported(program, folder, vocab_size):
    """The vocabulary of the folder, as dragoman imports it."""
    T5ForConditionalGeneration(T5Config(vocab_size=vocab_size, d_model=4, d_kv=2, d_ff=4, num_layers=1, num_heads=1,
                                        decoder_start_token_id=0)).save_pretrained(folder)
    model = folder.parent / (folder.name + "-model")
    done = subprocess.run([program, "import", "--from", "hf-t5", folder, "--model", model], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"import of {folder.name}: {done.stderr}")
    return model / "vocabulary.spm"


def t5_ids(program, vocabulary, lines):
    """The ids of T5: those of dragoman are in the order of <pad>, <unk>, <s> (a second <pad>), </s> and the others."""
    return [[{0: 0, 1: 2, 2: 0, 3: 1}.get(i, i - 1) for i in ids] for ids in ids_of(program, vocabulary, lines)]


def sentinel_lines(lines):
    return [f"{line[:30]} <extra_id_{i % SENTINELS}> {line[30:60]}<extra_id_0>" for i, line in enumerate(lines)]


def compare(name, text, spiece, program, lines, place):
    tokenizer = Tokenizer.from_str(text)
    size = tokenizer.get_vocab_size()
    vocabularies = []
    for kind in ("json", "spm"):
        folder = place / f"{name}-{kind}"
        folder.mkdir()
        if kind == "json":
            (folder / "tokenizer.json").write_text(text)
        else:
            shutil.copy(spiece, folder / "spiece.model")
        vocabularies.append(imported(program, folder, (size + 127) // 128 * 128))
    theirs = [encoding.ids for encoding in tokenizer.encode_batch(lines, add_special_tokens=False)]
    ours, with_spm = (t5_ids(program, vocabulary, lines) for vocabulary in vocabularies)
    wrong = [i for i in range(len(lines)) if ours[i] != theirs[i] and ours[i] != with_spm[i]]
    apart = [i for i in range(len(lines)) if ours[i] != theirs[i] and ours[i] == with_spm[i]]
    unlike = sum(a != b for a, b in zip(ours, with_spm))
    for i in wrong[:5]:
        print(f"  {lines[i][:200]!r}\n    ours   {ours[i][:60]}\n    theirs {theirs[i][:60]}\n    spiece {with_spm[i][:60]}")
    for i in apart[:2]:
        print(f"  as SentencePiece: {lines[i][:80]!r}")
    print(f"{name}: {len(lines)} lines, {sum(map(len, theirs))} ids; {len(wrong)} lines differ; {len(apart)} are as in "
          f"SentencePiece and not as in tokenizers; {unlike} are not as with spiece.model", flush=True)
    return len(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("corpora", type=pathlib.Path)
    parser.add_argument("--lines", type=int, default=4000, help="of a file at most")
    parser.add_argument("--random", type=int, default=5000, help="random lines")
    arguments = parser.parse_args()
    corpus = sampled_lines(arguments.corpora, arguments.lines)
    # Text of special tokens is theirs in tokenizers, and plain text for SentencePiece.
    lines = [line for line in corpus + sentinel_lines(corpus[::50]) + random_lines(arguments.random, 1)
             if not any(token in line for token in SPECIAL)]
    wrong = 0
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        files = {"t5": arguments.corpora / "vocabularies" / "t5" / "spiece.model", "trained": learn_pieces(corpus[::20], place)}
        for name, spiece in files.items():
            if not spiece.exists():
                print(f"{name}: skipped, no file {spiece}")
                continue
            source = place / name
            source.mkdir()
            shutil.copy(spiece, source / "spiece.model")
            saved = place / f"{name}-saved"
            T5Tokenizer.from_pretrained(source).save_pretrained(saved)
            text = (saved / "tokenizer.json").read_text()
            for form, file in (("now", text), ("older", older(text))):
                wrong += compare(f"{name}-{form}", file, spiece, arguments.program, lines, place)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
