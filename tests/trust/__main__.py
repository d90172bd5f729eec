"""The figures of docs/trust.md, again: `python -m tests.trust [--long] [--seed N] [--count N] [FIGURE]…`

Prints what was tried and what disagrees; exits with 1 if something does. The tests do a small part of it.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from trust.table import TABLE


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.trust", description=__doc__)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=f"some of {', '.join(TABLE)}")
    parser.add_argument("--long", action="store_true", help="hours instead of minutes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, help="how much of each figure, instead of what the table has")
    given = parser.parse_args()
    unknown = [name for name in given.figures if name not in TABLE]
    if unknown:
        parser.error(f"there is no figure {unknown[0]}; there are {', '.join(TABLE)}")
    wrong = 0
    for name in given.figures or TABLE:
        row = TABLE[name]
        count = given.count or (row.long if given.long else row.usual)
        figure = row.figure(name, count, given.seed)
        print(f"{name} --count {count} --seed {given.seed}", *figure.lines(), sep="\n", flush=True)
        wrong += len(figure.wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
