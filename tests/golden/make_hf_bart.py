#!/usr/bin/env python3
"""Makes the stored folders of tiny random BART models, each with what transformers computes with it: logits, greedy and
beam search. One folder has tokenizer.json, the other vocab.json and merges.txt.

Needs torch, transformers, tokenizers, safetensors:  python3 make_hf_bart.py FOLDER [COUNT]
COUNT lines (12 unless given) are stored for each model.
"""

import json
import pathlib
import shutil
import sys

import torch
from make_hf_m2m100 import MAX_LENGTH, end_of_text, lines_of, make_model, search
from safetensors.torch import save_file
from tokenizers import AddedToken, ByteLevelBPETokenizer
from tokenizers.processors import RobertaProcessing
from transformers import BartConfig, BartForConditionalGeneration

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", AddedToken("<mask>", lstrip=True, special=True)]  # as transformers has it
VARIANTS = {
    "files": dict(likely=0.6, config=dict(encoder_layers=1, decoder_layers=2)),
    "json": dict(likely=0.55, config=dict(encoder_layers=2, decoder_layers=1, scale_embedding=True,
                                         activation_function="relu", decoder_attention_heads=4)),
}


def learn_tokenizer(folder, is_json):
    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(lines_of(400, 1), vocab_size=300, special_tokens=SPECIAL, show_progress=False)
    tokenizer._tokenizer.post_processor = RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    if is_json:
        tokenizer.save(str(folder / "tokenizer.json"))
    else:
        tokenizer.save_model(str(folder))
    return tokenizer


def make_folder(root, name, variant, count):
    folder = root / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tokenizer = learn_tokenizer(folder, name == "json")
    settings = dict(vocab_size=tokenizer.get_vocab_size(), d_model=16, encoder_attention_heads=2,
                    decoder_attention_heads=2, encoder_ffn_dim=24, decoder_ffn_dim=24, max_position_embeddings=64,
                    dropout=0.1, attention_dropout=0.0, activation_dropout=0.0, activation_function="gelu",
                    scale_embedding=False, pad_token_id=1, bos_token_id=0, eos_token_id=2, decoder_start_token_id=2)
    settings.update(variant["config"])
    model = make_model(BartConfig, BartForConditionalGeneration, settings)
    rows = [dict(line=line, ids=tokenizer.encode(line).ids) for line in lines_of(count - 1, 5) + ["Ein großes \u4e2d <mask>!"]]
    end_of_text(model, [row["ids"] for row in rows[:8]], variant["likely"])
    settings.update(model_type="bart", is_encoder_decoder=True, architectures=["BartForConditionalGeneration"],
                    normalize_before=False, add_final_layer_norm=False, forced_eos_token_id=2, forced_bos_token_id=0)
    (folder / "config.json").write_text(json.dumps(settings, indent=2) + "\n")
    state = {k: v.contiguous() for k, v in model.state_dict().items() if "embed_tokens" not in k and k != "lm_head.weight"}
    save_file(state, str(folder / "model.safetensors"), metadata={"format": "pt"})
    logits = {}
    with torch.no_grad():
        for i, row in enumerate(rows):
            row["greedy"] = search(model, row["ids"], 1, 0)
            row["beam"] = search(model, row["ids"], 4, 0)
            if i < 4:
                logits[f"logits.{i}"] = model(input_ids=torch.tensor([row["ids"]]),
                                              decoder_input_ids=torch.tensor([[2] + row["ids"][:-1]])).logits[0].contiguous()
    (folder / "expected.json").write_text(json.dumps(dict(max_length=MAX_LENGTH, lines=rows), ensure_ascii=False, indent=0) + "\n")
    save_file(logits, str(folder / "expected.safetensors"))
    print(name, "pieces", settings["vocab_size"], "lengths", sorted(len(row["beam"]) for row in rows))


def main():
    torch.set_num_threads(1)
    root = pathlib.Path(sys.argv[1])
    for name, variant in VARIANTS.items():
        make_folder(root, name, variant, int(sys.argv[2]) if len(sys.argv) > 2 else 12)


if __name__ == "__main__":
    main()
