/* What an engine monitor calls when it triggers, and the program around it as the compiler cannot see it: any calls, in any
   order, for ever. */
#include <stdbool.h>
#include <stdint.h>

extern int16_t nondet_short(void);
extern bool nondet_bool(void);

static uint8_t failures;
static bool shut_down;
static int16_t history[4];

void engine_hot(int16_t temperature) {
    history[failures % 4] = temperature;
    if (failures < 5)
        failures++;
    if (failures >= 3 && temperature > 250)
        shut_down = true;
}

void engine_cool(void) {
    if (!shut_down)
        failures = 0;
}

int main(void) {
    while (true) {
        if (nondet_bool())
            engine_hot(nondet_short());
        else
            engine_cool();
        assert(failures <= 5);
        assert(!shut_down || failures >= 3);
    }
}
