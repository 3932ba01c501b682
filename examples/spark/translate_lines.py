"""Translates lines with Spark. The input has an id, a tab and a text on each line; the output, Parquet, the columns id and
translation, each id once.

    python translate_lines.py --model my-model --input lines.tsv --output translated --master "local-cluster[2,1,2048]"

Each Python worker of Spark loads the model once and computes with one thread, so give executors as many cores as they
have workers. A task that is lost is computed again; Spark commits the output of a task once.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator

import pandas
from pyspark.sql import DataFrame, SparkSession, functions

Batches = Iterable[pandas.DataFrame]


def translator(model: str, **options: object) -> Callable[[Batches], Iterator[pandas.DataFrame]]:
    """Returns what a worker does with the batches of a task."""

    def translate(batches: Batches) -> Iterator[pandas.DataFrame]:
        import dragoman  # in the worker

        loaded = dragoman.load_once(model)
        for batch in batches:
            yield pandas.DataFrame({
                "id": batch["id"], "translation": loaded.translate(batch["text"].fillna(""), workers=1, **options)})

    return translate


def session(master: str | None) -> SparkSession:
    """Returns a session with batches that are large enough to be sorted by length, and tasks that are cheap to lose."""
    builder = SparkSession.builder.appName("dragoman")
    if master is not None:
        builder = builder.master(master)
    return (builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", 2048)
            .config("spark.sql.files.maxPartitionBytes", "1m")
            .config("spark.python.worker.reuse", True)
            .getOrCreate())


def lines_of(spark: SparkSession, path: str) -> DataFrame:
    """Returns the input with its columns. The text goes from the first tab to the end of the line."""
    lines = spark.read.text(path, lineSep="\n")
    parts = functions.split(lines["value"], "\t", 2)
    return lines.select(parts[0].cast("long").alias("id"), parts[1].alias("text"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="model folder, which all workers see at this path")
    parser.add_argument("--input", required=True)
    parser.add_argument("--output", required=True, help="a folder that is not there yet")
    parser.add_argument("--beam-size", type=int, default=4)
    parser.add_argument("--master", help="where spark-submit does not say it")
    arguments = parser.parse_args()
    spark = session(arguments.master)
    translate = translator(arguments.model, beam_size=arguments.beam_size)
    lines = lines_of(spark, arguments.input)
    lines.mapInPandas(translate, schema="id long, translation string").write.parquet(arguments.output)
    spark.stop()


if __name__ == "__main__":
    main()
