#!/usr/bin/env python3
"""Holds import and export of decoder-only models to transformers, on folders made here with random weights.

Imported: log-probabilities of a text to 1e-4, and 64 greedy tokens of each prompt, as transformers computes them; for
GPT-2, Llama, Mistral, Qwen2 and Qwen3, in float32, float16, bfloat16, one file and several, tied and untied.
Exported: the folder loads with AutoModelForCausalLM and AutoTokenizer and computes the same logits; so does a model that
dragoman trained. With the packages gguf and llama_cpp also the file that llama.cpp reads.
Usage: language_model_import_check.py PROGRAM [CORPORA]   (CORPORA is not used)
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import gguf
import numpy as np
import torch
import transformers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import make_hf_language_models as maker  # noqa: E402

TOKENS = 64


def run(program, *arguments, **options):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, encoding="utf-8", **options)
    if done.returncode != 0:
        sys.exit(f"dragoman {' '.join(map(str, arguments))}: status {done.returncode}: {done.stderr}")
    return done.stdout


class Report:
    failed = False

    def say(self, what, good, detail=""):
        print(f"{what}: {'equal' if good else 'DIFFERENT'} {detail}".rstrip())
        self.failed = self.failed or not good


def check_scores(program, model, tokenizer, folder, text, report, what):
    path = folder.parent / "text"
    path.write_text(text, encoding="utf-8")
    out = run(program, "score", "--model", folder, "--text", path, "--output", "-")
    seen = np.array([float(line.split("\t")[0]) for line in out.splitlines()])
    eos = [] if model.generation_config.eos_token_id is None else [first(model.generation_config.eos_token_id)]
    pieces = tokenizer(text, add_special_tokens=False)["input_ids"]
    with_bos = tokenizer(text)["input_ids"]  # a tokenizer may put bos before each text; then it begins a document
    ids = (with_bos if len(with_bos) > len(pieces) else eos + pieces) + eos
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits[0, :-1].log_softmax(-1)
    expected = logits[torch.arange(len(ids) - 1), torch.tensor(ids[1:])].numpy()
    difference = float(np.abs(seen - expected).max()) if seen.shape == expected.shape else float("inf")
    report.say(f"{what}: log-probabilities of {len(expected)} tokens", difference <= 1e-4,
               f"(largest difference {difference:.1e})")


def first(ids):
    return ids[0] if isinstance(ids, list) else ids


def check_greedy(program, model, tokenizer, folder, prompts, report, what):
    out = run(program, "generate", "--model", folder, "--temperature", 0, "--max-tokens", TOKENS, "--json",
              input="\n".join(prompts) + "\n")
    wrong, total = [], 0
    for prompt, line in zip(prompts, out.splitlines()):
        expected = maker.greedy(model, tokenizer, prompt, TOKENS)
        total += len(expected)
        if json.loads(line)["ids"] != expected:
            wrong.append((prompt, json.loads(line)["ids"], expected))
    report.say(f"{what}: greedy tokens of {len(prompts)} prompts, {total} in all", not wrong,
               f"{wrong[0]}" if wrong else "")


def check_export(program, kind, model, tokenizer, imported, text, report, what):
    folder = pathlib.Path(str(imported) + ".exported")
    run(program, "export", "--to", kind, folder, "--model", imported)
    back = transformers.AutoModelForCausalLM.from_pretrained(str(folder), dtype=torch.float32).eval()
    pieces = transformers.AutoTokenizer.from_pretrained(str(folder))
    ids = tokenizer(text)["input_ids"]
    report.say(f"{what}: token ids of the exported folder", pieces(text)["input_ids"] == ids)
    report.say(f"{what}: decoded text", pieces.decode(ids) == tokenizer.decode(ids))
    with torch.no_grad():
        difference = float((back(torch.tensor([ids])).logits - model(torch.tensor([ids])).logits).abs().max())
    report.say(f"{what}: logits of the exported folder", difference <= 1e-4, f"(largest difference {difference:.1e})")
    return back, pieces


def theirs_of(name, state, heads):
    """The matrix of transformers for a tensor of a llama file, with queries and keys as llama.cpp turns them."""
    names = {"token_embd": "model.embed_tokens", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
             "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj",
             "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}
    part = name.split(".")
    if part[0] != "blk":
        return state[names[part[0]] + ".weight"].numpy() if part[0] in names else None
    if part[2] not in names or part[3] != "weight":
        return None
    value = state[f"model.layers.{part[1]}.{names[part[2]]}.weight"].numpy()
    if part[2] in heads:  # [heads, half, pair] becomes [heads, pair, half]
        value = value.reshape(heads[part[2]], 2, -1, value.shape[1]).swapaxes(1, 2).reshape(value.shape)
    return value


def check_gguf_values(program, model, imported, report, what):
    """Every matrix of the file of a Llama, read by the package gguf."""
    config = model.config
    heads = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}
    for kind, bound in (("f32", 0.0), ("f16", 1e-3), ("q8_0", 1e-2)):
        path = imported.parent / f"{what}.{kind}.gguf"
        run(program, "export", "--to", "gguf", path, "--model", imported, "--gguf-type", kind)
        largest, count = 0.0, 0
        for tensor in gguf.GGUFReader(path).tensors:
            expected = theirs_of(tensor.name, model.state_dict(), heads)
            if expected is not None:
                seen = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
                largest = max(largest, float(np.abs(seen - expected).max() / np.abs(expected).max()))
                count += 1
        report.say(f"{what}: {count} matrices of a {kind} file", count > 2 and largest <= bound, f"({largest:.1e})")


def continued(model, prompt, count):
    """Greedy ids behind the prompt, as llama.cpp finds them, without the one that ends the text."""
    ids = []
    for token in model.generate(model.tokenize(prompt.encode(), add_bos=True, special=False), temp=0.0, top_k=1, repeat_penalty=1.0):
        if token == model.token_eos() or len(ids) == count:
            break
        ids.append(token)
    return ids


def check_llama_cpp(program, imported, prompts, report, what):
    """Greedy tokens of llama.cpp from the exported file. Ids are compared: its Python package drops bytes that are no text."""
    try:
        import llama_cpp
    except ImportError:
        print(f"{what}: llama_cpp is not installed, so no tokens of llama.cpp are compared")
        return
    out = run(program, "generate", "--model", imported, "--temperature", 0, "--max-tokens", 32, "--json",
              input="\n".join(prompts) + "\n")
    expected = [json.loads(line)["ids"] for line in out.splitlines()]
    for kind in ("f32", "f16", "q8_0"):
        path = imported.parent / f"{what}.{kind}.cpp.gguf"
        run(program, "export", "--to", "gguf", path, "--model", imported, "--gguf-type", kind)
        model = llama_cpp.Llama(str(path), n_ctx=128, n_threads=1, verbose=False)
        seen = [continued(model, prompt, 32) for prompt in prompts]
        equal = sum(a == b for a, b in zip(seen, expected))
        good = equal == len(prompts) or kind == "q8_0"  # eight bits may change a close choice
        report.say(f"{what}: greedy tokens of llama.cpp from {kind}, {equal} of {len(prompts)} prompts", good,
                   "" if good else f"{seen} {expected}")


def check_folder(program, root, name, report):
    folder, imported = root / name, root / f"{name}.dragoman"
    model, tokenizer = maker.make(folder, maker.VARIANTS[name])
    kind = "hf-gpt2" if name.startswith("gpt2") else "hf-llama"
    run(program, "import", "--from", kind, folder, "--model", imported)
    text = "\n".join(maker.lines_of(12, 5))
    check_scores(program, model, tokenizer, imported, text, report, name)
    check_greedy(program, model, tokenizer, imported, ["the cat", "Zwölf 123 Mäuse!", "x", maker.lines_of(9, 3)[8]], report, name)
    check_export(program, kind, model, tokenizer, imported, text, report, name)
    if name in ("llama", "llama_bias"):
        check_gguf_values(program, model, imported, report, name)
    if name in ("gpt2", "llama", "llama_linear", "mistral_full", "qwen2"):
        check_llama_cpp(program, imported, ["the cat", "green and"], report, name)


def train(program, root, name, options):
    text = root / "characters"
    text.write_text("\n".join(maker.lines_of(400, 9)) + "\n", encoding="utf-8")
    model = root / name
    run(program, "train", "--text", text, "--valid-share", 0.1, "--model", model, "--max-steps", 30, "--validate-every", 30,
        "--batch-tokens", 512, "--layers", 2, "--d-model", 32, "--d-ff", 64, "--n-heads", 4, "--max-positions", 128,
        "--max-length", 128, *options)
    return model


def check_trained(program, root, name, kind, options, report):
    """A model of characters that dragoman trained."""
    model = train(program, root, name, options)
    folder = root / f"{name}.hf"
    run(program, "export", "--to", kind, folder, "--model", model)
    theirs = transformers.AutoModelForCausalLM.from_pretrained(str(folder), dtype=torch.float32).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder))
    text = "\n".join(maker.lines_of(3, 5))[:120]
    check_scores(program, theirs, tokenizer, model, text, report, name)
    check_greedy(program, theirs, tokenizer, model, ["the cat", "süß"], report, name)
    check_llama_cpp(program, model, ["the cat", "green and"], report, name)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.set_num_threads(1)
    print(f"transformers {transformers.__version__}, torch {torch.__version__}")
    report = Report()
    names = sys.argv[3:] or list(maker.VARIANTS)
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            check_folder(program, pathlib.Path(folder), name, report)
        if len(names) == len(maker.VARIANTS):
            check_trained(program, pathlib.Path(folder), "trained gpt-mini", "hf-gpt2", ["--preset", "gpt-mini"], report)
            check_trained(program, pathlib.Path(folder), "trained llama-mini", "hf-llama", ["--preset", "llama-mini"],
                          report)
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
