/* SPDX-License-Identifier: MIT */
/* negotiate.c - which format a request gets: format=, else Accept. */
#include "formats/format.h"

#include <string.h>
#include <strings.h>

#include "base/slice.h"

#define FORMATS_MAX 16

/* What others call a format. */
static const struct {
    const char *name, *meant;
} synonyms[] = {
#include "synonyms_formats.inc"
};

pe_status pe_format_parse(const char *name, const pe_format **out, pe_problem *why)
{
    const pe_format *format = pe_format_by_name(name);
    if (format != NULL) {
        *out = format;
        return PE_OK;
    }
    pe_buffer names = {0};
    for (size_t i = 0; pe_formats[i] != NULL; i++)
        pe_buffer_format(&names, i == 0 ? "%s" : ", %s", pe_formats[i]->name);
    const char *near = NULL;
    for (size_t i = 0; pe_formats[i] != NULL; i++)
        near = strcasecmp(pe_formats[i]->name, name) == 0 ? pe_formats[i]->name : near;
    for (size_t s = 0; s < PE_LEN(synonyms); s++)
        near = strcasecmp(synonyms[s].name, name) == 0 ? synonyms[s].meant : near;
    pe_status status = pe_fail(why, PE_INVALID_PARAMETER, "format",
                               "format must be one of %s, got \"%.40s\"%s%s%s",
                               pe_buffer_text(&names), name, near != NULL ? ", did you mean " : "",
                               near != NULL ? near : "", near != NULL ? "?" : "");
    pe_buffer_free(&names);
    return status;
}

/* ---- Accept ---- */

static pe_slice trim(pe_slice s)
{
    while (s.bytes > 0 && memchr(" \t", s.text[0], 2) != NULL) {
        s.text++;
        s.bytes--;
    }
    while (s.bytes > 0 && memchr(" \t", s.text[s.bytes - 1], 2) != NULL)
        s.bytes--;
    return s;
}

/* Cut off what comes before the separator, unless that is within a quoted string. */
static pe_slice cut(pe_slice *rest, char separator)
{
    bool quoted = false;
    size_t i = 0;
    for (; i < rest->bytes && (quoted || rest->text[i] != separator); i++) {
        if (quoted && rest->text[i] == '\\' && i + 1 < rest->bytes)
            i++;
        else if (rest->text[i] == '"')
            quoted = !quoted;
    }
    pe_slice head = {rest->text, i};
    size_t taken = i < rest->bytes ? i + 1 : i;
    rest->text += taken;
    rest->bytes -= taken;
    return trim(head);
}

static bool slice_is(pe_slice s, const char *text)
{
    return strlen(text) == s.bytes && strncasecmp(s.text, text, s.bytes) == 0;
}

/* qvalue = ( "0" [ "." 0*3DIGIT ] ) / ( "1" [ "." 0*3("0") ] ), in thousandths; -1: none. */
static int qvalue(pe_slice s)
{
    int q = 0, scale = 100;
    if (s.bytes < 1 || s.bytes > 5 || (s.text[0] != '0' && s.text[0] != '1') ||
        (s.bytes > 1 && s.text[1] != '.'))
        return -1;
    q = (s.text[0] - '0') * 1000;
    for (size_t i = 2; i < s.bytes; i++, scale /= 10) {
        if (s.text[i] < '0' || s.text[i] > '9')
            return -1;
        q += (s.text[i] - '0') * scale;
    }
    return q <= 1000 ? q : -1;
}

static bool is_token(pe_slice s)
{
    for (size_t i = 0; i < s.bytes; i++) {
        char c = s.text[i];
        bool letter = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
        if (!letter && (c == '\0' || strchr("!#$%&'*+-.^_`|~", c) == NULL))
            return false;
    }
    return s.bytes > 0;
}

bool pe_accept_next(pe_slice *list, pe_slice *name, int *weight)
{
    if (list->bytes == 0)
        return false;
    pe_slice rest = cut(list, ',');
    *name = cut(&rest, ';');
    *weight = 1000;
    while (rest.bytes > 0) {
        pe_slice value = cut(&rest, ';');
        if (slice_is(cut(&value, '='), "q"))
            *weight = qvalue(trim(value));
    }
    return true;
}

/* 0 no match, 1 for any type, 2 for type/any, 3 for type/subtype. */
static int match(pe_slice type, pe_slice subtype, const char *media_type)
{
    const char *slash = strchr(media_type, '/');
    size_t type_bytes = (size_t)(slash - media_type);
    if (slice_is(type, "*"))
        return 1;
    if (type.bytes != type_bytes || strncasecmp(type.text, media_type, type_bytes) != 0)
        return 0;
    return slice_is(subtype, "*") ? 2 : slice_is(subtype, slash + 1) ? 3 : 0;
}

/* What Accept says of one format. */
typedef struct preference {
    int q, specificity;
    size_t order; /* of the range in the header */
} preference;

static bool better(const preference *a, const preference *b)
{
    if (a->q != b->q)
        return a->q > b->q;
    if (a->specificity != b->specificity)
        return a->specificity > b->specificity;
    return a->order < b->order;
}

/* Weigh each of n media types; returns how many members could be read: others are ignored. */
static size_t weigh(const char *accept, const char *const *types, size_t n, preference *of)
{
    pe_slice rest = pe_slice_of(accept), name;
    size_t members = 0;
    for (int q; pe_accept_next(&rest, &name, &q);) {
        const pe_slice type = pe_slice_next(&name, '/'), subtype = name;
        if (q < 0 || !is_token(type) || !is_token(subtype) ||
            (slice_is(type, "*") && !slice_is(subtype, "*")))
            continue;
        for (size_t i = 0; i < n; i++) {
            int specificity = match(type, subtype, types[i]);
            if (specificity > of[i].specificity)
                of[i] = (preference){q, specificity, members};
        }
        members++;
    }
    return members;
}

/* The best that is left, taken out; NULL when none is. */
static const pe_format *take_best(preference *of)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < FORMATS_MAX && pe_formats[i] != NULL; i++)
        if (of[i].q > 0 && (best == SIZE_MAX || better(&of[i], &of[best])))
            best = i;
    if (best == SIZE_MAX)
        return NULL;
    of[best].q = 0;
    return pe_formats[best];
}

pe_status pe_format_negotiate(const char *accept, const pe_plan *plan, const char *tensor,
                              const pe_format **out, pe_problem *why)
{
    preference of[FORMATS_MAX] = {0};
    const char *types[FORMATS_MAX];
    pe_problem refusal = {0};
    pe_buffer list = {0};
    size_t chosen = 0, n = 0;
    for (; n < FORMATS_MAX && pe_formats[n] != NULL; n++)
        types[n] = pe_formats[n]->media_type;
    if (accept == NULL || weigh(accept, types, n, of) == 0)
        (void)weigh("*/*", types, n, of);
    for (const pe_format *format; (format = take_best(of)) != NULL;) {
        pe_rendering rendering = {.format = format, .tensor = tensor};
        pe_problem reason = {0};
        if (plan == NULL || pe_format_check(plan, &rendering, &chosen, &reason) == PE_OK) {
            *out = format;
            return PE_OK;
        }
        if (refusal.status == PE_OK)
            refusal = reason;
    }
    if (refusal.status != PE_OK) {
        *why = refusal;
        return refusal.status;
    }
    for (size_t i = 0; i < n; i++)
        pe_buffer_format(&list, i == 0 ? "%s" : ", %s", types[i]);
    (void)pe_fail(why, PE_NOT_ACCEPTABLE, "", "Accept must name one of these types: %s",
                  pe_buffer_text(&list));
    pe_buffer_free(&list);
    return PE_NOT_ACCEPTABLE;
}

bool pe_format_prefers(const char *accept, const char *media_type, const char *other)
{
    const char *const types[] = {media_type, other};
    preference of[PE_LEN(types)] = {0};
    if (accept == NULL)
        return false;
    (void)weigh(accept, types, PE_LEN(types), of);
    return of[0].specificity == 3 && of[0].q > 0 && better(&of[0], &of[1]);
}
