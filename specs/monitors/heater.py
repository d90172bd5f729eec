# A thermostat: a byte from the sensor stands for -50 to 100 degrees, and 18 to 21 are comfortable.
# Float arithmetic is IEEE 754 in the proof, in runs and in C, each operation rounded once.
# First written for Copilot; tests/bench/monitors.py measures the C of both, and hand-written C.
from streamcheck import *

temperature = extern("temperature", Word8, doc="sensor, 0 is -50 °C and 255 is 100 °C")
celsius = unsafe_cast(Float, temperature) * (150.0 / 255.0) - 50.0

spec = Spec("heater")
spec.trigger("heaton", celsius < 18.0, celsius)
spec.trigger("heatoff", celsius > 21.0, celsius)
spec.prop("never_both", ~((celsius < 18.0) & (celsius > 21.0)))
