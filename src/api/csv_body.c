/* SPDX-License-Identifier: MIT */
/* csv_body.c - tensors in a body of text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/binary_body.h"
#include "base/array.h"
#include "base/memory.h"
#include "base/yield.h"
#include "text/scan.h"

/* A tensor's name, and an index for each axis. */
#define LABELS_MAX (PE_MAX_DIMS + 1)

/* Of reading a number, in units. */
#define NUMBER_WORK 3

typedef struct csv_walk {
    pe_slice left;
    size_t line; /* that was read last, from 1 */
    size_t max_elements;
    size_t n;      /* numbers that were read */
    bool is_whole; /* all of them are integers, as indices are */
    pe_dtype dtype;
    char *numbers; /* NULL: they are counted */
    pe_stored_list *out;
    bool named;                 /* the first label is a tensor's name */
    size_t labels, columns;     /* fields before the numbers of a line, and numbers */
    size_t lines;               /* of the tensor under way */
    pe_slice label[LABELS_MAX]; /* of its last line */
    size_t runs[LABELS_MAX];    /* of its lines with the same labels up to this one */
} csv_walk;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static pe_slice trim(pe_slice text)
{
    while (text.bytes > 0 && is_blank(text.text[0]))
        text = (pe_slice){text.text + 1, text.bytes - 1};
    while (text.bytes > 0 && is_blank(text.text[text.bytes - 1]))
        text.bytes--;
    return text;
}

/* The next field of a line. Blanks part fields where no comma or semicolon does. */
static pe_slice next_field(pe_slice *line)
{
    const char sign = memchr(line->text, ',', line->bytes) != NULL   ? ','
                      : memchr(line->text, ';', line->bytes) != NULL ? ';'
                                                                     : ' ';
    size_t n = 0;
    while (n < line->bytes && line->text[n] != sign && (sign != ' ' || line->text[n] != '\t'))
        n++;
    pe_slice field = trim((pe_slice){line->text, n});
    const size_t used = n < line->bytes ? n + 1 : n;
    *line = (pe_slice){line->text + used, line->bytes - used};
    if (sign == ' ')
        *line = trim(*line);
    if (field.bytes >= 2 && field.text[0] == '"' && field.text[field.bytes - 1] == '"')
        field = (pe_slice){field.text + 1, field.bytes - 2};
    return field;
}

/* The next line that is neither empty nor a remark. */
static bool next_line(csv_walk *walk, pe_slice *out)
{
    while (walk->left.bytes > 0) {
        *out = trim(pe_slice_next(&walk->left, '\n'));
        walk->line++;
        if (out->bytes > 0 && out->text[0] != '#')
            return true;
    }
    return false;
}

static bool read_number(pe_slice field, double *out)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"inf", HUGE_VAL}, {"-inf", -HUGE_VAL}, {"nan", (double)NAN}};
    size_t used = 0;
    if (field.bytes > 0 && pe_scan_number(field.text, field.bytes, out, &used) == PE_SCAN_OK &&
        used == field.bytes)
        return true;
    for (size_t w = 0; w < PE_LEN(words); w++)
        if (field.bytes == strlen(words[w].word) &&
            strncasecmp(field.text, words[w].word, field.bytes) == 0) {
            *out = words[w].value;
            return true;
        }
    return false;
}

static pe_status broken(const csv_walk *walk, const char *what, pe_slice field, pe_problem *why)
{
    return pe_fail(why, PE_MALFORMED_REQUEST, "", "line %zu of the CSV %s%.*s", walk->line, what,
                   PE_SHOWN(field));
}

/* ---- the first line ---- */

/* What fields of a line are: how many begin it that are no numbers, and from which on they count
 * 0, 1, 2 to its end. */
typedef struct first_line {
    size_t fields, words, counting;
    bool has_tensor;
} first_line;

static first_line look_at(pe_slice line)
{
    first_line of = {0};
    while (line.bytes > 0) {
        double number = NAN;
        const pe_slice field = next_field(&line);
        const bool is_number = read_number(field, &number);
        of.has_tensor |= of.fields == 0 && pe_slice_is(field, "tensor");
        of.words += !is_number && of.words == of.fields;
        if (number != (double)(of.fields - of.counting))
            of.counting = number == 0 ? of.fields : of.fields + 1;
        of.fields++;
    }
    return of;
}

/* A header counts columns from 0 behind its words, or has words alone: then the last one is of the
 * numbers. Else the first line has numbers, which a tensor's name may stand before. */
static pe_status read_header(csv_walk *walk, bool bare, pe_problem *why)
{
    pe_slice line;
    const csv_walk before = *walk;
    if (!next_line(walk, &line))
        return pe_fail(why, PE_MALFORMED_REQUEST, "", "the CSV has no line");
    const first_line of = look_at(line);
    const bool counts = !bare && of.counting == of.words && of.counting < of.fields;
    const bool words = of.words == of.fields;
    walk->labels = words ? of.fields - 1 : of.words;
    walk->columns = of.fields - walk->labels;
    walk->named = counts || words ? of.has_tensor : of.words == 1;
    if (walk->labels > LABELS_MAX || (of.words > 1 && !counts && !words))
        return broken(walk, "has words among its numbers: ", line, why);
    if (!counts && !words) {
        walk->left = before.left;
        walk->line = before.line;
    }
    return PE_OK;
}

/* ---- tensors ---- */

/* The axes of the tensor under way: one for each label but that of its rows, which is another on
 * each line, the rows, and the columns. */
static void end_tensor(csv_walk *walk)
{
    pe_stored *tensor = &walk->out->tensor[walk->out->n];
    pe_shape *shape = &tensor->shape;
    size_t lines = 1;
    for (size_t l = walk->named ? 1 : 0; l < walk->labels; l++) {
        if (walk->label[l].bytes == 0 || walk->runs[l] % lines != 0)
            continue;
        shape->dim[shape->ndim++] = walk->runs[l] / lines;
        lines = walk->runs[l];
    }
    if (walk->lines % lines != 0 || shape->ndim + 2 > PE_MAX_DIMS) {
        *shape = (pe_shape){0};
        lines = 1;
    }
    if (walk->lines > lines || shape->ndim == 0)
        shape->dim[shape->ndim++] = walk->lines / lines;
    if (walk->columns > 1)
        shape->dim[shape->ndim++] = walk->columns;
    tensor->dtype = walk->dtype;
    tensor->elements = walk->lines * walk->columns;
    tensor->bytes = tensor->elements * pe_dtype_bytes(walk->dtype);
    if (walk->numbers != NULL)
        tensor->data = (const unsigned char *)walk->numbers +
                       (walk->n - tensor->elements) * pe_dtype_bytes(walk->dtype);
    walk->out->n++;
    walk->lines = 0;
    memset(walk->runs, 0, sizeof walk->runs);
}

static pe_status begin_tensor(csv_walk *walk, pe_slice name, pe_problem *why)
{
    pe_stored *tensor = &walk->out->tensor[walk->out->n];
    if (walk->out->n == walk->out->room)
        return pe_fail(why, PE_INVALID_PARAMETER, "", "the CSV has more than %zu tensors",
                       walk->out->room);
    *tensor = (pe_stored){0};
    if (walk->named)
        pe_stored_set_name(tensor, name.text,
                           name.bytes < sizeof tensor->name ? name.bytes : sizeof tensor->name - 1);
    return PE_OK;
}

static pe_status read_line(csv_walk *walk, pe_slice line, pe_problem *why)
{
    size_t n = 0;
    /* The labels of a line. Where one is another than on the line before, so are those behind
     * it. */
    bool is_new = walk->lines == 0;
    for (size_t l = 0; l < walk->labels; l++) {
        const pe_slice label = next_field(&line), before = walk->label[l];
        if (walk->lines > 0 &&
            (label.bytes != before.bytes || memcmp(label.text, before.text, label.bytes) != 0)) {
            is_new = true;
            if (l == 0 && walk->named)
                end_tensor(walk);
        }
        if (walk->lines == 0 && l == 0 && walk->named)
            PE_TRY(begin_tensor(walk, label, why));
        walk->label[l] = label;
        walk->runs[l] += is_new;
    }
    PE_TRY(walk->lines == 0 && !walk->named ? begin_tensor(walk, (pe_slice){"", 0}, why) : PE_OK);
    for (; line.bytes > 0; n++) {
        double number;
        const pe_slice field = next_field(&line);
        if (!read_number(field, &number))
            return broken(walk, "has a field that is no number: ", field, why);
        walk->is_whole &= fabs(number) <= INT32_MAX && number == trunc(number);
        if (walk->numbers != NULL)
            pe_dtype_store(walk->dtype, number,
                           walk->numbers + walk->n * pe_dtype_bytes(walk->dtype));
        walk->n++;
        pe_yield_look(NUMBER_WORK);
    }
    if (n != walk->columns)
        return broken(walk, "has more numbers, or fewer, than those before it", (pe_slice){"", 0},
                      why);
    if (walk->n > walk->max_elements)
        return pe_fail(why, PE_TOO_MANY_ELEMENTS, "", "the CSV has more than %zu numbers",
                       walk->max_elements);
    walk->lines++;
    return pe_yield_check(why);
}

/* ---- all of it ---- */

static pe_status read_lines(csv_walk *walk, bool bare, pe_problem *why)
{
    pe_slice line;
    walk->out->n = 0;
    PE_TRY(read_header(walk, bare, why));
    while (next_line(walk, &line))
        PE_TRY(read_line(walk, line, why));
    if (walk->lines == 0)
        return pe_fail(why, PE_MALFORMED_REQUEST, "", "the CSV has no line of numbers");
    end_tensor(walk);
    return PE_OK;
}

/* Twice: what is refused has taken no memory then, and numbers take no more than they need. */
pe_status pe_csv_body_read(pe_slice text, bool bare, size_t max_elements, pe_buffer *numbers,
                           pe_stored_list *out, pe_problem *why)
{
    csv_walk walk = {.left = text, .max_elements = max_elements, .is_whole = true, .out = out};
    csv_walk counted = walk;
    PE_TRY(read_lines(&counted, bare, why));
    walk.dtype = counted.is_whole ? PE_INT32 : PE_FLOAT64;
    numbers->bytes = counted.n * pe_dtype_bytes(walk.dtype);
    numbers->capacity = numbers->bytes;
    walk.numbers = numbers->data = malloc(numbers->bytes);
    if (walk.numbers == NULL)
        return pe_fail_memory(why);
    pe_memory_use_huge_pages(walk.numbers, numbers->bytes);
    return read_lines(&walk, bare, why);
}

bool pe_csv_body_is(pe_slice text)
{
    static const char never[] = "{[<=&%";
    csv_walk walk = {.left = text};
    pe_slice line;
    if (!next_line(&walk, &line) || line.bytes == text.bytes)
        return false; /* one line is no table */
    for (size_t i = 0; i < line.bytes; i++)
        if ((unsigned char)line.text[i] < ' '
                ? line.text[i] != '\t'
                : memchr(never, line.text[i], sizeof never - 1) != NULL)
            return false;
    const first_line of = look_at(line);
    return of.fields > 1 || of.words == 0;
}

bool pe_csv_body_is_doubtful(const pe_binary_body *body)
{
    csv_walk walk = {.left = {body->data, body->bytes}};
    pe_slice line;
    if (strcmp(body->media_type, "text/csv") != 0 || !next_line(&walk, &line))
        return false;
    const first_line of = look_at(line);
    return of.counting == 0 && of.words == 0 && of.fields <= 2;
}
