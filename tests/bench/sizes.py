"""The size and the speed of the generated C beside that of a C programmer.

    python tests/bench/sizes.py [NAME …]

For each monitor: instructions of a step (callgrind, `gcc -O2`, x86-64, handlers included, inputs set outside), bytes
of code and constants for a Cortex-M4 (`clang -Os`), and `sizeof` the state. The hand-written C is in `hand/`, compared
on the same random inputs: it must call the same handlers. Prints a row for each, and what exceeds its target; exits
with 1 if something does.
"""

from __future__ import annotations

import enum
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from streamcheck import *
from streamcheck.codegen.unit import CodeOptions, generate
from streamcheck.lang.flatten import flatten
from streamcheck.validate.bisimulation import validate

HAND = Path(__file__).parent / "hand"
SHORT, LONG = 1_000, 6_000
M4 = "clang --target=thumbv7em-none-eabi -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16 -ffreestanding".split()
STAND_INS = {
    "string.h": "#include <stddef.h>\nvoid *memcpy(void *restrict, const void *restrict, size_t);\n"
    "void *memset(void *, int, size_t);\n",
    "math.h": '#define INFINITY __builtin_inff()\n#define NAN __builtin_nanf("")\n'
    "float fabsf(float), sqrtf(float), floorf(float), ceilf(float);\ndouble fabs(double), sqrt(double);\n",
}


def majority(count):
    votes = [extern(f"p{i}", Word32) for i in range(count)]
    most = voting.majority(votes)
    spec = Spec(f"majority{count}")
    spec.trigger("vote", voting.has_majority(most, votes), {"value": most})
    return spec


def window_max():
    most = statistics.max(100, [0] * 99 + +extern("x", Int16))
    spec = Spec("window_max")
    spec.trigger("peak", most > 30000, {"value": most})
    return spec


def mean_floats():
    mean = statistics.mean(64, [0.0] * 63 + +extern("x", Float))
    spec = Spec("mean_floats")
    spec.trigger("high", mean > 100.0, {"mean": mean})
    return spec


def since(high):
    spec = Spec(f"since{high}")
    spec.trigger("met", mtl.since(0, high, extern("p", Bool), extern("q", Bool)))
    return spec


def debounce():
    raw = extern("raw", Bool)
    last = stream(Word8, lambda n: ([0] + +n) << 1 | mux(raw, Word8(1), 0))
    on = stream(Bool, lambda on: [False] + +mux(on, last != 0, last == 255))
    spec = Spec("debounce")
    spec.trigger("pressed", ~on & (last == 255))
    spec.trigger("released", on & (last == 0))
    return spec


def geofence():
    x, y = extern("x", Int32), extern("y", Int32)
    beyond = (x < 0) | (x > 10000) | (y < 0) | (y > 8000)
    within = (x >= 50) & (x <= 9950) & (y >= 50) & (y <= 7950)
    outside = stream(Bool, lambda o: [False] + +mux(o, ~within, beyond))
    spec = Spec("geofence")
    spec.trigger("enter", ~outside & beyond, {"x": x, "y": y})
    spec.trigger("leave", outside & within, {"x": x, "y": y})
    return spec


class Mode(enum.Enum):
    OFF = 0
    IDLE = 1
    ACTIVE = 2
    HOLD = 3
    FAILED = 4


def modes():
    mode_type = EnumOf(Mode)
    ready, armed, fault, clear = (extern(name, Bool) for name in ("ready", "armed", "fault", "clear"))
    off, idle, active, hold, failed = (mode_type(m) for m in Mode)

    def after(mode):
        now = mux(mode == Mode.HOLD, mux(fault & ~clear, failed, mux(clear, active, hold)), mode)
        now = mux(mode == Mode.ACTIVE, mux(fault, hold, mux(armed, active, idle)), now)
        now = mux(mode == Mode.IDLE, mux(fault, failed, mux(armed, active, idle)), now)
        return mux(mode == Mode.OFF, mux(fault, failed, mux(ready, idle, off)), now)

    mode = stream(mode_type, lambda m: [Mode.OFF] + +after(m))
    spec = Spec("modes")
    spec.trigger("changed", after(mode) != mode, {"before": mode, "now": after(mode)})
    return spec


@struct
class aircraft:
    x: Float
    y: Float
    z: Float
    vx: Float
    vy: Float
    vz: Float


def well_clear():
    a, b = extern("own", aircraft), extern("other", aircraft)
    dx, dy, dz = a.x - b.x, a.y - b.y, a.z - b.z
    vx, vy, vz = a.vx - b.vx, a.vy - b.vy, a.vz - b.vz
    r2, dot, v2 = dx * dx + dy * dy, dx * vx + dy * vy, vx * vx + vy * vy
    reached = -dz / vz
    close = (abs(dz) <= 137.0) | ((dz * vz < 0.0) & (reached >= 0.0) & (reached <= 20.0))
    tau = mux(dot < 0.0, (1493284.0 - r2) / dot, -1.0)
    nearest = mux(v2 > 0.0, -dot / v2, 0.0)
    px, py = dx + nearest * vx, dy + nearest * vy
    miss = sqrt(px * px + py * py)
    bad = close & ((sqrt(r2) <= 1222.0) | ((miss <= 1222.0) & (tau >= 0.0) & (tau <= 35.0)))
    lasting = stream(Word8, lambda n: [0] + +mux(bad, mux(n <= 250, n + 1, n), 0))
    spec = Spec("well_clear")
    spec.trigger("alert", bad & (lasting >= 2), {"miss": miss, "tau": tau})
    return spec


def pid():
    error = extern("wanted", Float) - extern("actual", Float)

    def limited(v):
        return mux(v < -100.0, Float(-100.0), mux(v > 100.0, Float(100.0), v))

    total = stream(Float, lambda s: limited(([0.0] + +s) + error * 0.005))
    change = (error - pre(0.0, error)) * 10.0
    spec = Spec("pid")
    spec.trigger("drive", True, {"value": limited(error * 2.0 + total + change)})
    return spec


@struct
class track:
    valid: Bool
    distance: Float
    rate: Float


def tracks():
    every = extern("tracks", Array(track, 8))
    count = Word8(0)
    for i in range(8):
        t = every[i]
        count = count + mux(t.valid & (t.distance < 500.0) & (t.rate < 0.0), Word8(1), 0)
    spec = Spec("tracks")
    spec.trigger("threat", count > 0, {"count": count})
    return spec


def watchdogs():
    silent = Word8(0)
    for i in range(10):
        beat = extern(f"beat{i}", Bool)
        age = stream(Word8, lambda n, beat=beat: mux(beat, 0, mux(pre(0, n) < 200, pre(0, n) + 1, pre(0, n))))
        silent = silent + mux(age >= 100, Word8(1), 0)
    spec = Spec("watchdogs")
    spec.trigger("dead", silent > 0, {"count": silent})
    return spec


@dataclass
class Monitor:
    spec: object
    inputs: str  # statements that choose the inputs of step `i`
    handlers: str
    instructions: float  # targets, over those of the hand-written C
    text: float
    state: int | None = None


VOTES = "uint32_t *p = &in.p0; for (int j = 0; j < %d; j++) p[j] = (rnd() %% 10) < 6;"
RANDOM_TRACK = "in.tracks[j] = (struct track){rnd() & 1, R(3000), R(20) - 10};"
MET = "in.p = (rnd() & 31) != 0; in.q = (rnd() & 15) == 0;"
FLIGHT = (
    "float k = (float)(i % 400); in.own = (struct aircraft){k * 20 - 4000, R(900), R(300), 100, 3, 1};"
    "in.other = (struct aircraft){0, R(900), R(300), -80, R(9), -1 - R(3)};"
)
SWITCHES = (
    "uint32_t r = rnd(); in.ready = r & 1; in.armed = (r >> 1) & 1; in.fault = ((r >> 2) & 31) == 0;"
    "in.clear = (r >> 9) & 1; if ((i & 255) == 0) NAME_init(&st);"
)
MONITORS = {
    "majority9": Monitor(lambda: majority(9), VOTES % 9, "void vote(uint32_t a) { acc += a + 1; }", 1.0, 1.3),
    "majority26": Monitor(lambda: majority(26), VOTES % 26, "void vote(uint32_t a) { acc += a + 1; }", 1.0, 1.3),
    "window_max": Monitor(window_max, "in.x = (int16_t)rnd();", "void peak(int16_t a) { acc += a; }", 1.2, 1.2),
    "mean_floats": Monitor(mean_floats, "in.x = R(210);", "void high(float a) { acc += a; }", 1.0, 1.3),
    "since10": Monitor(lambda: since(10), MET, "void met(void) { acc += 1; }", 1.2, 1.2, 2),
    "since300": Monitor(lambda: since(300), MET, "void met(void) { acc += 1; }", 1.2, 1.2, 2),
    "debounce": Monitor(
        debounce,
        "if ((i & 15) == 0) in.raw = rnd() & 1;",
        "void pressed(void) { acc += 1; } void released(void) { acc += 3; }",
        1.1,
        1.1,
    ),
    "geofence": Monitor(
        geofence,
        "in.x = (int)R(12000) - 1000; in.y = (int)R(10000) - 1000;",
        "void enter(int32_t a, int32_t b) { acc += a + b; } void leave(int32_t a, int32_t b) { acc -= a + b; }",
        1.1,
        1.1,
    ),
    "modes": Monitor(modes, SWITCHES, "void changed(int32_t a, int32_t b) { acc += a * 7 + b; }", 1.1, 1.1),
    "well_clear": Monitor(well_clear, FLIGHT, "void alert(float a, float b) { acc += a + b; }", 1.1, 1.1),
    "pid": Monitor(
        pid, "in.wanted = R(200) - 100; in.actual = R(200) - 100;", "void drive(float a) { acc += a; }", 1.1, 1.1
    ),
    "tracks": Monitor(
        tracks, "for (int j = 0; j < 8; j++) " + RANDOM_TRACK, "void threat(uint8_t a) { acc += a; }", 1.0, 1.3
    ),
    "watchdogs": Monitor(
        watchdogs,
        "bool *b = &in.beat0; for (int j = 0; j < 10; j++) b[j] = (rnd() & 63) == 0;",
        "void dead(uint8_t a) { acc += a; }",
        1.0,
        1.3,
    ),
}

MAIN = """\
#include "NAME.h"
#include <stdio.h>
#include <stdlib.h>
static double acc;
static uint32_t seed = 1;
static inline uint32_t rnd(void) { seed = seed * 1664525u + 1013904223u; return seed >> 8; }
#define R(m) ((float)(rnd() % ((m) * 16)) / 16.0f)
HANDLERS
static NAME_state st;
static NAME_inputs in;
int main(int count, char **words)
{
    int n = count > 1 ? atoi(words[1]) : 1000;
    NAME_init(&st);
    for (int i = 0; i < n; i++) {
        INPUTS
        NAME_step(&st, &in);
    }
    printf("%zu %.9g\\n", sizeof st, acc);
    return 0;
}
"""


@dataclass
class Measured:
    instructions: float
    text: int
    state: int
    called: str  # a sum over all calls


def run(command, folder):
    done = subprocess.run([str(c) for c in command], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def instructions(folder, name, steps):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=counts", f"--toggle-collect={name}_step"]
    run([*command, "./monitor", steps], folder)
    return int(re.search(r"^(?:totals|summary): (\d+)", (folder / "counts").read_text(), re.M)[1])


def measured(name, monitor, folder):
    main = MAIN.replace("HANDLERS", monitor.handlers).replace("INPUTS", monitor.inputs).replace("NAME", name)
    (folder / "main.c").write_text(main)
    run(["gcc", "-O2", "-std=c99", "-ffp-contract=off", "-c", f"{name}.c", "-o", "step.o"], folder)
    run(["gcc", "-O2", "-std=gnu99", "main.c", "step.o", "-o", "monitor", "-lm"], folder)
    counts = [instructions(folder, name, n) for n in (SHORT, LONG)]
    state, called = run(["./monitor", LONG], folder).split()
    (folder / "m4").mkdir()
    for header, content in STAND_INS.items():
        (folder / "m4" / header).write_text(content)
    run([*M4, "-Os", "-std=c99", "-ffp-contract=off", "-I", "m4", "-c", f"{name}.c", "-o", "m4.o"], folder)
    sections = run(["llvm-size", "-A", "m4.o"], folder).splitlines()
    text = sum(int(s.split()[1]) for s in sections if re.match(r"\.(text|rodata)", s))
    return Measured((counts[1] - counts[0]) / (LONG - SHORT), text, int(state), called)


def write_hand_written(name, code, folder):
    """The hand-written C keeps the interface, all but the state, which its file begins with."""
    state, _, rest = (HAND / f"{name}.c").read_text().partition("_state;\n")
    header = re.sub(
        r"typedef struct \{[^}]*\} \w+_state;", lambda _: f"{state}_state;", code.files[f"{name}.h"], count=1
    )
    (folder / f"{name}.h").write_text(header)
    (folder / f"{name}.c").write_text(f'#include "{name}.h"\n#include <math.h>\n#include <string.h>\n{rest}')


def compare(name, monitor):
    """Both versions, measured."""
    code = generate(flatten(monitor.spec()), CodeOptions()).code
    outcome = validate(code)
    if not outcome.is_proved:
        raise SystemExit(f"{name}: {outcome.failures}")
    with tempfile.TemporaryDirectory() as temporary:
        ours, hand = Path(temporary) / "ours", Path(temporary) / "hand"
        ours.mkdir()
        hand.mkdir()
        for file, text in code.files.items():
            (ours / file).write_text(text)
        write_hand_written(name, code, hand)
        return measured(name, monitor, ours), measured(name, monitor, hand)


def misses(name, monitor, ours, hand):
    if ours.called != hand.called:
        yield f"{name}: the hand-written C is another monitor: {hand.called}, not {ours.called}"
    if round(ours.instructions / hand.instructions, 2) > monitor.instructions:
        yield f"{name}: more than {monitor.instructions} times the instructions"
    if round(ours.text / hand.text, 2) > monitor.text:
        yield f"{name}: more than {monitor.text} times the text"
    if monitor.state is not None and ours.state > monitor.state:
        yield f"{name}: more than {monitor.state} bytes of state"


def main():
    short = []
    print(f"{'monitor':12} {'instructions':>22} {'text':>18} {'state':>9}   (ours, by hand, ratio)")
    for name in sys.argv[1:] or MONITORS:
        monitor = MONITORS[name]
        ours, hand = compare(name, monitor)
        print(
            f"{name:12} {ours.instructions:8.1f} {hand.instructions:7.1f} {ours.instructions / hand.instructions:5.2f}"
            f" {ours.text:6d} {hand.text:5d} {ours.text / hand.text:5.2f} {ours.state:4d} {hand.state:4d}",
            flush=True,
        )
        short += misses(name, monitor, ours, hand)
    print("\n".join(["short of the targets:", *short] if short else ["every target met"]))
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
