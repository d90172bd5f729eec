typedef struct {
    float sum, error;
} pid_state;

static float limited(float v) { return v < -100.0f ? -100.0f : v > 100.0f ? 100.0f : v; }
void pid_init(pid_state *s) { s->sum = 0.0f; s->error = 0.0f; }
void pid_step(pid_state *s, const pid_inputs *in)
{
    float error = in->wanted - in->actual;
    float change = (error - s->error) * 10.0f;
    s->sum = limited(s->sum + error * 0.005f);
    s->error = error;
    drive(limited(error * 2.0f + s->sum + change));
}
