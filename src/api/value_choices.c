/* SPDX-License-Identifier: MIT */
/* value_choices.c - names that a row offers: one of them, or several. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/value_reading.h"
#include "base/nearest.h"

/* Which of the choices the text is: as many as there are when none. */
static size_t find(const char *const *choices, pe_slice text)
{
    size_t i = 0;
    while (choices[i] != NULL && !pe_slice_is(text, choices[i]))
        i++;
    return i;
}

/* What others call a choice; the first of a name's rows whose choice a parameter offers. */
static const struct {
    const char *const *names;
    const char *meant;
} synonyms[] = {
#include "synonyms_choices.inc"
};

/* The choice that others call so; *name gets the constant. NULL: there is none. */
static const char *choice_of_synonym(const pe_param *param, const char *plain,
                                     int (*compare)(const char *, const char *), const char **name)
{
    for (size_t s = 0; s < PE_LEN(synonyms); s++) {
        const char *choice = param->choices[find(param->choices, pe_slice_of(synonyms[s].meant))];
        for (size_t i = 0; choice != NULL && synonyms[s].names[i] != NULL; i++)
            if (compare(synonyms[s].names[i], plain) == 0) {
                *name = synonyms[s].names[i];
                return choice;
            }
    }
    return NULL;
}

/* Synonyms of types have one meaning, and are taken. A module before the name, as in torch.float16,
 * does not matter. Returns the type's choice, and *name a constant that stands for the synonym;
 * NULL: it is none. */
static const char *taken(const pe_param *param, const char *row, pe_slice text, const char **name)
{
    static const char module[] = "torch.";
    char given[PE_SHOWN_MAX + 1];
    if (strcmp(row, "dtype") != 0 || text.bytes >= sizeof given)
        return NULL;
    snprintf(given, sizeof given, "%.*s", (int)text.bytes, text.text);
    const bool has_module = strncmp(given, module, sizeof module - 1) == 0;
    const char *plain = has_module ? given + sizeof module - 1 : given;
    const char *choice = param->choices[find(param->choices, pe_slice_of(plain))];
    if (has_module && choice != NULL) {
        *name = "the name of a torch type";
        return choice;
    }
    return choice_of_synonym(param, plain, strcmp, name);
}

/* The choice that others call so, in any case; else the nearest one. A module before the name, as
 * in torch.float16, does not matter. */
static const char *suggest(const pe_param *param, pe_slice text)
{
    char name[PE_SHOWN_MAX + 1];
    snprintf(name, sizeof name, "%.*s", PE_SHOWN(text));
    const char *dot = strrchr(name, '.'), *plain = dot != NULL ? dot + 1 : name, *synonym;
    size_t n = 0;
    for (; param->choices[n] != NULL; n++)
        if (strcasecmp(param->choices[n], plain) == 0)
            return param->choices[n];
    const char *choice = choice_of_synonym(param, plain, strcasecmp, &synonym);
    return choice != NULL ? choice : pe_nearest_name(plain, param->choices, n);
}

/* What is refused leaves *out as it is, a choice: more mistakes are looked for behind this one. */
static pe_status read_one(const pe_value_reading *to, pe_slice text, size_t *out, pe_problem *why)
{
    const char *const *choices = to->param->choices;
    const bool several = to->param->kind == PE_KIND_CHOICES;
    if (text.bytes == 0)
        return pe_fail(why, PE_MALFORMED_REQUEST, to->place, "%s %s", to->param->name,
                       several ? "must not hold an empty name" : "must not be empty");
    const char *of_others =
        taken(to->param, to->value->param->name, text, &to->value->choice_alias);
    const size_t found = find(choices, of_others != NULL ? pe_slice_of(of_others) : text);
    if (choices[found] != NULL) {
        *out = found;
        return PE_OK;
    }
    const char *near = suggest(to->param, text);
    pe_buffer list = {0};
    for (size_t i = 0; choices[i] != NULL; i++)
        pe_buffer_format(&list, i == 0 ? "%s" : ", %s", choices[i]);
    const pe_status status = pe_fail(
        why, PE_INVALID_PARAMETER, to->place, "%s%s must be one of %s; got \"%.*s\"%s%s%s",
        several ? "each of " : "", to->param->name, pe_buffer_text(&list), PE_SHOWN(text),
        near != NULL ? ", did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "");
    pe_buffer_free(&list);
    return status;
}

pe_status pe_value_choice_text_parse(const pe_value_reading *to, pe_slice text, pe_problem *why)
{
    return read_one(to, text, &to->value->choice, why);
}

pe_status pe_value_choices_text_parse(const pe_value_reading *to, pe_slice text, pe_problem *why)
{
    pe_value *value = to->value;
    value->n_picks = 0;
    for (size_t names = pe_slice_pieces(text, ','); names > 0; names--) {
        size_t pick = 0;
        PE_TRY(read_one(to, pe_slice_next(&text, ','), &pick, why));
        for (size_t i = 0; i < value->n_picks; i++)
            if (value->picks[i] == pick)
                return pe_fail(why, PE_INVALID_PARAMETER, to->place, "%s names %s more than once",
                               to->param->name, to->param->choices[pick]);
        value->picks[value->n_picks++] = (unsigned char)pick;
    }
    return PE_OK;
}
