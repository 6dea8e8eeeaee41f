/* SPDX-License-Identifier: MIT */
/* scan.c - JSON numbers, and nested arrays of them, straight from their text. */
#include "text/scan.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/yield.h"
#include "text/decimal.h"
#include "text/plain.h"

pe_scan pe_scan_number(const char *text, size_t bytes, double *out, size_t *used)
{
    pe_decimal decimal;
    if (!pe_decimal_read(text, text + bytes, &decimal))
        return PE_SCAN_NOT_A_NUMBER;
    *used = decimal.bytes;
    double value = pe_decimal_to_double(&decimal);
    if (isinf(value))
        return PE_SCAN_OVERFLOW;
    *out = value;
    return PE_SCAN_OK;
}

#define UNKNOWN SIZE_MAX

/* Numbers that are read at once, and the units of work that one costs. */
#define RUN_MAX     ((size_t)16384)
#define NUMBER_WORK 2

/* Numbers that are held of those that are dropped. */
#define SOME 1024

/*
 * One pass over the text. extent[d] is what the first array that ended at depth d held, and every
 * other must hold; ndim is told by the first innermost array. index[d] is the element being read.
 */
typedef struct scanner {
    pe_cursor text;
    const char *name;
    pe_dtype dtype;
    bool takes_null;
    size_t ndim, extent[PE_MAX_DIMS], index[PE_MAX_DIMS];
    size_t elements, max_elements;
    char *data;           /* where the next number goes */
    size_t room, dropped; /* for so many; where they are dropped it begins anew, with `dropped` */
    pe_problem *why;
} scanner;

/* "vectors/3/2": the element of the array at depth - 1 that is being read. */
static const char *place(const scanner *scan, size_t depth, char *out, size_t bytes)
{
    size_t at = (size_t)snprintf(out, bytes, "%s", scan->name);
    for (size_t d = 0; d < depth && at < bytes; d++)
        at += (size_t)snprintf(out + at, bytes - at, "/%zu", scan->index[d]);
    return out;
}

#define PLACE_BYTES 128 /* of pe_problem.where */

static pe_status fail(scanner *scan, pe_status status, size_t depth, const char *what)
{
    char where[PLACE_BYTES];
    place(scan, depth, where, sizeof where);
    return pe_fail(scan->why, status, where, "%s %s", where, what);
}

/* What is found where something else was expected, for messages. */
static const char *kind_here(const scanner *scan)
{
    static const struct kind {
        const char *first, *name;
    } kinds[] = {
        {"\"", "a string"},      {"[", "an array"},         {"{", "an object"}, {"n", "null"},
        {"tf", "true or false"}, {"NI", "NaN or Infinity"}, {",]}", "nothing"},
    };
    pe_decimal number;
    if (scan->text.at == scan->text.end)
        return "the end of the text";
    if (strchr("-+.0123456789", *scan->text.at) != NULL && *scan->text.at != '\0')
        return pe_decimal_read(scan->text.at, scan->text.end, &number) ? "a number"
                                                                       : "a malformed number";
    for (size_t i = 0; i < PE_LEN(kinds); i++)
        if (*scan->text.at != '\0' && strchr(kinds[i].first, *scan->text.at) != NULL)
            return kinds[i].name;
    return "something that is not JSON";
}

static pe_status fail_here(scanner *scan, pe_status status, size_t depth, const char *wanted)
{
    char what[96];
    snprintf(what, sizeof what, "must be %s, got %s", wanted, kind_here(scan));
    return fail(scan, status, depth, what);
}

/* Another kind of JSON value is an invalid parameter; what is no JSON value is malformed. */
static pe_status fail_kind(scanner *scan, size_t depth, const char *wanted)
{
    pe_decimal number;
    const size_t left = (size_t)(scan->text.end - scan->text.at);
    const bool literal = (left >= 4 && memcmp(scan->text.at, "null", 4) == 0) ||
                         (left >= 4 && memcmp(scan->text.at, "true", 4) == 0) ||
                         (left >= 5 && memcmp(scan->text.at, "false", 5) == 0);
    const bool value = literal || (left > 0 && memchr("\"[{", *scan->text.at, 3) != NULL) ||
                       pe_decimal_read(scan->text.at, scan->text.end, &number);
    return fail_here(scan, value ? PE_INVALID_PARAMETER : PE_MALFORMED_REQUEST, depth, wanted);
}

static inline void skip_space(scanner *scan)
{
    const char *p = scan->text.at;
    while (p < scan->text.end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r'))
        p++;
    scan->text.at = p;
}

#define BLOCK 64

/* Commas among n <= BLOCK characters. Are there brackets, and any that neither numbers nor null have
 * (or true)? One pass of ranges without branches, which compilers turn into vector compares. */
static inline size_t count_commas(const char *at, size_t n, bool *brackets, bool *others)
{
    unsigned char commas = 0, any = 0, other = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)at[i], bracket = (unsigned char)(c - '[') <= 2;
        const unsigned char sign = (unsigned char)(c - '+') <= '9' - '+';
        const unsigned char word = (unsigned char)((c | 0x20) - 'e') <= 'u' - 'e';
        commas = (unsigned char)(commas + (c == ','));
        any |= bracket;
        other |= !(sign | bracket | word | (c <= ' '));
    }
    *brackets = any != 0;
    *others |= other != 0;
    return commas;
}

/* A rectangular array has one number more than commas, up to its last bracket. Has this one rows of one
 * length, and nothing in it that no number has? */
static size_t count_numbers(const char *text, const char *end, bool *fits)
{
    size_t commas = 0, depth = 0, length = UNKNOWN, before = UNKNOWN; /* the last '[' */
    bool brackets, others = false;
    *fits = true;
    for (size_t n = BLOCK; text < end; text += n) {
        size_t so_far = commas;
        bool before_block = others;
        n = end - text < BLOCK ? (size_t)(end - text) : BLOCK;
        commas += n == BLOCK ? count_commas(text, BLOCK, &brackets, &others)
                             : count_commas(text, n, &brackets, &others);
        for (size_t i = 0; brackets && i < n; i++) {
            so_far += text[i] == ',';
            depth += text[i] == '[';
            if (text[i] == ']' && before != UNKNOWN) {
                length = length == UNKNOWN ? so_far - before : length;
                *fits &= so_far - before == length;
            }
            before = text[i] == '[' ? so_far : text[i] == ']' ? UNKNOWN : before;
            if (text[i] == ']' && --depth == 0) { /* what follows in the block is not of it */
                (void)count_commas(text, i + 1, &brackets, &before_block);
                *fits &= !before_block;
                return so_far + 1;
            }
        }
    }
    *fits = false;
    return commas + 1;
}

static pe_status fail_too_many(scanner *scan)
{
    bool fits;
    const size_t elements = count_numbers(scan->text.start, scan->text.end, &fits);
    pe_status status = pe_fail(scan->why, PE_TOO_MANY_ELEMENTS, scan->name,
                               "%s may hold at most %zu numbers, got %zu", scan->name,
                               scan->max_elements, elements);
    scan->why->max_elements = scan->max_elements;
    scan->why->requested_elements = elements;
    return status;
}

/* n numbers are there. */
static void advance(scanner *scan, size_t n)
{
    const size_t element_bytes = pe_dtype_bytes(scan->dtype);
    scan->elements += n;
    scan->data += n * element_bytes;
    scan->room -= n;
    if (scan->room == 0 && scan->dropped > 0) {
        scan->data -= scan->dropped * element_bytes;
        scan->room = scan->dropped;
    }
}

static pe_status fail_overflow(scanner *scan, size_t depth, const pe_decimal *decimal)
{
    char what[96];
    size_t bytes = decimal->bytes;
    snprintf(what, sizeof what, "overflows %s: %.*s%s", pe_dtype_name(scan->dtype),
             (int)(bytes < 40 ? bytes : 40), decimal->text, bytes < 40 ? "" : "...");
    const bool readable = isfinite(pe_decimal_to_double(decimal));
    return fail(scan, readable ? PE_INVALID_PARAMETER : PE_MALFORMED_REQUEST, depth, what);
}

/* Store a number whose text has so many bytes. */
static pe_status store(scanner *scan, double value, size_t bytes)
{
    if (scan->elements == scan->max_elements)
        return fail_too_many(scan);
    assert(scan->room > 0);
    pe_dtype_store(scan->dtype, value, scan->data);
    advance(scan, 1);
    scan->text.at += bytes;
    return PE_OK;
}

static pe_status read_number(scanner *scan, size_t depth)
{
    pe_decimal decimal;
    const bool null = scan->takes_null && scan->text.end - scan->text.at >= 4 &&
                      memcmp(scan->text.at, "null", 4) == 0;
    if (null)
        return store(scan, -HUGE_VAL, 4);
    if (!pe_decimal_read(scan->text.at, scan->text.end, &decimal))
        return fail_kind(scan, depth, "a number");
    double value = scan->dtype == PE_INT32 ? pe_decimal_to_double(&decimal)
                                           : pe_decimal_round(&decimal, scan->dtype);
    if (fabs(value) > pe_dtype_max(scan->dtype))
        return fail_overflow(scan, depth, &decimal);
    if (scan->dtype == PE_INT32 && value != rint(value))
        return fail(scan, PE_INVALID_PARAMETER, depth, "must be an integer");
    return store(scan, value, decimal.bytes);
}

/* The first array at a depth sets the extent; others must have the same. */
static pe_status close_array(scanner *scan, size_t depth, size_t count)
{
    if (scan->extent[depth] == UNKNOWN)
        scan->extent[depth] = count;
    if (scan->extent[depth] == count)
        return PE_OK;
    char what[96];
    snprintf(what, sizeof what, "must have %zu elements as those before it, got %zu",
             scan->extent[depth], count);
    return fail(scan, PE_INVALID_PARAMETER, depth, what);
}

static pe_status read_array(scanner *scan, size_t depth);

/* One element of the array at `depth`: an array or a number, as the first at that depth was. */
static pe_status read_element(scanner *scan, size_t depth)
{
    bool nested = scan->text.at < scan->text.end && *scan->text.at == '[';
    if (scan->ndim == UNKNOWN && !nested)
        scan->ndim = depth + 1;
    if (scan->ndim != UNKNOWN && nested != (depth + 1 < scan->ndim))
        return fail_kind(scan, depth + 1, nested ? "a number" : "an array");
    return nested ? read_array(scan, depth + 1) : read_number(scan, depth + 1);
}

/* scan->text.at is at '['. */
static pe_status read_array(scanner *scan, size_t depth)
{
    size_t count = 0;
    if (depth == PE_MAX_DIMS)
        return fail(scan, PE_INVALID_PARAMETER, depth, "is nested too deeply");
    scan->text.at++;
    skip_space(scan);
    if (scan->text.at < scan->text.end && *scan->text.at == ']') {
        scan->text.at++;
        scan->ndim = scan->ndim == UNKNOWN ? depth + 1 : scan->ndim;
        return close_array(scan, depth, 0);
    }
    for (;;) {
        if (depth + 1 == scan->ndim) {
            const size_t left = scan->max_elements - scan->elements;
            const size_t most = scan->room < left ? scan->room : left;
            const size_t n =
                pe_plain_run(&scan->text, scan->dtype, scan->data, most < RUN_MAX ? most : RUN_MAX);
            advance(scan, n);
            count += n;
            pe_yield_spend(n * NUMBER_WORK);
            skip_space(scan);
        }
        scan->index[depth] = count++;
        pe_status status = read_element(scan, depth);
        if (status != PE_OK)
            return status;
        skip_space(scan);
        char next = '\0';
        if (scan->text.at < scan->text.end)
            next = *scan->text.at;
        if (next != ',' && next != ']')
            return fail_here(scan, PE_MALFORMED_REQUEST, depth + 1,
                             "followed by a comma or a closing bracket");
        scan->text.at++;
        if (next == ']')
            return close_array(scan, depth, count);
        skip_space(scan);
    }
}

/* Into data, of room for so many numbers. */
static pe_status read_into(scanner *scan, void *data, size_t room)
{
    scan->text.at = scan->text.start;
    scan->data = data;
    scan->room = room;
    scan->elements = 0;
    scan->ndim = UNKNOWN;
    for (size_t d = 0; d < PE_MAX_DIMS; d++)
        scan->extent[d] = UNKNOWN;
    return read_array(scan, 0);
}

pe_status pe_scan_numbers(pe_slice text, const pe_scan_wanted *wanted, pe_array *out, size_t *used,
                          pe_problem *why)
{
    double some[SOME];
    bool fits;
    scanner scan = {.text = {text.text, text.text, text.text + text.bytes},
                    .name = wanted->name,
                    .dtype = wanted->dtype,
                    .takes_null = wanted->takes_null,
                    .max_elements = wanted->max_elements,
                    .why = why};
    if (text.bytes == 0 || *text.text != '[')
        return fail_kind(&scan, 0, "an array");
    const size_t count = count_numbers(text.text, scan.text.end, &fits), most = scan.max_elements;
    /* What cannot be right is read to find its mistake, and nothing is kept. */
    scan.dropped = SOME;
    PE_TRY(!fits || count > most ? read_into(&scan, some, SOME) : PE_OK);
    scan.dropped = 0;
    const size_t room = count < most ? count : most, bytes = room * pe_dtype_bytes(scan.dtype);
    char *data = malloc(bytes + 1);
    if (data == NULL)
        return pe_fail_memory(why);
    pe_memory_use_huge_pages(data, bytes);
    const pe_status status = read_into(&scan, data, room);
    if (status != PE_OK) {
        free(data);
        return status;
    }
    *out = (pe_array){.dtype = scan.dtype, .elements = scan.elements, .data = data};
    out->shape.ndim = scan.ndim;
    memcpy(out->shape.dim, scan.extent, scan.ndim * sizeof scan.extent[0]);
    *used = (size_t)(scan.text.at - text.text);
    return PE_OK;
}
