/* SPDX-License-Identifier: MIT */
/* equation.c - what a mistake makes of a number, written as in a paper. */
#include "verify/compare/equation.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"
#include "verify/upload/geometry.h"
#include "verify/upload/upload.h"

/* Steps that are no operators. */
enum {
    NUMBER = '#',
    TERM = '.',
    ITEM = '[',
    ONE = '1',
    TWO = '2',
    TYPE = 't',
    CHOICE = '?',
    NEGATIVE = '~'
};

static const struct binary {
    const char *text;
    char is;
    int binds;
} operators[] = {
    {"||", '|', 1}, {"&&", '&', 2}, {"<=", 'l', 3}, {">=", 'g', 3}, {"==", '=', 3},
    {"!=", '!', 3}, {"<", '<', 3},  {">", '>', 3},  {"+", '+', 4},  {"-", '-', 4},
    {"*", '*', 5},  {"/", '/', 5},  {"%", '%', 5},  {"^", '^', 6},
};
#define BINDS_MOST 6

/* ---- functions ---- */

static double cut(double x)
{
    const double unit = pe_narrow_type_ulp(&pe_narrow_types[PE_NARROW_BFLOAT16], x);
    return unit * trunc(x / unit);
}

/* To so many digits. */
static double digits(double x, double n)
{
    const double digit = pow(10, floor(log10(fabs(x))) - n + 1);
    return digit * round(x / digit);
}

static double finite_one(double x)
{
    return isfinite(x) ? 1 : 0;
}

/* The whole number near it, or the reciprocal of one. */
static double whole_near(double x, double off_whole, double off_part)
{
    const double whole = round(x), part = x != 0 ? 1 / round(1 / x) : 0;
    if (fabs(x - whole) <= off_whole)
        return whole;
    return isfinite(part) && fabs(x - part) < off_part ? part : x;
}

static double neat(double x)
{
    return whole_near(x, 2e-3 * fabs(x), 2e-3 * fabs(x));
}

double pe_equation_tidy(double x)
{
    return whole_near(x, 0.01 * fmax(fabs(x), 1), 0.01 * fabs(x));
}

static const struct function {
    const char *name;
    double (*one)(double x), (*two)(double x, double y);
    const pe_narrow_type *type; /* that it rounds to */
} functions[] = {
    {"abs", .one = fabs},
    {"sqrt", .one = sqrt},
    {"exp", .one = exp},
    {"exp2", .one = exp2},
    {"ln", .one = log},
    {"log2", .one = log2},
    {"log10", .one = log10},
    {"log1p", .one = log1p},
    {"sin", .one = sin},
    {"cos", .one = cos},
    {"floor", .one = floor},
    {"ceil", .one = ceil},
    {"trunc", .one = trunc},
    {"round", .one = round},
    {"rint", .one = nearbyint},
    {"finite", .one = finite_one},
    {"tidy", .one = pe_equation_tidy},
    {"neat", .one = neat},
    {"bfloat16", .type = &pe_narrow_types[PE_NARROW_BFLOAT16]},
    {"float16", .type = &pe_narrow_types[PE_NARROW_FLOAT16]},
    {"tf32", .type = &pe_narrow_types[PE_NARROW_TF32]},
    {"float32", .type = &pe_narrow_types_of_dtypes[PE_FLOAT32]},
    {"cut", .one = cut},
    {"min", .two = fmin},
    {"max", .two = fmax},
    {"hypot", .two = hypot},
    {"signed", .two = copysign},
    {"digits", .two = digits},
};

static double plus(double sum, double x)
{
    return isnan(x) ? sum : sum + x;
}

static void swap(double *a, double *b)
{
    const double x = *a;
    *a = *b;
    *b = x;
}

/* By parts: less than a number of the list, equal to it, more; the one that holds the middle is divided again.
 * The number is taken off the middle of the part, where lists that rise and fall have their greatest. */
double pe_median(double *list, size_t n)
{
    size_t low = 0, high = n;
    while (high > low + 1) {
        const double pivot = list[low + (high - low) * 5 / 8];
        size_t less = low, more = high;
        for (size_t i = low; i < more;)
            if (list[i] < pivot)
                swap(&list[i++], &list[less++]);
            else if (list[i] > pivot)
                swap(&list[i], &list[--more]);
            else
                i++;
        low = n / 2 < less ? low : n / 2 < more ? n / 2 : more;
        high = n / 2 < less ? less : n / 2 < more ? n / 2 : high;
    }
    return n > 0 ? list[n / 2] : nan("");
}

/* Functions of all items: folded, or of their list (NAN left out); neither: which is the first one where it
 * is true. */
static const struct of_all {
    const char *name;
    double (*by)(double all, double x);
    double begin;
    double (*of_list)(double *list, size_t n);
} of_all[] = {{"sum", plus, 0, NULL},
              {"least", fmin, HUGE_VAL, NULL},
              {"most", fmax, -HUGE_VAL, NULL},
              {"median", NULL, 0, pe_median},
              {"first", NULL, 0, NULL}};

/* ---- the number of an item ---- */

#define DEPTH 16 /* of the stack */

static double power(double x, double y)
{
    return y == 2 ? x * x : y == 0.5 ? sqrt(x) : pow(x, y);
}

static double operate(char is, double x, double y)
{
    switch (is) {
    case '|':
        return x != 0 || y != 0;
    case '&':
        return x != 0 && y != 0;
    case 'l':
        return x <= y;
    case 'g':
        return x >= y;
    case '=':
        return x == y;
    case '!':
        return x != y;
    case '<':
        return x < y;
    case '>':
        return x > y;
    case '+':
        return x + y;
    case '-':
        return x - y;
    case '*':
        return x * y;
    case '/':
        return x / y;
    case '%':
        return x - y * floor(x / y);
    default:
        return power(x, y);
    }
}

static double term_at(const pe_step *step, const void *of, double i)
{
    const char *in = of;
    const pe_term *term = step->term;
    if (term->at != NULL)
        return term->at(of, i);
    if (term->through != 0)
        in = *(const char *const *)(const void *)(in + term->through);
    const void *member = in + term->offset + step->nth * sizeof(double);
    if (!term->listed)
        return *(const double *)member;
    return i >= 0 ? (*(const double *const *)member)[(size_t)i] : nan("");
}

/* Of the steps from `from` on. */
static double number_at(const pe_equation *equation, size_t from, const void *of, double i)
{
    double stack[DEPTH + 1] = {0}, *top = stack; /* the first is below it */
    for (size_t k = from; k < equation->n; k++) {
        const pe_step *s = &equation->step[k];
        if (s->is == NUMBER) {
            *++top = s->number;
        } else if (s->is == TERM) {
            *++top = term_at(s, of, i);
        } else if (s->is == ITEM) {
            *top = term_at(s, of, *top);
        } else if (s->is == ONE) {
            *top = s->one(*top);
        } else if (s->is == TYPE) {
            *top = pe_narrow_type_round(s->type, *top);
        } else if (s->is == NEGATIVE) {
            *top = -*top;
        } else if (s->is == CHOICE) {
            top -= 2;
            *top = top[0] != 0 ? top[1] : top[2];
        } else {
            top--;
            *top = s->is == TWO ? s->two(top[0], top[1]) : operate(s->is, top[0], top[1]);
        }
    }
    return *top;
}

double pe_equation_at(const pe_equation *equation, const void *of, double i)
{
    return number_at(equation, 0, of, i);
}

/* Steps from `from` on; three take a unit. */
static uint64_t work_from(const pe_equation *equation, size_t from)
{
    return 1 + (equation->n - from) / 3;
}

uint64_t pe_equation_work(const pe_equation *equation)
{
    return work_from(equation, 0);
}

/* ---- reading ---- */

#define NAME_MOST 48

typedef struct reader {
    const char *at;
    const pe_term *terms[2];
    const pe_values *values;
    const void *of; /* functions of all items are of these; or NULL */
    pe_equation *out;
    int depth;
    bool failed;
} reader;

static void read_choice(reader *r);

/* By how much the stack grows. */
static int growth(char is)
{
    return is == NUMBER || is == TERM                                ? 1
           : is == ITEM || is == ONE || is == TYPE || is == NEGATIVE ? 0
           : is == CHOICE                                            ? -2
                                                                     : -1;
}

/* What is done with numbers alone is done at once. */
static void put(reader *r, pe_step step)
{
    pe_equation *out = r->out;
    r->depth += growth(step.is);
    r->failed |= out->n == PE_EQUATION_STEPS || r->depth >= DEPTH;
    if (r->failed)
        return;
    out->step[out->n++] = step;
    size_t first = out->n - 1;
    if (step.is == NUMBER || step.is == TERM || step.is == ITEM)
        return;
    first -= (size_t)(1 - growth(step.is));
    for (size_t k = first; k + 1 < out->n; k++)
        if (out->step[k].is != NUMBER)
            return;
    out->step[first] = (pe_step){.is = NUMBER, .number = number_at(out, first, NULL, 0)};
    out->n = first + 1;
}

/* Is this what comes next? Then it is behind us. */
static bool take(reader *r, const char *text)
{
    const size_t n = strlen(text);
    r->at += strspn(r->at, " ");
    const bool is = strncmp(r->at, text, n) == 0;
    r->at += is ? n : 0;
    return is;
}

static void want(reader *r, const char *text)
{
    r->failed |= !take(r, text);
}

/* Is it one of these terms? Then it is what the step is of. */
static bool is_term(const pe_term *terms, const char *name, pe_step *step)
{
    const size_t all = strlen(name);
    for (const pe_term *t = terms; t != NULL && t->name != NULL; t++) {
        step->term = t;
        step->nth = 0;
        for (const char *at = t->name; at != NULL; step->nth++) {
            if (strncmp(at, name, all) == 0 && (at[all] == '\0' || at[all] == ' '))
                return true;
            at = strchr(at, ' ');
            at = at != NULL ? at + 1 : NULL;
        }
    }
    return false;
}

static bool find_term(const reader *r, const char *name, pe_step *out)
{
    *out = (pe_step){.is = TERM};
    return is_term(r->terms[0], name, out) || is_term(r->terms[1], name, out);
}

double *pe_term_number(const pe_term *terms, const char *name, void *in)
{
    pe_step step;
    return is_term(terms, name, &step)
               ? (double *)(void *)((char *)in + step.term->offset) + step.nth
               : NULL;
}

/* A number that has a name, or one of the values. */
static double number_of(const reader *r, char *name)
{
    char *choice = strchr(name, '.');
    if (strcmp(name, "pi") == 0 || strcmp(name, "inf") == 0)
        return name[0] == 'p' ? M_PI : HUGE_VAL;
    if (choice != NULL)
        *choice++ = '\0';
    const pe_value *value = r->values != NULL ? pe_values_find(r->values, name) : NULL;
    if (choice != NULL)
        return value != NULL && strcmp(pe_geometry_choice_text(r->values, name), choice) == 0;
    if (value == NULL || !value->present)
        return nan("");
    return value->param->kind == PE_KIND_INT    ? (double)value->integer
           : value->param->kind == PE_KIND_BOOL ? value->truth
                                                : value->real;
}

/* What the steps from `from` on say of n items. */
static double number_of_all(reader *r, const struct of_all *f, size_t from, size_t n)
{
    double all = f->begin;
    size_t i = 0, listed = 0;
    const uint64_t work = work_from(r->out, from);
    double *list = f->of_list != NULL ? malloc((n + 1) * sizeof *list) : NULL;
    for (bool found = false; i < n && !found && !r->failed; i += !found) {
        const double x = number_at(r->out, from, r->of, (double)i);
        r->failed = !pe_yield_item(i, work);
        all = f->by != NULL ? f->by(all, x) : all;
        found = f->by == NULL && f->of_list == NULL && x != 0;
        if (list != NULL && isfinite(x))
            list[listed++] = x;
    }
    pe_yield_spend(i % PE_YIELD_ITEMS * work);
    if (f->of_list != NULL)
        all = list != NULL ? f->of_list(list, listed) : nan("");
    free(list);
    return f->by == NULL && f->of_list == NULL ? (double)i : all;
}

/* The steps from `from` on become their number of all items. */
static void take_all(reader *r, const struct of_all *f, size_t from)
{
    pe_step items;
    r->failed |= !find_term(r, "n", &items);
    if (r->failed)
        return;
    const double all =
        r->of != NULL ? number_of_all(r, f, from, (size_t)term_at(&items, r->of, 0)) : nan("");
    r->out->n = from;
    r->depth--;
    put(r, (pe_step){.is = NUMBER, .number = all});
}

/* What is asked of all items. */
static bool read_of_all(reader *r, const char *name)
{
    size_t f = 0;
    const size_t from = r->out->n;
    while (f < PE_LEN(of_all) && strcmp(of_all[f].name, name) != 0)
        f++;
    if (f == PE_LEN(of_all))
        return false;
    read_choice(r);
    want(r, ")");
    take_all(r, &of_all[f], from);
    return true;
}

static void read_call(reader *r, const char *name)
{
    const struct function *f = functions;
    if (read_of_all(r, name))
        return;
    while (f < functions + PE_LEN(functions) && strcmp(f->name, name) != 0)
        f++;
    r->failed |= f == functions + PE_LEN(functions);
    if (r->failed)
        return;
    read_choice(r);
    if (f->two != NULL) {
        want(r, ",");
        read_choice(r);
    }
    want(r, ")");
    put(r, f->two != NULL   ? (pe_step){.is = TWO, .two = f->two}
           : f->one != NULL ? (pe_step){.is = ONE, .one = f->one}
                            : (pe_step){.is = TYPE, .type = f->type});
}

static void read_name(reader *r)
{
    size_t n = 0;
    char name[NAME_MOST] = "";
    while (n + 1 < NAME_MOST && (isalnum((unsigned char)*r->at) || *r->at == '_' || *r->at == '.'))
        name[n++] = *r->at++;
    pe_step term;
    const bool found = find_term(r, name, &term);
    if (take(r, "(")) {
        read_call(r, name);
    } else if (found && take(r, "[")) {
        read_choice(r);
        want(r, "]");
        term.is = ITEM;
        put(r, term);
    } else if (found) {
        put(r, term);
    } else {
        put(r, (pe_step){.is = NUMBER, .number = number_of(r, name)});
    }
}

static void read_operators(reader *r, int least);

static void read_one(reader *r)
{
    char *end = NULL;
    if (take(r, "-")) {
        read_operators(r, BINDS_MOST);
        put(r, (pe_step){.is = NEGATIVE});
    } else if (take(r, "(")) {
        read_choice(r);
        want(r, ")");
    } else if (isdigit((unsigned char)*r->at)) {
        put(r, (pe_step){.is = NUMBER, .number = strtod(r->at, &end)});
        r->at = end;
    } else if (isalpha((unsigned char)*r->at)) {
        read_name(r);
    } else {
        r->failed = true;
    }
}

static const struct binary *take_operator(reader *r, int least)
{
    const char *before = r->at;
    for (size_t k = 0; k < PE_LEN(operators); k++)
        if (take(r, operators[k].text)) {
            r->at = operators[k].binds < least ? before : r->at;
            return operators[k].binds < least ? NULL : &operators[k];
        }
    return NULL;
}

/* Those that bind so much; what stands left goes first, but of ^. */
static void read_operators(reader *r, int least)
{
    read_one(r);
    for (const struct binary *by = take_operator(r, least); by != NULL && !r->failed;
         by = take_operator(r, least)) {
        read_operators(r, by->is == '^' ? by->binds : by->binds + 1);
        put(r, (pe_step){.is = by->is});
    }
}

static void read_choice(reader *r)
{
    if (!r->failed)
        read_operators(r, 1);
    if (r->failed || !take(r, "?"))
        return;
    read_choice(r);
    want(r, ":");
    read_choice(r);
    put(r, (pe_step){.is = CHOICE});
}

#define READ_WORK 8 /* units, of a character */

bool pe_equation_read(const char *text, const pe_term *terms, const pe_term *more,
                      const pe_values *values, const void *of, pe_equation *out)
{
    reader r = {.at = text, .terms = {terms, more}, .values = values, .of = of, .out = out};
    out->n = 0;
    read_choice(&r);
    (void)take(&r, "");
    pe_yield_spend(READ_WORK * (uint64_t)(r.at - text));
    return !r.failed && *r.at == '\0';
}

double pe_equation_number(const char *text, const pe_term *terms, const pe_term *more,
                          const pe_values *values, const void *of)
{
    pe_equation e;
    return pe_equation_read(text, terms, more, values, of, &e) ? pe_equation_at(&e, of, 0)
                                                               : nan("");
}
