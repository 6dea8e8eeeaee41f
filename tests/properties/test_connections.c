/* SPDX-License-Identifier: MIT */
/*
 * test_connections.c - thousands of small worlds of clients that send, stall, leave and come late, on a
 * clock of the test's own. The inlet, framing, watchdog, drain and pool of workers are the program's,
 * over pairs of sockets, some with a proxy's header, some with GnuTLS on both sides; every thread is a
 * fiber of one thread, and which of them goes on is drawn from the seed.
 *
 * In the place of the library stands a model of what the program knows of it: it reads until a short
 * read (of TLS: until there is none), then waits for the next event of the socket, and carries one
 * request at a time. A worker does the request's job meanwhile, in turns with others.
 *
 * Each connection ends. Each request has one reply, in order, or the connection ends with one word
 * (of a deadline or a refusal) at most, which is cut off by nobody. Before a refusal all sound requests
 * have their replies. A client that is in time has them all, and the refusal of what is wrong; so has
 * one that keeps the least rate. No fiber goes on for ever at one time. Deadlines are kept, nobody is
 * kept who has gone, each job is run once, and no descriptor is left.
 */
#include "support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/yield.h"
#include "http/connection/drain.h"
#include "http/connection/inlet.h"
#include "http/workers/pool.h"
#include "support/random.h"

#define MS           ((int64_t)PE_NANOSECONDS_PER_MS)
#define NEVER        INT64_MAX
#define FIBERS       40
#define STACK_BYTES  262144
#define CLIENTS_MAX  6
#define REQUESTS_MAX 4
#define TEXT_ROOM    16384
#define LARGE        1000000 /* more than sockets hold */
#define STILL_MAX    20000   /* steps at one time */
#define WORLDS       300
#define TICK         (400 * MS)  /* a watchdog's, and what it waits for meanwhile */
#define GONE         (1500 * MS) /* until it has seen twice that a client has */
#define RATE_MIN     200         /* bytes a second */

/* A fiber has a stack of its own, from which cmocka does not find back. */
#define HOLDS(what) ((what) ? (void)0 : broken(#what, __LINE__))

/* ---- fibers and their clock ---- */

typedef struct fiber {
    ucontext_t context;
    char *stack;
    void *(*run)(void *argument);
    void *argument;
    int64_t until;      /* it goes on then, or */
    struct pollfd *fds; /* once one of these is ready, or */
    nfds_t n_fds;
    const void *changed;        /* once this is told */
    const pe_yield_ways *turns; /* of a worker, while others run */
    bool done;
} fiber;

static struct {
    int64_t now;
    fiber fiber[FIBERS];
    size_t n, still, worlds;
    fiber *current; /* NULL: the world itself */
    ucontext_t world;
    random_source random;
} scene;

static _Noreturn void broken(const char *what, int line)
{
    fprintf(stderr, "seed %llu, world %zu, line %d: not so: %s\n",
            (unsigned long long)scene.random.seed, scene.worlds, line, what);
    abort();
}

int64_t pe_clock(void)
{
    return scene.now;
}

int64_t pe_clock_of_thread(void)
{
    return 0;
}

static void begin_fiber(void)
{
    fiber *self = scene.current;
    self->run(self->argument);
    self->done = true;
    self->until = NEVER;
    swapcontext(&self->context, &scene.world);
}

static fiber *start(void *(*run)(void *), void *argument)
{
    HOLDS(scene.n < FIBERS);
    fiber *made = &scene.fiber[scene.n++];
    char *stack = made->stack != NULL ? made->stack : malloc(STACK_BYTES);
    *made = (fiber){.stack = stack, .run = run, .argument = argument, .until = scene.now};
    getcontext(&made->context);
    made->context.uc_stack.ss_sp = stack;
    made->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&made->context, begin_fiber, 0);
    return made;
}

/* Of the fiber that runs. */
static void wait_until(int64_t until, struct pollfd *fds, nfds_t n_fds, const void *changed)
{
    fiber *self = scene.current;
    self->until = until;
    self->fds = fds;
    self->n_fds = n_fds;
    self->changed = changed;
    swapcontext(&self->context, &scene.world);
}

static void pause_for(int64_t nanoseconds)
{
    wait_until(scene.now + nanoseconds, NULL, 0, NULL);
}

static int look(struct pollfd *fds, nfds_t n)
{
    return ppoll(fds, n, &(struct timespec){0}, NULL);
}

static bool may_go_on(const fiber *one)
{
    return !one->done &&
           (one->until <= scene.now || (one->n_fds > 0 && look(one->fds, one->n_fds) > 0));
}

static void look_at_all(void);

/* One fiber goes on, or the clock does to the next time that one waits for. False: none ever will. */
static bool step(void)
{
    int64_t next = NEVER;
    const size_t first = random_below(&scene.random, scene.n);
    for (size_t i = 0; i < scene.n; i++) {
        fiber *one = &scene.fiber[(first + i) % scene.n];
        if (may_go_on(one)) {
            HOLDS(++scene.still < STILL_MAX);
            scene.current = one;
            (void)pe_yield_set(one->turns);
            swapcontext(&scene.world, &one->context);
            one->turns = pe_yield_set(NULL);
            scene.current = NULL;
            return true;
        }
        next = !one->done && one->until < next ? one->until : next;
    }
    look_at_all();
    scene.still = 0;
    scene.now = next < NEVER ? next : scene.now;
    return next < NEVER;
}

/* ---- what the program calls of the system: its threads are fibers ---- */

static void tell(const void *changed)
{
    for (size_t i = 0; i < scene.n; i++)
        if (scene.fiber[i].changed == changed)
            scene.fiber[i].until = scene.now;
}

/* A sanitizer has these itself, and knows no fibers: there nothing is run. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define RUNS false
#else
#define RUNS true

int pthread_create(pthread_t *out, const pthread_attr_t *attributes PE_UNUSED, void *(*run)(void *),
                   void *argument)
{
    *out = (pthread_t)(start(run, argument) - scene.fiber);
    return 0;
}

int pthread_join(pthread_t thread, void **result PE_UNUSED)
{
    while (!scene.fiber[thread].done)
        HOLDS(step());
    return 0;
}

int pthread_cond_timedwait(pthread_cond_t *changed, pthread_mutex_t *lock,
                           const struct timespec *at)
{
    pthread_mutex_unlock(lock);
    wait_until(at->tv_sec * INT64_C(1000000000) + at->tv_nsec, NULL, 0, changed);
    pthread_mutex_lock(lock);
    return 0;
}

int pthread_cond_wait(pthread_cond_t *changed, pthread_mutex_t *lock)
{
    pthread_mutex_unlock(lock);
    wait_until(NEVER, NULL, 0, changed);
    pthread_mutex_lock(lock);
    return 0;
}

int pthread_cond_broadcast(pthread_cond_t *changed)
{
    tell(changed);
    return 0;
}

int pthread_cond_signal(pthread_cond_t *changed)
{
    tell(changed); /* as it may: each looks again */
    return 0;
}

int nanosleep(const struct timespec *time, struct timespec *left PE_UNUSED)
{
    pause_for(time->tv_sec * INT64_C(1000000000) + time->tv_nsec);
    return 0;
}

int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
    if (scene.current != NULL && timeout_ms != 0)
        wait_until(timeout_ms < 0 ? NEVER : scene.now + timeout_ms * MS, fds, n, NULL);
    return look(fds, n);
}

#endif

/* ---- plain or coded ---- */

static gnutls_psk_server_credentials_t server_key;
static gnutls_psk_client_credentials_t client_key;

static int tell_key(gnutls_session_t session PE_UNUSED, const char *name PE_UNUSED,
                    gnutls_datum_t *out)
{
    *out = (gnutls_datum_t){gnutls_malloc(16), 16};
    HOLDS(out->data != NULL);
    memset(out->data, 7, 16);
    return 0;
}

static void make_keys(void)
{
    const gnutls_datum_t key = {(unsigned char[]){"07070707070707070707070707070707"}, 32};
    HOLDS(gnutls_psk_allocate_server_credentials(&server_key) == 0);
    gnutls_psk_set_server_credentials_function(server_key, tell_key);
    HOLDS(gnutls_psk_allocate_client_credentials(&client_key) == 0);
    HOLDS(gnutls_psk_set_client_credentials(client_key, "a", &key, GNUTLS_PSK_KEY_HEX) == 0);
}

static gnutls_session_t open_session(int socket, bool newest, unsigned end)
{
    gnutls_session_t session;
    HOLDS(gnutls_init(&session, end | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL) == 0);
    HOLDS(gnutls_priority_set_direct(session,
                                     newest ? "NORMAL:-KX-ALL:+ECDHE-PSK:-VERS-ALL:+VERS-TLS1.3"
                                            : "NORMAL:-KX-ALL:+PSK:-VERS-ALL:+VERS-TLS1.2",
                                     NULL) == 0);
    HOLDS(gnutls_credentials_set(session, GNUTLS_CRD_PSK,
                                 end == GNUTLS_SERVER ? (void *)server_key : client_key) == 0);
    gnutls_transport_set_int(session, socket);
    return session;
}

static bool may_come_again(ssize_t coded)
{
    return coded == GNUTLS_E_AGAIN || coded == GNUTLS_E_INTERRUPTED;
}

/* As send(), recv() without flags, and errno. */
static ssize_t give(int socket, gnutls_session_t session, const void *data, size_t bytes)
{
    if (session == NULL)
        return send(socket, data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    const ssize_t gone = gnutls_record_send(session, data, bytes);
    errno = may_come_again(gone) ? EAGAIN : EPIPE;
    return gone < 0 ? -1 : gone;
}

static ssize_t get(int socket, gnutls_session_t session, void *room, size_t bytes)
{
    if (session == NULL)
        return recv(socket, room, bytes, 0);
    const ssize_t got = gnutls_record_recv(session, room, bytes);
    errno = may_come_again(got) ? EAGAIN : ECONNRESET;
    return got < 0 ? -1 : got;
}

/* ---- the library ---- */

typedef enum task { AT_HEADER, AT_BODY, AT_WORK, AT_REPLY, AT_END } task;

typedef struct client {
    int socket;
    bool ends_sending;
    unsigned updates;         /* of its key: GnuTLS takes eight within a second of its own clock */
    gnutls_session_t session; /* NULL: plain */
    size_t whole, replies, words,
        refusals;         /* requests that were sent to their end; what came back */
    bool prompt;          /* it sends in time, and reads */
    bool steady;          /* and takes its time, but keeps the least rate */
    bool trickles;        /* far below it */
    bool proxied, newest; /* a proxy's header comes first; TLS 1.3 */
    bool insecure;        /* hands were not shaken */
    size_t hello;         /* bytes until it falls silent while it shakes hands; 0: it does not */
    int64_t came, gone;   /* when it closed, or will not yet */
    bool wrong;           /* the last request is */
    bool stalls;          /* reads nothing */
    bool ended;           /* the server has ended */
    char text[TEXT_ROOM];
    size_t bytes, end_of[REQUESTS_MAX]; /* of each request that is sound and whole */
    size_t n;
    size_t left, told; /* of a reply that is being read; what its line said */
    char line[64];
    size_t in_line;
} client;

typedef struct connection {
    pe_inlet inlet;
    pe_watch watch;
    client *of;
    task at;
    bool readable, refused, told;
    char in[TEXT_ROOM];
    size_t n, body, replied;
    pe_job job;
    bool works;
    char head[64];
    size_t bytes, sent; /* of a reply: its head, then as many x */
    struct connection *next;
} connection;

static pe_watchdog *watchdog;
static pe_drain *refused_ones;
static pe_pool *pool;
static pe_client_queues queues[CLIENTS_MAX];
static size_t submitted, run;
static connection *open_ones;
static bool patient, rated; /* this world's deadlines are long; a least rate holds */
static int events;          /* an epoll, edge by edge */
static bool no_more, draining;

/* Past the library, and then the sending side ends: not before, unless the client has closed its
 * own, or reads nothing. Of TLS: or has not shaken hands. */
static void say(int socket, const pe_inlet *coded, const char *word)
{
    struct pollfd at = {.fd = socket};
    gnutls_session_t session = coded != NULL ? coded->session : NULL;
    if (give(socket, session, word, strlen(word)) < 0 && errno != EAGAIN)
        HOLDS((coded != NULL && !coded->secure) ||
              (look(&at, 1) == 1 && (at.revents & POLLHUP) != 0));
    if (session != NULL)
        (void)gnutls_bye(session, GNUTLS_SHUT_WR);
    shutdown(socket, SHUT_WR);
}

static void be_late(void *context)
{
    connection *c = context;
    HOLDS(!c->refused && !c->told);
    c->told = true;
    say(c->inlet.socket, c->inlet.session != NULL ? &c->inlet : NULL, "late\n");
}

static void refuse(void *context)
{
    connection *c = context;
    if (c->inlet.framing.part == PE_FRAMING_HEADER)
        (void)pe_inlet_began(&c->inlet);
    if (pe_inlet_leave(&c->inlet))
        say(c->inlet.socket, c->inlet.session != NULL ? &c->inlet : NULL, "wrong\n");
    c->refused = true;
}

static void accept_one(int socket, client *of, bool proxied, gnutls_session_t session)
{
    connection *c = calloc(1, sizeof *c);
    HOLDS(c != NULL);
    c->of = of;
    c->inlet = (pe_inlet){.socket = socket,
                          .session = session,
                          .proxied = proxied,
                          .watchdog = watchdog,
                          .watch = &c->watch,
                          .limits = {TEXT_ROOM / 2, 64},
                          .held_max = TEXT_ROOM,
                          .refused = refuse,
                          .late = be_late,
                          .context = c};
    struct epoll_event all = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
    HOLDS(pe_inlet_open(&c->inlet));
    pe_watchdog_add(watchdog, &c->watch, socket);
    HOLDS(epoll_ctl(events, EPOLL_CTL_ADD, socket, &all) == 0);
    c->next = open_ones;
    open_ones = c;
}

static void complete(connection *c, bool well)
{
    (void)pe_watchdog_enter(watchdog, &c->watch, PE_PHASE_IDLE, scene.now);
    if (well)
        pe_inlet_answered(&c->inlet);
}

/* Who has begun a header, and neither ended nor been refused, has been told that it is late. */
static bool is_told(const connection *c)
{
    const bool begun = c->inlet.held.bytes > 0 && c->inlet.held.passed == 0;
    const bool waits = c->at == AT_HEADER && c->inlet.status == PE_OK && c->of->gone > scene.now;
    const bool insecure = c->inlet.session != NULL && !c->inlet.secure;
    const bool told = c->watch.unheard && (c->told || insecure);
    return !begun || !waits || draining || c->of->ends_sending || told;
}

static void close_one(connection *c)
{
    HOLDS(is_told(c));
    if (c->at != AT_HEADER && c->at != AT_END)
        complete(c, false);
    c->at = AT_END;
    if (c->inlet.session != NULL)
        (void)gnutls_bye(c->inlet.session, GNUTLS_SHUT_WR);
    shutdown(c->inlet.socket, SHUT_WR);
    pe_inlet_close(&c->inlet);
    const bool lingers = c->refused || pe_watchdog_is_leaving(&c->watch);
    if (lingers)
        pe_drain_take(refused_ones, fcntl(c->watch.socket, F_DUPFD_CLOEXEC, 0));
    pe_watchdog_remove(watchdog, &c->watch);
    HOLDS(epoll_ctl(events, EPOLL_CTL_DEL, c->inlet.socket, NULL) == 0); /* it may linger */
    close(c->inlet.socket);
    if (c->inlet.session != NULL)
        gnutls_deinit(c->inlet.session);
}

/* True: there is more. False: until the next event, or it has closed. */
static bool receive(connection *c)
{
    const size_t room = 1 + random_below(&scene.random, sizeof c->in - c->n);
    if (!c->readable)
        return false;
    const ssize_t got = get(c->inlet.socket, c->inlet.session, c->in + c->n, room);
    c->readable = c->inlet.session != NULL ? got > 0 : got == (ssize_t)room;
    if (got > 0)
        c->n += (size_t)got;
    else if (got == 0 || errno != EAGAIN)
        close_one(c);
    return got > 0;
}

static void consume(connection *c, size_t bytes)
{
    memmove(c->in, c->in + bytes, c->n - bytes);
    c->n -= bytes;
}

/* Each of these: true where the connection goes on at once. */
static bool read_header(connection *c)
{
    static const char length[] = "Content-Length: ";
    const char *end = memmem(c->in, c->n, "\r\n\r\n", 4);
    if (end == NULL)
        return receive(c);
    const size_t bytes = (size_t)(end - c->in) + 4;
    const char *declared = memmem(c->in, bytes, length, sizeof length - 1);
    c->body = declared != NULL ? strtoul(declared + sizeof length - 1, NULL, 10) : 0;
    consume(c, bytes);
    c->at = AT_BODY;
    if (!pe_inlet_enter(&c->inlet, PE_PHASE_RECEIVING, pe_inlet_began(&c->inlet))) {
        close_one(c);
        return false;
    }
    return true;
}

/* A worker's: some turns, and perhaps a wait for what another makes. */
static void work(void *context)
{
    connection *c = context;
    HOLDS(c->works);
    for (size_t n = random_below(&scene.random, 4); n > 0; n--) {
        pause_for(random_int(&scene.random, 0, 20) * MS);
        pe_yield_spend(PE_YIELD_WORK);
    }
    if (random_below(&scene.random, 4) == 0) {
        pe_yield_leave();
        pause_for(random_int(&scene.random, 0, patient ? 3000 : 900) * MS);
        pe_yield_enter();
    }
    HOLDS(c->works);
    run++;
    c->works = false;
    tell(&no_more);
}

static bool read_body(connection *c)
{
    const size_t some = c->body < c->n ? c->body : c->n;
    consume(c, some);
    c->body -= some;
    if (c->body > 0)
        return receive(c);
    if (!pe_inlet_enter(&c->inlet, PE_PHASE_WORKING, 0)) {
        close_one(c);
        return false;
    }
    const bool light = random_below(&scene.random, 2) == 0;
    c->job = (pe_job){.run = work, .context = c, .price = random_below(&scene.random, 1 << 24)};
    c->works = pe_pool_submit(pool, &queues[random_below(&scene.random, CLIENTS_MAX)], &c->job,
                              light ? PE_JOB_LIGHT : PE_JOB_HEAVY);
    HOLDS(c->works || !light);
    submitted += c->works;
    c->at = AT_WORK;
    return true;
}

static bool begin_reply(connection *c)
{
    if (c->works)
        return false;
    if (!pe_inlet_enter(&c->inlet, PE_PHASE_SENDING, scene.now)) {
        close_one(c);
        return false;
    }
    const size_t bytes =
        random_below(&scene.random, 10) == 0 ? LARGE : random_below(&scene.random, 99);
    snprintf(c->head, sizeof c->head, "%zu %zu\n", c->replied, bytes);
    c->bytes = strlen(c->head) + bytes;
    c->sent = 0;
    c->at = AT_REPLY;
    return true;
}

static bool send_reply(connection *c)
{
    static char many[65536];
    const size_t head = strlen(c->head);
    if (c->sent == c->bytes) {
        c->at = AT_HEADER;
        c->replied++;
        complete(c, true);
        return true;
    }
    memset(many, 'x', sizeof many);
    const char *from = c->sent < head ? c->head + c->sent : many;
    size_t some = c->sent < head ? head - c->sent : c->bytes - c->sent;
    some = some < sizeof many ? some : sizeof many;
    const ssize_t gone = give(c->inlet.socket, c->inlet.session, from, some);
    if (gone < 0 && errno != EAGAIN)
        close_one(c);
    c->sent += gone > 0 ? (size_t)gone : 0;
    return gone > 0;
}

/* Of TLS it asks again and again until hands are shaken. Returns when this is done. */
static int64_t go_on(connection *c)
{
    static bool (*const steps[])(connection *) = {
        [AT_HEADER] = read_header,
        [AT_BODY] = read_body,
        [AT_WORK] = begin_reply,
        [AT_REPLY] = send_reply,
    };
    if (c->inlet.session != NULL && gnutls_handshake(c->inlet.session) != GNUTLS_E_SUCCESS)
        return scene.now;
    while (c->at != AT_END && steps[c->at](c)) {
    }
    return NEVER;
}

static int64_t go_on_with_all(void)
{
    int64_t next = NEVER;
    for (connection **at = &open_ones; *at != NULL;) {
        connection *c = *at;
        const int64_t then = go_on(c);
        next = then < next ? then : next;
        if (c->at != AT_END) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        free(c);
    }
    return next;
}

static void *run_library(void *context PE_UNUSED)
{
    struct epoll_event seen[CLIENTS_MAX];
    struct pollfd any = {.fd = events, .events = POLLIN};
    int64_t next = NEVER;
    while (!no_more || open_ones != NULL) {
        wait_until(next, &any, 1, &no_more);
        const int n = epoll_wait(events, seen, CLIENTS_MAX, 0);
        for (int i = 0; i < n; i++)
            if ((seen[i].events & ~(uint32_t)EPOLLOUT) != 0)
                ((connection *)seen[i].data.ptr)->readable = true;
        next = go_on_with_all();
    }
    return NULL;
}

/* ---- clients ---- */

static size_t drawn(size_t n)
{
    return random_below(&scene.random, n);
}

static void write_requests(client *c)
{
    const size_t n = c->steady || c->trickles ? 1 : 1 + drawn(REQUESTS_MAX);
    for (size_t r = 0; r < n; r++) {
        const bool slow = c->steady || c->trickles;
        const size_t some = slow || drawn(3) == 0 ? drawn(2000) : 0, body = slow ? 2 * some : some;
        c->bytes += (size_t)snprintf(c->text + c->bytes, sizeof c->text - c->bytes,
                                     "%s /%zu HTTP/1.1\r\nHost: a\r\n%s%zu\r\n\r\n",
                                     body > 0 ? "POST" : "GET", r,
                                     body > 0 ? "Content-Length: " : "Range: ", body);
        memset(c->text + c->bytes, 'b', body);
        c->bytes += body;
        c->end_of[c->n++] = c->bytes;
    }
    c->wrong |= drawn(3) == 0;
    if (c->wrong)
        c->bytes += (size_t)snprintf(c->text + c->bytes, sizeof c->text - c->bytes,
                                     "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
    else if (!c->prompt && drawn(3) == 0)
        c->bytes -= drawn(c->bytes);
}

/* One reply after the other, in order, and a word at most, after which nothing comes. */
static void take(client *c, const char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        HOLDS(c->words == 0);
        if (c->left > 0) {
            HOLDS(data[i] == 'x');
            c->replies += --c->left == 0;
            HOLDS(c->left > 0 || !c->trickles || c->told < LARGE);
            continue;
        }
        HOLDS(c->in_line < sizeof c->line - 1);
        c->line[c->in_line++] = data[i];
        if (data[i] != '\n')
            continue;
        char *after;
        c->line[c->in_line] = '\0';
        c->in_line = 0;
        const size_t number = strtoul(c->line, &after, 10);
        c->left = c->told = strtoul(after, NULL, 10);
        if (after == c->line) {
            const bool wrong = strcmp(c->line, "wrong\n") == 0;
            HOLDS(wrong || strcmp(c->line, "late\n") == 0);
            HOLDS(!wrong || (c->wrong && c->replies == c->n));
            c->words++;
            c->refusals += wrong;
            continue;
        }
        HOLDS(number == c->replies);
        c->replies += c->left == 0;
    }
}

static void read_all(client *c)
{
    static char room[65536];
    ssize_t got = 1;
    while (!c->stalls && !c->ended && got > 0) {
        const bool trickling = c->trickles && scene.now - c->came < 30000 * MS;
        got = get(c->socket, c->session, room, trickling ? 16 : sizeof room);
        if (got > 0)
            take(c, room, (size_t)got);
        c->ended |= got == 0 || (got < 0 && errno != EAGAIN);
        if (got > 0 && (c->steady || trickling))
            pause_for(c->steady ? 50 * MS : 300 * MS);
    }
}

/* Until the server ends, or there is something to read where it does read. */
static void wait_for_server(client *c, bool reads)
{
    struct pollfd wait = {.fd = c->socket, .events = (short)(reads ? POLLIN : 0)};
    wait_until(NEVER, &wait, 1, NULL);
}

/* What a handshake sends goes in pieces, and stops where the client falls silent. */
static ssize_t push(gnutls_transport_ptr_t context, const void *data, size_t bytes)
{
    client *c = context;
    const size_t most = c->hello > 0 && c->hello < bytes ? c->hello : bytes;
    size_t some = c->insecure && !c->stalls ? 1 + drawn(most) : most;
    if (c->insecure && !c->prompt)
        pause_for(random_int(&scene.random, 0, 30) * MS);
    const ssize_t gone = sendto(c->socket, data, some, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
    while (c->hello > 0 && c->hello <= some && !c->ended) {
        wait_for_server(c, false);
        c->ended = true;
    }
    c->hello -= c->hello > some ? some : c->hello;
    return gone;
}

static ssize_t pull(gnutls_transport_ptr_t context, void *room, size_t bytes)
{
    const client *c = context;
    return recvfrom(c->socket, room, bytes, MSG_DONTWAIT, NULL, NULL);
}

static void shake_hands(client *c)
{
    int result = GNUTLS_E_AGAIN;
    c->insecure = true;
    while (!c->ended && (result = gnutls_handshake(c->session)) != GNUTLS_E_SUCCESS) {
        c->ended |= !may_come_again(result);
        if (!c->ended)
            wait_for_server(c, true);
    }
    c->insecure = result != GNUTLS_E_SUCCESS;
}

/* Whose connection it is, by either version. False: it falls silent, or the server has ended. */
static bool send_proxy_header(client *c)
{
    static const char one[] = "PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n",
                      two[] = "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c"
                              "\xc0\0\2\1\xc6\x33\x64\1\xdc\4\1\xbb";
    const bool first = drawn(2) == 0;
    const char *text = first ? one : two;
    const size_t bytes = (first ? sizeof one : sizeof two) - 1;
    const size_t least = c->prompt || drawn(2) == 0 ? bytes : drawn(bytes + 1);
    for (size_t at = 0; at < least && !c->ended;) {
        const size_t some = 1 + drawn(least - at);
        c->ended = sendto(c->socket, text + at, some, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0) < 0;
        at += some;
        if (drawn(3) == 0)
            pause_for(c->prompt ? MS / 100 : random_int(&scene.random, 0, 30) * MS);
    }
    return least == bytes && !c->ended;
}

/* Of one who trickles a header comes whole. */
static size_t piece(const client *c, size_t at, size_t left)
{
    if (c->steady || c->trickles)
        return c->steady || at == 0 ? RATE_MIN : 1;
    return 1 + drawn(drawn(2) == 0 ? left : 1 + left / 8);
}

static int64_t after_piece(const client *c)
{
    if (c->steady || c->trickles)
        return (c->steady ? 600 : 300) * MS;
    return c->prompt ? MS / 100 : random_int(&scene.random, 0, drawn(8) == 0 ? 3000 : 30) * MS;
}

static void send_all(client *c)
{
    for (size_t at = 0; at < c->bytes && !c->ended;) {
        const size_t left = c->bytes - at, wanted = piece(c, at, left);
        const size_t some = wanted < left ? wanted : left;
        const ssize_t gone = give(c->socket, c->session, c->text + at, some);
        if (gone < 0 && errno != EAGAIN)
            break;
        at += gone > 0 ? (size_t)gone : 0;
        while (c->whole < c->n && c->end_of[c->whole] <= at)
            c->whole++;
        read_all(c);
        if (gone < 0 || c->steady || c->trickles || drawn(2) == 0)
            pause_for(after_piece(c));
        if (c->session != NULL && c->newest && gone > 0 && drawn(8) == 0 && c->updates++ < 4)
            (void)gnutls_session_key_update(c->session, 0);
    }
}

static void open_client(client *c)
{
    int ends[2];
    gnutls_session_t session = NULL;
    HOLDS(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    c->socket = ends[1];
    c->came = scene.now;
    c->prompt = drawn(3) == 0;
    c->stalls = !c->prompt && drawn(4) == 0;
    c->steady = c->prompt && patient && drawn(2) == 0;
    c->trickles = !c->prompt && rated && drawn(3) == 0;
    c->proxied = drawn(4) == 0;
    if (drawn(3) == 0) {
        c->newest = drawn(2) == 0;
        c->hello = !c->prompt && drawn(3) == 0 ? 1 + drawn(400) : 0;
        session = open_session(ends[0], c->newest, GNUTLS_SERVER);
        c->session = open_session(ends[1], c->newest, GNUTLS_CLIENT);
        gnutls_transport_set_ptr(c->session, c);
        gnutls_transport_set_push_function(c->session, push);
        gnutls_transport_set_pull_function(c->session, pull);
    }
    accept_one(ends[0], c, c->proxied, session);
}

static void close_client(client *c)
{
    close(c->socket);
    c->gone = scene.now;
    if (c->session != NULL)
        gnutls_deinit(c->session);
}

static void talk(client *c)
{
    if (c->proxied && c->session == NULL && drawn(6) == 0)
        c->wrong = true; /* without one: no request is sound */
    else if (c->proxied && !send_proxy_header(c))
        return;
    const bool unsaid = c->wrong;
    if (c->session != NULL && !c->stalls)
        shake_hands(c);
    write_requests(c);
    c->n = unsaid ? 0 : c->n;
    if (!c->stalls || c->session == NULL)
        send_all(c);
}

static void *run_client(void *context)
{
    client *c = context;
    pause_for(random_int(&scene.random, 0, 500) * MS);
    open_client(c);
    if (c->prompt || drawn(8) > 0)
        talk(c);
    const bool leaves = !c->prompt && drawn(4) == 0;
    if (leaves) /* about when the watchdog tells it that it is late */
        wait_until(c->came + (800 + (int64_t)drawn(150)) * MS, NULL, 0, NULL);
    c->ends_sending = drawn(4) == 0;
    if (c->ends_sending && c->session != NULL && !c->insecure)
        (void)gnutls_bye(c->session, GNUTLS_SHUT_WR);
    if (c->ends_sending)
        shutdown(c->socket, SHUT_WR);
    while (!leaves && !c->ended) {
        wait_for_server(c, !c->stalls);
        read_all(c);
        c->ended |= c->stalls; /* that the server ended is all that it is told */
    }
    close_client(c);
    return NULL;
}

/* ---- worlds ---- */

static void *end_all(void *context PE_UNUSED)
{
    draining = true;
    pe_watchdog_drain(watchdog, random_int(&scene.random, 0, 4000));
    return NULL;
}

static pe_deadlines deadlines(void)
{
    const pe_progress_rules rules = {1500 * MS, 2000 * MS, rated ? RATE_MIN : 0};
    if (patient)
        return (pe_deadlines){.of = {[PE_PHASE_FRESH] = 8000 * MS,
                                     [PE_PHASE_HEADER] = 9000 * MS,
                                     [PE_PHASE_RECEIVING] = 1000000 * MS,
                                     [PE_PHASE_SENDING] = 1000000 * MS,
                                     [PE_PHASE_IDLE] = 20000 * MS,
                                     [PE_PHASE_LEAVING] = 300 * MS},
                              .reader = rules,
                              .sender = rules};
    return (pe_deadlines){.of = {[PE_PHASE_FRESH] = 800 * MS,
                                 [PE_PHASE_HEADER] = 900 * MS,
                                 [PE_PHASE_RECEIVING] = 1500 * MS,
                                 [PE_PHASE_SENDING] = 2500 * MS,
                                 [PE_PHASE_IDLE] = 1000 * MS,
                                 [PE_PHASE_LEAVING] = 300 * MS}};
}

/* When nobody has anything to do now: what no connection may be. */
static void look_at_all(void)
{
    for (const connection *c = open_ones; c != NULL; c = c->next) {
        const uint_fast64_t state =
            atomic_load(&c->watch.state); /* phase in three bits, deadline */
        const pe_phase phase = (pe_phase)(state & 7);
        const uint64_t until = state >> 3; /* 0: it is too slow */
        const bool waits = phase < PE_PHASE_WORKING || phase == PE_PHASE_IDLE;
        HOLDS(phase == PE_PHASE_WORKING || until == 0 || (uint64_t)scene.now < until + TICK);
        HOLDS(phase != PE_PHASE_IDLE || !draining || c->told);
        HOLDS(!waits || scene.now - c->of->gone < GONE);
    }
}

static bool all_ended(size_t first, size_t n)
{
    for (size_t i = first; i < first + n; i++)
        if (!scene.fiber[i].done)
            return false;
    return true;
}

static void run_world(void)
{
    static client clients[CLIENTS_MAX];
    pe_problem why;
    patient = drawn(3) == 0;
    rated = patient && drawn(2) == 0;
    const pe_deadlines times = deadlines();
    const pe_pool_limits places = {1 + drawn(2), 2, 1};
    const pe_drain_limits limits = {200 * MS, 100000};
    const size_t n = 1 + drawn(CLIENTS_MAX);
    const int least = dup(STDERR_FILENO);
    close(least);
    memset(clients, 0, sizeof clients);
    memset(queues, 0, sizeof queues);
    scene.n = submitted = run = 0;
    no_more = draining = false;
    events = epoll_create1(EPOLL_CLOEXEC);
    HOLDS(pe_watchdog_make(&times, &watchdog, &why) == PE_OK);
    HOLDS(pe_drain_make(&limits, &refused_ones, &why) == PE_OK);
    HOLDS(pe_pool_make(&places, &pool, &why) == PE_OK);
    fiber *library = start(run_library, NULL);
    const size_t first = scene.n;
    for (size_t i = 0; i < n; i++) {
        clients[i].gone = scene.now + 3600000 * MS;
        start(run_client, &clients[i]);
    }
    const int64_t began = scene.now;
    const bool drains = drawn(4) == 0;
    int64_t drain_at = drains ? began + random_int(&scene.random, 0, 1500) * MS : NEVER;
    while (!all_ended(first, n) || open_ones != NULL || pe_watchdog_count(watchdog) > 0) {
        HOLDS(step());
        HOLDS(scene.now - began < 60000 * MS); /* nobody waits for ever */
        if (scene.now < drain_at)
            continue;
        drain_at = NEVER;
        start(end_all, NULL);
    }
    no_more = true;
    library->until = scene.now;
    while (!all_ended(first - 1, scene.n - first + 1))
        HOLDS(step());
    pe_watchdog_free(watchdog);
    pe_drain_free(refused_ones);
    pe_pool_free(pool);
    close(events);
    HOLDS(run == submitted);
    HOLDS(dup(STDERR_FILENO) == least);
    close(least);
    for (size_t i = 0; i < n; i++) {
        HOLDS(clients[i].replies <= clients[i].n);
        if (!clients[i].prompt || drains)
            continue;
        HOLDS(clients[i].replies == clients[i].n);
        HOLDS(clients[i].refusals == clients[i].wrong);
    }
}

static void each_world_comes_to_its_end(void **state)
{
    scene.random = random_make("connections");
    if (!RUNS)
        skip();
    make_keys();
    for (; scene.worlds < WORLDS; scene.worlds++)
        run_world();
    gnutls_psk_free_server_credentials(server_key);
    gnutls_psk_free_client_credentials(client_key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_world_comes_to_its_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
