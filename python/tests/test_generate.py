import asyncio

import numpy
import pytest

from dragoman.errors import DataError, UsageError


def test_generate(generator):
    text = generator.generate("Hello", max_tokens=8)
    assert isinstance(text, str) and generator.generate(["Hello"], max_tokens=8) == [text]
    found = generator.continuations(["Hello"], samples=3, max_tokens=8)
    assert found[0].text == text and len(found) == 3
    assert all(len(each.ids) <= 8 and len(each.token_scores) >= len(each.ids) for each in found)


def test_greedy_search_and_stop(generator):
    text = generator.generate("Hello", max_tokens=12, sampling_temperature=0, beam_size=1)
    stop = next(letter for letter in text[1:] if letter.isascii() and letter.isprintable())
    cut = generator.generate("Hello", max_tokens=12, sampling_temperature=0, beam_size=1, stop=[stop])
    assert text.startswith(cut) and stop not in cut


def test_stream(generator):
    stream = generator.stream("Hello", max_tokens=8)
    assert "".join(part.text for part in stream) == stream.result.text == generator.generate("Hello", max_tokens=8)

    async def parts():
        return [part.text async for part in generator.stream("Hello", max_tokens=8)]

    assert "".join(asyncio.run(parts())) == stream.result.text


def test_score(generator):
    score = generator.score("Hello there world")
    assert score.log_probs.dtype == numpy.float32 and score.log_probs.sum() == pytest.approx(score.log_prob, rel=1e-4)
    assert score.perplexity == pytest.approx(numpy.exp(score.loss))
    with pytest.raises(DataError):
        generator.score("")


def test_errors(generator):
    with pytest.raises(UsageError, match="max_tokens"):
        generator.generate("x", max_tokens=-1)
    with pytest.raises(UsageError, match="either searched or drawn"):
        generator.generate("x", beam_size=4, sampling_temperature=1)
    assert generator.generate("Hello", max_tokens=4, beam_size=4) == generator.generate("Hello", max_tokens=4, beam_size=4)
    with pytest.raises(UsageError, match="samples is 0"):
        generator.continuations(["x"], samples=0)
    with pytest.raises(UsageError):
        generator.generate("word " * 5000)
    with pytest.raises(UsageError, match="no chat template"):
        generator.chat_prompt([{"role": "user", "content": "Hello"}])


def test_embed(encoder):
    vectors = encoder.embed(["hello", "a b c", ""])
    assert vectors.dtype == numpy.float32 and vectors.shape[0] == 3 and vectors.flags.writeable
    assert (encoder.embed("hello") == vectors[0]).all()
    assert (encoder.embed("a b c", workers=1, batch_tokens=16) == vectors[1]).all()
    assert encoder.embed([]).shape == (0, vectors.shape[1])
    with pytest.warns(UserWarning, match="lost their end"):
        encoder.embed("word " * 5000)
