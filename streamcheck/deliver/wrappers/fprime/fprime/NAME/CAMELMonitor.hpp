// The component of the monitor {{name}}.
#ifndef Monitors_{{camel}}Monitor_HPP
#define Monitors_{{camel}}Monitor_HPP

#include "{{camel}}MonitorComponentAc.hpp"
#include "{{name}}.h"

namespace Monitors {

class {{camel}}Monitor : public {{camel}}MonitorComponentBase {
public:
    explicit {{camel}}Monitor(const char *name);

% for handler in handlers
    void on_{{handler.c}}(
% for parameter in handler.parameters
        {{parameter.cpp_type}} {{parameter.c}}{{parameter.comma}}
% end
    );
% end

private:
    void inputs_handler(
        FwIndexType sc_port{{inputs_comma}}
% for input in inputs
        {{input.cpp_type}} {{input.c}}{{input.comma}}
% end
    ) override;

    {{name}}_state state;
};

} // namespace Monitors

#endif
