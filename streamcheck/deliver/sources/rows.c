/* Reads rows of CSV into columns. Only plain text is read here: at a row with anything else (quotes, blanks, letters beyond
   ASCII, mistakes) it stops, and the caller reads that row by the rules of the format. */

#include <float.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SC_LEFT_OUT, SC_INTEGER, SC_BOOL, SC_FLOAT, SC_ENUM };
enum { SC_MORE, SC_FULL, SC_NOT_PLAIN };

struct sc_field {
    int32_t kind;
    int32_t width;          /* bytes of an element of the column */
    uint64_t most;          /* the largest value, and the largest below zero without its sign; or how many names there are */
    uint64_t most_below;
    const char *names;      /* of an enum, each with a zero behind it */
    const int32_t *codes;
    void *column;
    char *texts;            /* what is kept as it is, each with a newline behind it */
    int64_t length;         /* of the texts */
};

struct sc_place {
    int64_t used, lines, row;
};

static void sc_store(const struct sc_field *field, int64_t row, uint64_t value)
{
    switch (field->width) {
    case 1: ((uint8_t *)field->column)[row] = (uint8_t)value; break;
    case 2: ((uint16_t *)field->column)[row] = (uint16_t)value; break;
    case 4: ((uint32_t *)field->column)[row] = (uint32_t)value; break;
    default: ((uint64_t *)field->column)[row] = value; break;
    }
}

static int sc_integer(const struct sc_field *field, int64_t row, const char *at, const char *end)
{
    const int below = at < end && *at == '-';
    uint64_t value = 0;
    at += below;
    if (at == end || end - at > 19) {
        return 0;
    }
    for (; at < end; at++) {
        const unsigned digit = (unsigned)*at - '0';
        if (digit > 9u) {
            return 0;
        }
        value = value * 10u + digit;
    }
    if (value > (below ? field->most_below : field->most)) {
        return 0;
    }
    sc_store(field, row, below ? 0u - value : value);
    return 1;
}

static const char *sc_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9') {
        at++;
    }
    return at;
}

/* Up to 2^53, times or divided by a power of ten that is a double: both are exact, so the result is rounded once. */
static int sc_short_decimal(const char *at, const char *end, double *value)
{
    static const double powers[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
    uint64_t digits = 0;
    int places = 0, behind = 0, count = 0;
    for (; at < end; at++) {
        if (*at == '.') {
            behind = 1;
        } else if (*at >= '0' && *at <= '9' && ++count <= 15) {
            digits = digits * 10u + (unsigned)(*at - '0');
            places += behind;
        } else {
            return 0;
        }
    }
    *value = (double)digits / powers[places];
    return 1;
}

static int sc_decimal(const struct sc_field *field, int64_t row, const char *at, const char *end)
{
    const int below = at < end && *at == '-';
    const char *const first = at + below;
    const char *next = sc_digits(first, end);
    int some = next > first;
    double value;
    char *read;
    if (next < end && *next == '.') {
        const char *const point = next;
        next = sc_digits(point + 1, end);
        some |= next > point + 1;
    }
    if (some && next < end && (*next == 'e' || *next == 'E')) {
        const char *const power = next + 1 + (next + 1 < end && (next[1] == '-' || next[1] == '+'));
        next = sc_digits(power, end);
        some = next > power;
    }
    if (!some || next != end) {
        return 0;
    }
    if (sc_short_decimal(first, end, &value)) {
        value = below ? -value : value;
    } else {
        value = strtod(at, &read);
        if (read != end) { /* the point of another country */
            return 0;
        }
    }
    if (field->width == 4) {
        if (value > (double)FLT_MAX || value < -(double)FLT_MAX) {
            return 0;
        }
        ((float *)field->column)[row] = (float)value;
    } else {
        if (value > DBL_MAX || value < -DBL_MAX) {
            return 0;
        }
        ((double *)field->column)[row] = value;
    }
    return 1;
}

static int sc_word(const char *at, const char *end, const char *word, size_t length)
{
    return (size_t)(end - at) == length && memcmp(at, word, length) == 0;
}

static int sc_bool(const struct sc_field *field, int64_t row, const char *at, const char *end)
{
    int value = -1;
    if (sc_word(at, end, "true", 4) || sc_word(at, end, "True", 4) || sc_word(at, end, "1", 1)) {
        value = 1;
    } else if (sc_word(at, end, "false", 5) || sc_word(at, end, "False", 5) || sc_word(at, end, "0", 1)) {
        value = 0;
    }
    if (value >= 0) {
        ((uint8_t *)field->column)[row] = (uint8_t)value;
    }
    return value >= 0;
}

static int sc_member(const struct sc_field *field, int64_t row, const char *at, const char *end)
{
    const char *name = field->names;
    for (uint64_t i = 0; i < field->most; i++) {
        const size_t length = strlen(name);
        if (sc_word(at, end, name, length)) {
            ((int32_t *)field->column)[row] = field->codes[i];
            return 1;
        }
        name += length + 1;
    }
    return 0;
}

static int sc_value(const struct sc_field *field, int64_t row, const char *at, const char *end)
{
    switch (field->kind) {
    case SC_INTEGER: return sc_integer(field, row, at, end);
    case SC_BOOL: return sc_bool(field, row, at, end);
    case SC_FLOAT: return sc_decimal(field, row, at, end);
    case SC_ENUM: return sc_member(field, row, at, end);
    default: return 1;
    }
}

static int sc_is_plain(const char *at, const char *end)
{
    unsigned odd = 0;
    for (; at < end; at++) {
        const unsigned char c = (unsigned char)*at;
        odd |= (unsigned)(c == '"') | (unsigned)(c == '\r') | (unsigned)(c == 0) | (unsigned)(c >> 7);
    }
    return odd == 0;
}

static int sc_row(struct sc_field *fields, int32_t count, int64_t row, const char *line, const char *stop)
{
    const char *at = line;
    if (!sc_is_plain(line, stop)) {
        return 0;
    }
    for (int32_t i = 0; i < count; i++) {
        const char *comma = at;
        while (comma < stop && *comma != ',') {
            comma++;
        }
        if ((comma == stop) != (i == count - 1) || !sc_value(&fields[i], row, at, comma)) {
            return 0;
        }
        at = comma + 1;
    }
    at = line;
    for (int32_t i = 0; i < count; i++) { /* the row is read: nothing that was kept is taken back */
        const char *comma = memchr(at, ',', (size_t)(stop - at));
        comma = comma ? comma : stop;
        if (fields[i].texts) {
            char *const to = fields[i].texts + fields[i].length;
            memcpy(to, at, (size_t)(comma - at));
            to[comma - at] = '\n';
            fields[i].length += comma - at + 1;
        }
        at = comma + 1;
    }
    return 1;
}

/* Rows from `place->row` on, up to `to`. `place->used` counts the bytes that were read, `place->lines` the lines. */
int32_t sc_read(const char *text, int64_t size, struct sc_field *fields, int32_t count, int64_t to, struct sc_place *place)
{
    while (place->row < to) {
        const char *const line = text + place->used;
        const char *const newline = memchr(line, '\n', (size_t)(size - place->used));
        const char *stop = newline;
        if (newline == NULL) {
            return SC_MORE;
        }
        stop -= stop > line && stop[-1] == '\r';
        if (stop > line) {
            if (!sc_row(fields, count, place->row, line, stop)) {
                return SC_NOT_PLAIN;
            }
            place->row++;
        }
        place->used = newline + 1 - text;
        place->lines++;
    }
    return SC_FULL;
}
