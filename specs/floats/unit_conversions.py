# Flight levels to metres and back, Celsius to Fahrenheit and back, knots to metres per second, in binary32.
# A conversion there and back is not the identity in floats; how far off it is can be proved.
# Proved: in range, in order, back within a tolerance. Shown: a height that comes back as another one.
from streamcheck import *

level = extern("level", Word16, [0, 10, 350], doc="flight level, in hundreds of feet")
reading = extern("reading", Int8, [-40, 0, 37], doc="a temperature", unit="°C")
knots = extern("knots", Float, [0.0, 120.0, 480.0], doc="airspeed", unit="kt")

height = cast(Float, level) * 100.0
metres = height * 0.3048
feet = metres / 0.3048
celsius = cast(Float, reading)
fahrenheit = celsius * 1.8 + 32.0
again = (fahrenheit - 32.0) / 1.8

spec = Spec("unit_conversions")
spec.assume("levels", level <= 600)
spec.assume("temperatures", (reading >= -90) & (reading <= 60))
spec.assume("speeds", (knots >= 0.0) & (knots <= 600.0))
spec.prop("height_in_range", (metres >= 0.0) & (metres <= 18288.1))
spec.prop("higher_is_higher", implies((level > pre(0, level)) & ~first, metres > pre(0.0, metres)))
spec.prop("height_comes_back", abs(feet - height) <= 0.01)
spec.prop("temperature_comes_back", abs(again - celsius) <= 0.0001)
spec.prop("freezing", implies(reading == 0, fahrenheit == 32.0))
spec.prop("speed_in_range", (knots * 0.514444 >= 0.0) & (knots * 0.514444 <= 308.7))

exact = Spec("unit_conversions_exact")
exact.assume("levels", level <= 600)
exact.prop("height_comes_back_exactly", feet == height)
