"""Translates lines with Ray Data. The input is Parquet with the columns id and text; the output, Parquet, has the columns id
and translation, each id once.

    python translate_lines.py --model my-model --input lines.parquet --output translated --workers 2

Each worker is an actor that loads the model once and computes with one thread. The blocks of an actor that dies are computed
again by another one. The tasks that list, read and write take little time, but Ray starts them only where it counts a core that
no worker holds: give it one core more than workers (ray start --num-cpus), or it waits for ever.
"""

import argparse
import os
from typing import Any

import ray


class Translate:
    """What a worker does with its batches."""

    def __init__(self, model: str, options: dict[str, Any]) -> None:
        import dragoman

        self._model = dragoman.load_once(model)
        self._options = options

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        return {"id": batch["id"], "translation": self._model.translate(batch["text"], workers=1, **self._options)}


def translate(source: str, output: str, *, model: str, workers: int, block: int = 4096, worker: type = Translate,
              **options: Any) -> None:
    """Translates all lines of `source` into `output`.

    Args:
        block: lines of a part; what a worker was doing when it died is done again.
        worker: `Translate`, or a class derived from it.
    """
    lines = ray.data.read_parquet(source).repartition(target_num_rows_per_block=block)
    translated = lines.map_batches(
        worker, fn_constructor_args=(model, options), batch_size=2048, num_cpus=1,
        compute=ray.data.ActorPoolStrategy(size=workers))
    translated.write_parquet(output)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="model folder, which all workers see at this path")
    parser.add_argument("--input", required=True)
    parser.add_argument("--output", required=True, help="a folder that is not there yet")
    parser.add_argument("--beam-size", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    ray.init(num_cpus=None if "RAY_ADDRESS" in os.environ else arguments.workers + 1)
    translate(arguments.input, arguments.output, model=arguments.model, workers=arguments.workers,
              beam_size=arguments.beam_size)


if __name__ == "__main__":
    main()
