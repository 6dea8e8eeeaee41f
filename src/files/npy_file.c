/* SPDX-License-Identifier: MIT */
/* npy_file.c - a file in NumPy's format. */
#include <string.h>

#include "files/stored.h"

/* The header is a Python dictionary of three members; a cursor reads it. */
typedef struct cursor {
    const char *at, *end;
} cursor;

static pe_status broken(const char *what, pe_problem *why)
{
    return pe_fail(why, PE_MALFORMED_REQUEST, "", "not a NumPy file: %s", what);
}

static void skip_space(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t'))
        c->at++;
}

static bool take(cursor *c, char wanted)
{
    skip_space(c);
    if (c->at == c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

static bool take_word(cursor *c, const char *word)
{
    const size_t bytes = strlen(word);
    skip_space(c);
    if ((size_t)(c->end - c->at) < bytes || memcmp(c->at, word, bytes) != 0)
        return false;
    c->at += bytes;
    return true;
}

/* A Python string without escapes, which neither keys nor types have. */
static bool take_string(cursor *c, char *out, size_t size)
{
    skip_space(c);
    const char quote = c->at < c->end ? *c->at : '\0';
    if (quote != '\'' && quote != '"')
        return false;
    const char *begin = ++c->at;
    const char *close = memchr(begin, quote, (size_t)(c->end - begin));
    if (close == NULL || (size_t)(close - begin) >= size)
        return false;
    memcpy(out, begin, (size_t)(close - begin));
    out[close - begin] = '\0';
    c->at = close + 1;
    return true;
}

/* (), (3,) or (3, 4) */
static bool take_shape(cursor *c, pe_shape *out)
{
    *out = (pe_shape){0};
    if (!take(c, '('))
        return false;
    while (!take(c, ')')) {
        size_t size = 0;
        skip_space(c);
        const char *begin = c->at;
        for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
            if (!pe_size_mul(size, 10, &size) || !pe_size_add(size, (size_t)(*c->at - '0'), &size))
                return false;
        if (out->ndim == PE_MAX_DIMS || c->at == begin)
            return false;
        out->dim[out->ndim++] = size;
        if (!take(c, ','))
            return take(c, ')');
    }
    return true;
}

/* What the dictionary says. */
typedef struct npy_header {
    char descr[16];
    pe_shape shape;
    bool fortran;
    bool has_descr, has_shape, has_order;
} npy_header;

static bool take_member(cursor *c, npy_header *out)
{
    char key[24];
    if (!take_string(c, key, sizeof key) || !take(c, ':'))
        return false;
    if (strcmp(key, "descr") == 0 && !out->has_descr)
        return out->has_descr = take_string(c, out->descr, sizeof out->descr);
    if (strcmp(key, "shape") == 0 && !out->has_shape)
        return out->has_shape = take_shape(c, &out->shape);
    if (strcmp(key, "fortran_order") == 0 && !out->has_order) {
        out->fortran = take_word(c, "True");
        return out->has_order = out->fortran || take_word(c, "False");
    }
    return false;
}

static bool parse_header(cursor *c, npy_header *out)
{
    *out = (npy_header){0};
    if (!take(c, '{'))
        return false;
    while (!take(c, '}')) {
        if (!take_member(c, out))
            return false;
        if (!take(c, ',')) {
            if (!take(c, '}'))
                return false;
            break;
        }
    }
    skip_space(c);
    return c->at == c->end && out->has_descr && out->has_shape && out->has_order;
}

static bool read_type(const char *descr, pe_stored *out)
{
    static const struct {
        const char *type; /* behind the order of its bytes */
        pe_dtype dtype;
        bool is_complex, wide;
    } known[] = {{"f4", PE_FLOAT32, false, false}, {"f8", PE_FLOAT64, false, false},
                 {"f2", PE_FLOAT16, false, false}, {"i4", PE_INT32, false, false},
                 {"i8", PE_INT32, false, true},    {"c8", PE_FLOAT32, true, false},
                 {"c16", PE_FLOAT64, true, false}};
    out->swapped = descr[0] == '>';
    for (size_t i = 0; i < PE_LEN(known) && (out->swapped || descr[0] == '<'); i++)
        if (strcmp(known[i].type, descr + 1) == 0) {
            out->dtype = known[i].dtype;
            out->wide = known[i].wide;
            return !known[i].is_complex || pe_stored_split_complex(out);
        }
    return false;
}

pe_status pe_npy_file_begin(pe_slice head, size_t bytes, size_t max_elements, pe_stored *out,
                            pe_problem *why)
{
    pe_slice text;
    npy_header header;
    /* The dictionary's text, inside the file. */
    const unsigned char *data = (const unsigned char *)head.text;
    if (head.bytes < 8 || memcmp(data, "\x93NUMPY", 6) != 0)
        return broken("it does not begin with \\x93NUMPY", why);
    if (data[6] < 1 || data[6] > 3 || data[7] != 0)
        return broken("its version is none of 1.0, 2.0 and 3.0", why);
    const size_t width = data[6] == 1 ? 2 : 4;
    if (head.bytes < 8 + width)
        return broken("it ends inside its header", why);
    const size_t size = pe_stored_little(data + 8, width);
    if (size > head.bytes - 8 - width)
        return broken("it ends inside its header", why);
    text = (pe_slice){head.text + 8 + width, size};
    const char *end = text.text + text.bytes;
    if (!parse_header(&(cursor){text.text, end}, &header))
        return broken("its header is not {'descr': ..., 'fortran_order': ..., 'shape': (...)}",
                      why);
    pe_stored tensor = {
        .shape = header.shape, .fortran = header.fortran, .data = (const unsigned char *)end};
    if (!read_type(header.descr, &tensor))
        return pe_fail(why, PE_INVALID_PARAMETER, "",
                       "the NumPy element type must be one of f4, f8, f2, i4, i8, c8, c16 behind < "
                       "or >; got \"%s\": convert it, as by .astype('<%s4')",
                       header.descr, strpbrk(header.descr, "iub") != NULL ? "i" : "f");
    pe_status status = pe_stored_check_size(&tensor, "the NumPy header",
                                            bytes - (size_t)(end - head.text), max_elements, why);
    if (status == PE_OK)
        *out = tensor;
    return status;
}

pe_status pe_npy_file_read(pe_slice file, size_t max_elements, pe_stored *out, pe_problem *why)
{
    return pe_npy_file_begin(file, file.bytes, max_elements, out, why);
}
