/* How to use {{name}}.h. Build and run: cc -std=c99 main.c {{name}}.c -lm && ./a.out */
#include "{{name}}.h"

#include <stdio.h>

% for handler in handlers
{{static}}{{handler.prototype}}
{
% if has_user
    (void)user;
% end
% for parameter in handler.parameters
    (void){{parameter.c}};
% end
    (void)printf("{{handler.name}}\n");
}

% end
% if copilot
% for input in inputs
{{input.declaration}};
% end

% end
int main(void)
{
% if not copilot
    {{name}}_state {{state}};
% if inputs
    {{name}}_inputs {{given}};
% end
% if has_table
    static const {{name}}_handlers sc_handlers = {
% for handler in handlers
        .{{handler.c}} = {{handler.c}}{{handler.comma}}
% end
    };
    {{name}}_init(&{{state}}, &sc_handlers, NULL);
% else
% if has_user
    {{name}}_init(&{{state}}, NULL);
% else
    {{name}}_init(&{{state}});
% end
% end
% end
    for (int sc_round = 0; sc_round < 10; sc_round++) {
% for input in inputs
        /* read {{input.name}} here */
% for leaf in input.leaves
        {{leaf.place}} = {{leaf.zero}};
% end
% end
        {{step}}({{step_arguments}});
    }
    return 0;
}
