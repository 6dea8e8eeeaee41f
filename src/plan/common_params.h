/* SPDX-License-Identifier: MIT */
/* common_params.h - sets of parameters that resources of every family list. */
#ifndef PE_PLAN_COMMON_PARAMS_H
#define PE_PLAN_COMMON_PARAMS_H

#include "plan/params.h"

extern const pe_param_set pe_params_positions;
extern const pe_param_set pe_params_dtype;
extern const pe_param_set pe_params_output;       /* dtype; numerics, exact or float32 */
extern const pe_param_set pe_params_output_exact; /* dtype; numerics, exact alone */
extern const pe_param_set pe_params_exact;        /* numerics, exact alone */
extern const pe_param_set pe_params_output_int32; /* of indices: dtype, int32 alone; numerics */
extern const pe_param_set pe_params_model;        /* model, layer_type */

extern const char *const pe_plan_dtypes[]; /* float32 float64 float16 bfloat16: index == pe_dtype */
extern const char *const pe_plan_numerics[]; /* exact float32 */
enum { PE_NUMERICS_EXACT, PE_NUMERICS_FLOAT32 };

/** A row: a model of the catalogue, which sets what the client does not. Alone where what it sets
 * is the same for all of its layers. */
#define PE_PARAM_MODEL(name_of_one)                                                                \
    PE_PARAM("model", TEXT, .optional = true, .max = 96,                                           \
             .help = "A model of the catalogue (GET /v1/models). It sets the parameters that the " \
                     "request does not give.",                                                     \
             .example = (name_of_one))

#endif
