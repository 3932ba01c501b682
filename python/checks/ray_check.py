"""Translates many lines with examples/ray and two workers, kills a worker meanwhile, and compares the throughput with that
of the workers alone. It takes minutes, needs `pip install "ray[data]" pandas pyarrow`, and is no part of CI.

    python python/checks/ray_check.py [--lines 1000000] [--folder FOLDER]
"""

import argparse
import sys
import tempfile
import threading
import time
from pathlib import Path

import bulk
import pyarrow
import pyarrow.parquet
import ray

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "ray"))
import translate_lines  # noqa: E402

WORKERS = 2


class Watched(translate_lines.Translate):
    """As the example, and each batch is noted in the folder `seen`."""

    def __init__(self, model, options):
        self._noted = Path(options.pop("seen")), model
        super().__init__(model, options)

    def __call__(self, batch):
        result = super().__call__(batch)
        bulk.note(*self._noted)
        return result


def kill_worker(seen: Path, killed: list[str]) -> None:
    """Kills one worker after some batches."""
    bulk.wait_until(lambda: len(list(seen.iterdir())) > 0)
    bulk.kill(int(next(seen.iterdir()).name.split("-")[0]))
    killed.append("a worker")


def job(model: Path, lines: Path, folder: Path, name: str) -> tuple[float, Path]:
    """Translates `lines` into folder/name. Returns the seconds that it takes, and where its batches leave their names."""
    seen = folder / f"{name}-seen"
    seen.mkdir(exist_ok=True)
    began = time.monotonic()
    translate_lines.translate(str(lines), str(folder / name), model=str(model), workers=WORKERS, worker=Watched,
                              seen=str(seen), **bulk.OPTIONS)
    return time.monotonic() - began, seen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="keeps corpus and model for another time")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        model, _, texts = bulk.make(arguments.folder or folder / "kept", arguments.lines)
        lines = folder / "lines.parquet"
        pyarrow.parquet.write_table(pyarrow.table({"id": list(range(len(texts))), "text": texts}), lines, row_group_size=bulk.BATCH)
        for module in (translate_lines, bulk):
            ray.cloudpickle.register_pickle_by_value(module)
        ray.init(num_cpus=WORKERS + 1, logging_level="ERROR", include_dashboard=False)
        before = bulk.alone(model, texts[::5], WORKERS)
        seconds, seen = job(model, lines, folder, "whole")
        after = bulk.alone(model, texts[::5], WORKERS)
        bulk.check_output(folder / "whole", texts, model)
        bulk.report("Ray", len(texts) / seconds, before, after, bulk.check_loads(seen, WORKERS, 0))

        killed: list[str] = []
        seen = folder / "killed-seen"
        seen.mkdir()
        killer = threading.Thread(target=kill_worker, args=(seen, killed), daemon=True)
        killer.start()
        _, seen = job(model, lines, folder, "killed")
        killer.join(10)
        assert killed, "the job ended before a worker was killed"
        bulk.check_output(folder / "killed", texts, model)
        print(f"Ray: {killed[0]} killed: each id once, {bulk.check_loads(seen, WORKERS, 1)}")
        ray.shutdown()


if __name__ == "__main__":
    main()
