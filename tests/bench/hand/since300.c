typedef struct {
    uint16_t age;
} since300_state;

void since300_init(since300_state *s) { s->age = 301; }
void since300_step(since300_state *s, const since300_inputs *in)
{
    uint16_t age = s->age;
    if (in->q) {
        age = 0;
    } else if (!in->p) {
        age = 301;
    } else if (age <= 300) {
        age++;
    }
    s->age = age;
    if (age <= 300) {
        met();
    }
}
