#!/usr/bin/env python3
"""Turns sentences into vectors with dragoman and with its peers, in turn on the same cores, from text.

    benchmarks/compare_encoders.py [--shapes mini,base] [--sentences 512] [--rounds 3] [--json FILE]

The models have the shapes of BERT-Mini and BERT-Base and random weights; the tokenizer is WordPiece with the vocabulary that
--vocabulary names (vocab.txt of bert-base-uncased). Sentences are random words of it, 3 to 60, most of them short. Everybody
starts from text: seconds hold the tokenizer, the encoder and the mean over the rows; loading counts apart. The peers get
batches of 32 sentences of like length; dragoman makes its own. CTranslate2 runs once with two threads for a batch and once
with two batches at a time, PyTorch in float32 and with dynamic int8; the faster one counts. The vectors of everybody are
compared with those of PyTorch in float32.

dragoman comes as its Python package (--package names the folder that holds it, such as build/python). Packages of peers
(torch, transformers, ctranslate2) come from the interpreter that --python or DRAGOMAN_BENCHMARK_PYTHON names, or from the one
that runs this script; it must be able to import the package too.
"""

import argparse
import array
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

import peer_python

SHAPES = {"mini": (4, 256, 4, 1024), "base": (12, 768, 12, 3072)}  # layers, width, heads, width inside
BATCH = 32


def sorted_batches(lengths, size):
    """Numbers of sentences of like length, the longest first."""
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    return [order[begin : begin + size] for begin in range(0, len(order), size)]


def dragoman_side(job):
    sys.path.insert(0, job["package"])
    import dragoman

    begin = time.perf_counter()
    model = dragoman.load(job["folder"], precision=job["precision"])
    loaded = time.perf_counter() - begin
    return loaded, lambda texts: model.embed(texts)


def torch_side(job):
    import numpy
    import torch
    import transformers

    torch.set_num_threads(job["threads"])
    begin = time.perf_counter()
    tokenizer = transformers.AutoTokenizer.from_pretrained(job["peer"])
    model = transformers.AutoModel.from_pretrained(job["peer"], add_pooling_layer=False).eval()
    if job["precision"] == "int8":
        model = torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8)
    loaded = time.perf_counter() - begin

    def embed(texts):
        ids = tokenizer(texts)["input_ids"]
        vectors = numpy.empty((len(texts), model.config.hidden_size), "float32")
        with torch.inference_mode():
            for batch in sorted_batches([len(each) for each in ids], BATCH):
                padded = tokenizer.pad({"input_ids": [ids[i] for i in batch]}, return_tensors="pt")
                hidden = model(**padded).last_hidden_state
                mask = padded["attention_mask"].unsqueeze(-1)
                vectors[batch] = ((hidden * mask).sum(1) / mask.sum(1)).numpy()
        return vectors

    return loaded, embed


def ctranslate2_side(job):
    from concurrent.futures import ThreadPoolExecutor

    import ctranslate2
    import numpy
    import transformers

    begin = time.perf_counter()
    tokenizer = transformers.AutoTokenizer.from_pretrained(job["peer"])
    at_once = job["at_once"]
    encoder = ctranslate2.Encoder(job["converted"], compute_type=job["precision"], inter_threads=at_once,
                                  intra_threads=job["threads"] // at_once)
    loaded = time.perf_counter() - begin

    def embed(texts):
        ids = tokenizer(texts)["input_ids"]
        vectors = numpy.empty((len(texts), job["width"]), "float32")

        def one(batch):
            hidden = numpy.array(encoder.forward_batch([ids[i] for i in batch]).last_hidden_state)
            for row, i in enumerate(batch):
                vectors[i] = hidden[row, : len(ids[i])].mean(0)

        batches = sorted_batches([len(each) for each in ids], BATCH)
        with ThreadPoolExecutor(at_once) as pool:
            list(pool.map(one, batches))
        return vectors

    return loaded, embed


SIDES = {"dragoman": dragoman_side, "torch": torch_side, "ctranslate2": ctranslate2_side}


def run_side(job):
    """In a process of its own: times one side and prints a line of JSON."""
    import resource

    import numpy

    texts = pathlib.Path(job["texts"]).read_text(encoding="utf-8").splitlines()
    loaded, embed = SIDES[job["side"]](job)
    embed(texts[:BATCH])
    begin = time.perf_counter()
    vectors = embed(texts)
    seconds = time.perf_counter() - begin
    numpy.ascontiguousarray(vectors, "float32").tofile(job["vectors"])
    print(json.dumps({"seconds": seconds, "load_seconds": loaded,
                      "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}))


def make_models(shape, vocabulary, folder):
    """A folder of transformers and one of CTranslate2."""
    import ctranslate2
    import torch
    import transformers

    layers, width, heads, inside = SHAPES[shape]
    torch.manual_seed(1)
    tokenizer = transformers.BertTokenizerFast(vocab_file=str(vocabulary))
    model = transformers.BertModel(transformers.BertConfig(
        vocab_size=len(tokenizer), hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads,
        intermediate_size=inside, position_embedding_type="absolute"))  # the converter asks for it
    model.save_pretrained(folder / "peer")
    tokenizer.save_pretrained(folder / "peer")
    ctranslate2.converters.TransformersConverter(str(folder / "peer")).convert(str(folder / "converted"))


def write_sentences(vocabulary, count, path):
    words = [piece for piece in vocabulary.read_text(encoding="utf-8").splitlines() if piece.isascii() and piece.isalpha() and len(piece) > 2]
    draw = random.Random(1)
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(count):
            length = min(3 + int(draw.expovariate(1 / 15)), 60)
            file.write(" ".join(draw.choices(words, k=length)) + "\n")


def worst_cosine(first, second, width):
    both = []
    for path in (first, second):
        values = array.array("f", path.read_bytes())
        both.append([values[begin : begin + width] for begin in range(0, len(values), width)])

    def product(a, b):
        return sum(x * y for x, y in zip(a, b))

    return min(product(a, b) / math.sqrt(product(a, a) * product(b, b)) for a, b in zip(*both))


def measure(arguments, shape, work, python):
    folder = work / shape
    folder.mkdir()
    make = subprocess.run([python, __file__, "--make", shape, "--vocabulary", arguments.vocabulary, "--work", folder], capture_output=True, text=True)
    if make.returncode != 0:
        raise SystemExit(f"compare_encoders: cannot make the models: {make.stderr}")
    subprocess.run([arguments.program, "import", "--from", "hf-bert", folder / "peer", "--model", folder / "model", "--quiet"], check=True)
    rows = {}
    for precision in ("float32", "int8"):
        sides = {"dragoman": {"side": "dragoman"}, "PyTorch": {"side": "torch"},
                 "CTranslate2, two threads a batch": {"side": "ctranslate2", "at_once": 1},
                 "CTranslate2, two batches at a time": {"side": "ctranslate2", "at_once": 2}}
        seconds = {name: [] for name in sides}
        vectors = {name: folder / f"{precision}.{number}.vectors" for number, name in enumerate(sides)}
        others = {}
        for _ in range(arguments.rounds):
            for name, side in sides.items():
                job = {"folder": str(folder / "model"), "peer": str(folder / "peer"), "converted": str(folder / "converted"),
                       "texts": str(work / "texts"), "precision": precision, "threads": os.cpu_count(), "width": SHAPES[shape][1],
                       "package": arguments.package, "vectors": str(vectors[name]), **side}
                result = subprocess.run([python, __file__, "--job", json.dumps(job)], capture_output=True, text=True)
                if result.returncode != 0:
                    raise SystemExit(f"compare_encoders: {name}, {precision}: {result.stderr}")
                said = json.loads(result.stdout.splitlines()[-1])
                seconds[name].append(said.pop("seconds"))
                others[name] = said
        right = folder / "float32.1.vectors"  # of PyTorch
        rows[precision] = {name: {"sentences_per_second": arguments.sentences / statistics.median(seconds[name]), **others[name],
                                  "worst_cosine": worst_cosine(vectors[name], right, SHAPES[shape][1])} for name in sides}
        report(shape, precision, rows[precision])
    return rows


def report(shape, precision, row):
    speed = {name: each["sentences_per_second"] for name, each in row.items()}
    ours, torch = speed["dragoman"], speed["PyTorch"]
    ctranslate2 = max(value for name, value in speed.items() if name.startswith("CTranslate2"))
    print(f"{shape:5} {precision:8} {ours:9.1f} {torch:9.1f} {ctranslate2:11.1f}   {ours / torch:5.2f} {ours / ctranslate2:5.2f}   "
          + ", ".join(f"{each['worst_cosine']:.4f}" for each in row.values()), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/dragoman")
    parser.add_argument("--package", default="build/python", help="folder that holds the Python package dragoman")
    parser.add_argument("--vocabulary", help="vocab.txt of a BERT")
    parser.add_argument("--python")
    parser.add_argument("--shapes", default="mini,base")
    parser.add_argument("--sentences", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    parser.add_argument("--make", help=argparse.SUPPRESS)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        return run_side(json.loads(arguments.job))
    if not arguments.vocabulary:
        parser.error("--vocabulary is missing: vocab.txt of bert-base-uncased or of another BERT")
    vocabulary = pathlib.Path(arguments.vocabulary)
    if arguments.make:
        return make_models(arguments.make, vocabulary, pathlib.Path(arguments.work))
    python = peer_python.find(["torch", "transformers", "ctranslate2", "numpy"], arguments.python, parser.error)
    print("sentences a second   dragoman   PyTorch CTranslate2   ratio to each   worst cosine with PyTorch in float32: dragoman, PyTorch, CTranslate2 twice")
    results = {}
    with tempfile.TemporaryDirectory() as work:
        write_sentences(vocabulary, arguments.sentences, pathlib.Path(work) / "texts")
        for shape in arguments.shapes.split(","):
            results[shape] = measure(arguments, shape, pathlib.Path(work), python)
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
