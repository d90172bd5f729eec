"""Damaged files, guided by what they reach in the readers: `python -m tests.trust.guided KIND COUNT SEED`.

It needs the package atheris, which is libFuzzer for Python. Its changes are those of `trust.damage`. A file that is new
to the readers' code is changed further. Prints a JSON list of what is wrong, after a line with the number of files.
"""

import importlib
import json
import os
import pkgutil
import shutil
import sys
import tempfile
from pathlib import Path
from random import Random

READERS = ("frontends", "c", "problem", "interpret", "core.wire", "core.term", "core.types", "core.operators")
LARGEST = 8_000  # bytes of a file


def import_readers(atheris):
    """All modules of the readers, with their branches counted."""
    names = [f"streamcheck.{name}" for name in READERS]
    with atheris.instrument_imports(include=names):
        for name in names:
            module = importlib.import_module(name)
            for found in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{name}."):
                if not found.name.endswith("parquet"):
                    importlib.import_module(found.name)


def main(kind, count, seed):
    import atheris

    import_readers(atheris)
    from trust.malformed import changed, is_good, prepare, reader, words_of
    from trust.seeds import seeds

    texts = seeds(kind)
    words, rng = words_of(texts), Random(seed)
    wrong, done = [], 0
    folder = Path(tempfile.mkdtemp(prefix="streamcheck-guided-"))
    prepare(folder)
    read = reader(kind, folder)
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, text in enumerate(texts):
        (corpus / str(number)).write_text(text)

    def attempt(data):
        nonlocal done
        done += 1
        text = data.decode(errors="replace")
        try:
            answer = read(text)
        except Exception as error:
            answer = repr(error)
        if not is_good(kind, answer) and len(wrong) < 200:
            wrong.append([text, str(answer)])
        if done >= count:
            print(f"{done}\n{json.dumps(wrong)}", flush=True)
            shutil.rmtree(folder)
            os._exit(0)

    def mutate(data, most, _seed):
        return changed(rng, kind, data.decode(errors="replace"), texts, words).encode(errors="replace")[:most]

    options = [sys.argv[0], str(corpus), f"-seed={seed}", f"-max_len={LARGEST}", "-timeout=0", "-rss_limit_mb=0"]
    atheris.Setup([*options, "-verbosity=0"], attempt, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
