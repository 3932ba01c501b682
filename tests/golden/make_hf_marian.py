#!/usr/bin/env python3
"""Makes the stored MarianMT folders: tiny random models of Hugging Face transformers, one a variant of what MarianMT can
be, each with what transformers computes with it: token ids, logits, greedy and beam search.

A folder is what save_pretrained writes, and beside it expected.json (sentences, ids, translations) and
expected.safetensors (logits). Ids are Marian's. Random weights hardly ever end a sentence; the output vector and
the bias of </s> are chosen so that lengths vary.
Needs torch, transformers, sentencepiece, safetensors:  python3 make_hf_marian.py FOLDER
"""

import json
import pathlib
import random
import shutil
import sys

import numpy as np
import sentencepiece
import torch
from safetensors.numpy import save_file
from transformers import MarianConfig, MarianMTModel, MarianTokenizer

WORDS = {
    "source": "the house mouse cat dog runs sleeps red green and small a an old tree near under river with never".split(),
    "target": "das haus maus katze hund läuft schläft rot grün und klein ein alter baum nahe unter fluß mit nie groß".split(),
}
# name: what differs from the OPUS-MT models, and how it is stored
VARIANTS = {
    "swish_shared": dict(config=dict(activation_function="swish", encoder_layers=2, decoder_layers=1,
                                     encoder_attention_heads=4, decoder_attention_heads=2, encoder_ffn_dim=32,
                                     decoder_ffn_dim=24),
                         dtype=torch.float32, code=">>deu<<", drop=3),
    "relu_separate": dict(config=dict(activation_function="relu", encoder_layers=1, decoder_layers=2,
                                      share_encoder_decoder_embeddings=False), dtype=torch.float32, separate=True),
    "gelu_untied": dict(config=dict(activation_function="gelu", scale_embedding=False, tie_word_embeddings=False),
                        dtype=torch.float16, pad_row=True),
    "bpe_apart": dict(config=dict(activation_function="swish", share_encoder_decoder_embeddings=False), kind="bpe",
                      dtype=torch.bfloat16, drop=2, pad_row=True),
}
MAX_LENGTH = 24  # with the token that the decoder starts with, as transformers counts


def sentences_of(side, count, seed):
    generator = random.Random(seed)
    lines = []
    for _ in range(count):
        words = [generator.choice(WORDS[side]) for _ in range(generator.randint(1, 12))]
        lines.append(" ".join(w + generator.choice(["", "", "", "", ",", "."]) for w in words))
    return lines


def learn_pieces(folder, side, kind, normalization):
    prefix = folder / side
    # sentencepiece asks for any iterator and writes PREFIX.model
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences_of(side, 400, 1)), model_prefix=str(prefix), vocab_size=90, model_type=kind,
        normalization_rule_name=normalization, hard_vocab_limit=False, num_threads=1, minloglevel=2)
    (folder / f"{side}.vocab").unlink()
    (folder / f"{side}.model").rename(folder / f"{side}.spm")
    processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{side}.spm"))
    return [processor.id_to_piece(i) for i in range(3, processor.get_piece_size())]


def numbered(pieces, code, drop):
    """{"piece": id} as Marian numbers: </s>, <unk>, pieces, <pad>. Some pieces are left out, as happens in real ones."""
    generator = random.Random(5)
    kept = sorted(set(pieces))
    for piece in generator.sample([p for p in kept if len(p) > 3], drop):
        kept.remove(piece)
    generator.shuffle(kept)
    names = ["</s>", "<unk>"] + kept + ([code] if code else []) + ["<pad>"]
    return {name: i for i, name in enumerate(names)}


def write_vocabularies(folder, variant, normalization):
    kind = variant.get("kind", "unigram")
    source, target = (learn_pieces(folder, side, kind, normalization) for side in ("source", "target"))
    code, drop = variant.get("code"), variant.get("drop", 0)
    if not variant.get("separate"):
        vocabularies = {"vocab.json": numbered(source + target, code, drop)}
        sizes = [len(vocabularies["vocab.json"])] * 2
    else:  # one pad id for both, as config.json has one: the shorter list is filled up
        longer = max(len(set(source)), len(set(target)))
        fill = lambda pieces: pieces + [f"<fill{i}>" for i in range(longer - len(set(pieces)))]
        vocabularies = {"vocab.json": numbered(fill(source), code, drop),
                        "target_vocab.json": numbered(fill(target), None, drop)}
        sizes = [len(v) for v in vocabularies.values()]
    for name, vocabulary in vocabularies.items():
        (folder / name).write_text(json.dumps(vocabulary, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    settings = dict(tokenizer_class="MarianTokenizer", source_lang="en", target_lang="de", model_max_length=512,
                    clean_up_tokenization_spaces=False, separate_vocabs=bool(variant.get("separate")))
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
    return sizes


def make_model(variant, sizes, seed):
    torch.manual_seed(seed)
    settings = dict(d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
                    encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=64, scale_embedding=True, dropout=0.1,
                    activation_function="swish")
    settings.update(variant["config"])
    pad = sizes[1] - 1
    config = MarianConfig(vocab_size=sizes[0], decoder_vocab_size=sizes[1], pad_token_id=pad, eos_token_id=0,
                          decoder_start_token_id=pad, forced_eos_token_id=0, **settings)
    model = MarianMTModel(config)
    with torch.no_grad():
        for name, value in model.named_parameters():  # tables that are one are named once
            if "embed_positions" in name:
                continue
            centre = 1.0 if "layer_norm.weight" in name else 0.0
            # Otherwise what a sentence translates ends it, at once or never.
            calm = 0.4 if "encoder_attn.out_proj" in name else 1.0
            wide = 0.4 if "embed_tokens" in name or "shared" in name or "lm_head" in name else 0.5
            value.copy_(torch.randn_like(value) * (0.2 if "norm" in name or "bias" in name else wide * calm) + centre)
        model.final_logits_bias.copy_(torch.randn_like(model.final_logits_bias) * 0.3)
        if not variant.get("pad_row"):  # zero, as in models that Marian trained
            for table in (model.model.encoder.embed_tokens, model.model.decoder.embed_tokens):
                table.weight[pad] = 0.0
            model.final_logits_bias[0, pad] = 0.0
    return model.eval()


def generate(model, ids, beams, **options):
    never = [[model.config.pad_token_id], [1]]  # dragoman never writes <unk> either
    with torch.no_grad():
        out = model.generate(torch.tensor([ids]), num_beams=beams, do_sample=False, max_length=MAX_LENGTH,
                             bad_words_ids=never, **options)[0].tolist()
    out = out[1:]
    return out[: out.index(0)] if 0 in out else out


def plain_search(model, ids, beams):
    """Beam search by the rule of Marian and dragoman, on transformers' own probabilities: a finished hypothesis keeps its
    place in the beam. Returns ids and normalised score of the best; all live hypotheses are one batch."""
    start, end, most = model.config.decoder_start_token_id, 0, MAX_LENGTH - 2
    live, finished = [([], 0.0)], []
    with torch.no_grad():
        memory = model.model.encoder(torch.tensor([ids])).last_hidden_state
    for length in range(1, most + 1):
        inputs = torch.tensor([[start] + tokens for tokens, _ in live])
        with torch.no_grad():
            logits = model(encoder_outputs=(memory.expand(len(live), -1, -1),), decoder_input_ids=inputs).logits[:, -1]
        scores = torch.log_softmax(logits.double(), -1)
        scores[:, [model.config.pad_token_id, 1]] = float("-inf")
        places = beams - len(finished)
        candidates = sorted(((total + scores[row, token].item(), row, token) for row, (_, total) in enumerate(live)
                             for token in scores[row].topk(places).indices.tolist()), key=lambda c: (-c[0], c[1]))[:places]
        grown = []
        for total, row, token in candidates:
            if token == end:
                finished.append((total / length, live[row][0]))
            else:
                grown.append((live[row][0] + [token], total))
        live = grown
        if not live:
            break
    finished += [(total / most, tokens) for tokens, total in live]
    return max(finished, key=lambda f: f[0])[::-1]


def make_sentences_end(model, sources):
    """Turns the output vector of </s> towards what hidden states are late in a sentence and not at its beginning, and away
    from what tells sentences apart (a linear discriminant); chooses its bias so that sentences end after 8 tokens or
    so."""
    generator = torch.Generator().manual_seed(1)
    start = torch.full((1, 1), model.config.decoder_start_token_id)
    targets = [torch.randint(2, model.config.pad_token_id, (1, MAX_LENGTH - 2), generator=generator) for _ in range(12)]
    for _ in range(4):  # where tables are tied the vector is also what the encoder reads, and moves what it came from
        hidden = []
        for ids, target in zip(sources, targets):
            with torch.no_grad():
                states = model.model(input_ids=torch.tensor([ids]), decoder_input_ids=torch.cat([start, target], 1))
            hidden.append(states.last_hidden_state[0])
        hidden = torch.stack(hidden)
        late = hidden[:, 6:].mean((0, 1)) - hidden[:, :3].mean((0, 1))
        apart = torch.cov(hidden.mean(1).T) + 0.5 * torch.cov(hidden[:, :3].mean(1).T) + 0.02 * torch.eye(hidden.shape[2])
        away = torch.linalg.solve(apart, late)
        with torch.no_grad():
            model.lm_head.weight[0] = away / away.norm() * 1.5
    low, high = -8.0, 12.0
    for _ in range(6):
        middle = (low + high) / 2
        model.final_logits_bias[0, 0] = middle
        mean = sum(len(generate(model, ids, 1)) for ids in sources[:12]) / 12
        low, high = (middle, high) if mean > 8 else (low, middle)
    model.final_logits_bias[0, 0] = round(high * 4) / 4  # exact in every type


def forced_logits(model, source, target):
    start = model.config.decoder_start_token_id
    with torch.no_grad():
        return model(input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([[start] + target])).logits[0]


def make(folder, name, sentences, normalization="identity", seed=3):
    """One folder. Returns model, tokenizer and the ids of the sentences."""
    variant, folder = VARIANTS[name], pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    sizes = write_vocabularies(folder, variant, normalization)
    model = make_model(variant, sizes, seed)
    model.generation_config.num_beams = 4
    model.generation_config.max_length = MAX_LENGTH
    tokenizer = MarianTokenizer.from_pretrained(str(folder))
    sources = [tokenizer(line)["input_ids"] for line in sentences]
    make_sentences_end(model, sources)
    model.to(variant["dtype"]).save_pretrained(str(folder))
    for path in folder.iterdir():
        path.chmod(0o644)
    # What is expected is what the stored weights compute, in float32.
    model = MarianMTModel.from_pretrained(str(folder), dtype=torch.float32).eval()
    return model, tokenizer, sources


def text_of(tokenizer, ids):
    return tokenizer.decode(ids, skip_special_tokens=True, use_source_tokenizer=False)


def write_expected(folder, model, tokenizer, sentences, sources):
    generator = random.Random(9)
    last = model.final_logits_bias.shape[1] - 1
    forced = [[generator.randrange(2, last) for _ in range(generator.randint(1, 9))] for _ in range(4)]
    logits = {f"logits.{i}": forced_logits(model, sources[i], target).numpy() for i, target in enumerate(forced)}
    save_file({key: np.ascontiguousarray(value) for key, value in logits.items()}, str(folder / "expected.safetensors"))
    rows = []
    for line, ids in zip(sentences, sources):
        greedy, (beam, score) = generate(model, ids, 1), plain_search(model, ids, 4)
        rows.append(dict(line=line, ids=ids, greedy=greedy, greedy_text=text_of(tokenizer, greedy), beam=beam,
                         beam_text=text_of(tokenizer, beam), beam_score=round(score, 6),
                         transformers_beam=generate(model, ids, 4)))
    expected = dict(max_length=MAX_LENGTH, forced=forced, sentences=rows)
    (folder / "expected.json").write_text(json.dumps(expected, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    return rows


def golden_sentences(variant):
    lines = sentences_of("source", 16, 2) + ["the Fluß is  grün , Xyz", "  ", "ß", "a <unk> </s> <pad> b", "<< >>x<<"]
    lines = [line for line in lines if line.strip()]
    return lines + ([f"{variant['code']} the old tree", f"{variant['code']}a cat", ">>xyz<< dog"] if variant.get("code") else [])


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    for name in VARIANTS:
        lines = [line for line in golden_sentences(VARIANTS[name]) if "</s>" not in line and ">>xyz<<" not in line]
        model, tokenizer, sources = make(root / name, name, lines)
        rows = write_expected(root / name, model, tokenizer, lines, sources)
        lengths = [len(row["greedy"]) for row in rows]
        same = sum(row["beam"] == row["transformers_beam"] for row in rows)
        print(name, "V", model.config.vocab_size, "greedy lengths", sorted(lengths), "beam as generate:", same)
