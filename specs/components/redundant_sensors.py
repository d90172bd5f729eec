# Two redundant sensors, a voter, a controller and an alarm: each a component with a contract.
#     streamcheck prove specs/components/redundant_sensors.py --compositional
# docs/tutorial.md goes from its requirements to its C.

from typing import NamedTuple

from streamcheck import *

LIMIT = 200  # °C


class Reading(NamedTuple):
    value: Word8
    valid: Bool


@component
def sensor(raw: Word8, connected: Bool) -> Reading:
    """A reading, held for as long as the wire is broken."""
    value = stream(Word8, lambda v: mux(connected, minimum(raw, 250), [0] ++ v))
    guarantee("in range", value <= 250)
    guarantee("fresh if valid", implies(connected, value == minimum(raw, 250)))
    return Reading(value, connected)


@contract
def vote(a: Word8, a_valid: Bool, b: Word8, b_valid: Bool, *, value: Word8) -> None:
    """Between the readings; that of the valid one, if one is."""
    assume("readings in range", (a <= 250) & (b <= 250))
    guarantee("in range", value <= 250)
    contract_mode("both", require=a_valid == b_valid, ensure=value == maximum(a, b))
    contract_mode("first", require=a_valid & ~b_valid, ensure=value == a)
    contract_mode("second", require=~a_valid & b_valid, ensure=value == b)


@component(implements=vote)
def voter(a: Word8, a_valid: Bool, b: Word8, b_valid: Bool) -> Word8:
    """The safe side: the hotter one, unless only one is valid."""
    return mux(a_valid == b_valid, maximum(a, b), mux(a_valid, a, b))


class Command(NamedTuple):
    heat: Word8
    trip: Bool


@component
def controller(temperature: Word8) -> Command:
    """Heats less the hotter it is, by at most 50 more in a step, and trips for good above the limit."""
    assume("in range", temperature <= 250)
    trip = stream(Bool, lambda t: ([False] ++ t) | (temperature > LIMIT))
    wish = 250 - temperature

    @stream(Word8)
    def heat():
        last = [0] ++ heat
        return mux(trip, 0, mux(wish > last, last + minimum(wish - last, 50), wish))

    last_heat = [0] ++ heat
    guarantee("off above the limit", implies(temperature > LIMIT, heat == 0))
    guarantee("a trip is for good", implies(pre(False, trip), heat == 0))
    guarantee("trips above the limit", implies(temperature > LIMIT, trip))
    guarantee("slowly", implies(heat > last_heat, heat - last_heat <= 50))
    guarantee("limited", heat <= 250)
    return Command(heat, trip)


@component
def alarm(a: Word8, b: Word8, trip: Bool) -> Bool:
    """Sounds after a trip, and if the readings differ for three steps (requirements.py)."""
    differ = maximum(a, b) - minimum(a, b) > 20
    count = stream(Word8, lambda n: mux(differ, minimum([0] ++ n, 2) + 1, 0))
    sound = (count >= 3) | trip
    guarantee("R1", requirement("whenever trip the alarm shall immediately satisfy sound"))
    guarantee("R2", requirement("whenever persisted(2, differ) the alarm shall immediately satisfy sound"))
    guarantee("R3", requirement("whenever !differ & !trip the alarm shall immediately satisfy !sound"))
    return sound


raw_a = extern("raw_a", Word8, samples=[20, 100, 190, 210, 90, 80], unit="°C")
raw_b = extern("raw_b", Word8, samples=[22, 99, 60, 205, 95, 80], unit="°C")
wire_a = extern("wire_a", Bool, samples=[True, True, True, True, False, False])
wire_b = extern("wire_b", Bool, samples=[True, True, False, True, True, True])

first_reading, second_reading = sensor(raw_a, wire_a), sensor(raw_b, wire_b)
voted = voter(first_reading.value, first_reading.valid, second_reading.value, second_reading.valid)
command = controller(voted)
alarmed = alarm(first_reading.value, second_reading.value, command.trip)

spec = Spec("boiler")
spec.trigger("set_heat", Bool(True), {"heat": command.heat})
spec.trigger("sound", alarmed)
spec.observer("voted", voted)
spec.prop("cold if hot", implies(wire_a & (raw_a > LIMIT) & wire_b, command.heat == 0))
spec.prop("one sensor is enough", implies(~wire_a & wire_b & (raw_b > LIMIT), command.heat == 0))
spec.prop("a trip is for good", implies(pre(False, command.trip), command.heat == 0))
spec.prop("heat is limited", command.heat <= 250)
