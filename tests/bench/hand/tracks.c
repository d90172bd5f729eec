typedef struct {
    uint8_t none;
} tracks_state;

void tracks_init(tracks_state *s) { s->none = 0; }
void tracks_step(tracks_state *s, const tracks_inputs *in)
{
    unsigned threats = 0;
    (void)s;
    for (int i = 0; i < 8; i++) {
        const struct track *t = &in->tracks[i];
        if (t->valid && t->distance < 500.0f && t->rate < 0.0f) {
            threats++;
        }
    }
    if (threats) {
        threat((uint8_t)threats);
    }
}
