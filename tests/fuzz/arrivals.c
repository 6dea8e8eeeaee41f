/* SPDX-License-Identifier: MIT */
/* arrivals.c - what is read before a request is known: where it begins and ends, and whose it
 * is. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buffer.h"
#include "fuzz/targets.h"
#include "http/clients/keys.h"
#include "http/connection/framing.h"
#include "http/connection/inlet.h"
#include "http/connection/client_address.h"

/* ---- framing --------------------------------------------------------------------------------- */

/* Small, so that inputs come to them. */
static const pe_framing_limits limits = {.header_bytes = 1024, .field_bytes = 16};

typedef struct arrival {
    pe_framing framing;
    pe_status status;
    pe_buffer passed;
} arrival;

/* As the inlet gets it: `piece` bytes after `piece` bytes, and what passes is taken at once. */
static arrival arrive(pe_slice input, size_t piece)
{
    arrival a = {.status = PE_OK};
    char *room = malloc(input.bytes + 1);
    pe_arrived held = {.data = room};
    if (room == NULL)
        abort();
    for (size_t at = 0, step; at < input.bytes && a.status == PE_OK; at += step) {
        step = input.bytes - at < piece ? input.bytes - at : piece;
        memcpy(held.data + held.bytes, input.text + at, step);
        held.bytes += step;
        a.status = pe_framing_read(&a.framing, &limits, &held);
        FUZZ_PROMISE(held.passed <= held.bytes && held.bytes <= input.bytes);
        pe_buffer_add(&a.passed, held.data, held.passed);
        held.bytes -= held.passed;
        memmove(held.data, held.data + held.passed, held.bytes);
        held.passed = 0;
    }
    FUZZ_PROMISE((a.status == PE_OK) == (a.framing.complaint == NULL));
    free(room);
    return a;
}

/* Has as much passed, in as many requests? Frees `other`. */
static bool same(const arrival *one, arrival *other)
{
    const bool equal = one->passed.bytes == other->passed.bytes &&
                       (one->passed.bytes == 0 ||
                        memcmp(one->passed.data, other->passed.data, one->passed.bytes) == 0) &&
                       one->framing.requests == other->framing.requests;
    pe_buffer_free(&other->passed);
    return equal;
}

/* How the bytes are cut changes nothing; and who reads what passed, as the library does, finds the
 * same requests in it. */
void fuzz_framing(pe_slice input)
{
    arrival whole = arrive(input, input.bytes);
    for (size_t piece = 1; piece < 8; piece += 6) {
        arrival cut = arrive(input, piece);
        FUZZ_PROMISE((whole.status == PE_OK) == (cut.status == PE_OK));
        FUZZ_PROMISE(same(&whole, &cut));
    }
    arrival again = arrive(pe_buffer_slice(&whole.passed), whole.passed.bytes);
    FUZZ_PROMISE(again.status == PE_OK);
    FUZZ_PROMISE(same(&whole, &again));
    pe_buffer_free(&whole.passed);
}

/* ---- the inlet ------------------------------------------------------------------------------- */

enum { ROOM_MAX = 512, HELD_MAX = 1280 };

/* One connection's end here, and what the library was given of it. */
typedef struct inlet_run {
    pe_inlet inlet;
    pe_watch watch;
    int client;
    size_t room; /* of the library */
    pe_buffer given;
    size_t refusals;
    bool over;
} inlet_run;

static void count_refusal(void *context)
{
    ((inlet_run *)context)->refusals++;
}

/* As the library does: each request is begun when its header is there, and answered at its end. */
static void answer_all(inlet_run *run)
{
    pe_inlet *inlet = &run->inlet;
    while (inlet->begun < inlet->framing.requests)
        pe_inlet_began(inlet);
    const bool body =
        inlet->framing.part != PE_FRAMING_HEADER && inlet->framing.part != PE_FRAMING_OVER;
    while (run->refusals == 0 && inlet->answered + body < inlet->framing.requests)
        pe_inlet_answered(inlet);
    if (run->refusals == 0 && pe_inlet_is_refused(inlet))
        count_refusal(run);
}

static bool has_more(int fd)
{
    int waiting = 0;
    return ioctl(fd, FIONREAD, &waiting) == 0 && waiting > 0;
}

/* By its address, as libraries call it: where the size of the room is known, a compiler that fortifies
 * calls __recv_chk instead, which the inlet does not stand for. */
static ssize_t (*const volatile receive)(int, void *, size_t, int) = recv;

/* Until there is no more. A short look leaves nothing in the socket: the library waits then. */
static void receive_all(inlet_run *run)
{
    char room[ROOM_MAX];
    while (!run->over && run->refusals == 0) {
        const ssize_t got = receive(run->inlet.socket, room, run->room, 0);
        FUZZ_PROMISE(got <= (ssize_t)run->room);
        run->over = got == 0 || (got < 0 && errno != EAGAIN);
        if (got > 0) {
            pe_buffer_add(&run->given, room, (size_t)got);
            answer_all(run);
        }
        if (got == (ssize_t)run->room || run->over || run->refusals > 0)
            continue;
        FUZZ_PROMISE(run->inlet.proxied || !has_more(run->inlet.socket));
        return;
    }
}

static void connect_run(inlet_run *run, pe_watchdog *watchdog, bool proxied)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        abort();
    run->client = ends[1];
    run->inlet = (pe_inlet){.socket = ends[0],
                            .watchdog = watchdog,
                            .watch = &run->watch,
                            .limits = limits,
                            .held_max = HELD_MAX,
                            .refused = count_refusal,
                            .late = count_refusal,
                            .context = run,
                            .proxied = proxied};
    if (!pe_inlet_open(&run->inlet))
        abort();
}

/* `piece` bytes after `piece` bytes, and the end. */
static void run_inlet(inlet_run *run, pe_watchdog *watchdog, pe_slice input, size_t piece,
                      bool proxied)
{
    connect_run(run, watchdog, proxied);
    for (size_t at = 0, step; at < input.bytes && !run->over && run->refusals == 0; at += step) {
        step = input.bytes - at < piece ? input.bytes - at : piece;
        if (send(run->client, input.text + at, step, MSG_NOSIGNAL) != (ssize_t)step)
            abort();
        receive_all(run);
    }
    shutdown(run->client, SHUT_WR);
    receive_all(run);
    pe_inlet_close(&run->inlet);
    close(run->inlet.socket);
    close(run->client);
}

/* The library gets what framing lets pass, in this order; of a connection that is refused, which is
 * told once, perhaps less. */
static void check_run(inlet_run *run, const arrival *expected)
{
    const pe_slice given = pe_buffer_slice(&run->given), all = pe_buffer_slice(&expected->passed);
    const bool sound = expected->status == PE_OK;
    FUZZ_PROMISE(given.bytes <= all.bytes && (!sound || given.bytes == all.bytes));
    FUZZ_PROMISE(given.bytes == 0 || memcmp(given.text, all.text, given.bytes) == 0);
    FUZZ_PROMISE(run->refusals == (sound ? 0 : 1));
    pe_buffer_free(&run->given);
}

/* What stands behind a header of the PROXY protocol; refused without one, and none of a part. */
static arrival arrive_proxied(pe_slice input)
{
    pe_proxy_header header = {0};
    const pe_proxy_found found =
        input.bytes == 0 ? PE_PROXY_PART : pe_proxy_header_read(input, &header);
    if (found != PE_PROXY_WHOLE)
        return (arrival){.status = found == PE_PROXY_PART ? PE_OK : PE_MALFORMED_REQUEST};
    const pe_slice rest = {input.text + header.bytes, input.bytes - header.bytes};
    return arrive(rest, rest.bytes);
}

/* Each piece takes hundreds of bytes of a socket's room, and a part of a PROXY header stays
 * there. */
static size_t smallest_piece(pe_slice input)
{
    return input.bytes <= 128 ? 1 : 16;
}

static void run_all(pe_slice input, pe_watchdog *watchdog, bool proxied)
{
    static const size_t rooms[] = {1, 13, ROOM_MAX};
    arrival expected = proxied ? arrive_proxied(input) : arrive(input, input.bytes);
    for (size_t r = 0; r < 2 * sizeof rooms / sizeof *rooms; r++) {
        inlet_run run = {.room = rooms[r / 2]};
        run_inlet(&run, watchdog, input, r % 2 == 0 ? input.bytes : smallest_piece(input), proxied);
        check_run(&run, &expected);
    }
    pe_buffer_free(&expected.passed);
}

/* However the bytes are cut, and whatever room the library has. */
void fuzz_inlet(pe_slice input)
{
    const int64_t long_enough = INT64_MAX / 4;
    pe_deadlines never = {0};
    for (size_t phase = 0; phase < PE_PHASES; phase++)
        never.of[phase] = long_enough;
    pe_problem why;
    pe_watchdog *watchdog = NULL;
    if (pe_watchdog_make(&never, &watchdog, &why) != PE_OK)
        abort();
    run_all(input, watchdog, false);
    run_all(input, watchdog, true);
    pe_watchdog_free(watchdog);
}

/* ---- proxies --------------------------------------------------------------------------------- */

static pe_slice first_of(pe_slice text, size_t bytes)
{
    return (pe_slice){text.text, bytes};
}

/* As the bytes come one by one: it may become a header until it is one, and what follows changes
 * nothing. */
void fuzz_proxy_header(pe_slice input)
{
    pe_proxy_header whole = {0}, part = {0};
    if (input.bytes == 0)
        return;
    const pe_proxy_found found = pe_proxy_header_read(input, &whole);
    if (found == PE_PROXY_PART)
        FUZZ_PROMISE(input.bytes < PE_PROXY_HEADER_MAX);
    if (found != PE_PROXY_WHOLE)
        return;
    FUZZ_PROMISE(whole.bytes > 0 && whole.bytes <= input.bytes);
    FUZZ_PROMISE(whole.bytes <= PE_PROXY_HEADER_MAX);
    for (size_t n = 1; n < whole.bytes; n++)
        FUZZ_PROMISE(pe_proxy_header_read(first_of(input, n), &part) == PE_PROXY_PART);
    FUZZ_PROMISE(pe_proxy_header_read(first_of(input, whole.bytes), &part) == PE_PROXY_WHOLE);
    FUZZ_PROMISE(part.bytes == whole.bytes && part.known == whole.known);
    FUZZ_PROMISE(memcmp(&part.client, &whole.client, sizeof part.client) == 0);
}

/* X-Forwarded-For; 10.0.0.0/8 is trusted. Who is believed came to one who is. */
void fuzz_forwarded(pe_slice input)
{
    static char ipv4[] = "10.0.0.0/8", ipv6[] = "fd00::/8";
    static const pe_settings settings = {.trusted_proxies = {.item = {ipv4, ipv6}, .n = 2}};
    char text[INET6_ADDRSTRLEN];
    const struct sockaddr_in proxy = {.sin_family = AF_INET, .sin_addr = {htonl(0x0a000001)}};
    pe_client_address peer =
        pe_client_address_of_socket((const struct sockaddr *)(const void *)&proxy);
    char *value = fuzz_copy(input), *list = NULL;
    if (asprintf(&list, ",%s", value) < 0)
        abort();
    const pe_client_address client = pe_client_address_unwind(&settings, list, peer);
    pe_client_address_text(&client, text);
    FUZZ_PROMISE(text[0] != '\0');
    /* Who is not trusted is not asked who came to him. */
    const pe_client_address again = pe_client_address_unwind(&settings, list, client);
    FUZZ_PROMISE(pe_client_address_is_trusted(&settings, &client) ||
                 memcmp(&again, &client, sizeof client) == 0);
    free(value);
    free(list);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* A key, and its hash, as tokens have them. */
#define SECRET      "pe_00000000000000000000000000000000ffffffffffffffffffffffffffffffff"
#define SECRET_HASH "sha256:7901e88503a75ea67b5e7c468cbc8956f12ac047138d3915b47dce7bb0b5fe25"

/* In whatever case its letters are. */
static bool holds(pe_slice text, const char *part)
{
    for (size_t at = 0, bytes = strlen(part); at + bytes <= text.bytes; at++)
        if (strncasecmp(text.text + at, part, bytes) == 0)
            return true;
    return false;
}

/* No problem shows a key that stands in the file, and none is found whose hash does not. */
static pe_status load(const char *path, pe_slice input, pe_problem *why)
{
    pe_keys *keys = NULL;
    const pe_status status = pe_keys_load(path, 8, &keys, why);
    FUZZ_PROMISE(status == PE_OK || strstr(why->detail, SECRET) == NULL);
    if (status != PE_OK)
        return status;
    const pe_key *key = pe_keys_find(keys, pe_slice_of(SECRET));
    const size_t n = pe_keys_compare(NULL, keys).keys;
    FUZZ_PROMISE(n >= 1 && n <= 8);
    FUZZ_PROMISE(key == NULL || pe_key_is_name(pe_slice_of(key->name)));
    FUZZ_PROMISE(key == NULL || holds(input, SECRET_HASH));
    pe_keys_unref(keys);
    return PE_OK;
}

void fuzz_keys(pe_slice input)
{
    pe_problem why = {0};
    char path[FUZZ_PATH_BYTES];
    const int fd = fuzz_file(input, path);
    if (load(path, input, &why) != PE_OK)
        fuzz_check_problem(&why, "/", false);
    close(fd);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static const char *const wire_tokens[] = {"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
                                          "POST /v1/rope/rotate HTTP/1.1\r\n",
                                          "HEAD ",
                                          " HTTP/1.0\r\n",
                                          "\r\n",
                                          "\r\n\r\n",
                                          "\n",
                                          "Host: localhost\r\n",
                                          "Content-Length: 5\r\n",
                                          "Content-Length: 9223372036854775808\r\n",
                                          "Transfer-Encoding: chunked\r\n",
                                          "Connection: keep-alive, close\r\n",
                                          "Expect: 100-continue\r\n",
                                          "Cookie: a=b\r\n",
                                          "X-Request-Id: 1\r\n",
                                          "5\r\nabcde\r\n",
                                          "0000000000000000a;name=value\r\n",
                                          "0\r\n\r\n",
                                          "0\r\nTrailer: 1\r\n\r\n",
                                          "PROXY TCP4 192.0.2.1 10.0.0.1 1 2\r\n",
                                          "PROXY TCP6 ::1 fd00::1 1 65535\r\n",
                                          "UNKNOWN ",
                                          "10.0.0.2, ",
                                          "[fd00::2]:80,",
                                          "192.0.2.1",
                                          " \t",
                                          ":",
                                          ";",
                                          NULL};

const char *fuzz_token_wire(size_t k)
{
    return wire_tokens[k];
}

static const char *const key_tokens[] = {
    SECRET,      SECRET_HASH, "\nname ", " rate=10", " work=1000000000",
    " disabled", "# ",        "\n",      "\t",       "\r\n",
    "sha256:",   "rate=0",    "=",       " ",        NULL};

const char *fuzz_token_key(size_t k)
{
    return key_tokens[k];
}
