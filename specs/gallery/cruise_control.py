# The modes of a cruise control, from the cockpit's switches, the pedals and the health of the speed sensor.
# The mode after each step follows from a table; no two rows of a mode may hold at once, so their order does not matter.
# Proved: the brake always disengages in the same step, and only a speed of 40 km/h or more is ever held.
import enum

from streamcheck import *


class Mode(enum.Enum):
    OFF = 0
    STANDBY = 1
    ACTIVE = 2
    OVERRIDE = 3
    FAULT = 4


power = extern("power", Bool, [n > 0 for n in range(16)], doc="main switch")
set_ = extern("set", Bool, [n in (2, 9) for n in range(16)], doc="set button")
brake = extern("brake", Bool, [n in (7, 8) for n in range(16)], doc="brake pedal")
pedal = extern("pedal", Bool, [n in (4, 5) for n in range(16)], doc="accelerator is pressed")
speed = extern("speed", Word8, [55 + n for n in range(16)], unit="km/h")
sensor_ok = extern("sensor_ok", Bool, [n < 14 for n in range(16)], doc="speed sensor")

fault = power & ~sensor_ok
on = power & sensor_ok
engage = on & set_ & ~brake & (speed >= 40)
mode = machines.state_machine(
    Mode.OFF,
    {
        Mode.OFF: [(fault, Mode.FAULT), (on, Mode.STANDBY)],
        Mode.STANDBY: [(~power, Mode.OFF), (fault, Mode.FAULT), (engage, Mode.ACTIVE)],
        Mode.ACTIVE: [
            (~power, Mode.OFF),
            (fault, Mode.FAULT),
            (on & brake, Mode.STANDBY),
            (on & pedal & ~brake, Mode.OVERRIDE),
        ],
        Mode.OVERRIDE: [
            (~power, Mode.OFF),
            (fault, Mode.FAULT),
            (on & brake, Mode.STANDBY),
            (on & ~pedal & ~brake, Mode.ACTIVE),
        ],
        Mode.FAULT: [(~power, Mode.OFF)],
    },
)
engaged = (mode == Mode.ACTIVE) | (mode == Mode.OVERRIDE)
target = signals.hold(0, speed, signals.rose(engaged))

spec = Spec("cruise_control")
spec.trigger("engage", signals.rose(engaged), {"target": target})
spec.trigger("disengage", signals.fell(engaged), {"mode": mode})
spec.observer("mode", mode)
spec.observer("target", target)
spec.prop("brake_disengages", implies(brake, ~engaged))
spec.prop("target_at_least_40", implies(engaged, target >= 40))
spec.prop("fault_until_switched_off", implies((pre(Mode.OFF, mode) == Mode.FAULT) & power, mode == Mode.FAULT))
spec.prop("only_set_engages", implies(signals.rose(engaged), set_))
spec.prop("target_is_kept", implies(engaged & pre(False, engaged), target == pre(0, target)))
