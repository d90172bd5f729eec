/* The mean of two sensors, as it is often written: what does it do at the ends of the range? */
#include <stdint.h>

int32_t mean(int32_t a, int32_t b) {
    int32_t sum = a + b;
    return sum / 2;
}
