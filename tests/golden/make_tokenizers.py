"""Makes tests/golden/tokenizers/: small tokenizer.json files and ids, by the `tokenizers` package (0.23).

    python make_tokenizers.py ../../../shared/corpora tokenizers

Written are llama3.json, qwen2.json and llama2.json, trained on a few lines here, and ids.json: for each of them, and for
the files of GPT-2 in CORPORA/vocabularies/gpt2, texts with their ids without special tokens.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "peers"))
import tokenizer_check as check  # noqa: E402
from tokenizers import Tokenizer, normalizers  # noqa: E402

TEXTS = [
    "", " ", "  ", "\n", "\r\n", "a", " a", "a ", "Hello world", " Hello world", "Hello  world", "Hello   world\n",
    "It's I'LL we'Ve they'RE don't he'd 'tis 's", "a'\u017fb", "12 123 1234 12345678", "x=1;\n\n\ty  =  22;\n  ",
    "if (a<b) {\r\n  return a;\r\n}\r\n\r\n\r\nend", "!!! ??? ...\n\n\nnext", "tabs\t\tand\t spaces \t x", "\u00a0\u3000x\u3000",
    "Gr\u00fc\u00dfe aus K\u00f6ln, 25\u202f\u20ac", "na\u00efve e\u0301 \u00e9", "\u4f60\u597d\uff0c\u4e16\u754c\u3002123\u4e2d\u6587",
    "\u0417\u0434\u0440\u0430\u0432\u0441\u0442\u0432\u0443\u0439 \u043c\u0438\u0440", "\u0645\u0631\u062d\u0628\u0627 \u0661\u0662\u0663\u0664",
    "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 ok", "\u00b2\u00bd\u2167\u2460 x\u00b2", "\x85x\x0by\x1cz", "\u2028\u2029a",
    "<|endoftext|>", "a <|endoftext|> b", "<|endoftext|><|endoftext|>x", "<s> a</s>b <unk>", "<0x41> \u2581 \u2581\u2581a",
    "the quick brown fox jumps over the lazy dog " * 3, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "https://example.org/a_b?c=d&e=%20#f", "_under__score___ CamelCase ALLCAPS", "\x00\x01\x02\x7f", "\ufeffmark \ufffd",
]
LINES = [
    "the quick brown fox jumps over the lazy dog", "It's what we don't know that they'll tell us, isn't it?",
    "In 1998 and 2024 there were 12,345 houses; 365 days; 7 weeks.", "Hello world, hello  again!\n\n",
    "if (x == 10) {\n    return y;\n}\n", "\u4f60\u597d\uff0c\u4e16\u754c\u3002", "Gr\u00fc\u00dfe aus K\u00f6ln und aus M\u00fcnchen",
]  # fmt: skip


def cases(tokenizer):
    return [{"text": text, "ids": tokenizer.encode(text, add_special_tokens=False).ids} for text in TEXTS]


def main():
    corpora, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    folder.mkdir(exist_ok=True)
    llama3 = check.train(check.byte_level(check.LLAMA3), LINES, [], size=360)
    data = json.loads(llama3.to_str())
    data["model"]["ignore_merges"] = True
    # A piece that no merge makes: only ignore_merges finds it.
    data["model"]["vocab"]["\u0120lazydog"] = len(data["model"]["vocab"])
    llama3 = Tokenizer.from_str(json.dumps(data))
    llama3.add_special_tokens(["<|begin_of_text|>", "<|end_of_text|>"])
    qwen2 = check.train(check.byte_level(check.QWEN2, normalizers.NFC()), LINES, [check.END], size=360)
    llama2 = check.with_byte_pieces(
        check.train(check.metaspace("first"), LINES, ["<unk>", "<s>", "</s>"], alphabet=False, size=160, byte_fallback=True)
    )
    made = {"llama3": llama3, "qwen2": qwen2, "llama2": llama2}
    ids = {name: cases(tokenizer) for name, tokenizer in made.items()}
    for name, tokenizer in made.items():
        tokenizer.save(str(folder / f"{name}.json"), pretty=False)
    gpt2 = check.gpt2(corpora)
    if gpt2 is not None:
        ids["gpt2"] = cases(gpt2)
    text = ",\n".join(
        f'"{name}": [\n' + ",\n".join(json.dumps(case) for case in found) + "\n]" for name, found in ids.items()
    )
    (folder / "ids.json").write_text("{\n" + text + "\n}\n")


if __name__ == "__main__":
    main()
