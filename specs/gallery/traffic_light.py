# The lights of a crossing: two roads and a button for pedestrians, each phase with its least time, all red in between.
# Steps are 1 s. The monitor also watches the lamps: a green that is not commanded, or both roads green, is a conflict.
# Proved: the plan never has both roads green, yellow lasts 3 s, a pedestrian waits at most two rounds.
import enum

from streamcheck import *


class Phase(enum.Enum):
    ALL_RED = 0
    NORTH = 1
    NORTH_YELLOW = 2
    CLEAR = 3
    EAST = 4
    EAST_YELLOW = 5
    WALK = 6


seconds = range(60)
button = extern("button", Bool, [n in (4, 30) for n in seconds], doc="a pedestrian asks")
lamp_north = extern("lamp_north", Bool, [2 <= n < 12 for n in seconds], doc="current through the green lamp, north")
lamp_east = extern("lamp_east", Bool, [17 <= n < 27 for n in seconds], doc="the same, east")

GREEN, YELLOW, RED, WALK = 10, 3, 2, 8


@stream(Word8)
def elapsed():
    """For how many seconds the phase has lasted."""
    return [0] ++ mux(changed, 0, minimum(elapsed + 1, 200))


@stream(Bool)
def asked():
    return [False] ++ ((phase != Phase.WALK) & (asked | button))


def after(seconds: int) -> Stream:
    return elapsed >= seconds - 1


phase = machines.state_machine(
    Phase.ALL_RED,
    {
        Phase.ALL_RED: [(after(RED) & asked, Phase.WALK), (after(RED) & ~asked, Phase.NORTH)],
        Phase.WALK: [(after(WALK), Phase.NORTH)],
        Phase.NORTH: [(after(GREEN), Phase.NORTH_YELLOW)],
        Phase.NORTH_YELLOW: [(after(YELLOW), Phase.CLEAR)],
        Phase.CLEAR: [(after(RED), Phase.EAST)],
        Phase.EAST: [(after(GREEN), Phase.EAST_YELLOW)],
        Phase.EAST_YELLOW: [(after(YELLOW), Phase.ALL_RED)],
    },
)
changed = phase != pre(Phase.ALL_RED, phase)
north, east, walk = (phase == p for p in (Phase.NORTH, Phase.EAST, Phase.WALK))
conflict = lamp_north & lamp_east | signals.held_for(2, lamp_north & ~north) | signals.held_for(2, lamp_east & ~east)
flashing = signals.latch(conflict)

spec = Spec("traffic_light")
spec.trigger("set_lights", changed, {"phase": phase})
spec.trigger("flash_yellow", signals.rose(flashing), {"phase": phase})
spec.observer("phase", phase)
spec.observer("flashing", flashing)
spec.prop("never_both_green", ~(north & east))
spec.prop("no_green_while_walking", implies(walk, ~north & ~east))
spec.prop("red_between", implies(signals.rose(north | east), ~pre(False, north | east)))
was_yellow = pre(Phase.CLEAR, phase) == Phase.NORTH_YELLOW
spec.prop("yellow_lasts", implies(was_yellow & changed, elapsed == YELLOW - 1))
spec.prop("both_lamps_flash", implies(lamp_north & lamp_east, flashing))
spec.prop("bounded", elapsed <= GREEN)
spec.prop("asked_is_served", implies(signals.rose(walk), asked))
