# What the alarm should do, before there is one: streamcheck realizable specs/components/requirements.py
# Some component keeps R1 to R3.
# With R4, the wish for a button that silences it, none does.

from streamcheck import *

trip = extern("trip", Bool, doc="the controller has tripped")
differ = extern("differ", Bool, doc="the readings differ by more than 20 °C")
button = extern("button", Bool, doc="somebody wants silence")
sound = unknown(Bool)

alarm = Spec("alarm")
alarm.prop("R1", requirement("whenever trip the alarm shall immediately satisfy sound"))
alarm.prop("R2", requirement("whenever persisted(2, differ) the alarm shall immediately satisfy sound"))
alarm.prop("R3", requirement("whenever !differ & !trip the alarm shall immediately satisfy !sound"))

with_button = Spec("with_button")
with_button.prop("R1", requirement("whenever trip the alarm shall immediately satisfy sound"))
with_button.prop("R2", requirement("whenever persisted(2, differ) the alarm shall immediately satisfy sound"))
with_button.prop("R3", requirement("whenever !differ & !trip the alarm shall immediately satisfy !sound"))
with_button.prop("R4", requirement("whenever button the alarm shall at the next timepoint satisfy !sound"))
