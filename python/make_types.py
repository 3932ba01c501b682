"""Writes what the types of the package need into its folder.

    make_types.py STUB FOLDER

_options.py: a type for the options of each call, from the field tables of the library, and types for the names of formats.
_dragoman.pyi: the stub that nanobind made, with the types that it leaves open.
"""

import re
import sys
from pathlib import Path

import _dragoman

TABLES = {
    "SearchOptions": ("Options of `translate` and `generate`.", _dragoman.search_option_rows),
    "ScoreOptions": ("Options of `score`.", _dragoman.score_option_rows),
    "VocabularyOptions": ("Options of `Vocabulary.train`.", _dragoman.vocabulary_option_rows),
    "EncodeOptions": ("Options of `embed`, `classify`, `tag` and `fill_mask`.", _dragoman.encode_option_rows),
}

NAMES = {
    "ImportFormat": ("Models that `import_model` reads.", _dragoman.import_formats),
    "ExportFormat": ("Models that `export_model` writes.", _dragoman.export_formats),
    "GgufType": ("Types of the matrices in a file of llama.cpp.", _dragoman.gguf_types),
}


def type_of(kind: str, choices: list[str]) -> str:
    return f"Literal[{', '.join(repr(choice) for choice in choices)}]" if choices else kind


def train_rows() -> list[tuple[str, str, str, list[str], str]]:
    """The options of `train`: of the run, of the shape of any architecture, and those that take a word."""
    rows = {row[0]: row for row in reversed(_dragoman.shape_option_rows())}  # a Transformer has the last word
    rows |= {row[0]: row for row in _dragoman.train_option_rows("tiny")}
    name, _, default, choices, text = rows["batch_tokens"]
    rows[name] = (name, 'int | Literal["auto"]', default, choices, text)
    rows["memory"] = ("memory", "str", "half of what is free", [], "Memory to take, e.g. 8GiB; batches are cut to fit")
    return list(rows.values())


def class_text(name: str, doc: str, rows: list[tuple[str, str, str, list[str], str]]) -> str:
    lines = [f"class {name}(TypedDict, total=False):", f'    """{doc} An option that is not given keeps its default."""', ""]
    for field, kind, default, choices, text in rows:
        lines.append(f"    {field}: {type_of(kind, choices)}")
        lines.append(f"    {f'{text}. Default: {default or chr(34) * 2}'!r}")
    return "\n".join(lines) + "\n"


def names_text(name: str, doc: str, names: list[str]) -> str:
    return f"{name} = {type_of('str', names)}\n{doc!r}\n"


def closed(stub: str) -> str:
    """Returns the stub with whole types: dict[str, Any] for dict, PathLike[str] for PathLike."""
    stub = re.sub(r"\bdict\b(?!\[)", "dict[str, typing.Any]", stub)
    stub = re.sub(r"\bos\.PathLike\b(?!\[)", "os.PathLike[str]", stub)
    stub = stub.replace("numpy.typing.NDArray", "NDArray")  # Tensor.numpy hides the module
    imports = "".join(f"import {name}\n" for name in ("collections.abc", "os", "typing", "numpy"))
    imports += "from numpy.typing import NDArray\n"
    return stub.replace("\nfrom ", f"\n{imports}from ", 1) + "\n__version__: str\n"


def main() -> None:
    head = '"""The options of calls. Made from the field tables of the library."""\n\nfrom typing import Literal, TypedDict\n'
    parts = [names_text(name, doc, names()) for name, (doc, names) in NAMES.items()]
    parts += [class_text(name, doc, rows()) for name, (doc, rows) in TABLES.items()]
    parts.append(class_text("TrainOptions", "Options of `train`; the defaults named here are those of the preset tiny.", train_rows()))
    stub, folder = Path(sys.argv[1]), Path(sys.argv[2])
    (folder / "_options.py").write_text("\n\n".join([head, *parts]))
    (folder / "_dragoman.pyi").write_text(closed(stub.read_text()))


main()
