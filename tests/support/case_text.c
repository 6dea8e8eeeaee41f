/* SPDX-License-Identifier: MIT */
/* case_text.c - the bytes that a case of http/cases/ describes. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/case_text.h"
#include "support/problem.h"
#include "support/tensors_file.h"

enum { PARTS_MAX = 8 };

long case_number(const json_t *its)
{
    return json_is_string(its) ? strtol(json_string_value(its), NULL, 10)
                               : (long)json_integer_value(its);
}

static const json_t *source_of(const json_t *sources, const json_t *name)
{
    const json_t *its = json_object_get(sources, json_string_value(name));
    if (its == NULL)
        fail_msg("no source has the name %s", json_string_value(name));
    return its;
}

static void add_hex(const char *digits, pe_buffer *out)
{
    char pair[3] = "";
    for (digits += strspn(digits, " "); digits[0] != 0 && digits[1] != 0;
         digits += 2 + strspn(digits + 2, " ")) {
        memcpy(pair, digits, 2);
        pe_buffer_add(out, &(char){(char)strtoul(pair, NULL, 16)}, 1);
    }
}

static void add_times(const test_server *server, const json_t *sources, const json_t *its,
                      pe_buffer *out)
{
    pe_buffer one = {0};
    case_text_add(server, sources, json_object_get(its, "of"), &one);
    for (long i = 0; i < case_number(json_object_get(its, "times")); i++)
        for (size_t c = 0; c < one.bytes; c++)
            if (one.data[c] == '#')
                pe_buffer_format(out, "%ld", i);
            else
                pe_buffer_add(out, &one.data[c], 1);
    pe_buffer_free(&one);
}

static void add_answer(const test_server *server, const json_t *its, pe_buffer *out)
{
    const char *get_target = json_string_value(json_object_get(its, "get"));
    const char *target = json_string_value(json_object_get(its, "post"));
    const char *member = json_string_value(json_object_get(its, "member"));
    char *body = json_dumps(json_object_get(its, "json"), JSON_COMPACT);
    reply answer = get_target != NULL ? get(server, get_target) : post_json(server, target, body);
    assert_status(target != NULL ? target : get_target, &answer, 200);
    if (member != NULL) {
        json_t *all = reply_json(&answer);
        char *text = json_dumps(json_object_get(all, member), JSON_REAL_PRECISION(17));
        assert_non_null(text);
        pe_buffer_str(out, text);
        free(text);
        json_decref(all);
    } else {
        pe_buffer_add(out, answer.body, answer.bytes);
    }
    free(body);
    reply_free(&answer);
}

static void add_changed(const test_server *server, const json_t *sources, const json_t *its,
                        pe_buffer *out)
{
    const long from = case_number(json_object_get(its, "at"));
    size_t at = out->bytes;
    pe_buffer put = {0};
    case_text_add(server, sources, json_object_get(its, "of"), out);
    case_text_add(server, sources, json_object_get(its, "put"), &put);
    at = from < 0 ? out->bytes - (size_t)-from : at + (size_t)from;
    assert_true(put.bytes > 0 && at + put.bytes <= out->bytes);
    memcpy(out->data + at, put.data, put.bytes);
    pe_buffer_free(&put);
}

static void add_npy(const test_server *server, const json_t *sources, const json_t *its,
                    pe_buffer *out)
{
    const char *header = json_string_value(json_object_get(its, "npy"));
    const char length[] = {(char)strlen(header), 0};
    pe_buffer_add(out, "\x93NUMPY\x01\x00", 8);
    pe_buffer_add(out, length, 2);
    pe_buffer_str(out, header);
    case_text_add(server, sources, json_object_get(its, "of"), out);
}

/* Files of a zip file, or tensors of a safetensors file. */
static void add_parts(const test_server *server, const json_t *sources, json_t *files, bool zip,
                      pe_buffer *out)
{
    part parts[PARTS_MAX];
    pe_buffer data[PARTS_MAX] = {{0}};
    size_t n = 0;
    const char *name;
    json_t *value;
    json_object_foreach(files, name, value)
    {
        assert_true(n < PARTS_MAX);
        const json_t *its = json_is_string(value) ? source_of(sources, value) : value;
        case_text_add(server, sources, zip ? its : json_array_get(its, 2), &data[n]);
        parts[n] = (part){name, json_string_value(json_array_get(its, 0)),
                          json_string_value(json_array_get(its, 1)), data[n].data, data[n].bytes};
        n++;
    }
    (zip ? parts_npz : parts_safetensors)(parts, n, out);
    while (n > 0)
        pe_buffer_free(&data[--n]);
}

void case_text_add(const test_server *server, const json_t *sources, const json_t *text,
                   pe_buffer *out)
{
    size_t i;
    json_t *one;
    json_array_foreach((json_t *)(uintptr_t)text, i, one)
    {
        case_text_add(server, sources, one, out);
    }
    if (json_is_string(text))
        pe_buffer_add(out, json_string_value(text), json_string_length(text));
    else if (json_object_get(text, "hex") != NULL)
        add_hex(json_string_value(json_object_get(text, "hex")), out);
    else if (json_object_get(text, "source") != NULL)
        case_text_add(server, sources, source_of(sources, json_object_get(text, "source")), out);
    else if (json_object_get(text, "times") != NULL)
        add_times(server, sources, text, out);
    else if (json_object_get(text, "get") != NULL || json_object_get(text, "post") != NULL)
        add_answer(server, text, out);
    else if (json_object_get(text, "put") != NULL)
        add_changed(server, sources, text, out);
    else if (json_object_get(text, "npy") != NULL)
        add_npy(server, sources, text, out);
    else if (json_object_get(text, "npz") != NULL)
        add_parts(server, sources, json_object_get(text, "npz"), true, out);
    else if (json_object_get(text, "tensors") != NULL)
        add_parts(server, sources, json_object_get(text, "tensors"), false, out);
    else if (!json_is_array(text))
        fail_msg("a text is a string, several, or an object that case_text.h tells of");
}

/* ---- cases that differ by words -------------------------------------------------------------- */

enum { OUTER = 5 };

/* The word for $n. */
static const char *word_of(json_t *outer, json_t *row, size_t n)
{
    json_t *of = n < OUTER ? row : outer;
    const size_t at = n < OUTER ? n - 1 : n - OUTER;
    return json_string_value(json_is_array(of) ? json_array_get(of, at) : at == 0 ? of : NULL);
}

static json_t *filled_text(const char *text, size_t bytes, json_t *outer, json_t *row)
{
    pe_buffer out = {0};
    for (size_t i = 0; i < bytes; i++) {
        const bool marked =
            text[i] == '$' && i + 1 < bytes && text[i + 1] > '0' && text[i + 1] <= '9';
        const char *word = marked ? word_of(outer, row, (size_t)(text[i + 1] - '0')) : NULL;
        if (marked && word == NULL)
            fail_msg("no word stands for %.2s in %s", text + i, text);
        if (marked)
            pe_buffer_str(&out, word);
        else
            pe_buffer_add(&out, text + i, 1);
        i += marked;
    }
    json_t *made = json_stringn_nocheck(out.data != NULL ? out.data : "", out.bytes);
    pe_buffer_free(&out);
    return made;
}

json_t *case_filled(json_t *its, json_t *outer, json_t *row)
{
    const char *name;
    json_t *value, *made;
    size_t i;
    if (json_is_string(its))
        return filled_text(json_string_value(its), json_string_length(its), outer, row);
    if (!json_is_object(its) && !json_is_array(its))
        return json_incref(its);
    made = json_is_object(its) ? json_object() : json_array();
    json_object_foreach(its, name, value)
    {
        json_t *key = filled_text(name, strlen(name), outer, row);
        json_object_set_new(made, json_string_value(key), case_filled(value, outer, row));
        json_decref(key);
    }
    json_array_foreach(its, i, value)
    {
        json_array_append_new(made, case_filled(value, outer, row));
    }
    return made;
}
