"""A corpus, a model, and how fast workers are alone: what the checks of bulk engines share."""

import itertools
import multiprocessing
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import dragoman
import pyarrow.parquet

BATCH = 2048  # lines that a worker translates together, as the engines do
OPTIONS = {"beam_size": 1}


def program() -> str:
    found = os.environ.get("DRAGOMAN_PROGRAM") or shutil.which("dragoman")
    assert found, "dragoman is not in PATH; name it in DRAGOMAN_PROGRAM"
    return found


def make(folder: Path, count: int) -> tuple[Path, Path, list[str]]:
    """Returns a small model, a file of lines with ids, and the texts of these lines. Both are made once."""
    text, model, lines = folder / "text", folder / "model", folder / f"lines-{count}.tsv"
    folder.mkdir(parents=True, exist_ok=True)
    if not text.exists():
        subprocess.run([program(), "sample-corpus", "--output", text, "--size", "200000"], check=True, stdout=subprocess.DEVNULL)
    if not (model / "model.safetensors").exists():
        dragoman.train(
            "tiny-hour", source=text / "train.en", target=text / "train.de", model=model, d_model=128, d_ff=256,
            encoder_layers=2, decoder_layers=2, vocabulary_size=2000, max_steps=400, warmup_steps=100, average=0, progress=False)
    texts = list(itertools.islice(itertools.cycle((text / "train.en").read_text().splitlines()), count))
    if not lines.exists():
        lines.write_text("".join(f"{i}\t{line}\n" for i, line in enumerate(texts)))
    return model, lines, texts


def batches_of(texts: list[str]) -> Iterator[list[str]]:
    for begin in range(0, len(texts), BATCH):
        yield texts[begin:begin + BATCH]


def _work(model: str, texts: list[str], ready, rate) -> None:
    translator = dragoman.load(model)
    translator.translate(texts[:BATCH], workers=1, **OPTIONS)
    ready.wait()
    began = time.monotonic()
    for batch in batches_of(texts):
        translator.translate(batch, workers=1, **OPTIONS)
    rate.put(len(texts) / (time.monotonic() - began))


def alone(model: Path, texts: list[str], workers: int) -> float:
    """Returns lines a second of processes without an engine, together: each translates its share beside the others."""
    context = multiprocessing.get_context("spawn")
    ready, rate = context.Barrier(workers), context.Queue()
    shares = [texts[worker::workers] for worker in range(workers)]
    processes = [context.Process(target=_work, args=(str(model), share, ready, rate)) for share in shares]
    for process in processes:
        process.start()
    total = sum(rate.get() for _ in processes)
    for process in processes:
        process.join()
    return total


def processes_below(ancestor: int, what: str) -> list[int]:
    """Returns the processes below `ancestor` whose command line holds `what`."""
    parents, commands = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                commands[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except (OSError, ValueError):
                continue  # it has ended

    def is_below(process: int) -> bool:
        while process in parents and process != ancestor:
            process = parents[process]
        return process == ancestor

    return [process for process, command in commands.items() if what in command and is_below(process)]


def wait_until(condition: Callable[[], bool], seconds: float = 600) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s in vain"
        time.sleep(0.1)


def kill(process: int) -> None:
    os.kill(process, signal.SIGKILL)


def check_output(output: Path, texts: list[str], model: Path) -> None:
    """Each id is there once, and each translation is what the model says of that line in a plain process."""
    table = pyarrow.parquet.read_table(output)
    ids, translations = table["id"].to_pylist(), table["translation"].to_pylist()
    assert len(ids) == len(texts), f"{len(ids)} rows for {len(texts)} lines"
    found = dict(zip(ids, translations, strict=True))
    assert sorted(found) == list(range(len(texts))), "an id is missing or twice"
    sample = range(0, len(texts), max(1, len(texts) // 5000))
    expected = dragoman.load(model).translate([texts[i] for i in sample], **OPTIONS)
    wrong = [i for i, translation in zip(sample, expected, strict=True) if found[i] != translation]
    assert not wrong, f"{len(wrong)} of {len(sample)} translations differ, first that of line {wrong[0]}"


def note(seen: Path, model: Path | str) -> None:
    """Leaves a file in `seen` whose name holds this process and the object of its model."""
    (seen / f"{os.getpid()}-{id(dragoman.load_once(model))}-{time.monotonic_ns()}").touch()


def check_loads(seen: Path, workers: int, killed: int) -> str:
    """Each worker has loaded the model once, and no more workers were started than those that died."""
    names = [path.name.split("-") for path in seen.iterdir()]
    processes = {process for process, _, _ in names}
    assert len({(process, model) for process, model, _ in names}) == len(processes), "a worker has loaded the model twice"
    assert len(processes) <= workers + killed, f"{len(processes)} workers for {workers} and {killed} that were killed"
    return f"{len(processes)} workers did {len(names)} parts, each with one model"


def report(engine: str, rate: float, before: float, after: float, loads: str) -> None:
    """Prints a throughput beside that of the workers alone, before and after."""
    ratio = 2 * rate / (before + after)
    print(f"{engine}: {rate:,.0f} lines/s; its workers alone {before:,.0f} and {after:,.0f}; ratio {ratio:.3f}; {loads}")
