/* Reads a temperature from each line of standard input. */
#include "{{name}}.h"

#include <stdio.h>

void shutoff(uint8_t probe)
{
    printf("shutoff at %u\n", (unsigned)probe);
}

int main(void)
{
    {{name}}_state state;
    {{name}}_inputs inputs;
    unsigned probe;

    {{name}}_init(&state);
    while (scanf("%u", &probe) == 1) {
        inputs.probe = (uint8_t)probe;
        {{name}}_step(&state, &inputs);
    }
    return 0;
}
