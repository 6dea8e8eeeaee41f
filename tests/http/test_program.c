/* SPDX-License-Identifier: MIT */
/* test_program.c - the program's commands, as a shell would run them. */
#include "support/check.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "support/client.h"

#define ARGUMENTS_MAX 16

/* ---- running it ---- */

struct run {
    int status; /* exit status, 128 + signal when killed */
    char *out, *err;
    size_t out_bytes;
};

static char *read_all(int fd, size_t *bytes)
{
    const off_t end = lseek(fd, 0, SEEK_END);
    assert_true(end >= 0);
    char *text = calloc(1, (size_t)end + 1);
    assert_non_null(text);
    assert_int_equal(pread(fd, text, (size_t)end, 0), end);
    close(fd);
    if (bytes != NULL)
        *bytes = (size_t)end;
    return text;
}

/* `posenc arguments...`, with `input` on standard input and one variable of the environment. */
static struct run run_with(const char *const *arguments, const char *input, const char *variable)
{
    const char *program = getenv("POSENC_BINARY"); /* `make test` sets it */
    const char *argv[ARGUMENTS_MAX + 2] = {program};
    if (program == NULL) {
        fail_msg("POSENC_BINARY names no program");
        return (struct run){0};
    }
    for (size_t a = 0; a < ARGUMENTS_MAX && arguments[a] != NULL; a++)
        argv[a + 1] = arguments[a];
    const int in = memfd_create("in", 0), out = memfd_create("out", 0),
              err = memfd_create("err", 0);
    assert_true(in >= 0 && out >= 0 && err >= 0);
    assert_int_equal(write(in, input, strlen(input)), (ssize_t)strlen(input));
    lseek(in, 0, SEEK_SET);
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(in, STDIN_FILENO);
        dup2(out, STDOUT_FILENO);
        dup2(err, STDERR_FILENO);
        unsetenv("POSENC_BINARY"); /* they are no settings, and would be warned about */
        unsetenv("POSENC_ROOT");
        unsetenv("POSENC_BUILD");
        unsetenv("POSENC_TEST_SEED");
        if (variable != NULL)
            putenv((char *)(uintptr_t)variable);
        execv(program, (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(in);
    struct run run = {.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
    run.out = read_all(out, &run.out_bytes);
    run.err = read_all(err, NULL);
    return run;
}

static void free_run(struct run *run)
{
    free(run->out);
    free(run->err);
}

/* ---- what commands say ---- */

static const struct says {
    const char *arguments[ARGUMENTS_MAX], *variable;
    int status;
    const char *out, *err; /* parts of what is written; "" is nothing at all */
} sayings[] = {
    {{"version"}, NULL, 0, "posenc ", ""},
    {{"--version"}, NULL, 0, "posenc ", ""},
    {{"help"}, NULL, 0, "--max-body-bytes", ""},
    {{"--help"}, NULL, 0, "posenc print-config", ""},
    {{"serve", "--help"}, NULL, 0, "--port N", ""},
    {{"serve", "--port", "1", "-h"}, NULL, 0, "--port N", ""},
    {{"help", "healthcheck"}, NULL, 0, "/healthz", ""},
    {{"table", "--help"}, NULL, 0, "rope/table", ""},
    {{"help", "table"}, NULL, 0, "rope/table", ""},
    {{"table", "sinusoidal", "--help"}, NULL, 0, "--d_model", ""},
    {{"srve"}, NULL, 2, "", "did you mean serve?"},
    {{"help", "tabel"}, NULL, 2, "", "did you mean table?"},
    {{"start"}, NULL, 2, "", "did you mean serve?"},
    {{"rope/table", "--head-dim=8", "--positions=0"}, NULL, 0, "\"encoding\":\"rope\"", ""},
    {{"alibi/slopes", "--heads=8"}, NULL, 0, "heads is taken for num_heads", ""},
    {{"serve", "9000"}, NULL, 2, "", "a port is given as --port NUMBER"},
    {{"version", "x"}, NULL, 2, "", "posenc version takes no arguments, got x"},
    {{"serve", "-p", "x", "--log-format", "text"}, NULL, 2, "", "posenc: --port must be"},
    {{"serve", "-p", "x"}, "POSENC_LOG_FORMAT=text", 2, "", "posenc: --port must be"},
    {{"help", "rope/tabel"}, NULL, 2, "", "did you mean rope/table?"},
    {{"help", "rope"}, NULL, 2, "", "did you mean rope/frequencies, rope/table, rope/rotate, "},
    {{"help", "t5"}, NULL, 2, "", "did you mean t5/buckets, t5/bias?"},
    {{"table", "alibi"}, NULL, 2, "", "did you mean alibi/slopes, alibi/bias, alibi/padded-bias"},
    {{"help", ""}, NULL, 2, "", "posenc help lists them"},
    {{"help", "nothing-like-it"}, NULL, 2, "", "no command or encoding is called nothing-like-it"},
    {{"key"}, NULL, 2, "", "posenc: expected: posenc key new NAME"},
    {{"key", "new"}, NULL, 2, "", "expected: posenc key new NAME"},
    {{"key", "new", "a/b"}, NULL, 2, "", "got a/b"},
    {{"--port", "1"}, NULL, 2, "", "a command comes first: posenc serve --port"},
    {{NULL}, NULL, 2, "posenc help rope/table", ""},
    {{"help", "rope/table"}, NULL, 0, "--rope_theta", ""},
    {{"serve", "--host=no.such.name.invalid"}, NULL, 2, "", "or a name of one"},
    {{"check-config", "-p", "99999"}, NULL, 2, "", "from 0 to 65535, got 99999"},
    {{"table", "sinusoidal", "--d-model=x"},
     NULL,
     2,
     "",
     "posenc: d_model must be a number, got \"x\"\n"},
    {{"serve", "--prot=1"}, NULL, 2, "", "unknown flag --prot, did you mean --port?"},
    {{"serve", "--port"}, NULL, 2, "", "--port needs a value"},
    {{"serve", "--settings", "/nonexistent"}, NULL, 2, "", "cannot read /nonexistent"},
    {{"serve"}, "POSENC_PORT=70000", 2, "", "from 0 to 65535, got 70000"},
    {{"serve", "--port=0", "--memory-max=1000"},
     NULL,
     2,
     "",
     "memory_max must be at least 33554432 bytes, got 1000"},
    {{"serve", "--kernels", "v9"}, NULL, 2, "", "one of auto, baseline, v3 and v4"},
    {{"serve", "--port=0", "--host=192.0.2.1"}, NULL, -1, "", "192.0.2.1"},
    {{"serve", "--port=0", "--warm=/v1/nope"}, NULL, 2, "", "no table lives at /v1/nope"},
    {{"serve", "--port=0", "--warm=/v1/sinusoidal?d_modle=4"},
     NULL,
     2,
     "",
     "did you mean d_model?"},
    {{"check-config"}, NULL, 0, "valid", ""},
    {{"check-config"}, "POSENC_NONSENSE=1", 0, "valid", "POSENC_NONSENSE"},
    {{"check-config"}, "POSENC_PORT=tcp://10.0.0.1:80", 0, "valid", "service link"},
    {{"check-config", "--port=x"}, NULL, 2, "", "got \"x\""},
    {{"print-config"}, "POSENC_PORT=1", 0, "{\"value\": 1, \"source\": \"POSENC_PORT\"", ""},
    {{"print-config", "--memory-max=512M"}, NULL, 0, "{\"value\": 536870912", ""},
    {{"print-config", "--idle-timeout-ms=30s"}, NULL, 0, "{\"value\": 30000", ""},
    {{"print-config", "--hsts-seconds", "1h"},
     "POSENC_MEMORY_MAX=1GiB",
     0,
     "{\"value\": 3600,",
     ""},
    {{"check-config", "--memory-max=512X"}, NULL, 2, "", "or as 512M, got \"512X\""},
    {{"check-config", "--port=80M"}, NULL, 2, "", "from 0 to 65535, got \"80M\""},
    {{"check-config", "--memory-max=9999999999G"}, NULL, 2, "", "or as 512M, got"},
    {{"print-config", "--tls-cert=x"},
     NULL,
     0,
     "{\"value\": \"x\", \"source\": \"--tls-certificate\"",
     ""},
    {{"print-config", "--tls-crt=x"}, NULL, 0, "\"--tls-certificate\"", ""},
    {{"print-config", "--verbose"}, NULL, 0, "{\"value\": \"debug\"", ""},
    {{"print-config", "--bind", "::1", "--rate-limit=5"}, NULL, 0, "{\"value\": \"::1\"", ""},
    {{"help", "serve"}, NULL, 0, "Another name of --address-rate", ""},
    {{"key", "new", "bob"}, NULL, 0, "bob sha256:", "Authorization: Bearer KEY"},
    {{"print-config", "--port", "2"}, "POSENC_PORT=1", 0, "2, \"source\": \"--port\"", ""},
    {{"healthcheck", "--port=0"}, NULL, 1, "", "set port to one that the server shall take"},
    {{"healthcheck", "--settings=/nonexistent"}, NULL, 1, "", "cannot read /nonexistent"},
    {{"healthcheck", "--listen=127.0.0.1:0"}, NULL, 1, "", "port 0 is any free one"},
    {{"healthcheck", "--listen=127.0.0.1"}, NULL, 1, "", "must be unix:/path, host:port"},
    {{"healthcheck", "--listen=unix:/nonexistent/s"}, NULL, 1, "", "no answer from /nonexistent/s"},
    {{"healthcheck", "--listen=unix:s"}, NULL, 1, "", "an address, a name or a path, got s"},
    {{"table"}, NULL, 2, "", "expected: posenc table ENCODING"},
    {{"table", "-o", "-", "alibi/slopes", "--num-heads=1"}, NULL, 0, "0.00390625", ""},
    {{"alibi/slopes", "num_heads=1"}, NULL, 0, "0.00390625", ""},
    {{"table", "sinusoidal", "=4"}, NULL, 2, "", "unknown flag =4"},
    {{"table", "sinusoidal", "--d-model=4", "-o"}, NULL, 2, "", "-o needs a value"},
    {{"table", "sinusoidal", "-o", "--d-model=4"}, NULL, 2, "", "--output needs a value"},
    {{"table", "sinusoidal", "--output="}, NULL, 2, "", "--output needs a value"},
    {{"table", "sinusoidal", "-ox.npy"}, NULL, 2, "", "the file is named by -o FILE"},
    {{"table", "sinusoidal", "-o", "a.npy", "--output=b.npy"}, NULL, 2, "", "given twice"},
    {{"table", "sinusoidl"}, NULL, 2, "", "did you mean sinusoidal?"},
    {{"table", "sinusoidal"}, NULL, 2, "", "d_model"},
    {{"table", "sinusoidal", "--d-model"}, NULL, 2, "", "--d-model needs a value"},
    {{"table", "sinusoidal", "4"}, NULL, 2, "", "unexpected argument 4"},
    {{"table", "sinusoidal", "--dmodel=4"}, NULL, 2, "", "did you mean d_model?"},
    {{"table", "sinusoidal", "--d-model=4", "--d_model=4"}, NULL, 2, "", "d_model"},
    {{"table", "sinusoidal", "--d-model=4", "--format=xls"}, NULL, 2, "", "json, npy"},
    {{"table", "sinusoidal", "--d-model=4", "-o", "x.xls"}, NULL, 2, "", "the extension"},
    {{"table", "sinusoidal", "--d-model=4", "-o", "/nonexistent/x.npy"},
     NULL,
     3,
     "",
     "cannot write /nonexistent/x.npy"},
    {{"table", "sinusoidal", "--d-model=4", "--format=npy", "-o", "/dev/full"},
     NULL,
     3,
     "",
     "posenc: /dev/full could not be written: No space left on device\n"},
    {{"table", "sinusoidal", "--d-model=4", "--max-elements=3"}, NULL, 2, "", "at most 3"},
    {{"table", "sinusoidal/add"}, NULL, 2, "", "--body FILE"},
    {{"table", "sinusoidal/add", "--body", "/nonexistent.npy"}, NULL, 3, "", "cannot read"},
    {{"table", "sinusoidal/add", "--body=-", "--base=1"}, NULL, 3, "", "standard input is empty"},
    {{"table", "alibi/slopes", "--n-heads=2", "--format=csv"},
     NULL,
     0,
     "0.0625",
     "warning: n_heads"},
    {{"get"}, NULL, 2, "", "expected: posenc get PATH"},
    {{"get", "/v1/alibi/slopes?num_heads=2"}, NULL, 0, "\"data\":[0.0625,0.00390625]", ""},
    {{"get", "alibi/slopes?num_heads=2&format=csv"}, NULL, 0, "0.00390625", ""},
    {{"get", "/v1/nope"}, NULL, 2, "", "posenc: nothing lives at /v1/nope"},
    {{"get", "/sinusoidal?d_model=4"}, NULL, 2, "", "308"},
    {{"get", "/v1/sinusoidal?d_model=4", "--boddy=x"}, NULL, 2, "", "did you mean --body?"},
    {{"models", "qwen3", "embedding"}, NULL, 0, "qwen3-embedding-8b", ""},
    {{"models", "no-such-model"}, NULL, 1, "", ""},
    {{"models", "qwen3-8b", "--format=json"}, NULL, 0, "\"rope_theta\":1000000", ""},
    {{"models", "--format=xml"}, NULL, 2, "", "--format must be one of text, json, got xml"},
    {{"compare", "llama-3.1-8b", "262144"}, NULL, 0, "target_length: 262144", ""},
    {{"compare", "llama-3.1-8b", "262144", "--format=json"}, NULL, 0, "{\"encoding\"", ""},
    {{"compare", "llama-3.1-8b"},
     NULL,
     2,
     "",
     "expected: posenc compare MODEL | config.json LENGTH"},
    {{"compare", "lama-3.1-8b", "8"}, NULL, 2, "", "did you mean"},
    {{"resolve"}, NULL, 2, "", "expected: posenc resolve config.json"},
    {{"resolve", "/nonexistent"}, NULL, 3, "", "cannot read /nonexistent: No such file"},
    {{"resolve", "-"}, NULL, 3, "", "standard input is empty"},
    {{"pack"}, NULL, 2, "", "did you mean pack list, pack make or pack check?"},
    {{"pack", "list"}, NULL, 0, "llama3", ""},
    {{"pack", "make"}, NULL, 2, "", "expected: posenc pack make NAME"},
    {{"pack", "make", "llama3@sha256-0", "-o", "-"}, NULL, 2, "", "has the digest sha256-"},
    {{"pack", "make", "alibi", "-o", "/nonexistent/x"}, NULL, 3, "", "cannot write"},
    {{"completions"}, NULL, 2, "", "bash, zsh or fish"},
    {{"completions", "fish"}, NULL, 0, "complete -c posenc", ""},
    {{"help", "--man"}, NULL, 0, ".SH ENCODINGS", ""},
};

static bool holds(const char *text, const char *part)
{
    return *part == '\0' ? *text == '\0' : strstr(text, part) != NULL;
}

static void every_command_says_what_it_did_or_what_is_wrong(void **state)
{
    for (size_t c = 0; c < PE_LEN(sayings); c++) {
        const struct says *says = &sayings[c];
        struct run run = run_with(says->arguments, "", says->variable);
        const bool status_fits =
            says->status == -1 ? run.status == 1 || run.status == 2 : run.status == says->status;
        if (!status_fits || !holds(run.out, says->out) || !holds(run.err, says->err))
            fail_msg("posenc %s %s ...: exit status %d, wanted %d; wrote \"%s\", wanted \"%s\"; "
                     "logged \"%s\", wanted \"%s\"",
                     says->arguments[0] != NULL ? says->arguments[0] : "",
                     says->arguments[1] != NULL ? says->arguments[1] : "", run.status, says->status,
                     run.out, says->out, run.err, says->err);
        free_run(&run);
    }
}

static void a_failure_is_one_line_of_json(void **state)
{
    struct run run = run_with((const char *[]){"serve", "--prot", "1", NULL}, "", NULL);
    json_t *line = json_loads(run.err, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(line);
    assert_string_equal(json_string_value(json_object_get(line, "level")), "error");
    assert_string_equal(json_string_value(json_object_get(line, "code")), "invalid-parameter");
    assert_string_equal(json_string_value(json_object_get(line, "parameter")), "prot");
    assert_ptr_equal(strchr(run.err, '\n'), run.err + strlen(run.err) - 1);
    json_decref(line);
    free_run(&run);
}

/* ---- beside a server ---- */

static test_server server;

static const struct same {
    const char *arguments[ARGUMENTS_MAX], *target;
} sames[] = {
    {{"table", "sinusoidal", "--d-model", "6", "--positions=-3:70"},
     "/v1/sinusoidal?d_model=6&positions=-3:70"},
    {{"table", "/v1/sinusoidal", "--d_model=6", "--positions", "1,5,9", "--encoding-format=base64"},
     "/v1/sinusoidal?d_model=6&positions=1,5,9&encoding_format=base64"},
    {{"table", "sinusoidal", "--d-model=6", "--format", "npy", "--dtype", "float16"},
     "/v1/sinusoidal?d_model=6&format=npy&dtype=float16"},
    {{"table", "sinusoidal", "--d-model=600", "--format=csv", "--kernels=baseline"},
     "/v1/sinusoidal?d_model=600&format=csv"},
    {{"table", "rope/table", "--head-dim=64", "--format=safetensors", "--positions=0:100"},
     "/v1/rope/table?head_dim=64&format=safetensors&positions=0:100"},
    {{"table", "rope/table", "--head-dim=64", "--format=raw", "--tensor=sin"},
     "/v1/rope/table?head_dim=64&format=raw&tensor=sin"},
    {{"table", "alibi/slopes", "--num-heads=12"}, "/v1/alibi/slopes?num_heads=12"},
};

static void a_table_has_the_bytes_of_the_servers_answer(void **state)
{
    for (size_t c = 0; c < PE_LEN(sames); c++) {
        struct run run = run_with(sames[c].arguments, "", NULL);
        reply answer = get(&server, sames[c].target);
        if (run.status != 0 || answer.status != 200 || run.out_bytes != answer.bytes ||
            memcmp(run.out, answer.body, answer.bytes) != 0)
            fail_msg("%s: exit status %d and %zu bytes, the server says %ld and %zu bytes; %s",
                     sames[c].target, run.status, run.out_bytes, answer.status, answer.bytes,
                     run.err);
        reply_free(&answer);
        free_run(&run);
    }
}

static void a_transform_reads_its_vectors_from_standard_input(void **state)
{
    static const char body[] = "{\"embeddings\": [[1, 2], [3, 4]], \"positions\": \"7:9\"}";
    struct run run =
        run_with((const char *[]){"table", "sinusoidal/add", "--body=-", NULL}, body, NULL);
    reply answer = post_json(&server, "/v1/sinusoidal/add", body);
    assert_int_equal(run.status, 0);
    assert_int_equal(answer.status, 200);
    assert_string_equal(run.out, answer.body);
    reply_free(&answer);
    free_run(&run);
}

static void a_file_is_written_whole_in_the_format_of_its_extension(void **state)
{
    char folder[] = "/tmp/posenc-program-XXXXXX", path[64], copy[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/table.npy", folder);
    snprintf(copy, sizeof copy, "%s/copy.npy", folder);
    struct run run = run_with(
        (const char *[]){"table", "sinusoidal", "--d-model=8", "-o", path, NULL}, "", NULL);
    assert_int_equal(run.status, 0);
    assert_string_equal(run.out, "");
    assert_string_equal(run.err, "");
    free_run(&run);

    size_t bytes;
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = read_all(dup(fileno(file)), &bytes);
    fclose(file);
    reply answer = get(&server, "/v1/sinusoidal?d_model=8&format=npy");
    assert_int_equal(bytes, answer.bytes);
    assert_memory_equal(text, answer.body, bytes);
    reply_free(&answer);
    free(text);

    /* A .npy file is a body, too. */
    run = run_with((const char *[]){"table", "sinusoidal/add", "--body", path, "--positions=0:128",
                                    "--output", copy, NULL},
                   "", NULL);
    assert_int_equal(run.status, 0);
    free_run(&run);

    /* What cannot be made leaves the file alone. */
    run = run_with((const char *[]){"table", "sinusoidal", "--d-model=0", "-o", path, NULL}, "",
                   NULL);
    assert_int_equal(run.status, 2);
    free_run(&run);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(copy), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void healthcheck_tells_whether_the_server_answers(void **state)
{
    char listens[64];
    snprintf(listens, sizeof listens, "POSENC_LISTEN=127.0.0.1:%d unix:/nonexistent", server.port);
    const struct {
        const char *variable;
        int status;
    } cases[] = {
        {NULL, 0},
        {listens, 0},                           /* the first of them */
        {"POSENC_LISTEN=unix:/nonexistent", 1}, /* not where host and port say */
        {"POSENC_HOST=0.0.0.0", 0},  /* a server that listens everywhere is on the loopback */
        {"POSENC_HOST=127.0.0.2", 1} /* the server listens on another address */
    };
    char port[32];
    snprintf(port, sizeof port, "--port=%d", server.port);
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        struct run run =
            run_with((const char *[]){"healthcheck", port, NULL}, "", cases[c].variable);
        if (run.status != cases[c].status)
            fail_msg("%s: exit status %d, wanted %d; %s",
                     cases[c].variable != NULL ? cases[c].variable : "as it is", run.status,
                     cases[c].status, run.err);
        free_run(&run);
    }
}

/* ---- signals ---- */

static void sigterm_and_sigint_end_the_server_with_zero(void **state)
{
    static const int signals[] = {SIGTERM, SIGINT};
    for (size_t s = 0; s < PE_LEN(signals); s++) {
        test_server another;
        server_start(&another, NULL);
        kill(another.pid, signals[s]);
        another.asked = true;
        assert_int_equal(server_stop(&another), 0);
        assert_non_null(strstr(another.log, signals[s] == SIGINT ? "SIGINT" : "SIGTERM"));
        assert_non_null(strstr(another.log, "\"event\":\"stopped\""));
        server_free(&another);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_says_what_it_did_or_what_is_wrong),
        cmocka_unit_test(a_failure_is_one_line_of_json),
        cmocka_unit_test(a_table_has_the_bytes_of_the_servers_answer),
        cmocka_unit_test(a_transform_reads_its_vectors_from_standard_input),
        cmocka_unit_test(a_file_is_written_whole_in_the_format_of_its_extension),
        cmocka_unit_test(healthcheck_tells_whether_the_server_answers),
        cmocka_unit_test(sigterm_and_sigint_end_the_server_with_zero),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
