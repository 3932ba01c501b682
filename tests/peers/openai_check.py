"""Speaks to `dragoman serve` with the package openai, unchanged but for the address.

    python openai_check.py build/dragoman [CORPORA] [--model DIR]

Trains a small character model for some steps (or takes DIR, a language model), serves it without and with API keys, and
lets the package list models, complete, stream and fail, in its synchronous and its asynchronous form. Then it gives the model a
chat template, by way of a folder of transformers, and holds conversations.
Needs openai. Ends with status 1 if anything differs.
"""

import argparse
import asyncio
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.request

import openai

from served_model import Server, check, failures, train_language_model

ASKED = {"prompt": "the ", "max_tokens": 40, "seed": 7}


def metric(address, name):
    with urllib.request.urlopen(address + "/metrics") as answer:
        lines = answer.read().decode().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(name + " "))


def is_idle(address):
    """Waits until no request is under way, at most ten seconds."""
    end = time.monotonic() + 10
    while metric(address, "dragoman_requests_in_flight") > 0 and time.monotonic() < end:
        time.sleep(0.05)
    return metric(address, "dragoman_requests_in_flight") == 0


def error_of(action, kind):
    """The status, the code and the field of the error that `action` ends in."""
    try:
        action()
    except kind as error:
        return error.status_code, error.code, error.param
    return "no error"


def check_models(client, name):
    check("models: list", [one.id for one in client.models.list()], [name])
    check("models: retrieve", client.models.retrieve(name).owned_by, "dragoman")
    seen = error_of(lambda: client.models.retrieve("gpt-5"), openai.NotFoundError)
    check("models: unknown", seen, (404, "model_not_found", "model"))


def check_completions(client, name):
    whole = client.completions.create(model=name, **ASKED)
    text = whole.choices[0].text
    check("completion: object and model", (whole.object, whole.model), ("text_completion", name))
    check("completion: usage", whole.usage.total_tokens, whole.usage.prompt_tokens + whole.usage.completion_tokens)
    again = client.completions.create(model=name, **ASKED)
    check("completion: a seed gives the same text", again.choices[0].text, text)
    many = client.completions.create(model=name, n=3, **{**ASKED, "prompt": ["the ", "a "]})
    check("completion: n and prompts", [one.index for one in many.choices], list(range(6)))
    check("completion: the first of many is that alone", many.choices[0].text, text)
    stopped = client.completions.create(model=name, stop=[text[5:8]], **ASKED)
    check("completion: stop", (stopped.choices[0].text, stopped.choices[0].finish_reason), (text.split(text[5:8])[0], "stop"))
    echo = client.completions.create(model=name, echo=True, logprobs=2, extra_body={"top_k": 0, "min_p": 0.0}, **ASKED)
    logprobs = echo.choices[0].logprobs
    check("completion: echo", echo.choices[0].text, "the " + text)
    check("completion: tokens are the text", "".join(logprobs.tokens), echo.choices[0].text)
    check("completion: the first token has no logprob", logprobs.token_logprobs[0], None)
    told = all(logprobs.top_logprobs[i][token] == logprobs.token_logprobs[i] for i, token in enumerate(logprobs.tokens) if i)
    check("completion: top_logprobs have the token", told, True)


def check_streams(client, name):
    text = client.completions.create(model=name, **ASKED).choices[0].text
    options = {"include_usage": True}
    chunks = list(client.completions.create(model=name, stream=True, stream_options=options, **ASKED))
    check("stream: joined", "".join(chunk.choices[0].text for chunk in chunks if chunk.choices), text)
    check("stream: many pieces", len(chunks) > 10, True)
    check("stream: reason at the end", chunks[-2].choices[0].finish_reason in ("stop", "length"), True)
    check("stream: usage", chunks[-1].usage.completion_tokens > 0, True)


def check_errors(client, name):
    create = client.completions.create
    bad = openai.BadRequestError
    seen = error_of(lambda: create(model=name, prompt="a", temperature=-1), bad)
    check("error: temperature", seen, (400, None, "temperature"))
    seen = error_of(lambda: create(model=name, prompt=[0] * 100_000), bad)
    check("error: a long prompt", seen, (400, "context_length_exceeded", "prompt"))
    seen = error_of(lambda: create(model=name, prompt="a", extra_body={"grammar": "x"}), bad)
    check("error: an unknown field", seen, (400, None, "grammar"))
    message = [{"role": "user", "content": "hello"}]
    seen = error_of(lambda: client.chat.completions.create(model=name, messages=message), bad)
    check("error: chat without a template", seen, (400, None, "model"))


def check_cancel(client, name, address):
    stream = client.completions.create(model=name, prompt="the ", max_tokens=100_000, n=64, seed=1, stream=True)
    next(iter(stream))
    stream.close()
    check("cancel: the work ends with its client", is_idle(address), True)


TEMPLATE = "{% for message in messages %}{{ message.role }}: {{ message.content | trim }}\n\n{% endfor %}assistant:"
MESSAGES = [{"role": "system", "content": "be kind"}, {"role": "user", "content": " who are you "}]


def with_template(program, model, folder):
    """The model with a chat template, exported and imported again."""
    subprocess.run([program, "export", "--to", "hf-gpt2", folder / "hf", "--model", model], check=True, capture_output=True)
    path = folder / "hf" / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"chat_template": TEMPLATE}))
    subprocess.run([program, "import", "--from", "hf-gpt2", folder / "hf", "--model", folder / "talker"], check=True, capture_output=True)
    return folder / "talker"


def check_chat(client, name):
    asked = {"model": name, "messages": MESSAGES, "max_tokens": 40, "seed": 7}
    whole = client.chat.completions.create(logprobs=True, top_logprobs=2, **asked)
    choice = whole.choices[0]
    check("chat: object and role", (whole.object, choice.message.role), ("chat.completion", "assistant"))
    prompt = "system: be kind\n\nuser: who are you\n\nassistant:"
    text = client.completions.create(model=name, prompt=prompt, max_tokens=40, seed=7).choices[0].text
    check("chat: the answer continues the text of the template", choice.message.content, text)
    check("chat: tokens are the text", "".join(one.token for one in choice.logprobs.content), text)
    check("chat: two alternatives", {len(one.top_logprobs) for one in choice.logprobs.content}, {2})
    chunks = list(client.chat.completions.create(stream=True, stream_options={"include_usage": True}, **asked))
    check("chat: stream", "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices), text)
    check("chat: the first piece has the role", chunks[0].choices[0].delta.role, "assistant")
    check("chat: usage", chunks[-1].usage.total_tokens, whole.usage.total_tokens)
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    seen = error_of(lambda: client.chat.completions.create(tools=[tool], **asked), openai.BadRequestError)
    check("chat: tools", seen, (400, None, "tools"))
    long = [{"role": "user", "content": "a" * 4000}]
    seen = error_of(lambda: client.chat.completions.create(model=name, messages=long), openai.BadRequestError)
    check("chat: a long conversation", seen, (400, "context_length_exceeded", "messages"))


async def check_async_chat(address, name):
    async with openai.AsyncOpenAI(base_url=address + "/v1", api_key="none") as client:
        asked = {"model": name, "messages": MESSAGES, "max_tokens": 40, "seed": 7}
        answers = await asyncio.gather(*(client.chat.completions.create(**asked) for _ in range(8)))
        text = answers[0].choices[0].message.content
        check("async chat: eight at a time", {one.choices[0].message.content for one in answers}, {text})
        pieces = [chunk.choices[0].delta.content or "" async for chunk in await client.chat.completions.create(stream=True, **asked)]
        check("async chat: stream", "".join(pieces), text)
        stream = await client.chat.completions.create(**{**asked, "max_tokens": 100_000, "n": 64}, stream=True)
        async for _ in stream:
            break
        await stream.close()
    check("async chat: a closed stream ends its work", is_idle(address), True)


async def check_async(address, name, expected):
    async with openai.AsyncOpenAI(base_url=address + "/v1", api_key="none") as client:
        answers = await asyncio.gather(*(client.completions.create(model=name, **ASKED) for _ in range(8)))
        check("async: eight at a time", {one.choices[0].text for one in answers}, {expected})
        stream = await client.completions.create(model=name, stream=True, **ASKED)
        pieces = [chunk.choices[0].text async for chunk in stream]
        check("async: stream", "".join(pieces), expected)
        long = {"model": name, "prompt": "the ", "max_tokens": 100_000, "n": 64}
        task = asyncio.create_task(client.completions.create(**long))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        check("async: a cancelled task", task.cancelled(), True)
    check("async: its work ends", is_idle(address), True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("corpora", nargs="?")
    parser.add_argument("--model")
    arguments = parser.parse_args()
    program = pathlib.Path(arguments.program).resolve()
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = pathlib.Path(name_of_folder)
        model = pathlib.Path(arguments.model) if arguments.model else train_language_model(program, folder)
        with Server(program, model, languages="") as server:
            client = openai.OpenAI(base_url=server.address + "/v1", api_key="none", max_retries=0)
            name = client.models.list().data[0].id
            check_models(client, name)
            check_completions(client, name)
            check_streams(client, name)
            check_errors(client, name)
            check_cancel(client, name, server.address)
            expected = client.completions.create(model=name, **ASKED).choices[0].text
            asyncio.run(check_async(server.address, name, expected))
        check("the server ends in status 0", server.status, 0)
        with Server(program, with_template(program, model, folder), languages="") as server:
            client = openai.OpenAI(base_url=server.address + "/v1", api_key="none", max_retries=0)
            check_chat(client, "talker")
            asyncio.run(check_async_chat(server.address, "talker"))
        keys = folder / "keys"
        keys.write_text(hashlib.sha256(b"secret").hexdigest() + "  someone  3  0\n")
        with Server(program, model, "--api-keys", keys, languages="") as server:
            client = openai.OpenAI(base_url=server.address + "/v1", api_key="wrong", max_retries=0)
            seen = error_of(lambda: client.completions.create(model=name, **ASKED), openai.AuthenticationError)
            check("keys: a wrong one", seen, (401, "invalid_api_key", None))
            client = openai.OpenAI(base_url=server.address + "/v1", api_key="secret", max_retries=0)
            for _ in range(3):
                client.completions.create(model=name, prompt="a", max_tokens=1)
            seen = error_of(lambda: client.completions.create(model=name, **ASKED), openai.RateLimitError)
            check("keys: too many requests", seen, (429, "rate_limit_exceeded", None))
    print(f"{len(failures)} differences")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
