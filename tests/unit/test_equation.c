/* SPDX-License-Identifier: MIT */
/* test_equation.c - equations of mistakes: what they say, and that each row of a mistake has one. */
#include "support/check.h"

#include <math.h>
#include <string.h>

#include "encodings/registry.h"
#include "verify/mistakes/elements.h"
#include "verify/plain/plain_slips.h"

/* Of item 2 of 4, 10 20 40 80, where a is 3 and b 0.5. */
static const struct {
    const char *text;
    double is;
} equations[] = {
    {"x", 40},
    {"i + n", 6},
    {"1 + 2*3", 7},
    {"8/2/2", 2},
    {"2 - 1 - 1", 0},
    {"2^3^2", 512},
    {"-2^2", -4},
    {"2*-3", -6},
    {"-7 % 4", 1},
    {"x[i - 1] + x[n - 1]", 100},
    {"x[n]", 160},
    {"x[0 - 1]", 5},
    {"a < b ? 1 : a == 3 ? 2 : 3", 2},
    {"a > b && b < 1 || 0", 1},
    {"max(min(a, 2), b)", 2},
    {"round(2.5) + rint(2.5)", 5},
    {"2^0.5 == sqrt(2)", 1},
    {"bfloat16(1.001) + cut(1.999)", 2.9921875},
    {"finite(1/0) + finite(pi)", 1},
    {"signed(3, -b)", -3},
    {"exp2(ln(1))", 1},
    {"sum(x) + least(x) + most(i)", 163},
    {"first(x > 30) + first(x < 0)", 6},
    {"first(x == most(x - a)) + sum(i == 1 ? none : 1)", 7},
    {"tidy(0.2501) + tidy(7.01)", 7.25},
    {"median(x) + median(x > 15 ? none : i)", 40},
    {"neat(0.2501) + neat(7.05)", 7.3},
};

static const char *const wrong[] = {"",        "x +",   "(x",     "x)",         "x[1",
                                    "sine(x)", "x ? 1", "min(1)", "max(1 2)",   "2 3",
                                    "x == ",   "x & 1", "sum(x",  "first(x, 1)"};

static const double numbers[] = {10, 20, 40, 80};
static const pe_sequence sequence = {.n = 4, .claimed = numbers, .a = 3, .b = 0.5};

static void equations_say_what_a_paper_says(void **state)
{
    pe_equation e;
    (void)state;
    for (size_t k = 0; k < PE_LEN(equations); k++) {
        print_message("%s\n", equations[k].text);
        assert_true(
            pe_equation_read(equations[k].text, pe_sequence_terms, NULL, NULL, &sequence, &e));
        assert_true(pe_equation_at(&e, &sequence, 2) == equations[k].is);
    }
}

static void other_texts_are_none(void **state)
{
    pe_equation e;
    (void)state;
    for (size_t k = 0; k < PE_LEN(wrong); k++)
        assert_false(pe_equation_read(wrong[k], pe_sequence_terms, NULL, NULL, &sequence, &e));
}

static const pe_slips *const lists[] = {&pe_mistakes_of_positions, &pe_mistakes_of_frequencies,
                                        &pe_mistakes_of_values,    &pe_mistakes_of_padding,
                                        &pe_mistakes_of_places,    &pe_mistakes_of_slopes,
                                        &pe_mistakes_of_distances, &pe_mistakes_of_waves,
                                        &pe_mistakes_of_tokens,    &pe_mistakes_of_elements};

#define LETTERS "abcdefghijklmnopqrstuvwxyz"

static bool is_term(const pe_term *terms, const char *name)
{
    static char state[1 << 16];
    return pe_term_number(terms, name, state) != NULL;
}

/* A name that is no term is that of a parameter of some resource. */
static bool is_param(const char *name)
{
    size_t r = 0;
    while (pe_registry[r] != NULL && pe_params_find(pe_registry[r]->param_sets, name) == NULL)
        r++;
    return pe_registry[r] != NULL || strcmp(name, "none") == 0 || strcmp(name, "pi") == 0 ||
           strcmp(name, "inf") == 0;
}

/* Words before "(" are functions, those behind "." choices, and one letter behind a digit an exponent. */
static void check_names(const pe_term *terms, const char *text)
{
    for (const char *at = strpbrk(text, LETTERS); at != NULL; at = strpbrk(at, LETTERS)) {
        char name[64] = "";
        const bool other = at > text && (at[-1] == '.' || (at[-1] >= '0' && at[-1] <= '9'));
        const size_t n = strspn(at, LETTERS "_0123456789");
        assert_true(n < sizeof name);
        memcpy(name, at, n);
        at += n;
        if (!other && *at != '(' && !is_term(pe_sequence_terms, name) && !is_term(terms, name))
            assert_true(is_param(name));
    }
}

static void check(const pe_term *terms, const char *text)
{
    pe_equation e;
    print_message("%s\n", text);
    assert_true(pe_equation_read(text, pe_sequence_terms, terms, NULL, NULL, &e));
    check_names(terms, text);
}

/* "name = equation; name = equation" */
static void check_set(const pe_term *terms, const char *text)
{
    for (const char *at = text; *at != '\0'; at += strspn(at, "; ")) {
        char one[128] = "";
        const size_t n = strcspn(at, ";");
        assert_true(n < sizeof one);
        memcpy(one, at, n);
        char *equals = strstr(one, " = ");
        assert_non_null(equals);
        *equals = '\0';
        assert_true(is_term(terms, one));
        check(terms, equals + strlen(" = "));
        at += n;
    }
}

static void each_row_has_them(void **state)
{
    (void)state;
    for (size_t l = 0; l < PE_LEN(lists); l++)
        for (size_t r = 0; r < lists[l]->n; r++) {
            const pe_slip *row = &lists[l]->row[r];
            const pe_term *terms = row->stage != NULL                     ? row->stage->terms
                                   : lists[l] == &pe_mistakes_of_elements ? pe_element_terms
                                                                          : NULL;
            const bool sets = row->stage == &pe_slip_distances && row->also != NULL;
            const char *const of[] = {row->a, row->b, row->where, row->op, sets ? NULL : row->also};
            if (sets)
                check_set(terms, row->also);
            for (size_t k = 0; k < PE_LEN(of); k++)
                if (of[k] != NULL)
                    check(terms, of[k]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equations_say_what_a_paper_says),
                                       cmocka_unit_test(other_texts_are_none),
                                       cmocka_unit_test(each_row_has_them)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
