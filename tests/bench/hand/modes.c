typedef struct {
    uint8_t mode;
} modes_state;

void modes_init(modes_state *s) { s->mode = Mode_OFF; }
void modes_step(modes_state *s, const modes_inputs *in)
{
    int before = s->mode, now = before;
    switch (before) {
    case Mode_OFF: now = in->fault ? Mode_FAILED : in->ready ? Mode_IDLE : Mode_OFF; break;
    case Mode_IDLE: now = in->fault ? Mode_FAILED : in->armed ? Mode_ACTIVE : Mode_IDLE; break;
    case Mode_ACTIVE: now = in->fault ? Mode_HOLD : in->armed ? Mode_ACTIVE : Mode_IDLE; break;
    case Mode_HOLD: now = in->fault && !in->clear ? Mode_FAILED : in->clear ? Mode_ACTIVE : Mode_HOLD; break;
    default: break;
    }
    if (now != before) {
        changed(before, now);
    }
    s->mode = (uint8_t)now;
}
