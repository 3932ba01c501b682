"""Writes tests/evaluation/sacrebleu_cases.json: small texts and what sacreBLEU 2.6 says of them.

    python sacrebleu_make_cases.py ../evaluation/sacrebleu_cases.json

The tests read the table, so they need no Python. Run this again only to add cases, with sacrebleu 2.6 installed.
"""

import json
import os
import random
import sys

import numpy
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

WIDTH = 10
TOKENIZERS = ["13a", "intl", "zh", "char", "none"]

TEXTS = {
    "western": (
        ["The animal didn't cross the street, because it was too tired.", "It cost $1,234.56 - or 1.5% more!",
         "\"Wait...\" he said (twice); why?", "A state-of-the-art e-mail: a@b.org/x_y",
         "In 1999-2003, 5,000 people left."],
        ["The animal did not cross the street because it was tired.", "It cost $1,234.56, or 1.5 % more!",
         "\"Wait ...\", he said (twice). Why?", "A state of the art e-mail: a@b.org/x_y",
         "From 1999-2003 5,000 people left."]),
    "german": (["Das Tier überquerte die Straße nicht, weil es zu müde war.", "Ärger mit 3,5 km/h „schnell“ – nein…"],
               ["Das Tier überquerte die Strasse nicht, da es müde war.", "ärger mit 3,5 km/h „Schnell“ - nein …"]),
    "chinese": (["那只动物没有过马路，因为它太累了。", "他在1999年花了3.5元（约50美分）买ABC-2。", "“你好”——他说：《红楼梦》！"],
                ["那只动物没过马路，因为它很累。", "1999年他花3.5元(约50美分)买了ABC-2。", "“您好” —— 他说:《红楼梦》!"]),
    "rare characters": (["𠀀𪛖 丽 ⺀⼀⿰〇 ㄅㆠ㇀ ㈀㌀ ︐︰ ☀✀ → ∀ ｆｕｌｌ", "a→b “x” 1′ 5€ ①② ½ x² 😀 ـ"],
                        ["𠀀𪛖丽 ⺀⼀ ⿰〇ㄅ ㆠ㇀㈀㌀ ︐︰☀ ✀→∀ full", "a → b \"x\" 1 ′ 5 € ① ② 1/2 x² 😀😀"]),
    "lower case": (["ΟΔΥΣΣΕΥΣ ΣΑΣ Σ", "İSTANBUL ISPARTA", "ÉCOLE STRAẞE ǅ", "ΑΣ. ΑΣΒ"],
                   ["οδυσσευς σας σ", "i̇stanbul isparta", "école straße ǆ", "ας. ασβ"]),
    "entities": (["&quot;a&quot; &amp; b &lt;c&gt; &amp;lt; &apos;", "<skipped> x <skipped>y", "AT&T &amp;amp; R&D;"],
                 ["\"a\" & b <c> < '", "x y", "AT&T & R&D;"]),
    "white space": (["  a\u00a0b\u2003c  ", "d\te\u3000f\u2028g\u0085h\x1ci", "j\u200bk\ufeffl ."],
                    ["a b c", "d e f g h i", "j k l."]),
    "empty lines": (["", "a b c d", "", "e f g h i"], ["x y", "a b c d", "", ""]),
    "nothing at all": ([""], [""]),
    "empty reference": (["a b"], [""]),
    "no match": (["a b c d e"], ["v w x y z"]),
    "short": (["a b", "c", "d e f"], ["a b", "c d", "d x f"]),
    "repetition": (["the the the the the the the", "a a b b a a b b a a"],
                   ["the cat is on the mat", "a a b a a b a a b b"]),
    "punctuation": (["...", ",,, a,,b ..1 1..", "1.,2 3,.4 5-6 -7 8- 9-,",
                     "(hi) \"!\" a! !a !!", "x.y,z 1.2,3 a.1 1.a"],
                    [". . .", ",,,a ,,b ..1 1 ..", "1.,2 3,.4 5 - 6 - 7 8 - 9 -,", "( hi ) \"!\" a ! ! a ! !",
                     "x. y, z 1.2 ,3 a .1 1. a"]),
}


def shuffled(seed, alphabet, longest, lines):
    """Random sentences, and the same with blocks moved, words replaced and left out: TER has shifts to find."""
    rng = random.Random(seed)
    words = [chr(ord("a") + i) for i in range(alphabet)]
    reference, hypothesis = [], []
    for _ in range(lines):
        line = [rng.choice(words) for _ in range(rng.randrange(longest + 1))]
        reference.append(" ".join(line))
        for _ in range(rng.randrange(4)):
            start, end, target = (rng.randrange(len(line) + 1) for _ in range(3))
            block, rest = line[start:end], line[:start] + line[max(start, end):]
            line = rest[:target] + block + rest[target:]
        line = [rng.choice(words) if rng.random() < 0.1 else word for word in line if rng.random() < 0.95]
        hypothesis.append(" ".join(line))
    return hypothesis, reference


SHIFTED = {
    "moved blocks": shuffled(1, 26, 30, 40),
    "few words": shuffled(2, 3, 16, 40),
    "two words": shuffled(3, 2, 40, 12),  # reaches the limit of tried shifts
    "long lines": shuffled(4, 20, 140, 5),  # longer than the farthest shift
    "unequal lengths": (["a", "a b c d e f g h i j " * 8, "x " * 60 + "a b"],
                        ["b c d e f g h i j a " * 12, "j", "a b " + "y " * 2]),
}


def ter_options(normalized=False, no_punct=False, asian_support=False, case_sensitive=False):
    return {"normalized": normalized, "no_punct": no_punct, "asian_support": asian_support,
            "case_sensitive": case_sensitive}


def bleu_options(tokenize="13a", lowercase=False, smooth_method="exp", smooth_value=None, effective_order=False):
    return {"tokenize": tokenize, "lowercase": lowercase, "smooth_method": smooth_method,
            "smooth_value": smooth_value, "effective_order": effective_order}


def case(metric, options, text):
    """The corpus score, and each sentence's with the effective order on."""
    hypothesis, *references = all_texts()[text]
    make = {"bleu": BLEU, "chrf": CHRF, "ter": TER}[metric]
    corpus = make(**options)
    single = BLEU(**{**options, "effective_order": True}) if metric == "bleu" else make(**options)
    score = corpus.corpus_score(hypothesis, references)
    sentences = [single.sentence_score(row[0], list(row[1:])) for row in zip(hypothesis, *references)]
    row = {"text": text, "metric": metric, "options": options,
           "line": score.format(WIDTH, False, corpus.get_signature().format()),
           "sentences": [f"{s.score:.{WIDTH}f}" for s in sentences]}
    if text == "german":
        row["json"] = score.format(2, False, corpus.get_signature().format(), True)
    return row


def all_texts():
    """TEXTS, and some with several references."""
    hypothesis, reference = TEXTS["western"]
    third = [line.replace("a", "o") for line in hypothesis[:-1]] + [""]
    return {**TEXTS, **SHIFTED, "2 references": (hypothesis, reference, third),
            "2 references, swapped": (hypothesis, third, reference), "3 references": (hypothesis, third, third, reference)}


def chrf_options(char_order=6, word_order=0, beta=2, lowercase=False):
    return {"char_order": char_order, "word_order": word_order, "beta": beta, "lowercase": lowercase}


def score_cases():
    cases = []
    for text in TEXTS:
        for lowercase in (False, True):
            cases += [case("bleu", bleu_options(tokenizer, lowercase), text) for tokenizer in TOKENIZERS]
            cases += [case("chrf", chrf_options(word_order=order, lowercase=lowercase), text) for order in (0, 2)]
    for text in ("western", "short", "no match", "empty lines", "repetition"):
        for method, value in (("floor", None), ("floor", 0.5), ("floor", 0.0), ("add-k", None), ("add-k", 0.25),
                              ("none", None)):
            for effective in (False, True):
                options = bleu_options(smooth_method=method, smooth_value=value, effective_order=effective)
                cases.append(case("bleu", options, text))
    for text in ("2 references", "2 references, swapped", "3 references"):
        cases.append(case("bleu", bleu_options(), text))
        cases += [case("chrf", options, text) for options in
                  (chrf_options(6, 2, 2), chrf_options(3, 1, 1, True), chrf_options(1, 0, 3))]
    return cases + ter_cases()


def ter_cases():
    cases = []
    for text in TEXTS:
        for normalized in (False, True):
            for no_punct in (False, True):
                for asian in (False, True):
                    cases.append(case("ter", ter_options(normalized, no_punct, asian), text))
        cases.append(case("ter", ter_options(case_sensitive=True), text))
    cases += [case("ter", ter_options(), text) for text in
              (*SHIFTED, "2 references", "2 references, swapped", "3 references")]
    return cases


def token_cases():
    lines = sorted({line for texts in TEXTS.values() for text in texts for line in text})
    return [{"tokenize": t, "line": line, "words": BLEU(tokenize=t).tokenizer(line.rstrip()).split()}
            for t in TOKENIZERS for line in lines]


def systems_for_tests():
    """Three systems of 60 lines by a rule without random numbers; the second is a little worse than the first."""
    words = "the a tired wide animal street dog cat crosses sees because it was too very small".split()
    reference = [" ".join(words[(i * 7 + j * j * 3 + i * j) % len(words)] for j in range(4 + i % 9)) + "."
                 for i in range(60)]

    def damaged(step):
        return [" ".join(w for j, w in enumerate(line.split()) if (i * 5 + j * 3) % step)
                for i, line in enumerate(reference)]

    return reference, [damaged(11), damaged(9), damaged(3)]


def interval_cases():
    reference, systems = systems_for_tests()
    cases = []
    for seed, resamples in ((12345, 1000), (1, 40), (2**40 + 7, 41)):
        os.environ["SACREBLEU_SEED"] = str(seed)
        lines = []
        for metric in (BLEU(), CHRF(), CHRF(word_order=2), TER()):
            score = metric.corpus_score(systems[1], [reference], n_bootstrap=resamples)
            lines.append(score.format(WIDTH, False, metric.get_signature().format()))
        cases.append({"seed": seed, "resamples": resamples, "lines": lines})
    return cases


def plain(result):
    return {key: None if value is None else float(value) for key, value in result.__dict__.items()}


def paired_case():
    os.environ["SACREBLEU_SEED"] = "12345"
    reference, systems = systems_for_tests()
    named = [(f"system{i}", system) for i, system in enumerate(systems)]
    _, scores = PairedTest(named, {"BLEU": BLEU(), "CHRF": CHRF(word_order=2), "TER": TER()},
                           [reference], "bs", 1000)()
    return {
        "reference": reference, "systems": systems,
        "results": [{name: plain(scores[name][i]) for name in ("BLEU", "chrF2++", "TER")} for i in range(len(systems))],
    }


def draw_cases():
    return [{"seed": seed, "bound": bound, "values": numpy.random.default_rng(seed).integers(0, bound, 24).tolist()}
            for seed in (0, 1, 12345, 2**32 - 1, 2**32, 2**63 + 12345)
            for bound in (1, 2, 3, 1000, 2**31 + 1, 2**32 - 1)]


def main():
    table = {"texts": all_texts(), "scores": score_cases(), "tokens": token_cases(),
             "intervals": interval_cases(), "paired": paired_case(), "draws": draw_cases()}
    with open(sys.argv[1], "w", encoding="utf-8", newline="\n") as out:
        # One entry a line keeps changes readable.
        out.write("{\n")
        for number, (key, value) in enumerate(table.items()):
            entries = value if isinstance(value, list) else None
            body = json.dumps(value, ensure_ascii=False) if entries is None else \
                "[\n" + ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries) + "\n]"
            out.write(f'"{key}": {body}{"," if number + 1 < len(table) else ""}\n')
        out.write("}\n")


if __name__ == "__main__":
    main()
