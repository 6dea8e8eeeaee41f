/* SPDX-License-Identifier: MIT */
/* client_address.c - whose request is it, also behind proxies that are trusted? */
#include "http/connection/client_address.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

/* Bits before those of an IPv4 address. */
#define MAPPED_BITS 96

/* ---- text ---- */

static pe_client_address of_ipv4(const void *ipv4)
{
    pe_client_address address = {0};
    address.bytes.s6_addr[10] = address.bytes.s6_addr[11] = 0xff;
    memcpy(address.bytes.s6_addr + 12, ipv4, sizeof(struct in_addr));
    return address;
}

/* Text as inet_pton reads it: "192.0.2.1" or "2001:db8::1". */
static bool parse(pe_slice text, pe_client_address *out)
{
    char copy[INET6_ADDRSTRLEN];
    struct in_addr ipv4;
    if (text.bytes == 0 || text.bytes >= sizeof copy || memchr(text.text, '\0', text.bytes) != NULL)
        return false;
    memcpy(copy, text.text, text.bytes);
    copy[text.bytes] = '\0';
    if (inet_pton(AF_INET, copy, &ipv4) == 1) {
        *out = of_ipv4(&ipv4);
        return true;
    }
    return inet_pton(AF_INET6, copy, &out->bytes) == 1;
}

void pe_client_address_text(const pe_client_address *address, char out[INET6_ADDRSTRLEN])
{
    const struct in6_addr *bytes = &address->bytes;
    if (IN6_IS_ADDR_UNSPECIFIED(bytes))
        memcpy(out, "unix", sizeof "unix");
    else if (IN6_IS_ADDR_V4MAPPED(bytes))
        inet_ntop(AF_INET, bytes->s6_addr + 12, out, INET6_ADDRSTRLEN);
    else
        inet_ntop(AF_INET6, bytes, out, INET6_ADDRSTRLEN);
}

/* ---- who is trusted ---- */

/* An address and how many of its bits count. */
typedef struct network {
    pe_client_address address;
    long bits;
} network;

/* "10.0.0.0/8", "::1" or "unix". */
static bool parse_network(const char *text, network *out)
{
    const size_t bytes = strcspn(text, "/");
    const char *digits = text[bytes] == '/' ? text + bytes + 1 : NULL;
    *out = (network){.bits = 128};
    if (strcmp(text, "unix") == 0)
        return true;
    if (!parse((pe_slice){text, bytes}, &out->address))
        return false;
    if (digits == NULL)
        return true;
    const bool number = *digits != '\0' && digits[strspn(digits, "0123456789")] == '\0';
    const bool ipv4 = memchr(text, ':', bytes) == NULL;
    out->bits = strtol(digits, NULL, 10) + (ipv4 ? MAPPED_BITS : 0);
    return number && strlen(digits) <= 3 && out->bits <= 128;
}

bool pe_client_address_is_trusted(const pe_settings *settings, const pe_client_address *address)
{
    network net = {0};
    const uint8_t *a = address->bytes.s6_addr, *b = net.address.bytes.s6_addr;
    for (size_t i = 0; i < settings->trusted_proxies.n; i++) {
        if (!parse_network(settings->trusted_proxies.item[i], &net))
            continue;
        const size_t whole = (size_t)net.bits / 8;
        const unsigned rest = (unsigned)net.bits % 8;
        if (memcmp(a, b, whole) == 0 && (rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0))
            return true;
    }
    return false;
}

pe_status pe_client_address_check(const pe_settings *settings, pe_problem *why)
{
    network net;
    if (settings->proxy_protocol && settings->trusted_proxies.n == 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "proxy_protocol",
                       "proxy_protocol needs trusted_proxies: only they may say whose a connection "
                       "is");
    for (size_t i = 0; i < settings->trusted_proxies.n; i++)
        if (!parse_network(settings->trusted_proxies.item[i], &net))
            return pe_fail(why, PE_INVALID_PARAMETER, "trusted_proxies",
                           "trusted_proxies must be addresses, networks as 10.0.0.0/8, or unix, "
                           "got %.200s",
                           settings->trusted_proxies.item[i]);
    return PE_OK;
}

/* ---- X-Forwarded-For ---- */

/* An item without space, brackets and port. */
static pe_slice trim(const char *first, const char *end)
{
    while (first < end && (*first == ' ' || *first == '\t' || *first == '['))
        first++;
    while (end > first && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    const size_t bytes = (size_t)(end - first);
    const char *bracket = memchr(first, ']', bytes);
    const char *colon = memchr(first, ':', bytes);
    if (bracket != NULL)
        end = bracket;
    else if (colon != NULL && memchr(colon + 1, ':', (size_t)(end - colon - 1)) == NULL)
        end = colon; /* of an IPv4 address */
    return (pe_slice){first, (size_t)(end - first)};
}

pe_client_address pe_client_address_unwind(const pe_settings *settings, const char *list,
                                           pe_client_address peer)
{
    const char *end = list + strlen(list);
    while (end > list && pe_client_address_is_trusted(settings, &peer)) {
        const char *first = end;
        while (first[-1] != ',') /* the list begins with one */
            first--;
        pe_client_address next;
        if (!parse(trim(first, end), &next))
            break;
        peer = next;
        end = first - 1;
    }
    return peer;
}

pe_client_address pe_client_address_of_socket(const struct sockaddr *address)
{
    if (address != NULL && address->sa_family == AF_INET)
        return of_ipv4(&((const struct sockaddr_in *)(const void *)address)->sin_addr);
    if (address != NULL && address->sa_family == AF_INET6)
        return (pe_client_address){((const struct sockaddr_in6 *)(const void *)address)->sin6_addr};
    return (pe_client_address){0};
}

pe_client_address pe_client_address_of_peer(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return pe_client_address_of_socket(info != NULL ? info->client_addr : NULL);
}

/* ---- the header of the PROXY protocol ---- */

static bool begins(pe_slice text, const char *with, size_t bytes)
{
    return memcmp(text.text, with, text.bytes < bytes ? text.bytes : bytes) == 0;
}

/* ---- version 1: "PROXY TCP4 192.0.2.1 198.51.100.1 56324 443" and CRLF ---- */

/* With the line's end (section 2.1). */
#define LINE_BYTES_MAX 107

static const char line_begin[] = "PROXY ";

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
    pe_client_address ends[2]; /* the client's, and the server's */
    for (int i = 0; i < 2; i++) {
        const pe_slice word = pe_slice_next(&rest, ' ');
        if (!parse(word, &ends[i]) || (memchr(word.text, ':', word.bytes) != NULL) != v6)
            return false;
    }
    const pe_slice port = pe_slice_next(&rest, ' ');
    *out = (pe_proxy_header){out->bytes, true, ends[0]};
    return is_port(port) && is_port(rest);
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
            out->client = of_ipv4(addresses);
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
