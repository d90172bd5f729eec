typedef struct {
    uint8_t age[10];
} watchdogs_state;

/* The beats are read as an array, which C only just allows. */
void watchdogs_init(watchdogs_state *s) { memset(s, 0, sizeof *s); }
void watchdogs_step(watchdogs_state *s, const watchdogs_inputs *in)
{
    const bool *beat = &in->beat0;
    unsigned silent = 0;
    for (int i = 0; i < 10; i++) {
        uint8_t age = s->age[i];
        age = beat[i] ? 0 : age < 200 ? age + 1 : age;
        s->age[i] = age;
        silent += age >= 100;
    }
    if (silent) {
        dead((uint8_t)silent);
    }
}
