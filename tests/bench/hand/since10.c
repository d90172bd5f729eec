typedef struct {
    uint8_t age;
} since10_state;

void since10_init(since10_state *s) { s->age = 11; }
void since10_step(since10_state *s, const since10_inputs *in)
{
    uint8_t age = s->age;
    if (in->q) {
        age = 0;
    } else if (!in->p) {
        age = 11;
    } else if (age <= 10) {
        age++;
    }
    s->age = age;
    if (age <= 10) {
        met();
    }
}
