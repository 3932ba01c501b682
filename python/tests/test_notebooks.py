"""The code of the notebooks runs. Jupyter itself is not needed."""

import json
import os
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_code_runs(notebook, monkeypatch):
    if "DRAGOMAN_PROGRAM" in os.environ:
        monkeypatch.setenv("PATH", f"{Path(os.environ['DRAGOMAN_PROGRAM']).parent}:{os.environ['PATH']}")
    names: dict[str, object] = {}
    for cell in json.loads(notebook.read_text())["cells"]:
        if cell["cell_type"] == "code":
            code = "".join(cell["source"]).replace("MINUTES = 1 / 3", "MINUTES = 1 / 15")
            exec(compile(code, notebook.name, "exec"), names)


def test_there_are_notebooks():
    assert NOTEBOOKS
