/* SPDX-License-Identifier: MIT */
/* suggestion.c - which parameter an unknown name was meant to be. */
#include "api/suggestion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/nearest.h"
#include "encodings/registry.h"
#include "plan/params.h"

/* What others call a parameter. Of the rows with a name, the first counts whose parameter the
 * resource has. `as`: how it is written where the parameter alone does not tell. A name is taken for
 * the parameter where it has one meaning: an unsure one may have others, and is only suggested; so is
 * what is written in another way, but for a number N of positions, and for a value that true or false
 * tells. */
static const struct {
    const char *name, *meant, *as;
    bool unsure;
} synonyms[] = {
#include "synonyms_parameters.inc"
};

/* What others have a name for, and no resource has; and what to do instead. */
static const struct {
    const char *name, *advice;
} absent[] = {
#include "synonyms_absent.inc"
};

/* The two values of a choice, for a name that was given as false; where there are more than two, this
 * is only suggested. */
static const struct {
    const char *sides[2];
    bool several;
} opposites[] = {
    {{"pairing=interleaved", "pairing=half"}, false},
    {{"form=causal", "form=symmetric"}, true},
    {{"combine=concat", "combine=add"}, false},
    {{"bidirectional=false", "bidirectional=true"}, false},
    {{"extra_tokens=1", "extra_tokens=0"}, false},
    {{"layout=interleaved", "layout=sin_cos"}, true},
    {{"layout=cos_sin", "layout=sin_cos"}, false},
};

/* More than there are. */
#define SYNONYMS_MAX 512

/* The other value, and whether there are more; NULL: it is none of two. */
static const char *opposite_of(const char *as, bool *several)
{
    for (size_t o = 0; o < PE_LEN(opposites); o++)
        for (size_t side = 0; side < 2; side++)
            if (strcmp(opposites[o].sides[side], as) == 0) {
                *several = opposites[o].several;
                return opposites[o].sides[1 - side];
            }
    return NULL;
}

const char *pe_suggestion_advice(const char *name)
{
    for (size_t a = 0; a < PE_LEN(absent); a++)
        if (strcasecmp(absent[a].name, name) == 0)
            return absent[a].advice;
    return NULL;
}

/* denied: the name was given as false, and asks for the other of two values. */
static const char *synonym_of(const char *name, bool denied, const char *const *names, size_t n)
{
    for (size_t s = 0; s < PE_LEN(synonyms); s++) {
        if (strcasecmp(synonyms[s].name, name) != 0 ||
            !pe_nearest_is_name(synonyms[s].meant, names, n))
            continue;
        bool several;
        const char *as = synonyms[s].as != NULL ? synonyms[s].as : synonyms[s].meant;
        const char *other = denied ? opposite_of(as, &several) : NULL;
        return other != NULL ? other : as;
    }
    return NULL;
}

/* Less is in too many names; of more names none is told. */
#define WORD_BYTES 3
#define SHOWN_MAX  3

/* Those of which one of the words, or several, begin as it was typed. */
static bool list_words(const char *name, const char *const *names, size_t n,
                       char out[PE_SUGGESTION_BYTES])
{
    const size_t bytes = strlen(name);
    size_t found = 0, used = 0;
    for (size_t i = 0; i < n && bytes >= WORD_BYTES; i++) {
        const char *word = names[i];
        while (word != NULL && strncasecmp(word, name, bytes) != 0)
            word = (word = strchr(word, '_')) != NULL ? word + 1 : NULL;
        if (word != NULL && found++ < SHOWN_MAX)
            used += (size_t)snprintf(out + used, PE_SUGGESTION_BYTES - used, "%s%.40s",
                                     found > 1 ? ", " : "", names[i]);
    }
    return found > 0 && found <= SHOWN_MAX;
}

/* ---- what is taken ---- */

/* "positions=0:N": how a number of positions is written. */
static const char counted[] = "=0:N";

static bool is_counted(const char *as)
{
    return as != NULL && strstr(as, counted) != NULL;
}

/* What a row makes of a value, with the name that it gets: "" for the value as it is, "positions=0:N",
 * "pairing=half". NULL: it is not taken. */
static const char *taken_as(size_t s, pe_slice text)
{
    const char *as = synonyms[s].as;
    const bool yes = pe_slice_is(text, "true") || pe_slice_is(text, "1");
    const bool no = pe_slice_is(text, "false") || pe_slice_is(text, "0");
    bool several;
    size_t digits = 0;
    if (as == NULL)
        return "";
    while (digits < text.bytes && text.text[digits] >= '0' && text.text[digits] <= '9')
        digits++;
    if (is_counted(as))
        return digits > 0 && digits == text.bytes ? as : NULL;
    /* given as true it is "pairing=half", as false "pairing=interleaved" */
    const char *other = yes || no ? opposite_of(as, &several) : NULL;
    return other == NULL ? NULL : yes ? as : several ? NULL : other;
}

/* Is a value of the row's name one of the parameter, or a number of positions? */
static bool is_listed(size_t s)
{
    return !synonyms[s].unsure && (synonyms[s].as == NULL || is_counted(synonyms[s].as));
}

/* Is it a name of the resource's own, or taken for another of its parameters? */
static bool is_ambiguous(const pe_param_set *const *sets, const char *name, const char *meant)
{
    const pe_param *param;
    for (size_t i = 0; (param = pe_params_at(sets, i)) != NULL; i++)
        if (strcmp(param->name, name) == 0 || pe_param_alias(param, name) != NULL)
            return true;
    for (size_t s = 0; s < PE_LEN(synonyms); s++)
        if (strcmp(synonyms[s].meant, meant) != 0 && is_listed(s) &&
            strcmp(synonyms[s].name, name) == 0 && pe_params_find(sets, synonyms[s].meant) != NULL)
            return true;
    return false;
}

bool pe_suggestion_take(const pe_values *values, const char *name, pe_slice text,
                        pe_suggested_value *out)
{
    *out = (pe_suggested_value){0};
    for (size_t s = 0; s < PE_LEN(synonyms); s++) {
        const bool is_name = !synonyms[s].unsure && strcmp(synonyms[s].name, name) == 0;
        const char *as = is_name ? taken_as(s, text) : NULL;
        pe_value *value = as != NULL ? pe_values_find(values, synonyms[s].meant) : NULL;
        if (value == NULL)
            continue;
        if (out->value != NULL && out->value != value)
            return false; /* it may mean either */
        const char *equals = strchr(as, '=');
        *out = (pe_suggested_value){value, synonyms[s].name, equals != NULL ? equals + 1 : NULL};
    }
    return out->value != NULL;
}

size_t pe_suggestion_aliases(const pe_param_set *const *sets, const pe_param *param,
                             const char **out, size_t most)
{
    size_t n = 0;
    for (size_t s = 0; s < PE_LEN(synonyms) && n < most; s++) {
        const char *name = synonyms[s].name;
        if (strcmp(synonyms[s].meant, param->name) == 0 && is_listed(s) &&
            !pe_nearest_is_name(name, out, n) && !is_ambiguous(sets, name, param->name))
            out[n++] = name;
    }
    return n;
}

/* Digits, after spaces; returns what follows them, or NULL. */
static const char *read_side(const char *at, unsigned long *side)
{
    char *end = NULL;
    at += strspn(at, " ");
    if (strspn(at, "0123456789") == 0)
        return NULL;
    *side = strtoul(at, &end, 10);
    return end;
}

/* Two sides in a list, or one of a square: "2,3", "[2, 3]", "2". */
static bool read_sides(pe_slice text, unsigned long side[2])
{
    char list[32];
    snprintf(list, sizeof list, "%.*s", (int)(text.bytes < sizeof list ? text.bytes : 0),
             text.text);
    const char *at = read_side(list + (list[0] == '['), &side[0]);
    side[1] = side[0];
    if (at != NULL && *at == ',')
        at = read_side(at + 1, &side[1]);
    return at != NULL && (*at == '\0' || strcmp(at, "]") == 0);
}

bool pe_suggestion_find(const char *name, pe_slice value, const char *const *names, size_t own,
                        size_t n, char out[PE_SUGGESTION_BYTES])
{
    static const char no[] = "false", between[] = " and ";
    const bool denied =
        value.bytes == sizeof no - 1 && strncasecmp(value.text, no, value.bytes) == 0;
    const char *meant = synonym_of(name, denied, names, own);
    if (meant == NULL && list_words(name, names, own, out))
        return true;
    /* A word that means something elsewhere is not misspelled. */
    bool typo = meant == NULL && pe_suggestion_advice(name) == NULL;
    for (size_t r = 0; typo && pe_registry[r] != NULL; r++)
        typo = pe_params_find(pe_registry[r]->param_sets, name) == NULL;
    for (size_t s = 0; typo && s < PE_LEN(synonyms); s++)
        typo = strcasecmp(synonyms[s].name, name) != 0;
    if (typo)
        meant = pe_nearest_name(name, names, n);
    if (typo && meant == NULL && strlen(name) >= WORD_BYTES) { /* nearly what others call one */
        const char *words[SYNONYMS_MAX];
        size_t known = 0;
        for (size_t s = 0; s < PE_LEN(synonyms) && known < SYNONYMS_MAX; s++)
            if (pe_nearest_is_name(synonyms[s].meant, names, own))
                words[known++] = synonyms[s].name;
        const char *near = pe_nearest_name(name, words, known);
        meant = near != NULL ? synonym_of(near, denied, names, own) : NULL;
    }
    if (meant == NULL)
        return false;
    const char *second = strstr(meant, between); /* "height and width": with what was given */
    unsigned long side[2] = {0};
    if (second != NULL && strstr(second, "width") != NULL && read_sides(value, side))
        snprintf(out, PE_SUGGESTION_BYTES, "%.*s=%lu%s%s=%lu", (int)(second - meant), meant,
                 side[0], between, second + strlen(between), side[1]);
    else
        snprintf(out, PE_SUGGESTION_BYTES, "%s", meant);
    return true;
}
