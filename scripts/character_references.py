#!/usr/bin/env python3
"""Writes src/serving/text/character_references.inc: the named character references of HTML, sorted by their bytes.
  scripts/character_references.py > src/serving/text/character_references.inc
Source: WHATWG HTML Living Standard, section 13.5, as the table html.entities.html5 of Python's standard library."""
import html.entities


def literal(characters: str) -> str:
    """Returns the characters as a C++ string literal in ASCII."""
    named = {"\t": "\\t", "\n": "\\n", '"': '\\"', "\\": "\\\\"}
    parts = [named.get(c, c if c.isascii() else f"\\U{ord(c):08X}") for c in characters]
    return '"' + "".join(parts) + '"'


def main() -> None:
    print("// Written by scripts/character_references.py. Source: WHATWG HTML, section 13.5.")
    line = ""
    for name, characters in sorted(html.entities.html5.items()):
        entry = f'{{"{name}", {literal(characters)}}}, '
        if len(line) + len(entry) > 121:
            print(line.rstrip())
            line = ""
        line += entry
    print(line.rstrip())


if __name__ == "__main__":
    main()
