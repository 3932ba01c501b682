#!/usr/bin/env python3
"""Makes the stored folders of many-to-many translation models: a tiny random M2M-100, NLLB-200 and mBART-50, each with
what transformers computes with it: logits, greedy and beam search for pairs of languages.

Needs torch, transformers, sentencepiece, safetensors:  python3 make_hf_m2m100.py FOLDER [COUNT]
COUNT lines (12 unless given) are stored for each model.
"""

import json
import pathlib
import random
import shutil
import sys

import sentencepiece
import torch
from safetensors.torch import save_file
from transformers import (M2M100Config, M2M100ForConditionalGeneration, MBartConfig,
                          MBartForConditionalGeneration)

WORDS = "the house mouse cat dog runs sleeps red green das haus maus katze hund rot le chat rouge maison".split()
VARIANTS = {
    "m2m100": dict(languages=["__de__", "__en__", "__fr__"], listed=True, likely=1.9, config=dict(scale_embedding=True)),
    "nllb": dict(languages=["deu_Latn", "eng_Latn", "fra_Latn"], listed=False, likely=0.57,
                 config=dict(scale_embedding=False, encoder_layers=2, decoder_ffn_dim=20)),
    "mbart": dict(languages=["de_DE", "en_XX", "fr_XX"], listed=False, likely=0.75, type="mbart",
                  config=dict(scale_embedding=True, decoder_layers=2, activation_function="gelu")),
}
CLASSES = {"m2m_100": (M2M100Config, M2M100ForConditionalGeneration),
           "mbart": (MBartConfig, MBartForConditionalGeneration)}
MAX_LENGTH = 20  # with the token that the decoder starts with, as transformers counts


def lines_of(count, seed):
    generator = random.Random(seed)
    return [" ".join(generator.choice(WORDS) for _ in range(generator.randint(1, 12))) for _ in range(count)]


def learn_pieces(folder):
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines_of(400, 1)), model_prefix=str(folder / "spm"), vocab_size=70, model_type="bpe",
        normalization_rule_name="identity", hard_vocab_limit=False, num_threads=1, minloglevel=2)
    (folder / "spm.vocab").unlink()
    (folder / "spm.model").rename(folder / "sentencepiece.bpe.model")
    return sentencepiece.SentencePieceProcessor(model_file=str(folder / "sentencepiece.bpe.model"))


def make_model(config, model_class, settings):
    torch.manual_seed(settings["encoder_layers"])
    model = model_class(config(**settings))
    with torch.no_grad():
        for path, value in model.named_parameters():
            centre = 1.0 if path.endswith(("norm.weight", "layernorm_embedding.weight")) else 0.0
            value.copy_(torch.randn_like(value) * (0.2 if "norm" in path or "bias" in path else 0.5) + centre)
        if hasattr(model, "final_logits_bias"):
            model.final_logits_bias.copy_(torch.randn_like(model.final_logits_bias) * 0.2)
        model.model.shared.weight[1] = 0.0  # <pad>
    return model.eval()


def end_of_text(model, batch, likely):
    with torch.no_grad():
        hidden = [model.model(input_ids=torch.tensor([ids]), decoder_input_ids=torch.tensor([[2] + ids[:6]]))[0][0]
                  for ids in batch]
        mean, weight = torch.cat(hidden).mean(0), model.model.shared.weight
        weight[2] = mean / mean.norm() * weight.norm(dim=1).mean() * likely


def search(model, ids, beams, language):
    made = model.generate(torch.tensor([ids]), num_beams=beams, do_sample=False, max_length=MAX_LENGTH,
                          length_penalty=1.0, early_stopping=False, forced_bos_token_id=language,
                          forced_eos_token_id=2, bad_words_ids=[[1], [3]])
    out = made[0].tolist()[1:]
    return out[:out.index(2)] if 2 in out else out


def make_folder(root, name, variant, count):
    folder = root / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    processor = learn_pieces(folder)
    pieces = ["<s>", "<pad>", "</s>", "<unk>"] + [processor.id_to_piece(i) for i in range(3, processor.get_piece_size())]
    if variant["listed"]:
        random.Random(3).shuffle(kept := pieces[4:])
        pieces = pieces[:4] + kept
        (folder / "vocab.json").write_text(json.dumps({p: i for i, p in enumerate(pieces)}, ensure_ascii=False))
    ids_of = {p: i for i, p in enumerate(pieces)}
    languages = {token: len(pieces) + i for i, token in enumerate(variant["languages"])}
    (folder / "special_tokens_map.json").write_text(json.dumps({"additional_special_tokens": variant["languages"]}))
    settings = dict(vocab_size=len(pieces) + len(languages) + 5, d_model=16, encoder_layers=1, decoder_layers=1,
                    encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=24, decoder_ffn_dim=24,
                    max_position_embeddings=64, activation_function="relu", dropout=0.1, attention_dropout=0.1,
                    activation_dropout=0.0, pad_token_id=1, bos_token_id=0, eos_token_id=2, decoder_start_token_id=2)
    settings.update(variant["config"])
    kind = variant.get("type", "m2m_100")
    model = make_model(*CLASSES[kind], settings)
    lines = lines_of(count, 5)
    generator = random.Random(9)
    rows = [dict(line=line, source=(pair := generator.sample(variant["languages"], 2))[0], target=pair[1],
                 ids=[languages[pair[0]]] + [ids_of[p] for p in processor.encode(line, out_type=str)] + [2])
            for line in lines]
    end_of_text(model, [row["ids"] for row in rows[:8]], variant["likely"])
    settings.update(model_type=kind, is_encoder_decoder=True, architectures=[CLASSES[kind][1].__name__],
                    encoder_layerdrop=0.05, decoder_layerdrop=0.05, init_std=0.02, use_cache=True,
                    num_hidden_layers=settings["encoder_layers"])
    (folder / "config.json").write_text(json.dumps(settings, indent=2) + "\n")
    (folder / "generation_config.json").write_text(json.dumps(dict(num_beams=4, length_penalty=1.0)) + "\n")
    state = {k: v.contiguous() for k, v in model.state_dict().items()
             if "embed_tokens" not in k and not k.endswith("embed_positions.weights") and k != "lm_head.weight"}
    save_file(state, str(folder / "model.safetensors"), metadata={"format": "pt"})
    logits = {}
    with torch.no_grad():
        for i, row in enumerate(rows):
            row["greedy"] = search(model, row["ids"], 1, languages[row["target"]])
            row["beam"] = search(model, row["ids"], 4, languages[row["target"]])
            if i < 4:
                logits[f"logits.{i}"] = model(input_ids=torch.tensor([row["ids"]]),
                                              decoder_input_ids=torch.tensor([[2] + row["ids"][:-1]])).logits[0].contiguous()
    (folder / "expected.json").write_text(json.dumps(dict(max_length=MAX_LENGTH, lines=rows), ensure_ascii=False, indent=0) + "\n")
    save_file(logits, str(folder / "expected.safetensors"))
    print(name, "lengths", sorted(len(row["beam"]) for row in rows))


def main():
    torch.set_num_threads(1)
    root = pathlib.Path(sys.argv[1])
    for name, variant in VARIANTS.items():
        make_folder(root, name, variant, int(sys.argv[2]) if len(sys.argv) > 2 else 12)


if __name__ == "__main__":
    main()
