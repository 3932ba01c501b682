"""`dragoman serve` beside the check, and a model to serve."""
import json
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request


def run(program, *words):
    subprocess.run([program, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def made_once(model, make, files=("done",)):
    """The folder of a model. make() fills it, unless the files are there."""
    if not all(os.path.exists(os.path.join(model, name)) for name in files):
        shutil.rmtree(model, ignore_errors=True)
        make()
        open(os.path.join(model, "done"), "w").close()
    return model


def sample_corpus(program, folder):
    """The folder of the sample corpus. Made once."""
    corpus = os.path.join(folder, "corpus")
    if not os.path.exists(os.path.join(corpus, "train.en")):
        run(program, "sample-corpus", "--pair", "en-de", "--seed", "1", "--output", corpus)
    return corpus


def pair_options(corpus):
    """Options of `train`: the texts of both languages."""
    sides = {"source": "train.en", "target": "train.de", "valid-source": "valid.en", "valid-target": "valid.de"}
    return [word for side, name in sides.items() for word in (f"--{side}", os.path.join(corpus, name))]


# Options of the models: the norms before the sub-layers, or where the paper has them and everything else unusual.
KINDS = {
    "pre": ["--preset", "tiny-prenorm"],
    "post": ["--preset", "tiny", "--norm-order", "post", "--tying", "none", "--activation", "gelu", "--positions", "learned",
             "--d-key", "16"],
    "batch": ["--preset", "tiny-prenorm", "--norm", "batch"],
    "rope": ["--preset", "tiny", "--positions", "rope"],
    "t5": ["--preset", "tiny-prenorm", "--positions", "relative", "--relative-buckets", "8", "--relative-distance", "6", "--scale-attention", "false",
           "--norm", "rms", "--biases", "none"],
    "ssru": ["--preset", "tiny-prenorm", "--decoder-sublayer", "ssru"],
}


def make_model(program, folder, kind="pre"):
    """A model that has seen the sample corpus for some seconds: bad translations, but real ones. Made once."""
    model = os.path.join(folder, "model" if kind == "pre" else f"model-{kind}")
    return made_once(model, lambda: run(
        program, "train", *KINDS[kind], "--encoder-layers", "2", "--decoder-layers", "2", "--vocab-size", "1000", "--dropout", "0",
        "--max-steps", "120", "--warmup-steps", "40", "--learning-rate", "0.002", "--batch-tokens", "1500", "--validate-every", "120",
        "--model", model, *pair_options(sample_corpus(program, folder))), files=("done", "attention.json"))


# Options of the language models: GPT-2 as it is but for its size, and a Llama with all that its neighbours add.
LANGUAGE_KINDS = {
    "gpt": ["--preset", "gpt-mini", "--activation", "gelu-tanh", "--biases", "all"],
    "llama": ["--preset", "llama-mini", "--n-kv-heads", "2", "--qk-norm", "true", "--window", "12", "--batch-tokens", "512"],
}


def make_language_model(program, folder, kind="gpt"):
    """A language model of characters that has seen the English half of the sample corpus for some seconds. Made once."""
    model = os.path.join(folder, f"language-model-{kind}")
    text = lambda name: os.path.join(sample_corpus(program, folder), name)
    return made_once(model, lambda: run(
        program, "train", *LANGUAGE_KINDS[kind], "--layers", "2", "--d-model", "32", "--d-ff", "64", "--n-heads", "4",
        "--max-positions", "96", "--max-length", "96", "--dropout", "0", "--max-steps", "200", "--warmup-steps", "20",
        "--validate-every", "200", "--model", model, "--text", text("train.en"), "--valid-text", text("valid.en")))


# Options of the recurrent models: with two ways of attention and without, both cells, one layer and two.
RECURRENT_KINDS = {
    "bahdanau": ["--preset", "gru-mini", "--layers", "2"],
    "feeding": ["--preset", "lstm-mini", "--layers", "1"],
    "luong": ["--preset", "gru-mini", "--attention", "luong"],
    "none": ["--preset", "lstm-mini", "--attention", "none", "--input-feeding", "false"],
}


def make_recurrent_model(program, folder, kind):
    """A recurrent model that has seen the sample corpus for some seconds. Made once."""
    model = os.path.join(folder, f"recurrent-{kind}")
    return made_once(model, lambda: run(
        program, "train", *RECURRENT_KINDS[kind], "--d-model", "32", "--d-hidden", "24", "--vocab-size", "400", "--dropout", "0",
        "--max-steps", "60", "--warmup-steps", "20", "--learning-rate", "0.003", "--batch-tokens", "1000", "--validate-every", "60",
        "--model", model, *pair_options(sample_corpus(program, folder))))


# Options of the convolutional models: kernels with a middle, and without one but with normalised weights and two tables.
CONVOLUTIONAL_KINDS = {
    "odd": ["--kernel-width", "3", "--encoder-layers", "2", "--decoder-layers", "2"],
    "even": ["--kernel-width", "4", "--encoder-layers", "1", "--decoder-layers", "2", "--weight-norm", "true", "--tying", "none"],
}


def make_convolutional_model(program, folder, kind):
    """A convolutional model that has seen the sample corpus for some seconds. Made once."""
    model = os.path.join(folder, f"convolutional-{kind}")
    return made_once(model, lambda: run(
        program, "train", "--preset", "conv-mini", *CONVOLUTIONAL_KINDS[kind], "--d-model", "32", "--d-hidden", "24", "--vocab-size", "400", "--dropout", "0",
        "--max-steps", "60", "--warmup-steps", "20", "--learning-rate", "0.003", "--batch-tokens", "1000", "--validate-every", "60",
        "--model", model, *pair_options(sample_corpus(program, folder))))


# The tasks of the encoders: a line of their text and its twin, whose labels are text too.
ENCODER_LINES = {
    "classify": ["night\tthe cat sleeps at night\n", "<img src=x onerror=window.ran=1>\tthe dog runs at noon\n"],
    "tag": ["the\tO\ncat\tB-ANIMAL\nsleeps\tO\nat\tO\nnight\tB-TIME\n\n", "the\tO\ndog\tB-ANIMAL\nruns\tO\nat\tO\nnoon\tB-TIME\n\n"],
    "masked-language-model": ["the cat sleeps at night\n", "the dog runs at noon\n"],
    "embed": ["the cat sleeps\tat night the cat is asleep\n", "the dog runs\tat noon the dog is fast\n"],
}


def make_encoder(program, folder, task):
    """An encoder that has seen two lines for some seconds. Made once."""
    model, text = os.path.join(folder, f"encoder-{task}"), os.path.join(folder, f"encoder-{task}.txt")

    def make():
        with open(text, "w", encoding="utf-8") as file:
            file.write("".join(ENCODER_LINES[task]) * 30)
        run(program, "train", "--preset", "bert-mini", "--task", task, "--text", text, "--valid-text", text, "--model", model,
            "--layers", "2", "--d-model", "32", "--d-ff", "64", "--n-heads", "2", "--max-positions", "32", "--max-length", "32",
            "--vocab-size", "90", "--batch-tokens", "128", "--learning-rate", "5e-3", "--warmup-steps", "10", "--max-steps", "80",
            "--validate-every", "40", "--quiet")

    return made_once(model, make)


class Server:
    """@param model  of the pair en:de, or None;  @param named  language models and encoders, served beside it"""

    def __init__(self, program, model, named=()):
        names = ([f"en:de={model}"] if model else []) + list(named)
        self.process = subprocess.Popen([program, "serve", *(word for name in names for word in ("--model", name)), "--port", "0"],
                                        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, encoding="utf-8")
        said = ""
        end = time.time() + 60
        while time.time() < end:
            line = self.process.stderr.readline()
            said += line
            found = re.search(r"serving at (http://\S+)", line)
            if found:
                self.address = found[1]
                return
            if not line:
                break
        raise RuntimeError(f"the server did not start: {said}")

    def get(self, path):
        with urllib.request.urlopen(self.address + path, timeout=60) as answer:
            return json.load(answer)

    def post(self, path, body):
        """(status, answer)"""
        request = urllib.request.Request(self.address + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def close(self):
        self.process.terminate()
        self.process.wait(60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Servers:
    """A server for each kind of model, started when it is first asked for."""

    def __init__(self, start):
        self.start, self.servers = start, {}

    def __call__(self, kind):
        if kind not in self.servers:
            self.servers[kind] = self.start(kind)
        return self.servers[kind]

    def close(self):
        for server in self.servers.values():
            server.close()
