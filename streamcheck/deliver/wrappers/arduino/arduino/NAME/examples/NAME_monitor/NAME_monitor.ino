// A sketch with the monitor {{name}}: read the inputs where it says so, and act in the handlers.
#include <{{name}}.h>

static {{name}}_state {{name}}_object;

extern "C" {
% for handler in handlers

// {{handler.source}}
{{handler.prototype}}
{
    Serial.print("{{handler.name}}");
% for leaf in handler.leaves
    Serial.print(" {{leaf.label}}=");
    Serial.print({{leaf.shown}});
% end
    Serial.println();
}
% end

} // extern "C"

void setup()
{
    Serial.begin(115200);
    {{name}}_init(&{{name}}_object);
}

void loop()
{
% if inputs
    {{name}}_inputs inputs;
% for input in inputs
    // {{input.name}}: {{input.type}} {{input.doc}}
% for leaf in input.leaves
    inputs.{{leaf.path}} = {{leaf.zero}}; // e.g. analogRead(A0)
% end
% end
    {{step}}(&{{name}}_object, &inputs);
% else
    {{step}}(&{{name}}_object);
% end
    delay(10); // the time between two steps
}
