#!/usr/bin/env python3
"""Holds import and export of MarianMT folders to transformers and CTranslate2, on folders made here with random weights.

Imported: every line of greedy and of beam search as model.generate writes it; with --beam-rule shrinking every line as the
plain search of tests/golden/make_hf_marian.py writes it, which is Marian's rule on transformers' probabilities.
Exported: a model that dragoman trained, and an imported one that goes back, translate in transformers and in CTranslate2
as in dragoman, line by line: greedily, and in transformers with beams of the rule full too.
Usage: hf_marian_check.py PROGRAM [CORPORA [LINES]]   (CORPORA is not used; LINES: 500)
"""

import pathlib
import subprocess
import sys
import tempfile

import torch
import transformers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import make_hf_marian as maker  # noqa: E402

CONTENT = maker.MAX_LENGTH - 2  # tokens between the start and the end that is put there by force
OPUS_LIKE = dict(config=dict(encoder_layers=2, decoder_layers=2), dtype=torch.float32)


def run(program, *arguments, **options):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, encoding="utf-8", **options)
    if done.returncode != 0:
        sys.exit(f"dragoman {' '.join(map(str, arguments))}: status {done.returncode}: {done.stderr}")
    return done.stdout


def translate(program, model, lines, beams, rule="full"):
    search = ["--beam-size", beams, "--beam-rule", rule, "--length-penalty", "length", "--alpha", 1]
    limits = ["--min-length", 0, "--max-length-ratio", 0, "--max-length-extra", CONTENT]
    out = run(program, "translate", "--model", model, *search, *limits, input="\n".join(lines) + "\n")
    return [line.strip() for line in out.split("\n")[:-1]]


def generate_all(model, tokenizer, sources, beams, never):
    """model.generate on batches, texts."""
    texts = []
    for begin in range(0, len(sources), 50):
        part = sources[begin:begin + 50]
        width = max(map(len, part))
        pad = model.config.pad_token_id
        ids = torch.tensor([ids + [pad] * (width - len(ids)) for ids in part])
        mask = torch.tensor([[1] * len(ids) + [0] * (width - len(ids)) for ids in part])
        with torch.no_grad():
            out = model.generate(ids, attention_mask=mask, num_beams=beams, do_sample=False, early_stopping=False,
                                 length_penalty=1.0, max_length=maker.MAX_LENGTH, bad_words_ids=never)
        for row in out.tolist():
            row = row[1:]
            texts.append(maker.text_of(tokenizer, row[: row.index(0)] if 0 in row else row))
    return texts


def convert(folder, output, start_is_zero):
    """To CTranslate2. Its converter takes for granted that the decoder starts from a vector of zeros, as Marian trains it;
    a model trained by dragoman starts from the vector of <pad>."""
    from ctranslate2.converters import TransformersConverter
    from ctranslate2.converters import transformers as loaders

    stock = loaders._MODEL_LOADERS["MarianConfig"]

    class FromPad(loaders.MarianMTLoader):
        def get_model_spec(self, model):
            model.config.normalize_before = model.config.normalize_embedding = False
            return loaders.BartLoader.get_model_spec(self, model)

        def set_config(self, config, model, tokenizer):
            config.eos_token, config.unk_token = tokenizer.eos_token, tokenizer.unk_token
            config.decoder_start_token = tokenizer.pad_token

        def set_decoder(self, spec, decoder):
            loaders.BartLoader.set_decoder(self, spec, decoder)

        def get_vocabulary(self, model, tokenizer):
            return loaders.BartLoader.get_vocabulary(self, model, tokenizer)

    try:
        if not start_is_zero:
            loaders._MODEL_LOADERS["MarianConfig"] = FromPad()
        TransformersConverter(str(folder)).convert(str(output), force=True)
    finally:
        loaders._MODEL_LOADERS["MarianConfig"] = stock


def ctranslate2_all(folder, tokenizer, sources, start_is_zero):
    import ctranslate2

    output = pathlib.Path(str(folder) + ".ct2")
    convert(folder, output, start_is_zero)
    translator = ctranslate2.Translator(str(output), inter_threads=1, intra_threads=1)
    tokens = [tokenizer.convert_ids_to_tokens(ids) for ids in sources]
    never = [["<unused>"]] if "<unused>" in tokenizer.get_vocab() else None
    if not start_is_zero:
        never = (never or []) + [["<pad>"]]
    results = translator.translate_batch(tokens, beam_size=1, min_decoding_length=0, max_decoding_length=CONTENT,
                                         disable_unk=True, suppress_sequences=never)
    return [maker.text_of(tokenizer, tokenizer.convert_tokens_to_ids(r.hypotheses[0])) for r in results]


class Report:
    failed = False

    def compare(self, what, seen, expected, lines):
        wrong = [i for i in range(len(lines)) if seen[i] != expected[i]]
        print(f"{what}: {len(lines) - len(wrong)} of {len(lines)} lines equal, {len(set(expected))} different ones")
        for i in wrong[:3]:
            print(f"  {lines[i]!r}: dragoman {seen[i]!r}, expected {expected[i]!r}")
        self.failed = self.failed or bool(wrong)


def check_import(program, root, name, lines, report):
    folder, imported = root / name, root / f"{name}.dragoman"
    model, tokenizer, sources = maker.make(folder, name, lines, normalization="nmt_nfkc", seed=11)
    run(program, "import", "--from", "hf-marian", folder, "--model", imported)
    greedy = translate(program, imported, lines, 1)
    never = [[model.config.pad_token_id], [1]]
    report.compare(f"{name}: imported, greedy", greedy, generate_all(model, tokenizer, sources, 1, never), lines)
    beam = translate(program, imported, lines, 4, "shrinking")
    plain = [maker.text_of(tokenizer, maker.plain_search(model, ids, 4)[0]) for ids in sources]
    report.compare(f"{name}: imported, beam 4 by Marian's rule", beam, plain, lines)
    report.compare(f"{name}: imported, beam 4 of model.generate", translate(program, imported, lines, 4),
                   generate_all(model, tokenizer, sources, 4, never), lines)
    return imported, tokenizer, sources, greedy


def check_export(program, imported, lines, report, start_is_zero, what):
    folder = pathlib.Path(str(imported) + ".exported")
    run(program, "export", "--to", "hf-marian", folder, "--model", imported)
    model = transformers.MarianMTModel.from_pretrained(str(folder)).eval()
    tokenizer = transformers.MarianTokenizer.from_pretrained(str(folder))
    sources = [tokenizer(line)["input_ids"] for line in lines]
    greedy = translate(program, imported, lines, 1)
    never = model.generation_config.bad_words_ids
    report.compare(f"{what}: exported, greedy in transformers", greedy,
                   generate_all(model, tokenizer, sources, 1, never), lines)
    report.compare(f"{what}: exported, beam 4 of model.generate", translate(program, imported, lines, 4),
                   generate_all(model, tokenizer, sources, 4, never), lines)
    if model.config.share_encoder_decoder_embeddings:  # CTranslate2's converter knows one vocabulary only
        report.compare(f"{what}: exported, greedy in CTranslate2", greedy,
                       ctranslate2_all(folder, tokenizer, sources, start_is_zero), lines)


def train(program, root, options):
    """A model that has learned enough to end its sentences."""
    corpus, model = root / "corpus", root / "trained"
    if not corpus.exists():
        run(program, "sample-corpus", "--size", 10000, "--output", corpus)
    run(program, "train", "--preset", "tiny", "--model", model, "--source", corpus / "train.en", "--target",
        corpus / "train.de", "--valid-source", corpus / "valid.en", "--valid-target", corpus / "valid.de", "--max-steps", 600,
        "--validate-every", 600, "--batch-tokens", 1500, "--vocab-size", 400, "--d-model", 32, "--d-ff", 64,
        "--encoder-layers", 2, "--decoder-layers", 1, "--n-heads", 4, "--warmup-steps", 50, *options)
    return model, (corpus / "test.en").read_text(encoding="utf-8").split("\n")


def main():
    program, count = str(pathlib.Path(sys.argv[1]).resolve()), int(sys.argv[3]) if len(sys.argv) > 3 else 500
    print(f"transformers {transformers.__version__}, torch {torch.__version__}")
    report = Report()
    maker.VARIANTS["opus_like"] = OPUS_LIKE
    lines = maker.sentences_of("source", count, 21)
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        imported, *_ = check_import(program, root, "opus_like", lines, report)
        check_export(program, imported, lines, report, True, "opus_like")
        for name in ("swish_shared", "relu_separate", "gelu_untied", "bpe_apart"):
            check_import(program, root, name, lines[: count // 10], report)
        trained, test = train(program, root, [])
        check_export(program, trained, [line for line in test if line][:count], report, False, "trained")
        apart = root / "apart"
        apart.mkdir()
        (apart / "corpus").symlink_to(root / "corpus")
        trained, test = train(program, apart, ["--joint-vocab", "false", "--tying", "target"])
        check_export(program, trained, [line for line in test if line][: count // 10], report, False, "two vocabularies")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
