/* SPDX-License-Identifier: MIT */
/* verify.h - the handler of POST /v1/verify. */
#ifndef PE_HTTP_VERIFY_H
#define PE_HTTP_VERIFY_H

#include "http/request.h"

void pe_answer_verify(pe_request *request);

#endif
