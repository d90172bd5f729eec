"""The table of features: what it moves, and that it is about engines and features that there are."""

from __future__ import annotations

from streamcheck.run import features
from streamcheck.run.registry import ENGINES
from streamcheck.run.source import Target, read
from streamcheck.run.strategy import Schedule
from streamcheck.transform.views import views


def test_a_program_of_many_locations_brings_the_engines_with_lemmas_for_each_location(tmp_path):
    def after(loops):
        body = "".join(f"  while (x < {10 * i} && read()) x = x + {i};\n" for i in range(1, loops + 1))
        path = tmp_path / f"loops{loops}.c"
        path.write_text(f"extern int read(void);\nint main(void) {{\n  int x = 0;\n{body}  return x;\n}}\n")
        (program,) = read(Target(str(path), None), 20)
        given = views(program)
        assert ("large program" in features.features_of(given[0].automaton)) == (loops > 9)
        lanes = Schedule(given, 2).every
        return min(lane.after for lane in lanes if "lifted-pdr" in lane.engines)

    assert after(16) < 1.0 < after(1)


def test_relations_between_counters_have_the_full_price_in_programs(tmp_path):
    path = tmp_path / "loop.c"
    path.write_text("int main(void) {\n  int x = 0, y = 0;\n  while (x < 9) { x++; y++; }\n  return y;\n}\n")
    (program,) = read(Target(str(path), None), 20)
    (lane,) = (lane for lane in Schedule(views(program), 2).every if "templates" in lane.engines and lane.after < 0.3)
    assert lane.price == 1


def test_several_counters_bring_the_engine_for_their_sums_and_machine_counters_sooner(tmp_path):
    def after(count, kind):
        cells = "".join(f"c{i} = stream({kind}, lambda c: [0] ++ mux(b, c + {i + 1}, c))\n" for i in range(count))
        total = " + ".join(f"c{i}" for i in range(count)) or "0"
        path = tmp_path / f"{kind}{count}.py"
        text = "from streamcheck import *\nb = extern('b', Bool)\n"
        path.write_text(f"{text}{cells}spec = Spec('s')\nspec.prop('p', {total} != 5)\n")
        (problem,) = read(Target(str(path), None), 20)
        lanes = Schedule(views(problem), 2).every
        (lane, *_) = (lane for lane in lanes if "templates" in lane.engines)
        return lane.after, lane.price

    assert after(4, "Int32") < after(3, "Int") < after(1, "Int")
    assert after(4, "Int32")[1] == 1 < after(1, "Int")[1]


def test_every_engine_of_the_table_has_a_start_of_its_own():
    for moved in features.STARTS.values():
        for name in moved:
            starts = (ENGINES[name].spec, ENGINES[name].program)
            assert any(start is not None and not start.beside for start in starts), name


def test_products_bring_the_engine_that_leaves_out_what_does_not_matter(tmp_path):
    def lane(definition):
        rows = "".join(f"n{i + 1} = {definition.format(n=f'n{i}', i=i)}\n" for i in range(9))
        path = tmp_path / "spec.py"
        path.write_text(
            "from streamcheck import *\nx = extern('x', Word32)\nn0 = x + 1\n" + rows +
            "c = stream(Word8, lambda c: [0] ++ mux(n9 == 3, mux(c < 10, c + 2, Word8(0)), c))\n"
            "spec = Spec('s')\nspec.prop('p', c != 5)\n"
        )  # fmt: skip
        (problem,) = read(Target(str(path), None), 20)
        lanes = Schedule(views(problem), 2).every
        return next(lane for lane in lanes if "structural" in lane.engines)

    hard, easy = lane("{n} * (x + {i})"), lane("{n} ^ (x + {i})")
    assert hard.after < easy.after and hard.price < easy.price


def test_words_without_a_form_over_int_bring_the_engine_with_clauses_of_bits(tmp_path):
    def after(step):
        path = tmp_path / "spec.py"
        path.write_text(
            "from streamcheck import *\nx = extern('x', Word16)\n"
            f"c = stream(Word16, lambda c: [0] ++ ({step}))\nspec = Spec('s')\nspec.prop('p', c != 5)\n"
        )
        (problem,) = read(Target(str(path), None), 20)
        lanes = Schedule(views(problem), 2).every
        return {name: lane.after for lane in reversed(lanes) for name in lane.engines}

    bits, numbers = after("c ^ (x + 1)"), after("c + x")
    assert bits["pdr-bits"] < numbers["pdr-bits"] and bits["pdr-bits"] < bits["spacer"]
