% require abi context
% require form context
% require scalars true
module Monitors {

  @ The inputs of one step of {{name}}
  port {{camel}}Inputs(
% for input in inputs
    {{input.c}}: {{input.fpp_type}}{{input.annotation}}
% end
  )
% for handler in handlers

  @ {{handler.source}}
  port {{camel}}{{handler.camel}}(
% for parameter in handler.parameters
    {{parameter.c}}: {{parameter.fpp_type}}
% end
  )
% end

  @ The monitor {{name}}: one step for each call of `inputs`, one call of a port for each handler
  passive component {{camel}}Monitor {
    guarded input port inputs: {{camel}}Inputs
% for handler in handlers
    output port {{handler.c}}: {{camel}}{{handler.camel}}
% end
  }

}
