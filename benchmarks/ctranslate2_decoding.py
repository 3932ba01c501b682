"""Translates lines with CTranslate2 and prints, as one line of JSON, tokens, seconds and memory.

    python ctranslate2_decoding.py '{"folder": ..., "vocabulary": ..., "lines": FILE, ...}'

compare_decoding.py calls it. The seconds are those of translating; loading is measured apart. Cutting into pieces counts
when the job says so, and is done by SentencePiece on all lines at once.
"""

import json
import resource
import sys
import time

import ctranslate2
import sentencepiece


def main():
    job = json.loads(sys.argv[1])
    with open(job["lines"], encoding="utf-8", newline="\n") as file:
        lines = [line.rstrip("\n") for line in file]
    begin = time.perf_counter()
    pieces = sentencepiece.SentencePieceProcessor(model_file=job["vocabulary"])
    translator = ctranslate2.Translator(
        job["folder"],
        compute_type=job["compute_type"],
        inter_threads=job["inter_threads"],
        intra_threads=job["intra_threads"],
    )
    load_seconds = time.perf_counter() - begin
    options = {
        "beam_size": job["beam_size"],
        "max_decoding_length": job["max_length"],
        "min_decoding_length": job["min_length"],
        "length_penalty": job["length_penalty"],
    }
    cut = [pieces.encode(line, out_type=str) for line in lines]
    translator.translate_batch(cut[:8], max_batch_size=8, **options)  # warm-up

    latencies, outputs = [], []
    begin = time.perf_counter()
    if job["batch"] == 1:
        for tokens in cut:
            start = time.perf_counter()
            outputs += translator.translate_batch([tokens], **options)
            latencies.append(time.perf_counter() - start)
    else:
        if job["with_text"]:
            cut = [pieces.encode(line, out_type=str) for line in lines]
        outputs = translator.translate_batch(cut, max_batch_size=job["batch"], batch_type=job["batch_type"], **options)
        if job["with_text"]:
            texts = [pieces.decode(output.hypotheses[0]) for output in outputs]
            with open(job["output"], "w", encoding="utf-8") as file:
                file.writelines(text + "\n" for text in texts)
    seconds = time.perf_counter() - begin
    print(
        json.dumps(
            {
                # the end of a sentence is a token that had to be found too
                "tokens": sum(min(len(output.hypotheses[0]) + 1, job["max_length"]) for output in outputs),
                "seconds": seconds,
                "latencies": latencies,
                "load_seconds": load_seconds,
                "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
                "version": f"ctranslate2 {ctranslate2.__version__}",
            }
        )
    )


if __name__ == "__main__":
    main()
