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

/** Set the value from its text in a query, and mark it given. Errors  as pe_query_string_parse. */
pe_status pe_value_text_parse(const pe_value_reading *to, pe_slice text,
                              pe_problem *why) PE_MUST_CHECK;
/** The same from the JSON text of one value. */
pe_status pe_value_json_parse(const pe_value_reading *to, pe_slice json,
                              pe_problem *why) PE_MUST_CHECK;

/** Mark the value given, or clear it and add its row's hint to the problem. Returns the status. */
pe_status pe_value_finish(const pe_value_reading *to, pe_status status,
                          pe_problem *why) PE_MUST_CHECK;

/* The functions below set the value without marking it given. */

/** An INT or REAL from the text of one number. */
pe_status pe_value_text_number(const pe_value_reading *to, pe_slice text,
                               pe_problem *why) PE_MUST_CHECK;
/** One name, or several, of those that the row offers. */
pe_status pe_value_choice_text_parse(const pe_value_reading *to, pe_slice text,
                                     pe_problem *why) PE_MUST_CHECK;
pe_status pe_value_choices_text_parse(const pe_value_reading *to, pe_slice text,
                                      pe_problem *why) PE_MUST_CHECK;

/** The value's list, positions or tensor, just read, against their row. */
pe_status pe_value_check_list(const pe_value_reading *to, pe_problem *why) PE_MUST_CHECK;
pe_status pe_value_check_positions(const pe_value_reading *to, pe_problem *why) PE_MUST_CHECK;
pe_status pe_value_check_tensor(const pe_value_reading *to, pe_problem *why) PE_MUST_CHECK;
#endif
