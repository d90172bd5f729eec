typedef struct {
    bool outside;
} geofence_state;

void geofence_init(geofence_state *s) { s->outside = false; }
void geofence_step(geofence_state *s, const geofence_inputs *in)
{
    int32_t x = in->x, y = in->y;
    if (s->outside) {
        if (x >= 50 && x <= 9950 && y >= 50 && y <= 7950) {
            s->outside = false;
            leave(x, y);
        }
    } else if (x < 0 || x > 10000 || y < 0 || y > 8000) {
        s->outside = true;
        enter(x, y);
    }
}
