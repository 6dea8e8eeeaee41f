/* SPDX-License-Identifier: MIT */
/* common_params.c - sets of parameters that resources of every family list. */
#include "plan/common_params.h"

const char *const pe_plan_dtypes[] = {[PE_FLOAT32] = "float32",
                                      [PE_FLOAT64] = "float64",
                                      [PE_FLOAT16] = "float16",
                                      [PE_BFLOAT16] = "bfloat16",
                                      NULL};
const char *const pe_plan_numerics[] = {
    [PE_NUMERICS_EXACT] = "exact", [PE_NUMERICS_FLOAT32] = "float32", NULL};

static const char *const exact_only[] = {[PE_NUMERICS_EXACT] = "exact", NULL};
static const char *const int32_only[] = {"int32", NULL};

static const pe_param positions[] = {
    PE_PARAM("positions", POSITIONS, .fallback_text = "0:128", .hint = PE_POSITIONS_HINT,
             .unit = "tokens",
             .help = "Positions: a:b, a:b:step, a number, or a list, fractions included.",
             .example = "0:8"),
};
const pe_param_set pe_params_positions = {positions, PE_LEN(positions)};

#define DTYPE                                                                                      \
    PE_PARAM("dtype", CHOICE, .choices = pe_plan_dtypes,                                           \
             .help = "The element type of the numbers.", .example = "float32")

/* By numerics: each step of float32 is rounded. */
static const uint16_t numerics_work[] = {0, 96};

static const pe_param output[] = {
    DTYPE,
    PE_PARAM("numerics", CHOICE, .choices = pe_plan_numerics, .channel_work = numerics_work,
             .help = "The arithmetic. exact: the numbers are correctly rounded. float32: the "
                     "arithmetic of the PyTorch reference path.",
             .example = "exact"),
};
const pe_param_set pe_params_dtype = {output, 1};
const pe_param_set pe_params_output = {output, PE_LEN(output)};

#define EXACT                                                                                      \
    PE_PARAM("numerics", CHOICE, .choices = exact_only,                                            \
             .help =                                                                               \
                 "The arithmetic. exact: the numbers are correctly rounded. This resource has no " \
                 "other.",                                                                         \
             .example = "exact")

static const pe_param output_exact[] = {DTYPE, EXACT};
const pe_param_set pe_params_output_exact = {output_exact, PE_LEN(output_exact)};
const pe_param_set pe_params_exact = {&output_exact[1], 1};

static const pe_param output_int32[] = {
    PE_PARAM("dtype", CHOICE, .choices = int32_only,
             .help = "The element type of the indices. This resource has no other.",
             .example = "int32"),
    EXACT,
};
const pe_param_set pe_params_output_int32 = {output_int32, PE_LEN(output_int32)};

static const pe_param model[] = {
    PE_PARAM_MODEL("llama-3.1-8b"),
    PE_PARAM("layer_type", TEXT, .optional = true, .max = 64, .fallback_text = "full_attention",
             .help = "The layers of the model that are meant: a type of layers, or the number of "
                     "one layer, from 0.",
             .example = "full_attention"),
};
const pe_param_set pe_params_model = {model, PE_LEN(model)};
