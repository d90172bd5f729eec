# A landing gear: doors open, legs move, doors close; legs and doors have end switches, a sequence takes 15 s at most.
# Steps are 100 ms. The lever may change at any time; the sequence then turns round where it is.
# Proved: legs never move against doors that are not open, lights are right, and a jam or a mixed up switch is an alarm.
import enum

from streamcheck import *


class Gear(enum.Enum):
    DOWN = 0
    OPENING = 1
    MOVING = 2
    CLOSING = 3
    UP = 4


n = range(72)
lever_up = extern("lever_up", Bool, [k >= 3 for k in n], doc="the pilot's lever")
doors_open = extern("doors_open", Bool, [12 <= k < 50 for k in n], doc="all end switches of open doors")
doors_shut = extern("doors_shut", Bool, [k < 5 or k >= 62 for k in n], doc="all end switches of shut doors")
legs_up = extern("legs_up", Bool, [k >= 45 for k in n], doc="all legs are locked up")
legs_down = extern("legs_down", Bool, [k < 14 for k in n], doc="all legs are locked down")

LIMIT = 150
there = mux(lever_up, legs_up, legs_down)
gear = machines.state_machine(
    Gear.DOWN,
    {
        Gear.DOWN: [(lever_up, Gear.OPENING)],
        Gear.OPENING: [(doors_open, Gear.MOVING)],
        Gear.MOVING: [(doors_open & there, Gear.CLOSING), (~doors_open, Gear.OPENING)],
        Gear.CLOSING: [
            (~there, Gear.OPENING),
            (there & doors_shut & lever_up, Gear.UP),
            (there & doors_shut & ~lever_up, Gear.DOWN),
        ],
        Gear.UP: [(~lever_up, Gear.OPENING)],
    },
)
resting = (gear == Gear.DOWN) | (gear == Gear.UP)
drive_legs = (gear == Gear.MOVING) & doors_open & ~there
jammed = signals.held_for(LIMIT, ~resting)
mixed_up = (doors_open & doors_shut) | (legs_up & legs_down)
alarm = signals.latch(jammed | signals.held_for(3, mixed_up))
green = legs_down & doors_shut & ~alarm
red = ~resting | alarm

spec = Spec("landing_gear")
spec.trigger("drive_legs", drive_legs, {"up": lever_up})
spec.trigger("drive_doors", (gear == Gear.OPENING) | (gear == Gear.CLOSING), {"open": gear == Gear.OPENING})
spec.trigger("gear_alarm", signals.rose(alarm), [jammed, mixed_up])
spec.observer("gear", gear)
spec.observer("green", green)
spec.observer("red", red)
spec.prop("legs_move_through_open_doors", implies(drive_legs, doors_open))
spec.prop("doors_shut_on_locked_legs", implies((gear == Gear.CLOSING) & ~signals.rose(gear == Gear.CLOSING), there))
spec.prop("green_is_safe", implies(green, legs_down & doors_shut))
spec.prop("a_jam_is_an_alarm", implies(signals.held_for(LIMIT, ~resting), alarm))
spec.prop("alarm_is_red", implies(ptltl.eventually_prev(alarm), red))
spec.exists("can_retract", gear == Gear.UP)
