"""How much memory embed takes in CPython: ``python -m bench.vectors_memory``, half a minute.

An isolate has 128 MB, of which the interpreter takes some 30. With tracemalloc watching, the work
takes many times as long. Measured: 24 MiB to make a result of 12 MiB (2,048 vectors of 1,536
numbers), 1 MiB to tell it as 40 MiB of JSON.
"""

from __future__ import annotations

from tests.unit.providers.test_embed_run import peaks
from tests.unit.services.world import World

SIZES = ((2048, 384), (2048, 1536))
MEBIBYTE = 2**20


def main() -> None:
    print("texts  dimensions  result MiB  work's peak MiB  JSON MiB  peak to tell it MiB")  # noqa: T201
    for count, size in SIZES:
        world = World()
        found = peaks(world, count=count, size=size)
        world.close()
        figures = [found.kept_bytes, found.work, found.json_bytes, found.json]
        result, work, json, telling = [figure / MEBIBYTE for figure in figures]
        print(f"{count:5}  {size:10}  {result:10.1f}  {work:15.1f}  {json:8.1f}  {telling:19.1f}")  # noqa: T201


if __name__ == "__main__":
    main()
