# The controller of redundant_sensors.py, written again: streamcheck equal A B compares them. `latched` has the same
# outputs. `wrapping` adds before it compares: 250 + 50 is 44 in a Word8. The claims of `heating` are about infinite
# runs: the first one forgets that a trip is for good.

from typing import NamedTuple

from streamcheck import *

LIMIT = 200  # °C


class Command(NamedTuple):
    heat: Word8
    trip: Bool


@component
def latched(temperature: Word8) -> Command:
    """The same controller, with a latch and the step to take."""
    assume("in range", temperature <= 250)
    trip = signals.latch(temperature > LIMIT)

    @stream(Word8)
    def heat():
        last = [0] ++ heat
        missing = 250 - temperature - last
        step = mux(last >= 250 - temperature, missing, minimum(missing, 50))
        return mux(trip, 0, last + step)

    return Command(heat, trip)


@component
def wrapping(temperature: Word8) -> Command:
    """Another controller: after a step at full heat it begins anew."""
    assume("in range", temperature <= 250)
    trip = stream(Bool, lambda t: ([False] ++ t) | (temperature > LIMIT))
    heat = stream(Word8, lambda h: mux(trip, 0, minimum(250 - temperature, ([0] ++ h) + 50)))
    return Command(heat, trip)


temperature = extern("temperature", Word8, samples=[20, 20, 90, 190, 210, 90], unit="°C")
cold = temperature <= 50
command = latched(temperature)

heating = Spec("heating")
heating.assume("in range", temperature <= 250)
heating.responds("heats if cold", cold, ~cold | (command.heat >= 200))
heating.responds("heats unless tripped", cold, ~cold | (command.heat >= 200) | command.trip)
