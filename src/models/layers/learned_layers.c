/* SPDX-License-Identifier: MIT */
/* learned_layers.c - the tables of models that learn their positions. */
#include <math.h>
#include <string.h>

#include "models/layers.h"
#include "plan/resource.h"

#define ROWS_MAX 1e12

#define COUNT(row, sentence)                                                                       \
    {                                                                                              \
        .name = row, .kind = PE_KIND_INT, .optional = true, .min = 0, .max = ROWS_MAX,             \
        .help = sentence                                                                           \
    }

static const pe_param rows[] = {
    COUNT("rows", "Rows of the table."),
    COUNT("width", "Channels of a row."),
    COUNT("offset", "It is added to every position."),
    COUNT("padding_row", "The row of padding."),
};

const pe_resource pe_learned_layers = {.path = "/v1/learned",
                                       .encoding = "learned",
                                       .name = "learned",
                                       .param_sets = {PE_PARAMS(rows)}};

/* A count under a key, or the element of a list there, reported as what gave the parameter; 0: it
 * is not there. */
static double count_of(pe_reader *reader, const char *key, size_t element, const char *parameter)
{
    const json_t *value = pe_reader_member(reader, key);
    const json_t *number = json_is_array(value) ? json_array_get(value, element) : value;
    const double count = json_number_value(number);
    if (!json_is_number(number) || count < 0 || count > ROWS_MAX)
        return 0;
    pe_reader_used(reader, key, value, parameter, NULL);
    return count;
}

/* The patches of an image along one side. */
static double count_along(pe_reader *reader, size_t side)
{
    const double image = count_of(reader, "image_size", side, "rows");
    const double patch = count_of(reader, "patch_size", side, "rows");
    return patch >= 1 ? floor(image / patch) : 0;
}

void pe_learned_layers_resolve(pe_reader *reader, pe_model_layers *kind)
{
    const json_t *type = reader->type;
    const json_t *padding = pe_reader_member(reader, "pad_token_id");
    const json_t *from = json_object_get(type, "rows");
    const char *where;
    double width = 0, n = json_number_value(from);
    if (json_is_string(from))
        n = strcmp(json_string_value(from), "patches") == 0
                ? count_along(reader, 0) * count_along(reader, 1)
                : count_of(reader, json_string_value(from), 0, "rows");
    else if (from == NULL && pe_reader_finds_fact(reader, PE_FACT_MAX_POSITIONS, &n, &where))
        pe_reader_retarget(reader, where, "rows");
    if (n > 0)
        pe_reader_set_number(reader, &kind->values, "rows", "rows",
                             n + pe_type_number(type, "offset") +
                                 pe_type_number(type, "class_rows"));
    if (pe_type_text(type, "width_key") != NULL) {
        width = count_of(reader, pe_type_text(type, "width_key"), 0, "width");
        if (width > 0)
            pe_reader_set_number(reader, &kind->values, "width", "width", width);
    } else if (pe_reader_finds_fact(reader, PE_FACT_HIDDEN, &width, &where)) {
        pe_reader_set_number(reader, &kind->values, "width", "width", width);
        pe_reader_retarget(reader, where, "width");
    }
    if (!pe_type_is(type, "padded")) {
        pe_reader_set_number(reader, &kind->values, "offset", "offset",
                             pe_type_number(type, "offset"));
        return;
    }
    const double row = json_is_number(padding) ? json_number_value(padding) : 1;
    if (padding == NULL)
        pe_reader_class_default(reader, "pad_token_id", row, "padding_row");
    pe_reader_used(reader, "pad_token_id", padding, "padding_row", NULL);
    pe_reader_set_number(reader, &kind->values, "padding_row", "padding_row", row);
    pe_reader_set_number(reader, &kind->values, "offset", "offset", row + 1);
}
