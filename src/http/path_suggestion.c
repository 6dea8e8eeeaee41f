/* SPDX-License-Identifier: MIT */
/* path_suggestion.c - which path was meant by one where nothing lives. */
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "encodings/registry.h"
#include "formats/format.h"
#include "http/routes.h"

/* What else people call the last part of a path. `meant` begins with a path. */
static const struct {
    const char *const *words; /* with _ for - */
    const char *meant;
} words[] = {
#include "synonyms_paths.inc"
};

typedef struct paths {
    const char *path;
    size_t bytes; /* of it, without slashes at its end */
    size_t last;  /* where its last part begins */
    const char *const *known;
    size_t n;
} paths;

/* More are not listed. */
#define SHOWN_MAX 3

/* Where the names of families begin. */
static size_t past_version(const char *path)
{
    return strncasecmp(path, "/v1/", 4) == 0 ? 4 : 1;
}

/* Is a known path below /v1/ followed by these bytes? */
static bool is_below(const char *known, const char *name, size_t bytes)
{
    return strncmp(known, "/v1/", 4) == 0 && strchr(known, '{') == NULL &&
           strncasecmp(known + 4, name, bytes) == 0 && known[4 + bytes] == '/';
}

/* "below it are /v1/rope/table, ..." of as much of the path. False where nothing is. */
static bool add_family(const paths *of, size_t bytes, const char *before, pe_buffer *out)
{
    const size_t from = past_version(of->path);
    size_t found = 0;
    for (size_t i = 0; i < of->n && bytes > from; i++)
        if (is_below(of->known[i], of->path + from, bytes - from))
            pe_buffer_format(out, "%s%s", found++ > 0 ? ", " : before, of->known[i]);
    return found > 0;
}

/* The known path that these bytes are, or NULL. */
static const char *find(const paths *of, const char *path, size_t bytes)
{
    for (size_t i = 0; i < of->n; i++)
        if (strncmp(of->known[i], path, bytes) == 0 && of->known[i][bytes] == '\0')
            return of->known[i];
    return NULL;
}

static bool is_word(const char *word, const char *text, size_t bytes)
{
    size_t i = 0;
    while (i < bytes && word[i] != '\0' &&
           strncasecmp(text[i] == '-' ? "_" : &text[i], &word[i], 1) == 0)
        i++;
    return i == bytes && word[i] == '\0';
}

/* What begins at the last slash, without it. */
static size_t last_part(const char *path, size_t bytes)
{
    while (bytes > 0 && path[bytes - 1] != '/')
        bytes--;
    return bytes;
}

/* The paths that end with the only part: /v1/rope/xpos for /v1/xpos. */
static bool add_parts(const paths *of, pe_buffer *out)
{
    const size_t last = of->last;
    size_t found = 0;
    for (size_t i = 0; i < of->n && last == past_version(of->path); i++) {
        const size_t end = strlen(of->known[i]), part = last_part(of->known[i], end);
        if (is_word(of->known[i] + part, of->path + last, of->bytes - last) && found++ < SHOWN_MAX)
            pe_buffer_format(out, "%s%s", found > 1 ? ", " : "did you mean ", of->known[i]);
    }
    if (found > 0)
        pe_buffer_str(out, "?");
    return found > 0;
}

/* Is the last part a value of a choice of the row? */
static bool has_choice(const paths *of, const pe_param *row)
{
    const size_t last = of->last;
    for (size_t i = 0; row->kind == PE_KIND_CHOICE && row->choices[i] != NULL; i++)
        if (is_word(row->choices[i], of->path + last, of->bytes - last))
            return true;
    return false;
}

/* How well a row of a resource goes with the path: 0 not at all. */
static unsigned fits(const paths *of, const pe_resource *resource, const pe_param *row)
{
    const size_t from = past_version(of->path), last = of->last;
    const bool choice = has_choice(of, row);
    if (!choice && !is_word(row->name, of->path + last, of->bytes - last))
        return 0;
    const size_t family = strcspn(of->path + from, "/") + 1;
    const bool same = strncasecmp(resource->path + 4, of->path + from, family) == 0;
    const char *table = strstr(resource->path, "/table");
    return 1U + (same ? 4U : 0U) + (resource->kind == PE_TABLE ? 2U : 0U) +
           (table != NULL && table[6] == '\0' ? 1U : 0U);
}

/* "did you mean /v1/rope/table with rope_type=yarn?" where the last part is a value or a name. */
static bool add_value(const paths *of, pe_buffer *out)
{
    const size_t last = of->last;
    const pe_resource *best = NULL;
    const pe_param *of_best = NULL, *row;
    unsigned most = 0;
    for (size_t r = 0; pe_registry[r] != NULL; r++)
        for (size_t i = 0; (row = pe_params_at(pe_registry[r]->param_sets, i)) != NULL; i++) {
            const unsigned fit = fits(of, pe_registry[r], row);
            if (fit > most && find(of, pe_registry[r]->path, strlen(pe_registry[r]->path))) {
                most = fit;
                best = pe_registry[r];
                of_best = row;
            }
        }
    if (best == NULL)
        return false;
    pe_buffer_format(out, "did you mean %s with %s", best->path, of_best->name);
    if (has_choice(of, of_best))
        pe_buffer_format(out, "=%.*s", (int)(of->bytes - last), of->path + last);
    pe_buffer_str(out, "?");
    return true;
}

/* Without the slashes at its end, or what a proxy or another version put before it. */
static const char *find_within(const paths *of)
{
    const char *api = strstr(of->path, "/v1/"), *same = find(of, of->path, of->bytes);
    return same != NULL || api == NULL ? same : find(of, api, strlen(api));
}

/* The nearest one, where the path names no family, or that of it. */
static const char *find_near(const paths *of)
{
    const char *near = pe_nearest_name(of->path, of->known, of->n);
    const size_t from = past_version(of->path), family = strcspn(of->path + from, "/");
    pe_buffer none = {0};
    const bool named = of->path[from + family] == '/' && add_family(of, from + family, "", &none);
    pe_buffer_free(&none);
    if (near == NULL || strcmp(near, "/") == 0)
        return NULL;
    return named && !is_below(near, of->path + from, family) ? NULL : near;
}

void pe_path_suggestion_add(const char *path, const char *const *known, size_t n, pe_buffer *out)
{
    paths of = {.path = path, .bytes = strlen(path), .known = known, .n = n};
    if (*path != '/')
        return;
    while (of.bytes > 1 && path[of.bytes - 1] == '/')
        of.bytes--;
    of.last = last_part(path, of.bytes);
    const char *meant = find_within(&of);
    if (meant == NULL && past_version(path) > 1 && add_family(&of, of.bytes, "below it are ", out))
        return;
    for (size_t w = 0; w < PE_LEN(words) && meant == NULL; w++)
        for (size_t i = 0; words[w].words[i] != NULL; i++)
            if (is_word(words[w].words[i], path + of.last, of.bytes - of.last) &&
                find(&of, words[w].meant, strcspn(words[w].meant, " ")) != NULL)
                meant = words[w].meant;
    if (meant == NULL && add_parts(&of, out))
        return;
    if (meant == NULL)
        meant = find_near(&of);
    if (meant == NULL && add_family(&of, of.bytes, "did you mean one of ", out))
        return;
    /* The longest one that the path goes on from: /v1/verify for /v1/verify/rope. */
    const bool named = meant != NULL;
    for (size_t i = 0, most = 3; i < n && !named; i++) {
        const size_t bytes = strlen(known[i]);
        if (bytes > most && strncasecmp(known[i], path, bytes) == 0 &&
            strchr("/-_.", path[bytes]) != NULL) {
            meant = known[i];
            most = bytes;
        }
    }
    const pe_format *format = meant != NULL ? pe_format_by_extension(path) : NULL;
    const bool other = format != NULL && strcmp(format->name, "json") != 0; /* than the default */
    if (meant != NULL)
        pe_buffer_format(out, "did you mean %s%s%s?", meant, other ? " with format=" : "",
                         other ? format->name : "");
    else if (!add_value(&of, out))
        (void)add_family(&of, of.last - 1, "beside it are ", out);
}
