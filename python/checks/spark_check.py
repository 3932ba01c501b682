"""Translates many lines with examples/spark under two workers, kills workers meanwhile, and compares the throughput with that
of the workers alone. It takes minutes, needs Java and `pip install pyspark pandas pyarrow`, and is no part of CI.

    python python/checks/spark_check.py [--lines 1000000] [--folder FOLDER]
"""

import argparse
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import bulk
from pyspark.sql import SparkSession

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "spark"))
import translate_lines  # noqa: E402

WORKERS = 2


def watched(model: str, seen: str):
    """As the example, and each task is noted in `seen`."""
    translate = translate_lines.translator(model, **bulk.OPTIONS)

    def watch(batches):
        yield from translate(batches)
        bulk.note(Path(seen), model)

    return watch


def kill_workers(seen: Path, killed: list[str]) -> None:
    """Kills one Python worker and, after more tasks have ended, one executor."""
    for name, what in (("a Python worker", "pyspark.daemon"), ("an executor", "CoarseGrainedExecutorBackend")):
        before = len(list(seen.iterdir()))
        bulk.wait_until(lambda: len(list(seen.iterdir())) > before)
        found = bulk.processes_below(os.getpid(), what)
        # A Python worker is the child of a daemon with the same command line.
        victims = [each for each in found if what != "pyspark.daemon" or bulk.processes_below(each, what) == [each]]
        bulk.kill(victims[0])
        killed.append(name)


def job(spark: SparkSession, model: Path, lines: Path, folder: Path, name: str) -> tuple[float, Path]:
    """Translates `lines` into folder/name. Returns the seconds that it takes, and where its tasks leave their names."""
    seen = folder / f"{name}-seen"
    seen.mkdir(exist_ok=True)
    began = time.monotonic()
    table = translate_lines.lines_of(spark, str(lines))
    mapped = table.mapInPandas(watched(str(model), str(seen)), schema="id long, translation string")
    mapped.write.parquet(str(folder / name))
    return time.monotonic() - began, seen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="keeps corpus and model for another time")
    arguments = parser.parse_args()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        model, lines, texts = bulk.make(arguments.folder or folder / "kept", arguments.lines)
        spark = translate_lines.session(f"local-cluster[{WORKERS},1,1536]")
        spark.sparkContext.setLogLevel("OFF")
        for module in (translate_lines, bulk):
            spark.sparkContext.addPyFile(module.__file__)
        job(spark, model, bulk.make(arguments.folder or folder / "kept", WORKERS * bulk.BATCH)[1], folder, "warm")
        before = bulk.alone(model, texts[::5], WORKERS)
        seconds, seen = job(spark, model, lines, folder, "whole")
        after = bulk.alone(model, texts[::5], WORKERS)
        bulk.check_output(folder / "whole", texts, model)
        bulk.report("Spark", len(texts) / seconds, before, after, bulk.check_loads(seen, WORKERS, 0))

        killed: list[str] = []
        seen = folder / "killed-seen"
        seen.mkdir()
        killer = threading.Thread(target=kill_workers, args=(seen, killed), daemon=True)
        killer.start()
        seconds, seen = job(spark, model, lines, folder, "killed")
        killer.join(10)
        assert len(killed) == 2, f"the job ended before its workers were killed: {killed}"
        bulk.check_output(folder / "killed", texts, model)
        print(f"Spark: {' and '.join(killed)} killed: each id once, {bulk.check_loads(seen, WORKERS, len(killed))}")
        spark.stop()


if __name__ == "__main__":
    main()
