typedef struct {
    int16_t value[100];
    uint8_t time[100];
    uint8_t first, length, now;
} window_max_state;

/* A queue of falling values; the first is the largest of the window. At most 100 are taken out in one step. */
void window_max_init(window_max_state *s) { memset(s, 0, sizeof *s); s->length = 1; s->time[0] = 98; s->value[0] = 0; }
void window_max_step(window_max_state *s, const window_max_inputs *in)
{
    int16_t x = in->x;
    if (s->length && s->time[s->first] == s->now) {
        s->first = s->first == 99 ? 0 : s->first + 1;
        s->length--;
    }
    while (s->length) {
        unsigned last = s->first + s->length - 1u;
        if (last >= 100) {
            last -= 100;
        }
        if (s->value[last] > x) {
            break;
        }
        s->length--;
    }
    unsigned end = s->first + s->length;
    if (end >= 100) {
        end -= 100;
    }
    s->value[end] = x;
    s->time[end] = s->now;
    s->length++;
    s->now = s->now == 99 ? 0 : s->now + 1;
    if (s->value[s->first] > 30000) {
        peak(s->value[s->first]);
    }
}
