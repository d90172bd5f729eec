typedef struct {
    uint8_t none;
} majority9_state;

/* Boyer and Moore: a candidate, then a count. The votes are read as an array, which C only just allows. */
static void tally(const uint32_t *votes, int count)
{
    uint32_t candidate = votes[0];
    int lead = 1, found = 0;
    for (int i = 1; i < count; i++) {
        if (lead == 0) {
            candidate = votes[i];
            lead = 1;
        } else {
            lead += votes[i] == candidate ? 1 : -1;
        }
    }
    for (int i = 0; i < count; i++) {
        found += votes[i] == candidate;
    }
    if (2 * found > count) {
        vote(candidate);
    }
}
void majority9_init(majority9_state *s) { s->none = 0; }
void majority9_step(majority9_state *s, const majority9_inputs *in)
{
    (void)s;
    tally(&in->p0, 9);
}
