# A battery of four lithium cells: under-voltage with hysteresis, over-temperature, imbalance, and the state of charge.
# Loads are shed once a cell has been low for half a second (steps of 20 ms); the charger is cut off at once.
# Proved: what is shed stays shed until every cell has recovered, and the sums of voltages and currents do not overflow.
from streamcheck import *

CELLS = 4
weak = [[3700, 3690, 3710, 3650 - 12 * n] for n in range(72)]
cells = extern("cells", Array(Word16, CELLS), weak, doc="voltages", unit="mV")
current = extern("current", Int16, [-1500 + 10 * n for n in range(72)], doc="into the battery", unit="mA")
hot = extern("hot", Bool, [n >= 66 for n in range(72)], doc="a thermistor is above 60 °C")

LOW, RECOVERED, FULL, SPREAD = 3300, 3500, 4200, 150
lowest, highest = minimum(*cells), maximum(*cells)
low = ~signals.hysteresis(LOW, RECOVERED, lowest, init=True)
shed = signals.latch(signals.held_for(25, low), ~low)
cut = (highest > FULL) | hot
voltage = cells[0]
for cell in list(cells)[1:]:
    voltage = checked.add(voltage, cell)
power = checked.mul(cast(Int32, voltage), cast(Int32, current))
charge = stream(Int32, lambda q: saturating.add(pre(3_600_000, q), cast(Int32, current)))  # mA times 20 ms

spec = Spec("battery")
spec.assume("sensors_in_range", all_of([v <= 5000 for v in cells]))
spec.trigger("shed_loads", signals.rose(shed), {"lowest": lowest, "charge": charge})
spec.trigger("cut_charger", signals.rose(cut), [highest, hot])
spec.observer("shed", shed)
spec.observer("power", power)
spec.prop("shed_is_low", implies(shed, lowest <= RECOVERED))
spec.prop("shed_lasts", implies(pre(False, shed) & (lowest < LOW), shed))
spec.prop("a_dip_sheds_nothing", implies(shed & ~pre(False, shed), mtl.always_been(0, 24, lowest <= RECOVERED)))
spec.prop("no_charge_when_hot", implies(hot, cut))
spec.prop("spread_is_seen", implies(lowest + SPREAD < highest, highest - lowest > SPREAD))
spec.exists("can_shed", shed)
