"""Compares the ids of `dragoman vocab --encode --ids` with those of the `tokenizers` package, line by line.

    python tokenizer_check.py build/dragoman ../shared/corpora [--lines 4000] [--random 10000] [--only NAME]

Texts: every text file of the folder (every k-th line, so that at most --lines of a file are taken) and random lines of
Unicode characters. Tokenizers: GPT-2 from its two files (vocabularies/gpt2 in the folder of corpora), and tokenizers
that are trained here on the corpora: the splits of Llama-3 with ignore_merges, of Qwen2 with NFC, of SmolLM with single
digits, and Llama-2 with Metaspace and with Prepend and Replace, both with byte fallback; BERT from its vocab.txt
(vocabularies/bert-base-uncased) and a cased WordPiece that is trained here. Compared too: decoded texts,
and that a tokenizer.json of dragoman loads in `tokenizers` and gives the same ids. Needs tokenizers 0.23.
Prints one line a tokenizer and ends with status 1 if any line differs.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unicodedata

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
END = "<|endoftext|>"
MARK = "\u2581"
NO_TEXT = {".json", ".md", ".dat", ".model", ".zip", ".gz", ".mrg", ".py"}


def text_files(folder):
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix not in NO_TEXT and "vocabularies" not in path.parts:
            try:
                text = path.read_bytes().decode()
            except UnicodeDecodeError:
                continue
            if "\0" not in text:
                yield text


def sampled_lines(folder, most):
    """Lines as the program reads them: without LF, and without one CR before it."""
    lines = []
    for text in text_files(folder):
        file_lines = text.split("\n")
        step = max(1, len(file_lines) // most)
        lines += [line.removesuffix("\r") for line in file_lines[::step]]
    return lines


def random_lines(count, seed):
    """Lines of random characters that Unicode 14 assigns, mixed with ASCII, white space, digits and special tokens."""
    rng = random.Random(seed)
    assigned = [c for c in map(chr, range(1, 0x30000)) if unicodedata.category(c) not in ("Cn", "Cs", "Co")]
    spaces = [" ", "  ", "\t", "\u00a0", "\u3000", "\u2028", "\x0b", "\x85", "\r", "\u200b", "\u2581"]
    words = ["'s", "'S", "'LL", "'ve", "'\u017f", "don't", END, "<s>", "</s>", "<0x41>", "1234567", "\u0661\u0662", "e\u0301", "..."]

    def part():
        draw = rng.random()
        if draw < 0.25:
            return rng.choice(assigned)
        if draw < 0.45:
            return chr(rng.randrange(0x20, 0x7F))
        if draw < 0.65:
            return rng.choice(spaces)
        if draw < 0.8:
            return rng.choice(words)
        if draw < 0.9:
            return chr(rng.randrange(0x61, 0x7B)) * rng.randrange(1, 12)
        return chr(rng.choice([0x4E00, 0x400, 0x600, 0x1F300, 0x3040]) + rng.randrange(0x50))

    lines = ["".join(part() for _ in range(rng.randrange(0, 24))) for _ in range(count)]
    lines += [("ab" * 3000 + " ") * 3, "a" * 10000, " " * 5000 + "x", "\u4e2d" * 4000]
    return [line.replace("\n", " ").rstrip("\r") for line in lines]


def byte_level(split, normalizer=None, digits=False, **options):
    tokenizer = Tokenizer(models.BPE(**options))
    tokenizer.normalizer = normalizer
    if digits:
        steps = [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    else:
        steps = [
            pre_tokenizers.Split(Regex(split), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def metaspace(scheme):
    """Llama-2 in its newer form, or, with scheme None, in its older one."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    if scheme is None:
        tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend(MARK), normalizers.Replace(" ", MARK)])
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=MARK, prepend_scheme=scheme, split=False)
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return tokenizer


def train(tokenizer, lines, special, alphabet=True, size=6000, byte_fallback=False):
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=special,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet() if alphabet else [],
        limit_alphabet=600 if byte_fallback else 100000,
    )
    if byte_fallback:  # words for training; encoding does not cut there
        kept = tokenizer.pre_tokenizer
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=MARK, prepend_scheme="first", split=True)
        tokenizer.train_from_iterator(lines, trainer)
        tokenizer.pre_tokenizer = kept
    else:
        tokenizer.train_from_iterator(lines, trainer)
    return tokenizer


def with_byte_pieces(tokenizer):
    """Puts the 256 byte pieces behind the special ones, as in Llama-2."""
    data = json.loads(tokenizer.to_str())
    pieces = sorted(data["model"]["vocab"], key=data["model"]["vocab"].get)
    pieces = pieces[:3] + [f"<0x{byte:02X}>" for byte in range(256)] + pieces[3:]
    data["model"]["vocab"] = {piece: index for index, piece in enumerate(pieces)}
    return Tokenizer.from_str(json.dumps(data))


def gpt2(folder):
    files = folder / "vocabularies" / "gpt2"
    if not (files / "vocab.json").exists():
        print(f"gpt2: skipped, no file {files / 'vocab.json'}")
        return None
    tokenizer = Tokenizer(models.BPE.from_file(str(files / "vocab.json"), str(files / "merges.txt")))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([END])
    return tokenizer


def word_piece(model, lower_case):
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lower_case)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


BERT_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def bert_uncased(folder):
    file = folder / "vocabularies" / "bert-base-uncased" / "vocab.txt"
    if not file.exists():
        print(f"bert-uncased: skipped, no file {file}")
        return None
    tokenizer = word_piece(models.WordPiece.from_file(str(file), unk_token="[UNK]"), True)
    tokenizer.add_special_tokens(BERT_SPECIAL)
    ids = [tokenizer.token_to_id(piece) for piece in ("[SEP]", "[CLS]")]
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", ids[0]), ("[CLS]", ids[1]))
    return tokenizer


def bert_cased(lines):
    tokenizer = word_piece(models.WordPiece(unk_token="[UNK]"), False)
    tokenizer.train_from_iterator(
        lines, trainers.WordPieceTrainer(vocab_size=6000, special_tokens=BERT_SPECIAL, show_progress=False)
    )
    return tokenizer


def make_tokenizers(folder, lines):
    """Pairs of a name and a function that makes the tokenizer."""

    def llama3():
        tokenizer = train(byte_level(LLAMA3), lines, [])
        data = json.loads(tokenizer.to_str())
        data["model"]["ignore_merges"] = True
        tokenizer = Tokenizer.from_str(json.dumps(data))
        tokenizer.add_special_tokens(["<|begin_of_text|>", "<|end_of_text|>"])
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<|begin_of_text|> $A",
            special_tokens=[("<|begin_of_text|>", tokenizer.token_to_id("<|begin_of_text|>"))],
        )
        return tokenizer

    def qwen2():
        tokenizer = train(byte_level(QWEN2, normalizers.NFC()), lines, [END])
        tokenizer.add_tokens([AddedToken("don", single_word=True), AddedToken("\u0661", lstrip=True, rstrip=True)])
        return tokenizer

    def llama2(scheme):
        return with_byte_pieces(
            train(metaspace(scheme), lines, ["<unk>", "<s>", "</s>"], alphabet=False, byte_fallback=True)
        )

    return {
        "gpt2": lambda: gpt2(folder),
        "bert-uncased": lambda: bert_uncased(folder),
        "bert-cased": lambda: bert_cased(lines),
        "llama3": llama3,
        "qwen2": qwen2,
        "smollm": lambda: train(byte_level("", digits=True), lines, [END]),
        "llama2-first": lambda: llama2("first"),
        "llama2-always": lambda: llama2("always"),
        "llama2-legacy": lambda: llama2(None),
    }


def program_lines(program, arguments, lines):
    text = "".join(line + "\n" for line in lines)
    done = subprocess.run([program, "vocab", *arguments], input=text.encode(), capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{program} vocab {arguments}: {done.stderr.decode()}")
    return done.stdout.decode().split("\n")[:-1]


def ids_of(program, file, lines):
    answers = program_lines(program, ["--model", str(file), "--encode", "--ids"], lines)
    return [[int(word) for word in answer.split()] for answer in answers]


def compare(name, tokenizer, program, lines, folder):
    file = folder / f"{name}.json"
    tokenizer.save(str(file))
    theirs = [encoding.ids for encoding in tokenizer.encode_batch(lines, add_special_tokens=False)]
    ours = ids_of(program, file, lines)
    if len(ours) != len(lines):
        print(f"{name}: {len(lines)} lines in, {len(ours)} out")
        return 1
    wrong = [index for index in range(len(lines)) if ours[index] != theirs[index]]
    for index in wrong[:5]:
        print(f"  {lines[index][:200]!r}\n    ours   {ours[index][:60]}\n    theirs {theirs[index][:60]}")
    texts = program_lines(program, ["--model", str(file), "--decode", "--ids"], [" ".join(map(str, ids)) for ids in theirs])
    decoded = tokenizer.decode_batch(theirs, skip_special_tokens=True)
    unlike = [index for index in range(len(lines)) if index >= len(texts) or texts[index] != decoded[index]]
    for index in unlike[:5]:
        print(f"  {lines[index][:200]!r}\n    ours   {texts[index][:200]!r}\n    theirs {decoded[index][:200]!r}")
    count = sum(map(len, theirs))
    print(f"{name}: {len(lines)} lines, {count} ids; {len(wrong)} lines and {len(unlike)} decoded texts differ", flush=True)
    return len(wrong) + len(unlike)


def compare_own_file(split, program, lines, folder):
    """A vocabulary that dragoman trains loads in `tokenizers` with the same ids."""
    text = folder / "text"
    text.write_text("".join(line + "\n" for line in lines[:20000]), newline="")
    file = folder / "trained.json"
    subprocess.run(
        [program, "vocab", "--input", text, "--output", file, "--byte-level", split, "--size", "2000"],
        capture_output=True,
        check=True,
    )
    return compare(f"own-{split}", Tokenizer.from_file(str(file)), program, lines, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("corpora", type=pathlib.Path)
    parser.add_argument("--lines", type=int, default=4000, help="of a file at most")
    parser.add_argument("--random", type=int, default=10000, help="random lines")
    parser.add_argument("--only", help="name of one tokenizer")
    arguments = parser.parse_args()
    corpus = sampled_lines(arguments.corpora, arguments.lines)
    lines = corpus + random_lines(arguments.random, 1)
    training = corpus[:: max(1, len(corpus) // 30000)]
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for key, make in make_tokenizers(arguments.corpora, training).items():
            if arguments.only in (None, key) and (tokenizer := make()) is not None:
                wrong += compare(key, tokenizer, arguments.program, lines, folder)
        for split in ("gpt2", "llama3", "qwen2"):
            if arguments.only in (None, f"own-{split}"):
                wrong += compare_own_file(split, arguments.program, lines, folder)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
