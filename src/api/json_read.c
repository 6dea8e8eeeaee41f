/* SPDX-License-Identifier: MIT */
/* json_read.c - a JSON text read without building a tree: the members of an object, a string. */
#include "api/json_read.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "files/tree.h"

/* ---- a string ---- */

pe_status pe_json_string_decode(pe_slice json, const char *place, char **out, pe_problem *why)
{
    json_t *string = NULL;
    const bool quoted = json.bytes > 1 && json.text[0] == '"' && json.text[json.bytes - 1] == '"';
    const pe_slice inside = {json.text + 1, quoted ? json.bytes - 2 : 0};
    size_t n = 0; /* nearly all are ASCII without escapes; the library reads the others */
    while (n < inside.bytes && isprint((unsigned char)inside.text[n]) && inside.text[n] != '\\' &&
           inside.text[n] != '"')
        n++;
    const bool plain = quoted && n == inside.bytes;
    const pe_status status = plain ? PE_OK : pe_tree_load(json, 0, place, &string, why);
    if (pe_status_is_ours(status))
        return status;
    if (!plain && !json_is_string(string)) {
        json_decref(string);
        return pe_fail(why, PE_MALFORMED_REQUEST, place,
                       "a string must be JSON in UTF-8 without NUL, got %.*s", PE_SHOWN(json));
    }
    *out = plain ? strndup(inside.text, inside.bytes) : strdup(json_string_value(string));
    json_decref(string);
    return *out != NULL ? PE_OK : pe_fail_memory(why);
}

/* ---- the members of an object ---- */

/* No member of ours has a name near as long. */
#define KEY_MAX 256

typedef struct walk {
    const char *begin, *at, *end;
    size_t depth, max_depth;
} walk;

static pe_status malformed(const walk *w, const char *what, pe_problem *why)
{
    return pe_fail(why, PE_MALFORMED_REQUEST, "", "not a JSON object: %s at byte %zu", what,
                   (size_t)(w->at - w->begin));
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_space(walk *w)
{
    while (w->at < w->end && is_space(*w->at))
        w->at++;
}

static bool take(walk *w, char c)
{
    skip_space(w);
    if (w->at == w->end || *w->at != c)
        return false;
    w->at++;
    return true;
}

/* Past the closing quote; at stands behind the opening one. */
static bool skip_string(walk *w)
{
    while (w->at < w->end) {
        char c = *w->at++;
        if (c == '"')
            return true;
        if (c == '\\' && w->at < w->end)
            w->at++;
    }
    return false;
}

/* Does the block hold a quote or a bracket of either kind? One pass without branches, which
 * compilers turn into vector compares: numbers are most of a body and hold none. */
#define BLOCK 64
static bool block_is_plain(const char *at)
{
    unsigned char any = 0;
    for (size_t i = 0; i < BLOCK; i++) {
        unsigned char c = (unsigned char)at[i], folded = c | 0x20; /* '[' to '{', ']' to '}' */
        any |= (unsigned char)((c == '"') | (folded == '{') | (folded == '}'));
    }
    return any == 0;
}

static pe_status skip_value(walk *w, pe_problem *why)
{
    if (w->at == w->end)
        return malformed(w, "a value is missing", why);
    if (*w->at == '[' || *w->at == '{') {
        /* Past the bracket that closes the one at `at`. Which kind closes which is for the value's
         * parser to see. */
        size_t open = 0;
        while (w->at < w->end) {
            if (w->end - w->at >= BLOCK && block_is_plain(w->at)) {
                w->at += BLOCK;
                continue;
            }
            const char *stop = w->end - w->at >= BLOCK ? w->at + BLOCK : w->end;
            while (w->at < stop) {
                char c = *w->at++;
                if (c == '[' || c == '{') {
                    if (w->depth + ++open > w->max_depth)
                        return pe_fail(why, PE_MALFORMED_REQUEST, "",
                                       "the body is nested deeper than %zu levels", w->max_depth);
                } else if (c == ']' || c == '}') {
                    if (--open == 0)
                        return PE_OK;
                } else if (c == '"' && !skip_string(w)) {
                    return malformed(w, "an unfinished string", why);
                }
            }
        }
        return malformed(w, "an unclosed bracket", why);
    }
    if (*w->at == '"') {
        w->at++;
        return skip_string(w) ? PE_OK : malformed(w, "an unfinished string", why);
    }
    const char *begin = w->at;
    while (w->at < w->end && !is_space(*w->at) && strchr(",:]}[{\"", *w->at) == NULL)
        w->at++;
    return w->at > begin ? PE_OK : malformed(w, "a value is missing", why);
}

static pe_status read_key(walk *w, char **key, pe_problem *why)
{
    skip_space(w);
    pe_slice json = {w->at, 0};
    if (!take(w, '"'))
        return malformed(w, "a member name in double quotes is missing", why);
    if (!skip_string(w))
        return malformed(w, "an unfinished string", why);
    json.bytes = (size_t)(w->at - json.text);
    if (json.bytes > KEY_MAX)
        return pe_fail(why, PE_MALFORMED_REQUEST, "",
                       "a member name must take at most %d bytes, got %zu", KEY_MAX, json.bytes);
    return pe_json_string_decode(json, "", key, why);
}

pe_status pe_json_members_walk(pe_slice object, size_t max_depth, pe_json_member member,
                               void *state, pe_problem *why)
{
    walk w = {.begin = object.text,
              .at = object.text,
              .end = object.text + object.bytes,
              .depth = 1,
              .max_depth = max_depth};
    skip_space(&w);
    if (w.at == w.end)
        return pe_fail(why, PE_MALFORMED_REQUEST, "",
                       "the body must be a JSON object, got an empty body");
    if (!take(&w, '{'))
        return malformed(&w, "it does not begin with {", why);
    if (max_depth < 1)
        return pe_fail(why, PE_MALFORMED_REQUEST, "", "the body is nested deeper than 0 levels");
    if (!take(&w, '}')) {
        do {
            char *key = NULL;
            pe_status status = read_key(&w, &key, why);
            PE_TRY(status);
            if (take(&w, ':')) {
                skip_space(&w);
                pe_slice value = {w.at, 0};
                status = skip_value(&w, why);
                value.bytes = (size_t)(w.at - value.text);
                if (status == PE_OK && member != NULL)
                    status = member(state, key, value, why);
            } else {
                status = malformed(&w, "a colon is missing", why);
            }
            free(key);
            PE_TRY(status);
        } while (take(&w, ','));
        if (!take(&w, '}'))
            return malformed(&w, "a comma or } is missing", why);
    }
    skip_space(&w);
    return w.at == w.end ? PE_OK : malformed(&w, "something follows the object", why);
}
