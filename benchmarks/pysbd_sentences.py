"""Prints the ends of the sentences of each line of the standard input, as byte offsets, found by pySBD.

    pysbd_sentences.py LANGUAGE < lines
"""

import sys

import pysbd


def main():
    segmenter = pysbd.Segmenter(language=sys.argv[1], clean=False)
    for line in sys.stdin.buffer:
        text = line.decode("utf-8").rstrip("\n")
        ends, at = [], 0
        for sentence in segmenter.segment(text):
            found = text.find(sentence.strip(), at)  # pySBD may change blanks
            at = found + len(sentence.strip()) if found >= 0 else at + len(sentence)
            ends.append(len(text[:at].encode("utf-8")))
        print(*ends, flush=False)


if __name__ == "__main__":
    main()
