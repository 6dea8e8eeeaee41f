/* SPDX-License-Identifier: MIT */
/* model_name.c - spellings of a name that people type, and how well a model answers a search. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/slice.h"
#include "models/catalogue/catalogue.h"

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

bool pe_model_name_fold(const char *name, char out[PE_MODEL_NAME_BYTES])
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

size_t pe_model_name_shared(const char *one, const char *other)
{
    size_t n = 0;
    while (one[n] != '\0' && one[n] == other[n])
        n++;
    if (is_digit(one[n]) || is_digit(other[n]))
        while (n > 0 && is_digit(one[n - 1]))
            n--;
    return n;
}

void pe_model_name_strip(const char *folded, char out[PE_MODEL_NAME_BYTES])
{
    size_t used = 0;
    for (; *folded != '\0'; folded++)
        if (strchr("-.", *folded) == NULL)
            out[used++] = *folded;
    out[used] = '\0';
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
    if (!pe_model_name_fold(text, its) || !pe_model_name_fold(word, folded) || folded[0] == '\0')
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
