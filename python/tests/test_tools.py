import pickle
from typing import get_args, get_type_hints

import pytest
import sacrebleu

import dragoman
from dragoman import _options, evaluate
from dragoman.errors import AbsentFileError, DataError, UsageError

HYPOTHESES = ["The cat sat on the mat.", "A dog ran away !", "He said 3.5 % is fine."]
REFERENCES = ["The cat sat on a mat.", "The dog ran away!", "He said that 3.5% is fine."]
SECOND = ["A cat sat on the mat.", "A dog ran off!", "He said 3.5% was fine."]


@pytest.mark.parametrize("references", [[REFERENCES], [REFERENCES, SECOND]])
def test_scores_are_those_of_sacrebleu(references):
    given = references[0] if len(references) == 1 else references
    theirs = sacrebleu.corpus_bleu(HYPOTHESES, references)
    assert evaluate.bleu(HYPOTHESES, given).score == pytest.approx(theirs.score, abs=1e-9)
    lower = sacrebleu.corpus_bleu(HYPOTHESES, references, lowercase=True, tokenize="char", smooth_method="floor")
    ours = evaluate.bleu(HYPOTHESES, given, lowercase=True, tokenize="char", smooth_method="floor")
    assert ours.score == pytest.approx(lower.score, abs=1e-9)
    assert evaluate.chrf(HYPOTHESES, given).score == pytest.approx(
        sacrebleu.corpus_chrf(HYPOTHESES, references).score, abs=1e-9)
    assert evaluate.chrf(HYPOTHESES, given, word_order=2).score == pytest.approx(
        sacrebleu.corpus_chrf(HYPOTHESES, references, word_order=2).score, abs=1e-9)
    assert evaluate.ter(HYPOTHESES, given).score == pytest.approx(
        sacrebleu.corpus_ter(HYPOTHESES, references).score, abs=1e-9)


def test_a_score_says_how_it_was_made():
    score = evaluate.bleu(HYPOTHESES, REFERENCES)
    assert float(score) == score.score and "tok:13a" in score.signature and "BP" in score.details


def test_texts_of_unlike_length_are_refused():
    with pytest.raises(DataError):
        evaluate.bleu(["a", "b"], ["c"])
    with pytest.raises(DataError):
        evaluate.chrf([], [])
    with pytest.raises(ValueError, match="tokenize"):
        evaluate.bleu(["a"], ["a"], tokenize="words")


def test_vocabulary(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on the mat\na dog ran away from the cat\n" * 50)
    vocabulary = dragoman.Vocabulary.train(text, vocabulary_size=40)
    assert 20 < len(vocabulary) <= 40
    ids = vocabulary.encode("the cat ran")
    assert vocabulary.decode(ids) == "the cat ran" and vocabulary.encode(["the cat ran"]) == [ids]
    assert vocabulary.pieces(ids)[0].startswith("▁") and vocabulary.id(vocabulary.pieces(ids)[0]) == ids[0]
    vocabulary.save(tmp_path / "v.spm")
    assert dragoman.Vocabulary(tmp_path / "v.spm") == vocabulary == pickle.loads(pickle.dumps(vocabulary))
    with pytest.raises(UsageError, match="vocabulary_size is 1"):
        dragoman.Vocabulary.train(text, vocabulary_size=1)
    with pytest.raises(FileNotFoundError):
        dragoman.Vocabulary(tmp_path / "none.spm")
    with pytest.raises(dragoman.Error):
        vocabulary.decode([10**6])


def test_import_and_export(translator_folder, tmp_path, translator):
    dragoman.export_model("hf-marian", translator_folder, tmp_path / "out", source_language="en", target_language="de")
    dragoman.import_model("hf-marian", tmp_path / "out", tmp_path / "again")
    assert dragoman.load(tmp_path / "again").translate("A dog runs.") == translator.translate("A dog runs.")
    with pytest.raises(AbsentFileError):
        dragoman.import_model("hf-marian", tmp_path / "none", tmp_path / "x")
    with pytest.raises(UsageError, match="not an empty folder"):
        dragoman.import_model("hf-marian", tmp_path / "out", tmp_path / "again")
    with pytest.raises(ValueError, match="format is"):
        dragoman.import_model("other", tmp_path / "out", tmp_path / "y")


@pytest.mark.parametrize("call, name", [(dragoman.import_model, "format"), (dragoman.export_model, "format"),
                                        (dragoman.export_model, "gguf_type")])
def test_types_name_every_format(call, name, translator_folder, tmp_path):
    accepted = {"format": "other", "model": tmp_path / "m", "folder": translator_folder}
    if call is dragoman.export_model:
        accepted = {"format": "gguf", "model": translator_folder, "folder": tmp_path / "m"}
    with pytest.raises(UsageError) as refused:
        call(**accepted | {name: "other"})
    listed = str(refused.value).split("must be one of " if "one of" in str(refused.value) else "must be ")[1]
    names = listed.split(";")[0].replace(" or ", ", ").split(", ")
    assert list(get_args(get_type_hints(call)[name])) == names


def test_types_of_train_have_the_options_of_every_shape():
    options = get_type_hints(_options.TrainOptions)
    assert {"decoder_layers", "layers", "d_hidden", "kernel_width", "segments", "unit_length", "pooling"} <= set(options)
