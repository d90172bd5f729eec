/* Replays runs of {{name}}: the calls of handlers, their arguments and the observers must be those of the interpreter,
 * bit for bit. Build and run: cc -std=c99 {{name}}_test.c {{name}}.c -lm && ./a.out */
#include "{{name}}.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char sc_log[{{log_size}}]; /* of the step at hand */
static size_t sc_end = 0u;

static void sc_text(const char *words)
{
    const size_t length = strlen(words);
    if (sc_end + length < sizeof(sc_log)) {
        (void)memcpy(&sc_log[sc_end], words, length + 1u);
        sc_end += length;
    }
}

static void sc_word(uint64_t value)
{
    char digits[24];
    (void)snprintf(digits, sizeof(digits), " %" PRIx64, value);
    sc_text(digits);
}

% if logs_float
static void sc_float(float value)
{
    uint32_t bits;
    (void)memcpy(&bits, &value, sizeof(bits));
    if (isnan(value)) {
        sc_text(" nan");
    } else {
        sc_word(bits);
    }
}

% end
% if logs_double
static void sc_double(double value)
{
    uint64_t bits;
    (void)memcpy(&bits, &value, sizeof(bits));
    if (isnan(value)) {
        sc_text(" nan");
    } else {
        sc_word(bits);
    }
}

% end
% if has_user
static int sc_user;

% end
% for handler in handlers
{{static}}{{handler.prototype}}
{
% if has_user
    if (user != &sc_user) {
        sc_text("another user: ");
    }
% end
    sc_text("{{handler.name}}");
% for leaf in handler.leaves
    {{leaf.log}}({{leaf.logged}});
% end
    sc_text("; ");
}

% end
% if copilot
% for input in inputs
{{input.declaration}};
% end

% end
% if inputs
typedef struct {
% for input in inputs
    {{input.declaration}};
% end
} sc_row;

% end
typedef struct {
% if inputs
    sc_row row;
% end
    const char *wanted;
} sc_step;

% for run in runs
/* {{run.about}} */
static const sc_step {{run.table}}[] = {
% for step in run.steps
    { {{step.row}}"{{step.wanted}}" },
% end
};

% end
static int sc_replay(const char *about, const sc_step *steps, size_t count)
{
    int sc_wrong = 0;
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
    {{name}}_init(&{{state}}, &sc_handlers, &sc_user);
% else
% if has_user
    {{name}}_init(&{{state}}, &sc_user);
% else
    {{name}}_init(&{{state}});
% end
% end
% end
    for (size_t sc_at = 0u; sc_at < count; sc_at++) {
% if inputs
        const sc_row *sc_now = &steps[sc_at].row;
% end
% for input in inputs
% for leaf in input.leaves
        {{leaf.place}} = sc_now->{{leaf.path}};
% end
% end
        sc_end = 0u;
        sc_log[0] = '\0';
        {{step}}({{step_arguments}});
% for observer in observers
        sc_text("{{observer.name}} =");
% for leaf in observer.leaves
        {{leaf.log}}({{leaf.logged}});
% end
        sc_text("; ");
% end
        if (strcmp(sc_log, steps[sc_at].wanted) != 0) {
            (void)printf("%s, step %lu: the interpreter has %s\n    the C has %s\n", about, (unsigned long)sc_at,
                steps[sc_at].wanted, sc_log);
            sc_wrong++;
        }
    }
    return sc_wrong;
}

int main({{main_parameters}})
{
    int sc_wrong = 0;
% if copilot
    /* the variables of {{name}} begin once, so one run to a program: its number is the argument */
    const unsigned long sc_chosen = (argc > 1) ? strtoul(argv[1], NULL, 10) : 0uL;
% end
% for run in runs
% if copilot
    if (sc_chosen == {{run.index}}uL) {
        sc_wrong += sc_replay("{{run.about}}", {{run.table}}, {{run.count}}u);
    }
% else
    sc_wrong += sc_replay("{{run.about}}", {{run.table}}, {{run.count}}u);
% end
% end
    (void)printf("{{name}}: %s (runs: {{run_count}}, steps: {{step_count}})\n", (sc_wrong == 0) ? "as interpreted" : "WRONG");
    return (sc_wrong == 0) ? 0 : 1;
}
