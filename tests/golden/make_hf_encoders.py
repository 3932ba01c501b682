#!/usr/bin/env python3
"""Makes the stored folders of encoders: tiny random models of Hugging Face transformers, each with what transformers
computes with it.

A folder is what save_pretrained writes, and beside it expected.json (texts, their ids, segments of the second) and
expected.safetensors: hidden.I [T, D] of each text, logits.I where there is a head, mean.I [D], the mean of the rows,
and pooled.I [D] where there is a pooler. The last text is a pair.
Needs torch, transformers, tokenizers, safetensors:  python3 make_hf_encoders.py FOLDER
"""

import json
import pathlib
import sys

import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import BertConfig, DistilBertConfig, PreTrainedTokenizerFast, RobertaConfig

LINES = [
    "The animal didn't cross the street because it was too tired.",
    "Éva sees 42 small houses, and an old tree.",
    "the house of the mouse is red; the cat sleeps near the river",
]
TEXTS = [LINES[0], "cats", "Éva sleeps."]
PAIR = ("the cat sleeps", "near the old river.")
BERT_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ROBERTA_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
SMALL = dict(hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=2)
BERT = dict(SMALL, max_position_embeddings=40, layer_norm_eps=1e-12)
ROBERTA = dict(SMALL, max_position_embeddings=42, type_vocab_size=1, pad_token_id=1, bos_token_id=0, eos_token_id=2,
               layer_norm_eps=1e-5)
DISTILBERT = dict(dim=16, hidden_dim=24, n_layers=2, n_heads=2, max_position_embeddings=40)
# name: class, configuration, what is special about the stored form
VARIANTS = {
    "bert_words": ("BertForMaskedLM", BertConfig, BERT, "old"),
    "bert_classes": ("BertForSequenceClassification", BertConfig, dict(BERT, num_labels=3, hidden_act="gelu_new"), ""),
    "bert_tags": ("BertForTokenClassification", BertConfig, dict(BERT, num_labels=5), ""),
    "bert_bare": ("BertModel", BertConfig, BERT, "sentences"),
    "roberta_words": ("RobertaForMaskedLM", RobertaConfig, ROBERTA, ""),
    "roberta_classes": ("RobertaForSequenceClassification", RobertaConfig, dict(ROBERTA, num_labels=3), ""),
    "distilbert_words": ("DistilBertForMaskedLM", DistilBertConfig, DISTILBERT, ""),
    "distilbert_classes": ("DistilBertForSequenceClassification", DistilBertConfig, dict(DISTILBERT, num_labels=3), ""),
}


def word_piece():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(vocab_size=90, special_tokens=BERT_SPECIAL, show_progress=False)
    tokenizer.train_from_iterator(LINES, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]",
                                   sep_token="[SEP]", mask_token="[MASK]")


def byte_level():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=290, special_tokens=ROBERTA_SPECIAL, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(LINES, trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", pad_token="<pad>", cls_token="<s>",
                                   sep_token="</s>", mask_token="<mask>", bos_token="<s>", eos_token="</s>")


def randomise(model):
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            is_gain = name.endswith(("LayerNorm.weight", "layer_norm.weight"))
            parameter.copy_(1 + 0.2 * noise if is_gain else 0.4 * noise)


def computed(model, tokenizer, inputs):
    """What the stored results hold for one input of ids and segments."""
    is_distilled = "distil" in type(model).__name__.lower()
    segments = {} if is_distilled else {"token_type_ids": torch.tensor([inputs["segments"]])}
    ids = torch.tensor([inputs["ids"]])
    base = model.base_model if hasattr(model, "base_model") else model
    with torch.no_grad():
        out = base(ids, **segments)
        hidden = out.last_hidden_state[0]
        results = {"hidden": hidden, "mean": hidden.mean(0)}
        if getattr(out, "pooler_output", None) is not None:
            results["pooled"] = out.pooler_output[0]
        if base is not model:
            results["logits"] = model(ids, **segments).logits[0]
    return {name: value.contiguous().clone() for name, value in results.items()}


def as_old_files(folder):
    """The names of the first published files, and what they hold beside the model."""
    file = folder / "model.safetensors"
    tensors = {name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): value
               for name, value in load_file(file).items()}
    tensors["cls.predictions.decoder.weight"] = tensors["bert.embeddings.word_embeddings.weight"].clone()
    tensors["bert.embeddings.position_ids"] = torch.arange(40)[None]
    width = tensors["bert.embeddings.word_embeddings.weight"].shape[1]
    tensors["cls.seq_relationship.weight"] = torch.ones(2, width)
    tensors["cls.seq_relationship.bias"] = torch.ones(2)
    save_file(tensors, file, {"format": "pt"})


def as_sentence_transformers(folder):
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(
        {"word_embedding_dimension": 16, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True,
         "pooling_mode_max_tokens": False, "pooling_mode_mean_sqrt_len_tokens": False}, indent=2))
    kinds = [("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize")]
    (folder / "modules.json").write_text(json.dumps(
        [{"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
         for number, (kind, path) in enumerate(kinds)], indent=2))


def make(folder, name):
    kind, config_class, settings, form = VARIANTS[name]
    tokenizer = byte_level() if kind.startswith("Roberta") else word_piece()
    model = getattr(transformers, kind)(config_class(vocab_size=len(tokenizer), **settings)).eval()
    randomise(model)
    target = folder / name
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)
    inputs = []
    for text in TEXTS:
        inputs.append({"text": text, "ids": tokenizer(text)["input_ids"]})
    pair = tokenizer(*PAIR, return_token_type_ids=True)
    inputs.append({"text": PAIR[0], "pair": PAIR[1], "ids": pair["input_ids"]})
    has_segments = getattr(model.config, "type_vocab_size", 1) > 1
    results = {}
    for number, one in enumerate(inputs):
        one["segments"] = pair["token_type_ids"] if "pair" in one and has_segments else [0] * len(one["ids"])
        for key, value in computed(model, tokenizer, one).items():
            results[f"{key}.{number}"] = value
    (target / "expected.json").write_text(json.dumps(inputs, ensure_ascii=False, indent=1))
    save_file(results, target / "expected.safetensors")
    if form == "old":
        as_old_files(target)
    elif form == "sentences":
        as_sentence_transformers(target)
    if kind.startswith("Bert") and form == "old":
        pieces = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().get)
        (target / "vocab.txt").write_text("".join(piece + "\n" for piece in pieces))
        (target / "tokenizer.json").unlink()
        (target / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True}))
    for other in ("special_tokens_map.json",) + (() if form == "old" else ("tokenizer_config.json",)):
        (target / other).unlink(missing_ok=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    for variant in VARIANTS:
        make(pathlib.Path(sys.argv[1]), variant)
