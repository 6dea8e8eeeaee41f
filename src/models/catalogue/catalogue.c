/* SPDX-License-Identifier: MIT */
/* catalogue.c - the models that the program knows. */
#include "models/catalogue/catalogue.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/nearest.h"
#include "files/tree.h"

/* So much of a name tells its family ("phi", "gemma"), so much a name ("t5"); so many are
 * suggested. */
#define FAMILY_BYTES 3
#define TYPED_BYTES  2
#define SHOWN_MAX    5

/* The files of the catalogue and their number, from catalogue_data.S. */
extern const pe_catalogue_file pe_catalogue_table[];
extern const size_t pe_catalogue_length;

const pe_catalogue_file *pe_catalogue_files(size_t *n)
{
    *n = pe_catalogue_length;
    return pe_catalogue_table;
}

/* ---- names ---- */

/* Words that do not change how positions are encoded. Those of one letter are parts of others:
 * "Q4_K_M". */
static const char *const idle[] = {
    "instruct", "chat", "it",   "hf",   "base", "meta", "c4ai", "gguf",  "ggml",
    "awq",      "gptq", "mlx",  "bnb",  "fp16", "bf16", "f16",  "f32",   "fp8",
    "int4",     "int8", "4bit", "8bit", "sft",  "dpo",  "ud",   "mxfp4", "nvfp4",
};

/* Organisations on Hugging Face that files are named after: "google_gemma-3-27b-it-Q4_K_M.gguf". */
static const char *const organisations[] = {
    "01-ai",      "ai21labs",    "allenai",    "apple",     "baidu",         "cohereforai",
    "coherelabs", "deepseek-ai", "eleutherai", "google",    "huggingfacetb", "ibm-granite",
    "internlm",   "liquidai",    "meta-llama", "microsoft", "mistralai",     "moonshotai",
    "nvidia",     "openai",      "openbmb",    "qwen",      "stabilityai",   "tencent",
    "thudm",      "tiiuae",      "zai-org",
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A dot belongs to a number ("3.1"), and so does an underscore that stands for one ("1_6b"): a
 * number has one only. */
static bool ends_word(const char *at, pe_slice word)
{
    const bool number = word.bytes > 0 && is_digit(word.text[word.bytes - 1]) && is_digit(at[1]) &&
                        memchr(word.text, '.', word.bytes) == NULL;
    return strchr("- :", *at) != NULL || (strchr("._", *at) != NULL && !number);
}

/* Two numbers stay apart: 3-8b is not 38b. */
static void add(pe_slice word, char *out, size_t *used)
{
    for (size_t i = 0; i < PE_LEN(idle); i++)
        if (pe_slice_is(word, idle[i]))
            return;
    if (word.bytes == 0)
        return;
    if (*used > 0 && is_digit(out[*used - 1]) && is_digit(word.text[0]))
        out[(*used)++] = '-';
    memcpy(out + *used, word.text, word.bytes);
    *used += word.bytes;
}

/* Qwen_3 is a model, and Qwen_Qwen3 one with its organisation. */
static const char *without_organisation(const char *name)
{
    const char *slash = strrchr(name, '/');
    name = slash != NULL ? slash + 1 : name;
    for (size_t i = 0; i < PE_LEN(organisations); i++) {
        const size_t bytes = strlen(organisations[i]);
        if (strncasecmp(name, organisations[i], bytes) == 0 && name[bytes] == '_' &&
            !is_digit(name[bytes + 1]))
            return name + bytes + 1;
    }
    return name;
}

/* What a spelling has in common with all others of its model: small letters, without organisation,
 * tuning ("Instruct", "chat", "hf"), quantisation and marks between words. Both
 * "meta-llama/Llama-3.1-8B-Instruct" and "Llama-3.1-8B-Instruct-Q4_K_M.gguf" become "llama3.1-8b".
 * False: it is too long, and *out is "". */
static bool fold(const char *name, char out[PE_MODEL_NAME_BYTES])
{
    char word[PE_MODEL_NAME_BYTES];
    size_t bytes = 0, used = 0;
    name = without_organisation(name);
    const size_t length = strlen(name);
    out[0] = '\0';
    if (2 * length >= PE_MODEL_NAME_BYTES) /* each byte, and a hyphen before it */
        return false;
    for (size_t i = 0; i <= length; i++) {
        if (i < length && !ends_word(name + i, (pe_slice){word, bytes})) {
            word[bytes++] = name[i] == '_' ? '.' : (char)tolower((unsigned char)name[i]);
            continue;
        }
        const pe_slice whole = {word, bytes};
        /* "q4", "iq3": all that follows it belongs to the quantisation. */
        const size_t q = bytes > 0 && word[0] == 'i';
        if (used > 0 && bytes >= q + 2 && word[q] == 'q' && is_digit(word[q + 1]))
            break;
        add(whole, out, &used);
        bytes = 0;
    }
    out[used] = '\0';
    return true;
}

/* How many bytes two folded names share at their beginning; a number counts as a whole. */
static size_t shared(const char *one, const char *other)
{
    size_t n = 0;
    while (one[n] != '\0' && one[n] == other[n])
        n++;
    if (is_digit(one[n]) || is_digit(other[n]))
        while (n > 0 && is_digit(one[n - 1]))
            n--;
    return n;
}

/* Drop the marks between the numbers of a folded name: "llama3.1-8b" becomes "llama318b". */
static void strip(const char *folded, char out[PE_MODEL_NAME_BYTES])
{
    size_t used = 0;
    for (; *folded != '\0'; folded++)
        if (strchr("-.", *folded) == NULL)
            out[used++] = *folded;
    out[used] = '\0';
}

/* The name, or the title in the file's text, which a test holds to this form. */
static const pe_catalogue_file *find_spelling(const char *folded)
{
    static const char before[] = "\"title\": \"";
    for (size_t i = 0; i < pe_catalogue_length && folded[0] != '\0'; i++) {
        const pe_catalogue_file *file = &pe_catalogue_table[i];
        const char *at = strstr(file->text, before);
        char its[PE_MODEL_NAME_BYTES], title[PE_MODEL_NAME_BYTES] = "";
        if (at != NULL) {
            at += strlen(before);
            snprintf(title, sizeof title, "%.*s", (int)strcspn(at, "\""), at);
        }
        fold(file->name, its);
        if (strcmp(its, folded) == 0)
            return file;
        fold(title, its);
        if (strcmp(its, folded) == 0)
            return file;
    }
    return NULL;
}

/* ---- what was meant ---- */

/* How a name is like what was typed. STRIPPED: it begins so, but for the marks between numbers. */
enum { BEGINS, STRIPPED, CONTAINS };

/* The names that are like what was typed; returns how many there are. */
static size_t list_like(const char *typed, int how, pe_buffer *out)
{
    size_t n = 0;
    for (size_t i = 0; i < pe_catalogue_length; i++) {
        char its[PE_MODEL_NAME_BYTES], one[PE_MODEL_NAME_BYTES], other[PE_MODEL_NAME_BYTES];
        fold(pe_catalogue_table[i].name, its);
        strip(its, one);
        strip(typed, other);
        const bool like = how == BEGINS     ? shared(its, typed) == strlen(typed)
                          : how == STRIPPED ? strncmp(one, other, strlen(other)) == 0
                                            : strstr(its, typed) != NULL;
        if (like && n++ < SHOWN_MAX)
            pe_buffer_format(out, "%s%s", n > 1 ? ", " : "", pe_catalogue_table[i].name);
    }
    return n;
}

/* Those whose beginning was typed, else the nearest, else those of the same family, else those
 * that have it within. */
static size_t list_meant(const char *name, const char *folded, pe_buffer *out)
{
    size_t n = 0;
    if (strlen(folded) < TYPED_BYTES)
        return 0;
    n = list_like(folded, BEGINS, out);
    if (n == 0)
        n = list_like(folded, STRIPPED, out);
    const char **names = calloc(pe_catalogue_length + 1, sizeof *names), *near = NULL;
    for (size_t i = 0; i < pe_catalogue_length && names != NULL; i++)
        names[i] = pe_catalogue_table[i].name;
    if (n == 0 && names != NULL)
        near = pe_nearest_name(name, names, pe_catalogue_length);
    free(names);
    if (near != NULL) { /* one that is a slip of the pen away */
        pe_buffer_str(out, near);
        n = 1;
    }
    if (n == 0) {
        /* Those that share most with what was typed. */
        size_t most = 0;
        char family[PE_MODEL_NAME_BYTES];
        for (size_t i = 0; i < pe_catalogue_length; i++) {
            char its[PE_MODEL_NAME_BYTES];
            fold(pe_catalogue_table[i].name, its);
            const size_t common = shared(its, folded);
            most = common > most ? common : most;
        }
        snprintf(family, sizeof family, "%.*s", (int)most, folded);
        n = most < FAMILY_BYTES ? 0 : list_like(family, BEGINS, out);
    }
    return n > 0 ? n : list_like(folded, CONTAINS, out);
}

static pe_status not_found(const char *name, const char *folded, pe_problem *why)
{
    pe_buffer meant = {0};
    const char *dot = strrchr(name, '.');
    const bool is_file = dot != NULL && (strcmp(dot, ".json") == 0 || strcmp(dot, ".gguf") == 0);
    const size_t n = is_file ? 0 : list_meant(name, folded, &meant);
    pe_status status =
        pe_fail(why, PE_INVALID_PARAMETER, "model", "there is no model %.64s; %s", name,
                is_file ? "a configuration goes to /v1/models/resolve, which tells "
                          "its parameters"
                        : "GET /v1/models lists those there are");
    if (n > SHOWN_MAX)
        pe_buffer_format(&meant, " or one of %zu more that GET /v1/models lists", n - SHOWN_MAX);
    if (n > 0)
        status = pe_fail(why, PE_INVALID_PARAMETER, "model",
                         "there is no model %.64s, did you mean %s?", name, pe_buffer_text(&meant));
    if (meant.failed)
        status = pe_fail_memory(why);
    pe_buffer_free(&meant);
    return status;
}

/* ---- files ---- */

pe_status pe_catalogue_find(const char *name, const pe_catalogue_file **out, pe_problem *why)
{
    char folded[PE_MODEL_NAME_BYTES];
    for (size_t i = 0; i < pe_catalogue_length; i++)
        if (strcmp(pe_catalogue_table[i].name, name) == 0) {
            *out = &pe_catalogue_table[i];
            return PE_OK;
        }
    fold(name, folded);
    *out = find_spelling(folded);
    return *out != NULL ? PE_OK : not_found(name, folded, why);
}

pe_status pe_catalogue_read(const pe_catalogue_file *file, json_t **tree, pe_model **model,
                            pe_problem *why)
{
    json_t *whole;
    pe_status status =
        pe_tree_load((pe_slice){file->text, file->bytes}, JSON_REJECT_DUPLICATES, "", &whole, why);
    if (status != PE_OK)
        return pe_fail_memory(why); /* it is valid */
    if (model != NULL)
        status = pe_model_resolve(json_object_get(whole, "config"), model, why);
    if (status != PE_OK && !pe_status_is_ours(status))
        status =
            pe_fail(why, PE_INTERNAL, "", "the configuration of %s does not resolve", file->name);
    if (status == PE_OK && tree != NULL)
        *tree = json_incref(whole);
    json_decref(whole);
    return status;
}

/* ---- searches ---- */

/* Where a text has a word; a number that goes on is within. */
enum { BEGINNING, WORD, WITHIN, WITHIN_ORGANIZATION, NOWHERE };

static unsigned place_in(const char *text, const char *word)
{
    unsigned best = NOWHERE;
    const size_t bytes = strlen(word);
    for (const char *at = text; (at = strcasestr(at, word)) != NULL; at++) {
        const bool whole =
            !isdigit((unsigned char)word[bytes - 1]) || !isdigit((unsigned char)at[bytes]);
        const unsigned place = !whole                            ? WITHIN
                               : at == text                      ? BEGINNING
                               : !isalnum((unsigned char)at[-1]) ? WORD
                                                                 : WITHIN;
        best = place < best ? place : best;
    }
    return best;
}

/* As it is written, or as names are compared. */
static unsigned place_of(const char *text, const char *word)
{
    char its[PE_MODEL_NAME_BYTES], folded[PE_MODEL_NAME_BYTES];
    const unsigned written = place_in(text, word);
    if (!fold(text, its) || !fold(word, folded) || folded[0] == '\0')
        return written;
    const unsigned compared = place_in(its, folded);
    return compared < written ? compared : written;
}

size_t pe_model_search_rank(pe_slice words, const char *const titles[2], const char *organization)
{
    size_t sum = 0;
    while (words.bytes > 0) {
        char word[64];
        const pe_slice next = pe_slice_next(&words, ' ');
        if (next.bytes >= sizeof word)
            return PE_MODEL_SEARCH_RANKS;
        snprintf(word, sizeof word, "%.*s", (int)next.bytes, next.text);
        unsigned place = next.bytes > 0 ? place_of(organization, word) + 1 : BEGINNING;
        for (size_t t = 0; next.bytes > 0 && t < 2; t++) {
            const unsigned own = place_of(titles[t], word);
            place = own < place ? own : place;
        }
        if (place == NOWHERE)
            return PE_MODEL_SEARCH_RANKS;
        sum += place;
    }
    return sum < PE_MODEL_SEARCH_RANKS ? sum : PE_MODEL_SEARCH_RANKS - 1;
}
