"""The notebooks run, and what their cells show can be seen in a Chromium without a network."""

import ast
import json
import os
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.rglob("*.ipynb"))
SHORT = ("MINUTES = 1 / 3", "MINUTES = 1 / 15")


def names_of(notebook: Path) -> str:
    return notebook.relative_to(FOLDER).with_suffix("").as_posix()


def codes_of(notebook: Path) -> list[str]:
    cells = json.loads(notebook.read_text())["cells"]
    return ["".join(cell["source"]).replace(*SHORT) for cell in cells if cell["cell_type"] == "code"]


@pytest.fixture(autouse=True)
def _program_in_path(monkeypatch):
    if "DRAGOMAN_PROGRAM" in os.environ:
        monkeypatch.setenv("PATH", f"{Path(os.environ['DRAGOMAN_PROGRAM']).parent}:{os.environ['PATH']}")


def pages_of(executed) -> int:
    """Returns the number of cells whose value is a page."""
    outputs = [output for cell in executed.cells if cell.cell_type == "code" for output in cell.outputs]
    return sum("<iframe" in output.get("data", {}).get("text/html", "") for output in outputs)


def check_frames(browser, html: Path, count: int) -> None:
    """Every page of the notebook has drawn itself. Jupyter's own scripts would come from the network."""
    browser.errors.clear()
    browser.open(html.as_uri(), ready="true")
    assert browser.run("document.querySelectorAll('iframe').length") == count
    for i in range(count):
        frame = f"document.querySelectorAll('iframe')[{i}].contentDocument"
        browser.run(f"document.querySelectorAll('iframe')[{i}].scrollIntoView()")
        browser.wait(f"{frame}.querySelectorAll('#overview canvas, .story-canvas').length > 0")
        browser.wait(f"{frame}.querySelector('.story')?.hasAttribute('aria-busy') !== true")
        assert browser.run(f"{frame}.querySelector('[role=alert]')?.textContent ?? ''") == ""
        assert browser.run(f"{frame}.querySelector('.story h2')?.textContent !== ''")
    ours = [error for error in browser.errors if "ERR_INTERNET_DISCONNECTED" not in error and "not defined" not in error]
    assert ours == []


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=names_of)
def test_jupyter_runs_it(notebook, tmp_path, request):
    nbformat = pytest.importorskip("nbformat")
    nbconvert = pytest.importorskip("nbconvert")
    preprocessors = pytest.importorskip("nbconvert.preprocessors")
    pytest.importorskip("ipykernel")
    book = nbformat.read(notebook, as_version=4)
    for cell in book.cells:
        cell.source = cell.source.replace(*SHORT) if cell.cell_type == "code" else cell.source
    executed, _ = preprocessors.ExecutePreprocessor(timeout=300).preprocess(book, {"metadata": {"path": str(tmp_path)}})
    count = pages_of(executed)
    assert count == sum(code.count(".show_attention(") + code.count(".story(") for code in codes_of(notebook))
    html = tmp_path / "notebook.html"
    html.write_text(nbconvert.HTMLExporter().from_notebook_node(executed)[0])
    if count > 0:
        check_frames(request.getfixturevalue("browser"), html, count)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=names_of)
def test_the_code_runs_without_jupyter(notebook):
    try:
        import ipykernel  # noqa: F401
        import nbconvert  # noqa: F401
    except ImportError:
        names: dict[str, object] = {}
        for code in codes_of(notebook):
            exec(compile(code, notebook.name, "exec"), names)
    else:
        pytest.skip("test_jupyter_runs_it has run it")


@pytest.mark.parametrize("chinese", sorted((FOLDER / "zh").glob("*.ipynb")), ids=lambda path: path.stem)
def test_both_languages_have_the_same_code(chinese):
    trees = [[ast.dump(ast.parse(code)) for code in codes_of(book)] for book in (chinese, FOLDER / chinese.name)]
    assert trees[0] == trees[1]


def test_each_notebook_is_there_in_both_languages():
    assert {path.name for path in FOLDER.glob("*.ipynb")} == {path.name for path in (FOLDER / "zh").glob("*.ipynb")} != set()
