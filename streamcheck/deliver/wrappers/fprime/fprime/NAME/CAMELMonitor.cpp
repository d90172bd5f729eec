// The component of the monitor {{name}}: one step for each call of `inputs`.
#include "{{camel}}Monitor.hpp"

namespace Monitors {

{{camel}}Monitor::{{camel}}Monitor(const char *name) : {{camel}}MonitorComponentBase(name)
{
    {{name}}_init(&this->state, this);
}

void {{camel}}Monitor::inputs_handler(
    FwIndexType sc_port{{inputs_comma}}
% for input in inputs
    {{input.cpp_type}} {{input.c}}{{input.comma}}
% end
)
{
    (void)sc_port;
% if inputs
    {{name}}_inputs sc_given;
% for input in inputs
    sc_given.{{input.c}} = {{input.c}};
% end
    {{step}}(&this->state, &sc_given);
% else
    {{step}}(&this->state);
% end
}

% for handler in handlers
// {{handler.source}}
void {{camel}}Monitor::on_{{handler.c}}(
% for parameter in handler.parameters
    {{parameter.cpp_type}} {{parameter.c}}{{parameter.comma}}
% end
)
{
    if (this->isConnected_{{handler.c}}_OutputPort(0)) {
        this->{{handler.c}}_out(0{{handler.parameters_comma}}{{handler.arguments}});
    }
}

% end
} // namespace Monitors

extern "C" {
% for handler in handlers

{{handler.prototype}}
{
    static_cast<Monitors::{{camel}}Monitor *>(user)->on_{{handler.c}}({{handler.arguments}});
}
% end

} // extern "C"
