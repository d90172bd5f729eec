/* A lock that is taken and given back around every packet; what arrives meanwhile makes another round. */
extern int nondet_int(void);

int main(void) {
    int lock = 0, seen, packets = nondet_int();
    do {
        assert(lock == 0);
        lock = 1;
        seen = packets;
        if (nondet_int()) {
            lock = 0;
            packets = packets >= 1000 ? 0 : packets + 1;
        }
    } while (packets != seen);
    assert(lock == 1);
    return 0;
}
