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

static void sc_text(const char *sc_words)
{
    const size_t sc_length = strlen(sc_words);
    if (sc_end + sc_length < sizeof(sc_log)) {
        (void)memcpy(&sc_log[sc_end], sc_words, sc_length + 1u);
        sc_end += sc_length;
    }
}

static void sc_word(uint64_t sc_value)
{
    char sc_digits[24];
    (void)snprintf(sc_digits, sizeof(sc_digits), " %" PRIx64, sc_value);
    sc_text(sc_digits);
}

% if logs_float
static void sc_float(float sc_value)
{
    uint32_t sc_bits;
    (void)memcpy(&sc_bits, &sc_value, sizeof(sc_bits));
    if (isnan(sc_value)) {
        sc_text(" nan");
    } else {
        sc_word(sc_bits);
    }
}

% end
% if logs_double
static void sc_double(double sc_value)
{
    uint64_t sc_bits;
    (void)memcpy(&sc_bits, &sc_value, sizeof(sc_bits));
    if (isnan(sc_value)) {
        sc_text(" nan");
    } else {
        sc_word(sc_bits);
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
static int sc_replay(const char *sc_about, const sc_step *sc_steps, size_t sc_count)
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
    for (size_t sc_at = 0u; sc_at < sc_count; sc_at++) {
% if inputs
        const sc_row *sc_now = &sc_steps[sc_at].row;
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
        if (strcmp(sc_log, sc_steps[sc_at].wanted) != 0) {
            (void)printf("%s, step %lu: the interpreter has %s\n    the C has %s\n", sc_about, (unsigned long)sc_at,
                sc_steps[sc_at].wanted, sc_log);
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
