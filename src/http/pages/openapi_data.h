/* SPDX-License-Identifier: MIT */
/* openapi_data.h - openapi.yaml, and the same as JSON, held by the program itself. */
#ifndef PE_HTTP_PAGES_OPENAPI_DATA_H
#define PE_HTTP_PAGES_OPENAPI_DATA_H

#include <stddef.h>

/* The documents end with a zero byte that the sizes do not count. */
extern const char pe_openapi_data_yaml[];
extern const char pe_openapi_data_json[];
extern const size_t pe_openapi_data_yaml_bytes;
extern const size_t pe_openapi_data_json_bytes;

#endif
