typedef struct {
    float value[64];
    uint32_t at;
} mean_floats_state;

void mean_floats_init(mean_floats_state *s) { memset(s, 0, sizeof *s); }
void mean_floats_step(mean_floats_state *s, const mean_floats_inputs *in)
{
    float total = 0.0f;
    s->value[s->at] = in->x;
    s->at = (s->at + 1u) & 63u;
    for (unsigned i = 0; i < 64; i++) {
        total += s->value[(s->at + i) & 63u];
    }
    total /= 64.0f;
    if (total > 100.0f) {
        high(total);
    }
}
