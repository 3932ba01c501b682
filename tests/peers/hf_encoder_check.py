#!/usr/bin/env python3
"""Holds exported encoders to transformers, on folders made here with random weights and on models that dragoman trains.

A folder of each kind is imported and exported again: AutoModel and AutoTokenizer load it, and ids, hidden rows and
logits are those of the original to 1e-4. Models of each head that dragoman trained, and one with sinusoidal positions,
are exported and compared with what `dragoman classify`, `tag`, `fill-mask` and `embed` say. The vectors are computed
from 1_Pooling/config.json and modules.json as sentence-transformers does, and by itself where it is installed.
Needs torch, transformers, tokenizers, safetensors:  python3 hf_encoder_check.py PROGRAM
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import torch
import transformers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import make_hf_encoders as maker  # noqa: E402

SHAPE = ("--layers 1 --d-model 32 --d-ff 48 --n-heads 2 --max-positions 32 --vocab-size 80 --max-length 32 "
         "--batch-tokens 256 --max-steps 30 --validate-every 30 --quiet").split()
ANIMALS, PLACES = ("cat", "dog", "hen", "cow"), ("barn", "yard", "field")


def run(program, *arguments, **options):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, encoding="utf-8", **options)
    if done.returncode != 0:
        sys.exit(f"dragoman {' '.join(map(str, arguments))}: status {done.returncode}: {done.stderr}")
    return done.stdout


class Report:
    failed = False

    def say(self, what, difference, tolerance=1e-4):
        good = difference <= tolerance
        print(f"{what}: {'equal' if good else 'DIFFERENT'} ({difference:.1e})")
        self.failed = self.failed or not good


def largest(a, b):
    return float((a - b).abs().max())


def check_round_trip(program, folder, name, report):
    maker.make(folder, name)
    source, back = folder / name, folder / f"{name}-back"
    layout = json.loads((source / "config.json").read_text())["model_type"]
    run(program, "import", "--from", f"hf-{layout}", source, "--model", folder / f"{name}-ours")
    run(program, "export", "--to", f"hf-{layout}", back, "--model", folder / f"{name}-ours")
    class_name = maker.VARIANTS[name][0]
    theirs = getattr(transformers, class_name).from_pretrained(source).eval()
    ours = getattr(transformers, class_name).from_pretrained(back).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(back)
    expected = json.loads((source / "expected.json").read_text())
    worst = 0.0
    for one in expected:
        texts = (one["text"], one["pair"]) if "pair" in one else (one["text"],)
        inputs = tokenizer(*texts, return_tensors="pt")
        ids = inputs["input_ids"][0].tolist()
        if ids != one["ids"]:
            report.say(f"{name}: ids of {one['text']!r}", 1.0)
        with torch.no_grad():
            worst = max([worst] + [largest(a, b) for a, b in zip(ours(**inputs).to_tuple(), theirs(**inputs).to_tuple())])
    report.say(f"{name} imported and exported", worst)


def write_texts(folder):
    classes = tags = plain = pairs = ""
    for line in range(60):
        animal, place = ANIMALS[line % 4], PLACES[line // 4 % 3]
        text = f"the {animal} sleeps in the {place}"
        classes += f"{'ab'[line % 2]}\t{text} {'now' if line % 2 else 'then'}\n"
        tags += f"the\tO\n{animal}\tB-X\nsleeps\tO\n\n"
        plain += text + "\n"
        pairs += f"{text} {line}\t{place} {line} {animal}\n"
    for name, text in (("classify", classes), ("tag", tags), ("masked-language-model", plain), ("embed", pairs)):
        (folder / f"{name}.txt").write_text(text)


def train(program, folder, task, *more):
    text = folder / f"{task}.txt"
    run(program, "train", "--preset", "bert-mini", "--task", task, "--text", text, "--valid-text", text, "--model",
        folder / task, *SHAPE, *more)
    run(program, "export", "--to", "hf-bert", folder / f"{task}-hf", "--model", folder / task)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / f"{task}-hf")
    return folder / task, folder / f"{task}-hf", tokenizer


def check_classes(program, folder, report):
    ours, theirs, tokenizer = train(program, folder, "classify")
    model = transformers.AutoModelForSequenceClassification.from_pretrained(theirs).eval()
    lines = ["the cat sleeps in the barn now", "the hen\tin the yard then"]
    for line in lines:  # one text and a pair, which one call does not mix
        answer = json.loads(run(program, "classify", "--model", ours, "--json", input=line + "\n"))
        with torch.no_grad():
            probabilities = model(**tokenizer(*line.split("\t"), return_tensors="pt")).logits.softmax(-1)[0]
        expected = torch.tensor([answer["probabilities"][model.config.id2label[i]] for i in range(len(probabilities))])
        report.say(f"classes of {line!r}", largest(probabilities, expected))


def check_tags(program, folder, report):
    ours, theirs, tokenizer = train(program, folder, "tag")
    model = transformers.AutoModelForTokenClassification.from_pretrained(theirs).eval()
    words = ["the", "cat", "sleeps"]
    answer = json.loads(run(program, "tag", "--model", ours, "--json", input=" ".join(words) + "\n"))
    inputs = tokenizer(words, is_split_into_words=True, return_tensors="pt")
    with torch.no_grad():
        probabilities = model(**inputs).logits.softmax(-1)[0]
    of_words = inputs.word_ids()
    best = [probabilities[of_words.index(word)].max() for word in range(len(words))]
    report.say("tags", largest(torch.stack(best), torch.tensor(answer["probabilities"])))


def check_words(program, folder, report):
    ours, theirs, tokenizer = train(program, folder, "masked-language-model", "--positions", "sinusoidal")
    model = transformers.AutoModelForMaskedLM.from_pretrained(theirs).eval()
    text = "the [MASK] sleeps in the barn"
    answer = json.loads(run(program, "fill-mask", "--model", ours, "--json", input=text + "\n"))["masks"][0]
    inputs = tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        logits = model(**inputs).logits[0]
    place = inputs["input_ids"][0].tolist().index(tokenizer.mask_token_id)
    probabilities = logits[place].softmax(-1)
    ids = torch.tensor([candidate["id"] for candidate in answer])
    report.say("hidden words, sinusoidal positions",
               largest(probabilities[ids], torch.tensor([candidate["probability"] for candidate in answer])))


def sentence_vector(folder, tokenizer, model, text):
    """As sentence-transformers reads the folder."""
    with torch.no_grad():
        vector = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
    for module in json.loads((folder / "modules.json").read_text()):
        kind = module["type"].rsplit(".", 1)[1]
        if kind == "Pooling":
            settings = json.loads((folder / module["path"] / "config.json").read_text())
            vector = vector[0] if settings["pooling_mode_cls_token"] else vector.mean(0)
        elif kind == "Normalize":
            vector = torch.nn.functional.normalize(vector, dim=0)
    return vector


def check_vectors(program, folder, report):
    texts = ["the cat sleeps in the barn 3", "field 7 hen"]
    for pooling in ("mean", "first"):
        (folder / pooling).mkdir()
        (folder / pooling / "embed.txt").write_text((folder / "embed.txt").read_text())
        ours, theirs, tokenizer = train(program, folder / pooling, "embed", "--text-pooling", pooling)
        model = transformers.AutoModel.from_pretrained(theirs).eval()
        lines = run(program, "embed", "--model", ours, input="\n".join(texts) + "\n").splitlines()
        vectors = torch.tensor([[float(number) for number in line.split("\t")] for line in lines])
        seen = torch.stack([sentence_vector(theirs, tokenizer, model, text) for text in texts])
        report.say(f"vectors, {pooling}", largest(vectors, seen))
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError:
            print("sentence-transformers is not installed: its own reading of the folder is not compared")
            continue
        encoded = torch.tensor(SentenceTransformer(str(theirs), device="cpu").encode(texts))
        report.say(f"vectors of sentence-transformers, {pooling}", largest(vectors, encoded))


def main():
    program, report = sys.argv[1], Report()
    transformers.utils.logging.set_verbosity_error()
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for name in maker.VARIANTS:
            check_round_trip(program, folder, name, report)
        write_texts(folder)
        for check in (check_classes, check_tags, check_words, check_vectors):
            check(program, folder, report)
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
