typedef struct {
    uint8_t last;
    bool on;
} debounce_state;

void debounce_init(debounce_state *s) { s->last = 0; s->on = false; }
void debounce_step(debounce_state *s, const debounce_inputs *in)
{
    uint8_t last = (uint8_t)(s->last << 1 | in->raw);
    s->last = last;
    if (!s->on) {
        if (last == 255) {
            s->on = true;
            pressed();
        }
    } else if (last == 0) {
        s->on = false;
        released();
    }
}
