typedef struct {
    uint8_t lasting;
} well_clear_state;

void well_clear_init(well_clear_state *s) { s->lasting = 0; }
void well_clear_step(well_clear_state *s, const well_clear_inputs *in)
{
    const struct aircraft *a = &in->own, *b = &in->other;
    float dx = a->x - b->x, dy = a->y - b->y, dz = a->z - b->z;
    float vx = a->vx - b->vx, vy = a->vy - b->vy, vz = a->vz - b->vz;
    bool close = fabsf(dz) <= 137.0f;
    if (!close && dz * vz < 0.0f) {
        float t = -dz / vz;
        close = t >= 0.0f && t <= 20.0f;
    }
    if (!close) {
        s->lasting = 0;
        return;
    }
    float r2 = dx * dx + dy * dy, dot = dx * vx + dy * vy, v2 = vx * vx + vy * vy;
    float tau = dot < 0.0f ? (1493284.0f - r2) / dot : -1.0f;
    float nearest = v2 > 0.0f ? -dot / v2 : 0.0f;
    float px = dx + nearest * vx, py = dy + nearest * vy;
    float miss = sqrtf(px * px + py * py);
    if (!(sqrtf(r2) <= 1222.0f || (miss <= 1222.0f && tau >= 0.0f && tau <= 35.0f))) {
        s->lasting = 0;
        return;
    }
    if (s->lasting >= 2) {
        alert(miss, tau);
    }
    if (s->lasting <= 250) {
        s->lasting++;
    }
}
