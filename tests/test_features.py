"""The table of features: what it moves, and that it is about engines and features that there are."""

from __future__ import annotations

import pytest

from streamcheck import Bool, Float, Int, Spec, extern, mux, stream
from streamcheck.lang.flatten import flatten
from streamcheck.run import features
from streamcheck.run.registry import ENGINES
from streamcheck.run.source import Target, read
from streamcheck.run.strategy import plan, portions
from streamcheck.transform.views import views


def counter():
    go = extern("go", Bool)
    n = stream(Int, lambda n: [0] + +mux(go, n + 1, 0))
    spec = Spec("counter")
    spec.prop("positive", n >= 0)
    return spec


def floats():
    spec, x = Spec("floats"), extern("x", Float)
    spec.prop("same", x == x)
    return spec


def found(spec):
    given = views(flatten(spec))
    (portion,) = portions(given)
    return features.features_of(portion.parts, given[0].automaton)


@pytest.mark.parametrize(("spec", "expected"), [(counter, []), (floats, ["floats"])])
def test_features_of_specs(spec, expected):
    assert found(spec()) == expected


def test_floats_bring_the_engines_on_bitwuzla_forward():
    lanes = plan(views(flatten(floats())), 2, (), deterministic=False)
    after = {name: lane.after for lane in lanes for name in lane.engines}
    assert after["bit-bmc"] == after["bit-induction"] == features.STARTS["floats"]["bit-bmc"] < after["spacer"]
    assert [lane.after for lane in lanes] == sorted(lane.after for lane in lanes)


def test_a_program_of_many_locations_brings_the_engines_with_lemmas_for_each_location(tmp_path):
    def after(loops):
        body = "".join(f"  while (x < {10 * i} && read()) x = x + {i};\n" for i in range(1, loops + 1))
        path = tmp_path / f"loops{loops}.c"
        path.write_text(f"extern int read(void);\nint main(void) {{\n  int x = 0;\n{body}  return x;\n}}\n")
        (program,) = read(Target(str(path), None), 20)
        given = views(program)
        assert ("large program" in features.features_of([given[0].system], given[0].automaton)) == (loops > 9)
        lanes = plan(given, 2, (), deterministic=False)
        return min(lane.after for lane in lanes if "lifted-pdr" in lane.engines)

    assert after(16) < 1.0 < after(1)


def test_every_engine_of_the_table_has_a_start_of_its_own():
    for moved in features.STARTS.values():
        for name in moved:
            starts = (ENGINES[name].spec, ENGINES[name].program)
            assert any(start is not None and not start.beside for start in starts), name
