"""Asks `dragoman serve` for vectors with the package openai, unchanged but for the address.

    python openai_embeddings_check.py build/dragoman [CORPORA] [--model DIR]

Trains a small encoder for some steps (or takes DIR, an encoder), serves it without and with API keys, and lets the package
list models and ask for vectors, in its synchronous and its asynchronous form: as numbers and in base64, of texts and of
token ids. What it gives back is compared with `dragoman embed`.
Needs openai. Ends with status 1 if anything differs.
"""

import argparse
import asyncio
import base64
import hashlib
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import openai

from served_model import Server, check, failures, train_classifier

TEXTS = ["the sun is high at noon", "a cat runs", "noon", "the moon ☾ is high"]


def as_floats(numbers):
    """Numbers as float32, by which the model computes."""
    return [struct.unpack("<f", struct.pack("<f", number))[0] for number in numbers]


def offline(program, model):
    """The vectors of the command."""
    command = [program, "embed", "--model", model, "--json"]
    text = "".join(line + "\n" for line in TEXTS)
    said = subprocess.run(command, input=text, capture_output=True, encoding="utf-8", check=True).stdout
    return [as_floats(json.loads(line)["embedding"]) for line in said.splitlines()]


def vectors_of(answer):
    return [as_floats(one.embedding) for one in answer.data]


def error_of(action, kind):
    """The status, the code and the field of the error that `action` ends in."""
    try:
        action()
    except kind as error:
        return error.status_code, error.code, error.param
    return "no error"


def check_vectors(client, name, expected):
    check("models", [one.id for one in client.models.list()], [name])
    answer = client.embeddings.create(model=name, input=TEXTS)  # the package asks for base64
    check("texts", vectors_of(answer), expected)
    check("order", [one.index for one in answer.data], list(range(len(TEXTS))))
    check("object and model", (answer.object, answer.data[0].object, answer.model), ("list", "embedding", name))
    check("usage", answer.usage.prompt_tokens > len(TEXTS), True)
    numbers = client.embeddings.create(model=name, input=TEXTS, encoding_format="float")
    check("as numbers", vectors_of(numbers), expected)
    raw = client.embeddings.create(model=name, input=TEXTS[0], encoding_format="base64").data[0].embedding
    check("base64", list(struct.unpack(f"<{len(expected[0])}f", base64.b64decode(raw))), expected[0])
    check("one text", vectors_of(client.embeddings.create(model=name, input=TEXTS[1])), [expected[1]])
    ids = client.embeddings.create(model=name, input=[[5, 6], [7]])
    one = client.embeddings.create(model=name, input=[5, 6])
    check("token ids", vectors_of(ids)[0], vectors_of(one)[0])
    same = client.embeddings.create(model=name, input=TEXTS[2], dimensions=len(expected[0]), user="me")
    check("dimensions of the model", vectors_of(same), [expected[2]])


def check_errors(client, name):
    def error(**asked):
        return error_of(lambda: client.embeddings.create(**asked), openai.BadRequestError)

    check("error: an empty text", error(model=name, input=""), (400, None, "input"))
    check("error: no text", error(model=name, input=[]), (400, None, "input"))
    check("error: other dimensions", error(model=name, input="a", dimensions=3), (400, None, "dimensions"))
    check("error: a long text", error(model=name, input="a " * 2000), (400, "context_length_exceeded", "input"))
    check("error: too many texts", error(model=name, input=["a"] * 200), (400, None, "input"))
    cut = client.embeddings.create(model=name, input="a " * 2000, extra_body={"truncate": True})
    check("a long text is cut where it is asked for", len(cut.data), 1)
    seen = error_of(lambda: client.embeddings.create(model="none", input="a"), openai.NotFoundError)
    check("error: an unknown model", seen, (404, "model_not_found", "model"))


def check_labels(client, program, model, name):
    """The routes beside OpenAI's, by the way of the package for routes that it does not know."""
    command = [program, "classify", "--model", model, "--json"]
    said = json.loads(subprocess.run(command, input=TEXTS[0] + "\n", capture_output=True, encoding="utf-8", check=True).stdout)
    told = client.post("/classify", body={"model": name, "input": TEXTS[0]}, cast_to=object)["data"][0]
    check("classify: label", told["label"], said["label"])
    check("classify: probabilities", {one["label"]: one["probability"] for one in told["labels"]}, said["probabilities"])


async def check_async(address, name, expected):
    async with openai.AsyncOpenAI(base_url=address + "/v1", api_key="none") as client:
        asked = (client.embeddings.create(model=name, input=text) for _ in range(8) for text in TEXTS)
        answers = await asyncio.gather(*asked)
        check("async: thirty-two at a time", [vectors_of(one)[0] for one in answers], expected * 8)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("corpora", nargs="?")
    parser.add_argument("--model")
    arguments = parser.parse_args()
    program = pathlib.Path(arguments.program).resolve()
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = pathlib.Path(name_of_folder)
        model = pathlib.Path(arguments.model) if arguments.model else train_classifier(program, folder)
        expected = offline(program, model)
        with Server(program, model, languages="") as server:
            client = openai.OpenAI(base_url=server.address + "/v1", api_key="none", max_retries=0)
            name = client.models.list().data[0].id
            check_vectors(client, name, expected)
            check_errors(client, name)
            if not arguments.model:
                check_labels(client, program, model, name)
            asyncio.run(check_async(server.address, name, expected))
        check("the server ends in status 0", server.status, 0)
        keys = folder / "keys"
        keys.write_text(hashlib.sha256(b"secret").hexdigest() + "  someone  2  0\n")
        with Server(program, model, "--api-keys", keys, languages="") as server:
            client = openai.OpenAI(base_url=server.address + "/v1", api_key="wrong", max_retries=0)
            seen = error_of(lambda: client.embeddings.create(model=name, input="a"), openai.AuthenticationError)
            check("keys: a wrong one", seen, (401, "invalid_api_key", None))
            client = openai.OpenAI(base_url=server.address + "/v1", api_key="secret", max_retries=0)
            for _ in range(2):
                client.embeddings.create(model=name, input="a")
            seen = error_of(lambda: client.embeddings.create(model=name, input="a"), openai.RateLimitError)
            check("keys: too many requests", seen, (429, "rate_limit_exceeded", None))
    print(f"{len(failures)} differences")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
