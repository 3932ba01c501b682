#!/usr/bin/env python3
"""Makes the stored golden runs of encoders: small BERTs of the package transformers with a head for classes, tags or
hidden words, or without a head, as vectors of texts.

Each file holds the parameters under dragoman's paths, one ragged batch with a pair of texts in it, the logits, every
gradient, and the losses of ten Adam steps of 1e-4 on that batch (no dropout, no weight decay), computed in float64 and
stored as float32. Without a head the batch is two groups of pairs of texts, "logits" are the means of the rows of each
text, and the loss is that of MultipleNegativesRankingLoss of sentence-transformers with scale 20 within each group; of
encoder_vectors_far the pairs have a third text, a hard negative.
Needs torch, transformers and safetensors:  python3 make_golden_encoder.py FOLDER
"""

import sys

import numpy as np
import torch
import torch.nn.functional as functional
from safetensors.numpy import save_file
from transformers import (BertConfig, BertForMaskedLM, BertForSequenceClassification, BertForTokenClassification,
                          BertModel)

VOCAB, D, LAYERS, LABELS = 29, 16, 2, 4
ADAM = dict(lr=1e-4, betas=(0.9, 0.98), eps=1e-9)
LENGTHS = (13, 5, 2, 9)
SECOND_BEGINS = (7, 0, 0, 4)
GROUPS = {2: ((5, 7, 3, 4, 9, 2), (6, 6, 1, 8)),  # the lengths of the texts of the pairs, and with far texts
          3: ((5, 7, 6, 3, 4, 2, 9, 2, 5), (6, 6, 3, 1, 8, 4))}
SCALE = 20.0  # 1 / temperature


def names_of(head):
    prefix = "" if head == "vectors" else "bert."
    names = {"embedding.weight": (prefix + "embeddings.word_embeddings.weight", False),
             "embedding.positions": (prefix + "embeddings.position_embeddings.weight", False),
             "embedding.segments": (prefix + "embeddings.token_type_embeddings.weight", False)}

    def norm(ours, theirs):
        names[ours + ".gain"], names[ours + ".bias"] = (theirs + ".weight", False), (theirs + ".bias", False)

    def linear(ours, theirs):
        names[ours + ".weight"], names[ours + ".bias"] = (theirs + ".weight", True), (theirs + ".bias", False)

    norm("embedding.norm", prefix + "embeddings.LayerNorm")
    for i in range(LAYERS):
        ours, theirs = f"layers.{i}.", f"{prefix}encoder.layer.{i}."
        for part in ("query", "key", "value"):
            linear(f"{ours}self_attention.{part}", f"{theirs}attention.self.{part}")
        linear(ours + "self_attention.output", theirs + "attention.output.dense")
        norm(ours + "self_attention.norm", theirs + "attention.output.LayerNorm")
        linear(ours + "feed_forward.inner", theirs + "intermediate.dense")
        linear(ours + "feed_forward.outer", theirs + "output.dense")
        norm(ours + "feed_forward.norm", theirs + "output.LayerNorm")
    if head == "classes":
        linear("pooler", "bert.pooler.dense")
    if head == "words":
        linear("transform", "cls.predictions.transform.dense")
        norm("transform.norm", "cls.predictions.transform.LayerNorm")
        names["output.bias"] = ("cls.predictions.bias", False)
    elif head != "vectors":
        names["output.weight"], names["output.bias"] = ("classifier.weight", False), ("classifier.bias", False)
    return names


def logits_of(model, head, texts, chosen):
    rows = []
    for ids, second, rows_of_text in zip(texts, SECOND_BEGINS, chosen):
        segments = [int(second > 0 and i >= second) for i in range(len(ids))]
        logits = model(input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([segments])).logits[0]
        rows.append(logits[None] if head == "classes" else logits[rows_of_text])
    return torch.cat(rows)


def random_model(model_class, **options):
    torch.manual_seed(7)
    config = BertConfig(vocab_size=VOCAB, hidden_size=D, num_hidden_layers=LAYERS, num_attention_heads=4,
                        intermediate_size=40, max_position_embeddings=24, num_labels=LABELS, hidden_dropout_prob=0.0,
                        attention_probs_dropout_prob=0.0, pad_token_id=None)
    model = model_class(config, **options).double()
    with torch.no_grad():
        for parameter in model.parameters():  # larger than fresh weights, so that every part has an effect
            shift = 1.0 if parameter.dim() == 1 and parameter.abs().sum() > 0 else 0.0
            parameter.copy_((torch.randn_like(parameter) * 0.25 + shift).float().double())
    return model


def make_vectors(path, texts_of_pair):
    model = random_model(BertModel, add_pooling_layer=False)
    names, values = names_of("vectors"), dict(model.named_parameters())
    generator = np.random.default_rng(3)
    groups = [[generator.integers(0, VOCAB, n).tolist() for n in lengths] for lengths in GROUPS[texts_of_pair]]  # left, right, left ...
    stored = {f"param.{ours}": values[theirs].detach().clone().T if turned else values[theirs].detach().clone()
              for ours, (theirs, turned) in names.items()}
    optimizer = torch.optim.Adam(model.parameters(), **ADAM)
    losses = []
    for step in range(10):
        optimizer.zero_grad()
        vectors = [torch.stack([model(input_ids=torch.tensor([ids])).last_hidden_state[0].mean(0) for ids in texts])
                   for texts in groups]
        loss = 0.0
        for of_group in vectors:
            unit = functional.normalize(of_group, dim=1)
            right = torch.cat([unit[side::texts_of_pair] for side in range(1, texts_of_pair)])
            scores = SCALE * unit[0::texts_of_pair] @ right.T
            loss = loss + functional.cross_entropy(scores, torch.arange(len(scores)), reduction="sum")
        loss = loss / sum(len(texts) // texts_of_pair for texts in groups)
        loss.backward()
        if step == 0:
            stored["logits"] = torch.cat(vectors).detach().clone()
            for ours, (theirs, turned) in names.items():
                stored[f"grad.{ours}"] = values[theirs].grad.T if turned else values[theirs].grad
        losses.append(loss.item())
        optimizer.step()
    stored = {name: np.ascontiguousarray(value.float().numpy()) for name, value in stored.items()}
    stored["losses"] = np.array(losses, dtype=np.float32)
    texts = [sum(group, []) for group in groups]
    begins = [np.cumsum([0] + [len(text) for text in group])[:-1] for group in groups]
    stored["source"] = np.array(sum(texts, []), dtype=np.int32)
    stored["source_offsets"] = np.cumsum([0] + [len(text) for text in texts]).astype(np.int32)
    stored["text_begins"] = np.concatenate(begins).astype(np.int32)
    stored["target_offsets"] = np.cumsum([0] + [len(group) // texts_of_pair for group in groups]).astype(np.int32)
    save_file(stored, path)
    print(path, "losses", " ".join(f"{loss:.6f}" for loss in losses))


def make(head, model_class, path):
    model = random_model(model_class)
    names, values = names_of(head), dict(model.named_parameters())
    generator = np.random.default_rng(3)
    texts = [generator.integers(0, VOCAB, n).tolist() for n in LENGTHS]
    counts = [1] * len(texts) if head == "classes" else [4, 2, 1, 3]
    chosen = [[] if head == "classes" else sorted(generator.choice(len(t), n, replace=False).tolist())
              for t, n in zip(texts, counts)]
    expected = generator.integers(0, VOCAB if head == "words" else LABELS, sum(counts)).astype(np.int32)
    stored = {f"param.{ours}": values[theirs].detach().clone().T if turned else values[theirs].detach().clone()
              for ours, (theirs, turned) in names.items()}
    optimizer = torch.optim.Adam(model.parameters(), **ADAM)
    losses = []
    for step in range(10):
        optimizer.zero_grad()
        logits = logits_of(model, head, texts, chosen)
        loss = functional.cross_entropy(logits, torch.tensor(expected.astype(np.int64)))
        loss.backward()
        if step == 0:
            stored["logits"] = logits.detach().clone()
            for ours, (theirs, turned) in names.items():
                stored[f"grad.{ours}"] = values[theirs].grad.T if turned else values[theirs].grad
        losses.append(loss.item())
        optimizer.step()
    stored = {name: np.ascontiguousarray(value.float().numpy()) for name, value in stored.items()}
    stored["losses"] = np.array(losses, dtype=np.float32)
    stored["source"] = np.array(sum(texts, []), dtype=np.int32)
    stored["source_offsets"] = np.cumsum([0] + [len(t) for t in texts]).astype(np.int32)
    stored["second_begins"] = np.array(SECOND_BEGINS, dtype=np.int32)
    stored["chosen"] = np.array(sum(chosen, []) or [-1], dtype=np.int32)  # [-1]: none; the file has no empty tensor
    stored["target_output"] = expected
    stored["target_offsets"] = np.cumsum([0] + counts).astype(np.int32)
    save_file(stored, path)
    print(path, "losses", " ".join(f"{loss:.6f}" for loss in losses))


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    make_vectors(f"{folder}/encoder_vectors.safetensors", 2)
    make_vectors(f"{folder}/encoder_vectors_far.safetensors", 3)
    make("classes", BertForSequenceClassification, f"{folder}/encoder_classes.safetensors")
    make("tags", BertForTokenClassification, f"{folder}/encoder_tags.safetensors")
    make("words", BertForMaskedLM, f"{folder}/encoder_words.safetensors")
