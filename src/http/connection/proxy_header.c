/* SPDX-License-Identifier: MIT */
/* proxy_header.c - the header of the PROXY protocol: whose connection does a proxy pass on? */
#include "http/connection/proxy_header.h"

#include <string.h>

static bool begins(pe_slice text, const char *with, size_t bytes)
{
    return memcmp(text.text, with, text.bytes < bytes ? text.bytes : bytes) == 0;
}

/* ---- version 1: "PROXY TCP4 192.0.2.1 198.51.100.1 56324 443" and CRLF ---- */

/* With the line's end (section 2.1). */
#define LINE_BYTES_MAX 107

static const char line_begin[] = "PROXY ";

static bool read_address(pe_slice word, bool v6, pe_client_address *out)
{
    const bool has_colon = word.bytes > 0 && memchr(word.text, ':', word.bytes) != NULL;
    return has_colon == v6 && pe_client_address_parse(word, out);
}

static bool is_port(pe_slice word)
{
    unsigned long value = 0;
    for (size_t i = 0; i < word.bytes && i < 6; i++) {
        if (word.text[i] < '0' || word.text[i] > '9')
            return false;
        value = 10 * value + (unsigned long)(word.text[i] - '0');
    }
    return word.bytes > 0 && word.bytes < 6 && value <= 65535 &&
           (word.bytes == 1 || word.text[0] != '0');
}

/* What follows TCP4 or TCP6: both addresses, both ports. */
static bool read_addresses(pe_slice rest, bool v6, pe_proxy_header *out)
{
    pe_client_address server;
    const pe_slice client = pe_slice_next(&rest, ' '), own = pe_slice_next(&rest, ' ');
    const pe_slice port = pe_slice_next(&rest, ' ');
    out->known = true;
    return read_address(client, v6, &out->client) && read_address(own, v6, &server) &&
           is_port(port) && is_port(rest);
}

static pe_proxy_found read_line(pe_slice begin, pe_proxy_header *out)
{
    const size_t most = begin.bytes < LINE_BYTES_MAX ? begin.bytes : LINE_BYTES_MAX;
    const char *end = memchr(begin.text, '\n', most);
    if (end == NULL)
        return begin.bytes < LINE_BYTES_MAX ? PE_PROXY_PART : PE_PROXY_NONE;
    const size_t bytes = (size_t)(end - begin.text) + 1, from = sizeof line_begin - 1;
    *out = (pe_proxy_header){.bytes = bytes};
    if (bytes <= from + 1 || end[-1] != '\r')
        return PE_PROXY_NONE;
    pe_slice rest = {begin.text + from, bytes - 2 - from};
    const pe_slice kind = pe_slice_next(&rest, ' ');
    const bool read = pe_slice_is(kind, "UNKNOWN") ||
                      (pe_slice_is(kind, "TCP4") && read_addresses(rest, false, out)) ||
                      (pe_slice_is(kind, "TCP6") && read_addresses(rest, true, out));
    return read ? PE_PROXY_WHOLE : PE_PROXY_NONE;
}

/* ---- version 2: a signature, command, family, length; addresses, and what may follow ---- */

#define START_BYTES 16

static const char signature[] = "\r\n\r\n\0\r\nQUIT\n";

enum {
    SIGNATURE_BYTES = sizeof signature - 1,
    LOCAL = 0x20,
    PASSED_ON = 0x21,
    NO_ADDRESSES = 0x00,
    IPV4 = 0x11,
    IPV6 = 0x21,
    UNIX_STREAM = 0x31
};

static pe_proxy_found read_binary(pe_slice begin, pe_proxy_header *out)
{
    if (begin.bytes < START_BYTES)
        return PE_PROXY_PART;
    const uint8_t *bytes = (const uint8_t *)begin.text;
    const uint8_t command = bytes[12], family = bytes[13];
    const size_t length = (size_t)bytes[14] << 8 | bytes[15];
    /* What the addresses of a family take, both of them; the client's stands first. */
    const size_t least = family == IPV4           ? 12
                         : family == IPV6         ? 36
                         : family == UNIX_STREAM  ? 216
                         : family == NO_ADDRESSES ? 0
                                                  : SIZE_MAX;
    const bool passed_on = command == PASSED_ON && length >= least;
    if ((!passed_on && command != LOCAL) || length > PE_PROXY_HEADER_MAX - START_BYTES)
        return PE_PROXY_NONE;
    if (begin.bytes < START_BYTES + length)
        return PE_PROXY_PART;
    *out = (pe_proxy_header){.bytes = START_BYTES + length};
    if (passed_on) {
        const uint8_t *addresses = bytes + START_BYTES;
        out->known = family == IPV4 || family == IPV6;
        if (family == IPV4)
            out->client = pe_client_address_of_ipv4(addresses);
        if (family == IPV6)
            memcpy(&out->client.bytes, addresses, sizeof out->client.bytes);
    }
    return PE_PROXY_WHOLE;
}

/* What is refused may have been read up to its mistake: nothing of it is believed. */
pe_proxy_found pe_proxy_header_read(pe_slice begin, pe_proxy_header *out)
{
    pe_proxy_header header = {0};
    pe_proxy_found found = PE_PROXY_NONE;
    if (begins(begin, line_begin, sizeof line_begin - 1))
        found = begin.bytes < sizeof line_begin - 1 ? PE_PROXY_PART : read_line(begin, &header);
    else if (begins(begin, signature, SIGNATURE_BYTES))
        found = read_binary(begin, &header);
    if (found == PE_PROXY_WHOLE)
        *out = header;
    return found;
}
