#!/usr/bin/env python3
"""Makes the stored folders of decoder-only models: tiny random models of Hugging Face transformers, each with what
transformers computes with it: token ids, logits and greedy tokens.

A folder is what save_pretrained writes, and beside it expected.json (text, ids, prompts, greedy tokens) and
expected.safetensors (logits of the text).
Needs torch, transformers, tokenizers, safetensors:  python3 make_hf_language_models.py FOLDER
"""

import json
import pathlib
import random
import sys

import torch
import transformers
from safetensors.torch import save_file
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (GPT2Config, LlamaConfig, MistralConfig, PreTrainedTokenizerFast, Qwen2Config, Qwen3Config)

WORDS = "the house mouse cat dog runs sleeps red green small and an old tree near under river with never 1789 42 süß".split()
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
SPLITS = {"llama3": LLAMA3, "qwen2": LLAMA3.replace("{1,3}", "")}
SMALL = dict(hidden_size=32, intermediate_size=56, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
             max_position_embeddings=256)
ROPE3 = dict(rope_type="llama3", rope_theta=5e5, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
             original_max_position_embeddings=64)
GPT2 = dict(n_embd=32, n_layer=2, n_head=4, n_positions=256)
# name: what is made, how it is stored, and which format reads it
VARIANTS = {
    "gpt2": dict(config=lambda **k: GPT2Config(**GPT2, **k)),
    "gpt2_untied": dict(config=lambda **k: GPT2Config(**GPT2, n_inner=48, activation_function="gelu",
                                                      tie_word_embeddings=False, layer_norm_epsilon=1e-6, **k),
                        dtype=torch.float16, plain_files=True),
    "gpt2_bare": dict(config=lambda **k: GPT2Config(**GPT2, activation_function="relu", **k), bare=True),
    "llama": dict(config=lambda **k: LlamaConfig(**SMALL, rope_parameters=ROPE3, tie_word_embeddings=True, **k),
                  split="llama3"),
    "llama_bias": dict(config=lambda **k: LlamaConfig(**{**SMALL, "num_key_value_heads": 4}, attention_bias=True,
                                                      mlp_bias=True, head_dim=16, rms_norm_eps=1e-5, **k), older=True),
    "llama_linear": dict(config=lambda **k: LlamaConfig(
        **SMALL, rope_parameters=dict(rope_type="linear", rope_theta=1e4, factor=4.0), attention_bias=True, **k),
        older=True),
    "mistral": dict(config=lambda **k: MistralConfig(**SMALL, sliding_window=12, **k), dtype=torch.bfloat16,
                    shards=True),
    "mistral_full": dict(config=lambda **k: MistralConfig(**SMALL, sliding_window=None, head_dim=12, **k), split="llama3"),
    "qwen2": dict(config=lambda **k: Qwen2Config(**SMALL, tie_word_embeddings=True, **k), shards=True),
    "qwen2_window": dict(config=lambda **k: Qwen2Config(**SMALL, use_sliding_window=True, sliding_window=9,
                                                        max_window_layers=0, **k), split="qwen2"),
    "qwen3": dict(config=lambda **k: Qwen3Config(**SMALL, head_dim=16, **k), split="llama3"),
    "qwen3_bias": dict(config=lambda **k: Qwen3Config(**SMALL, head_dim=8, attention_bias=True, **k)),
}


def lines_of(count, seed):
    generator = random.Random(seed)
    return [" ".join(generator.choice(WORDS) for _ in range(generator.randint(1, 14))) + "." for _ in range(count)]


def make_tokenizer(split):
    """A byte-level BPE with a split, that of GPT-2 by default; Llama-3 has a token before each text."""
    llama3 = split == "llama3"
    tokenizer = Tokenizer(models.BPE(ignore_merges=llama3))
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=split is None)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(SPLITS[split]), "isolated"), byte_level]) if split else byte_level
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"] if llama3 else ["<|endoftext|>"]
    trainer = trainers.BpeTrainer(vocab_size=320, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                  show_progress=False)
    tokenizer.train_from_iterator(lines_of(300, 1), trainer)
    tokenizer.add_special_tokens(special)
    if llama3:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<|begin_of_text|> $A", special_tokens=[(special[0], tokenizer.token_to_id(special[0]))])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=special[0],
                                   eos_token=special[1] if llama3 else special[0])


def randomise(model, seed):
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, value in model.named_parameters():
            is_gain = "norm" in name and name.endswith("weight") or "ln_" in name and name.endswith("weight")
            spread = 0.1 if is_gain or name.endswith("bias") else 0.35
            value.copy_(torch.randn_like(value) * spread + (1.0 if is_gain else 0.0))


def as_older(folder):
    """Writes config.json as transformers 4 does."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    rope = config.pop("rope_parameters")
    config["rope_theta"] = rope.pop("rope_theta")
    rope["type"] = rope.pop("rope_type")
    config["rope_scaling"] = rope if rope["type"] != "default" else None
    config["torch_dtype"] = config.pop("dtype")
    path.write_text(json.dumps(config))


def make(folder, variant):
    tokenizer = make_tokenizer(variant.get("split"))
    eos = [tokenizer.eos_token_id]
    if variant.get("split") == "llama3":
        eos.append(tokenizer.convert_tokens_to_ids("<|eot_id|>"))
    ids = dict(bos_token_id=tokenizer.bos_token_id, eos_token_id=eos if len(eos) > 1 else eos[0])
    config = variant["config"](vocab_size=len(tokenizer) + 5, **ids)
    model = transformers.AutoModelForCausalLM.from_config(config)
    randomise(model, 7)
    model = model.to(variant.get("dtype", torch.float32))
    model.save_pretrained(folder, **(dict(max_shard_size="30KB") if variant.get("shards") else {}))
    if variant.get("bare"):
        from safetensors.torch import load_file
        tensors = load_file(folder / "model.safetensors")
        save_file({name.removeprefix("transformer."): value for name, value in tensors.items()},
                  folder / "model.safetensors")
    if variant.get("older"):
        as_older(folder)
    tokenizer.save_pretrained(folder)
    if variant.get("plain_files"):
        tokenizer.backend_tokenizer.model.save(str(folder))
        vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
        vocabulary[tokenizer.eos_token] = tokenizer.eos_token_id
        (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
        (folder / "tokenizer.json").unlink()
    # Read again, because model.to(bfloat16) rounds the table of angles too.
    return transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval(), tokenizer


def greedy(model, tokenizer, prompt, count):
    """The new tokens, without the one that ends the text."""
    ids = torch.tensor([tokenizer(prompt)["input_ids"]])
    seen = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=count,
                          pad_token_id=0)[0, ids.shape[1]:].tolist()
    eos = model.generation_config.eos_token_id
    return seen[:-1] if seen and seen[-1] in (eos if isinstance(eos, list) else [eos]) else seen


def store(folder, name):
    """One folder with what transformers computes."""
    model, tokenizer = make(folder, VARIANTS[name])
    text = "the cat\n\nZwölf 123!"
    ids = tokenizer(text)["input_ids"]
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits[0]
    save_file({"logits": logits.contiguous()}, folder / "expected.safetensors")
    prompts = ["the cat", "süß 42"]
    expected = dict(text=text, ids=ids, prompts=prompts, greedy=[greedy(model, tokenizer, p, 24) for p in prompts])
    (folder / "expected.json").write_text(json.dumps(expected, ensure_ascii=False) + "\n", encoding="utf-8")
    for name in ("tokenizer_config.json", "special_tokens_map.json"):
        (folder / name).unlink(missing_ok=True)


def main():
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    for name in ("gpt2_untied", "llama", "mistral", "qwen3"):
        store(pathlib.Path(sys.argv[1]) / name, name)


if __name__ == "__main__":
    main()
