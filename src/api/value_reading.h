/* SPDX-License-Identifier: MIT */
/* value_reading.h - reading the value of one parameter, and checking it against its row. */
#ifndef PE_API_VALUE_READING_H
#define PE_API_VALUE_READING_H

#include "api/query.h"

/** Where a value goes, and what it is checked against. */
typedef struct pe_value_reading {
    const pe_param *param;
    pe_value *value;
    const char *place; /* for problems: "base", "rope_parameters/factor" */
    const pe_read_limits *limits;
    pe_dtype dtype; /* of tensors */
} pe_value_reading;

/** Set the value from its text in a query, or from the JSON text of it: it is given then, if refused,
 * too.   Errors  as pe_query_parse. */
pe_status pe_value_parse(const pe_value_reading *to, pe_slice text, bool json,
                         pe_problem *why) PE_MUST_CHECK;

/** The value's tensor, just read, against its row. */
pe_status pe_value_check_tensor(const pe_value_reading *to, pe_problem *why) PE_MUST_CHECK;
#endif
