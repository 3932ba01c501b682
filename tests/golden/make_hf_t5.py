#!/usr/bin/env python3
"""Makes the stored T5 folders: tiny random models of Hugging Face transformers, one for each kind of T5, each with what
transformers computes with it: token ids, logits, greedy and beam search.

A folder is what T5 folders on the hub look like (spiece.model, config.json, model.safetensors), and beside it
expected.json (texts, ids, outputs) and expected.safetensors (logits). Random weights hardly ever end a text; the output
vector of </s> is chosen so that lengths vary.
Needs torch, transformers, sentencepiece, safetensors:  python3 make_hf_t5.py FOLDER [COUNT]
COUNT texts (12 unless given) are stored for each model.
"""

import json
import pathlib
import random
import shutil
import sys

import sentencepiece
import torch
from safetensors.torch import save_file
from transformers import MT5Config, MT5ForConditionalGeneration, T5Config, T5ForConditionalGeneration

WORDS = "the house mouse cat dog runs sleeps red green and small a an old tree near under river with never das haus".split()
# name: the class, what differs in config.json, and how the folder is stored
VARIANTS = {
    "v1_0": dict(config=dict(feed_forward_proj="relu", num_layers=2, num_decoder_layers=1), dtype=torch.float32),
    "v1_1": dict(config=dict(feed_forward_proj="gated-gelu", tie_word_embeddings=False, d_kv=6, num_decoder_layers=2),
                 dtype=torch.float32),
    "mt5": dict(config=dict(feed_forward_proj="gated-gelu", tie_word_embeddings=False,
                            relative_attention_num_buckets=8, relative_attention_max_distance=20),
                dtype=torch.bfloat16, extra_ids=0),
    "silu_tied": dict(config=dict(feed_forward_proj="gated-silu", d_kv=16, num_heads=3), dtype=torch.float16,
                      extra_ids=10),
}
MAX_LENGTH = 24  # with the token that the decoder starts with, as transformers counts


def texts_of(count, seed, sentinels):
    generator = random.Random(seed)
    texts = []
    for i in range(count):
        words = [generator.choice(WORDS) for _ in range(generator.randint(1, 24))]
        words = [w + generator.choice(["", "", "", "", ",", "."]) for w in words]
        if sentinels and i % 3 == 2:
            words[generator.randrange(len(words))] = "<extra_id_0>"
            words.insert(generator.randrange(len(words)), "<extra_id_1>")
        texts.append(generator.choice(["", "translate English to German: "]) + " ".join(words))
    return texts


def learn_pieces(folder, normalization):
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts_of(400, 1, False)), model_prefix=str(folder / "spiece"), vocab_size=90,
        model_type="unigram", pad_id=0, eos_id=1, unk_id=2, bos_id=-1, pad_piece="<pad>",
        normalization_rule_name=normalization, hard_vocab_limit=False, num_threads=1, minloglevel=2)
    (folder / "spiece.vocab").unlink()
    return sentencepiece.SentencePieceProcessor(model_file=str(folder / "spiece.model"))


def tokens(processor, text, extra_ids):
    """As the tokenizer of T5: sentinels first, then the text between them; </s> at the end."""
    ids, size = [], processor.get_piece_size()
    for part in text.replace("<extra_id_", "\0<extra_id_").split("\0"):
        if part.startswith("<extra_id_"):
            number, part = part[len("<extra_id_"):].split(">", 1)
            ids.append(size + extra_ids - 1 - int(number))
        ids += processor.encode(part)
    return ids + [1]


def make_model(name, variant, vocab_size):
    torch.manual_seed(len(name) + 7)
    settings = dict(d_model=16, d_kv=8, d_ff=24, num_heads=2, num_layers=1, vocab_size=vocab_size,
                    relative_attention_num_buckets=32, relative_attention_max_distance=128, pad_token_id=0,
                    eos_token_id=1, decoder_start_token_id=0)
    settings.update(variant["config"])
    is_mt5 = name == "mt5"
    model = (MT5ForConditionalGeneration if is_mt5 else T5ForConditionalGeneration)((MT5Config if is_mt5 else T5Config)(**settings))
    with torch.no_grad():
        for path, value in model.named_parameters():
            wide = 1.0 if "layer_norm" in path else 0.0
            value.copy_(torch.randn_like(value) * (0.2 if "norm" in path else 0.5) + wide)
            if "relative_attention_bias" in path:
                value.mul_(3.0)
        if settings.get("tie_word_embeddings") is False:  # as the checkpoints of v1.1: a table of its own
            model.lm_head.weight = torch.nn.Parameter(torch.randn(vocab_size, settings["d_model"]) * 0.5)
    return model.to(variant["dtype"]).float().eval(), settings


def end_of_text(model, batch):
    """Makes </s> likely enough that lengths vary."""
    with torch.no_grad():
        hidden = [model(input_ids=torch.tensor([ids]), decoder_input_ids=torch.tensor([[0] + ids[:8]]),
                        output_hidden_states=True).decoder_hidden_states[-1][0] for ids in batch]
        mean = torch.cat(hidden).mean(0)
        weight = model.get_output_embeddings().weight
        weight[1] = mean / mean.norm() * weight.norm(dim=1).mean() * 0.9


def search(model, ids, beams):
    made = model.generate(torch.tensor([ids]), use_cache=False, num_beams=beams, do_sample=False, max_length=MAX_LENGTH,
                          length_penalty=1.0, early_stopping=False, forced_eos_token_id=1,
                          bad_words_ids=[[0], [2]],  # dragoman writes neither <pad> nor <unk>
                          return_dict_in_generate=True, output_scores=beams > 1)
    out = made.sequences[0].tolist()[1:]
    score = float(made.sequences_scores[0]) if beams > 1 else 0.0
    return out[:out.index(1)] if 1 in out else out, score


def make_folder(root, name, variant, count):
    folder = root / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    processor = learn_pieces(folder, "nmt_nfkc" if name == "v1_0" else "identity")
    extra_ids = variant.get("extra_ids", 100)
    vocab_size = (processor.get_piece_size() + extra_ids + 15) // 8 * 8
    model, settings = make_model(name, variant, vocab_size)
    texts = texts_of(count, 5, extra_ids > 0)
    ids = [tokens(processor, text, extra_ids) for text in texts]
    end_of_text(model, ids[:8])
    model = model.to(variant["dtype"]).float()
    settings.update(architectures=[type(model).__name__], model_type="mt5" if name == "mt5" else "t5",
                    is_encoder_decoder=True, dropout_rate=0.1, layer_norm_epsilon=1e-6, initializer_factor=1.0,
                    output_past=True, n_positions=512, task_specific_params={})
    (folder / "config.json").write_text(json.dumps(settings, indent=2) + "\n")
    (folder / "tokenizer_config.json").write_text(json.dumps(dict(extra_ids=extra_ids, tokenizer_class="T5Tokenizer")) + "\n")
    (folder / "generation_config.json").write_text(json.dumps(dict(num_beams=4, length_penalty=1.0, decoder_start_token_id=0, eos_token_id=1, pad_token_id=0)) + "\n")
    state = {k: v.to(variant["dtype"]).contiguous() for k, v in model.state_dict().items()}
    for alias in ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight"):
        state.pop(alias, None)
    if settings.get("tie_word_embeddings") is not False:
        state.pop("lm_head.weight", None)
    save_file(state, str(folder / "model.safetensors"), metadata={"format": "pt"})
    rows, logits, forced = [], {}, []
    with torch.no_grad():
        for i, (text, line) in enumerate(zip(texts, ids)):
            greedy, _ = search(model, line, 1)
            beam, score = search(model, line, 4)
            rows.append(dict(text=text, ids=line, greedy=greedy, beam=beam, beam_score=score))
            if i < 4:
                target = ids[(i + 1) % len(ids)][:-1]
                forced.append(target)
                logits[f"logits.{i}"] = model(input_ids=torch.tensor([line]),
                                              decoder_input_ids=torch.tensor([[0] + target])).logits[0].contiguous()
    (folder / "expected.json").write_text(json.dumps(dict(max_length=MAX_LENGTH, forced=forced, texts=rows), ensure_ascii=False, indent=0) + "\n")
    save_file(logits, str(folder / "expected.safetensors"))
    lengths = [len(r["beam"]) for r in rows]
    print(name, "vocabulary", vocab_size, "lengths of beam search", min(lengths), "to", max(lengths),
          "scaled" if getattr(model.config, "scale_decoder_outputs", None) else "not scaled")


def main():
    torch.set_num_threads(1)
    root = pathlib.Path(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    for name, variant in VARIANTS.items():
        make_folder(root, name, variant, count)


if __name__ == "__main__":
    main()
