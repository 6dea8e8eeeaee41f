/* SPDX-License-Identifier: MIT */
/* test_clients.c - turns of clients, their buckets, the table that knows them, the file of keys. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/yield.h"
#include "http/clients/clients.h"
#include "http/clients/keys.h"
#include "support/folder.h"

/* ---- turns ---- */

#define JOBS 64

typedef struct client_jobs {
    pe_client_queue client;
    pe_job job[JOBS];
} client_jobs;

static void submit(pe_fair_queue *queue, client_jobs *client, size_t n, uint64_t price)
{
    for (size_t i = 0; i < n; i++) {
        client->job[i] = (pe_job){.context = client, .price = price};
        pe_fair_queue_add(queue, &client->client, &client->job[i]);
    }
}

/* Of the next `n` jobs, how many are this client's. */
static size_t taken(pe_fair_queue *queue, size_t n, const client_jobs *of)
{
    size_t own = 0;
    for (size_t i = 0; i < n; i++)
        own += pe_fair_queue_take(queue)->context == of;
    return own;
}

static void one_client_keeps_its_order(void **state)
{
    pe_fair_queue queue = {0};
    client_jobs one = {0};
    submit(&queue, &one, JOBS, 1000000);
    for (size_t i = 0; i < JOBS; i++)
        assert_ptr_equal(pe_fair_queue_take(&queue), &one.job[i]);
    assert_int_equal(queue.waiting, 0);
    assert_null(queue.last);
}

static void many_jobs_do_not_delay_one(void **state)
{
    pe_fair_queue queue = {0};
    client_jobs many = {0}, one = {0};
    submit(&queue, &many, JOBS, 10000000);
    submit(&queue, &one, 1, 10000000);
    assert_int_equal(taken(&queue, 2, &one), 1);
    assert_int_equal(taken(&queue, JOBS - 1, &many), JOBS - 1);
}

static void turns_are_of_work_not_of_jobs(void **state)
{
    pe_fair_queue queue = {0};
    client_jobs costly = {0}, cheap = {0};
    submit(&queue, &costly, 8, PE_YIELD_WORK);
    submit(&queue, &cheap, JOBS, PE_YIELD_WORK / 8);
    /* While the costly one has had k jobs, the cheap one has had about 8 k. */
    const size_t of_costly = taken(&queue, 36, &costly);
    assert_in_range(of_costly, 3, 5);
}

static void a_price_beyond_all_is_one_turn_of_many(void **state)
{
    pe_fair_queue queue = {0};
    client_jobs endless = {0};
    submit(&queue, &endless, 2, UINT64_MAX);
    assert_ptr_equal(pe_fair_queue_take(&queue), &endless.job[0]);
    assert_ptr_equal(pe_fair_queue_take(&queue), &endless.job[1]);
}

static void what_comes_round_is_first_in_its_lane(void **state)
{
    pe_fair_queue queue = {0};
    client_jobs mine = {0}, yours = {0};
    pe_job again = {.price = 1};
    submit(&queue, &mine, 2, 1);
    pe_fair_queue_add_first(&queue, &mine.client, &again);
    assert_ptr_equal(pe_fair_queue_take(&queue), &again);
    submit(&queue, &yours, 3, 1);
    pe_fair_queue_add_first(&queue, &yours.client, &again);
    pe_fair_queue_remove(&queue, &yours.client, &yours.job[2]); /* the last */
    pe_fair_queue_remove(&queue, &yours.client, &again);
    pe_fair_queue_remove(&queue, &mine.client, &mine.job[0]);
    pe_fair_queue_remove(&queue, &mine.client, &mine.job[1]); /* and its client leaves the ring */
    assert_ptr_equal(pe_fair_queue_take(&queue), &yours.job[0]);
    pe_fair_queue_remove(&queue, &yours.client, &yours.job[1]);
    assert_int_equal(queue.waiting, 0);
    assert_null(queue.last);
    pe_fair_queue_add_first(&queue, &mine.client, &again);
    assert_ptr_equal(pe_fair_queue_take(&queue), &again);
}

/* ---- buckets ---- */

#define SECOND ((int64_t)PE_NANOSECONDS_PER_SECOND)

static void a_bucket_holds_a_window_and_fills_again(void **state)
{
    const pe_rate rate = {.per_second = 5, .window = 2 * SECOND};
    pe_token_bucket bucket = {0};
    int64_t wait, now = 1000 * SECOND;
    assert_int_equal(pe_token_bucket_look(&bucket, &rate, now).quota, 10);
    for (int i = 0; i < 10; i++)
        assert_true(pe_token_bucket_take(&bucket, &rate, 1, now, &wait));
    assert_false(pe_token_bucket_take(&bucket, &rate, 1, now, &wait));
    assert_int_equal(wait, SECOND / 5);
    assert_int_equal(pe_token_bucket_look(&bucket, &rate, now).left, 0);
    assert_true(pe_token_bucket_take(&bucket, &rate, 1, now + wait, &wait));
    assert_false(pe_token_bucket_take(&bucket, &rate, 1, now + SECOND / 5, &wait));
    assert_int_equal(pe_token_bucket_look(&bucket, &rate, now + 100 * SECOND).left, 10);
}

static void a_full_bucket_lends(void **state)
{
    const pe_rate rate = {.per_second = 10, .window = SECOND};
    pe_token_bucket bucket = {0};
    int64_t wait, now = 50 * SECOND;
    assert_true(pe_token_bucket_take(&bucket, &rate, 30, now, &wait));
    assert_false(pe_token_bucket_take(&bucket, &rate, 1, now, &wait));
    assert_int_equal(wait, 2 * SECOND + SECOND / 10);
    assert_true(pe_token_bucket_take(&bucket, &rate, 1, now + wait, &wait));
}

static void what_was_not_spent_comes_back(void **state)
{
    const pe_rate rate = {.per_second = 10, .window = SECOND};
    pe_token_bucket bucket = {0};
    int64_t wait;
    const int64_t now = pe_clock() + 3600 * SECOND; /* the bucket's time is ahead of the clock's */
    assert_true(pe_token_bucket_take(&bucket, &rate, 10, now, &wait));
    pe_token_bucket_settle(&bucket, &rate, -4);
    assert_int_equal(pe_token_bucket_look(&bucket, &rate, now).left, 4);
    pe_token_bucket_settle(&bucket, &rate, 3);
    assert_int_equal(pe_token_bucket_look(&bucket, &rate, now).left, 1);
}

static void extremes_of_rates_hold(void **state)
{
    const pe_rate slow = {.per_second = 1, .window = 1}, off = {0};
    pe_token_bucket bucket = {0};
    int64_t wait;
    assert_true(pe_token_bucket_take(&bucket, &off, UINT64_MAX, SECOND, &wait));
    assert_true(pe_token_bucket_take(&bucket, &slow, UINT64_MAX, SECOND, &wait));
    assert_false(pe_token_bucket_take(&bucket, &slow, 1, SECOND, &wait));
    assert_true(wait > 3600 * SECOND);
    assert_int_equal(pe_token_bucket_look(&bucket, &slow, SECOND).quota, 1);
}

/* ---- the table ---- */

static pe_client_id id_of(uint32_t number)
{
    pe_client_id id = {0};
    memcpy(id.bytes, &number, sizeof number);
    return id;
}

static void a_client_is_known_again(void **state)
{
    pe_problem why;
    pe_clients *clients;
    assert_int_equal(pe_clients_make(64, &clients, &why), PE_OK);
    const pe_client_id a = id_of(1), b = id_of(2);
    const pe_client_id key = {.bytes = {1}, .keyed = 1};
    pe_client *one = pe_clients_hold(clients, &a, false),
              *two = pe_clients_hold(clients, &b, false);
    pe_client *keyed = pe_clients_hold(clients, &key, false);
    assert_ptr_not_equal(one, two);
    assert_ptr_not_equal(one, keyed);
    assert_ptr_equal(pe_clients_hold(clients, &a, false), one);
    pe_clients_release(clients, one, false);
    pe_clients_release(clients, one, false);
    assert_ptr_equal(pe_clients_hold(clients, &a, false), one); /* nobody has taken its place */
    pe_clients_free(clients);
}

/* However many come, those that are held stay what they are, and others have a client, too. */
static void a_full_table_stays_as_large_as_it_is(void **state)
{
    pe_problem why;
    pe_clients *clients;
    pe_client *held[1000];
    assert_int_equal(pe_clients_make(64, &clients, &why), PE_OK);
    for (uint32_t i = 0; i < 1000; i++) {
        const pe_client_id id = id_of(i);
        held[i] = pe_clients_hold(clients, &id, false);
        assert_non_null(held[i]);
    }
    size_t alone = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        size_t same = 0;
        for (uint32_t j = 0; j < 1000; j++)
            same += held[j] == held[i];
        alone += same == 1;
    }
    assert_in_range(alone, 1, 64);
    for (uint32_t i = 0; i < 1000; i++)
        pe_clients_release(clients, held[i], false);
    for (uint32_t i = 1000; i < 100000; i++) {
        const pe_client_id id = id_of(i);
        pe_client *client = pe_clients_hold(clients, &id, false);
        assert_int_equal(atomic_load(&client->requests.full_at), 0);
        pe_clients_release(clients, client, false);
    }
    pe_clients_free(clients);
}

static void connections_are_counted(void **state)
{
    pe_problem why;
    pe_clients *clients;
    assert_int_equal(pe_clients_make(64, &clients, &why), PE_OK);
    const pe_client_id a = id_of(1), b = id_of(2);
    assert_true(pe_clients_let_in(clients, &a, 2));
    pe_client *one = pe_clients_hold(clients, &a, true);
    assert_true(pe_clients_let_in(clients, &a, 2));
    assert_false(pe_clients_let_in(clients, &a, 2));
    assert_true(pe_clients_let_in(clients, &b, 2));
    pe_client *two = pe_clients_hold(clients, &a, true);
    assert_ptr_equal(one, two);
    assert_false(pe_clients_let_in(clients, &a, 2));
    pe_clients_release(clients, one, true);
    assert_true(pe_clients_let_in(clients, &a, 2));
    pe_clients_release(clients, two, true);
    pe_clients_free(clients);
}

/* ---- keys ---- */

#define HASH                                                                                       \
    "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" /* of "abc" */
#define OTHER "sha256:0000000000000000000000000000000000000000000000000000000000000000"

static pe_status load(const char *text, size_t most, pe_keys **out, pe_problem *why)
{
    char path[128];
    const test_folder folder = folder_make();
    folder_put(&folder, "keys", text, strlen(text));
    snprintf(path, sizeof path, "%s/keys", folder.path);
    const pe_status status = pe_keys_load(path, most, out, why);
    folder_remove(&folder);
    return status;
}

static void a_file_of_keys_is_read(void **state)
{
    pe_problem why;
    pe_keys *keys;
    assert_int_equal(load("# who may come\n\n"
                          "alice\t" HASH "  rate=10 work=2000000 # ours\r\n"
                          "bob.2 " OTHER " disabled",
                          2, &keys, &why),
                     PE_OK);
    assert_int_equal(pe_keys_compare(NULL, keys).keys, 2);
    const pe_key *key = pe_keys_find(keys, pe_slice_of("abc"));
    assert_non_null(key);
    assert_string_equal(key->name, "alice");
    assert_int_equal(key->rate, 10);
    assert_int_equal(key->work_rate, 2000000);
    assert_false(key->disabled);
    assert_null(pe_keys_find(keys, pe_slice_of("abcd")));
    assert_null(pe_keys_find(keys, pe_slice_of("")));
    pe_keys_unref(keys);
}

static pe_keys *keys_of(const char *text)
{
    pe_problem why;
    pe_keys *keys;
    assert_int_equal(load(text, 2, &keys, &why), PE_OK);
    return keys;
}

static void what_a_new_file_changes_is_told_by_name(void **state)
{
    static const struct {
        const char *before, *now; /* NULL: no file */
        size_t added, changed, removed;
        const char *names;
    } rows[] = {
        {"alice " HASH, "alice " HASH, 0, 0, 0, ""},
        {NULL, "alice " HASH, 1, 0, 0, "alice added"},
        {"alice " HASH, NULL, 0, 0, 1, "alice removed"},
        {"alice " HASH, "alice " HASH " disabled", 0, 1, 0, "alice disabled"},
        {"alice " HASH " disabled", "alice " HASH, 0, 1, 0, "alice enabled"},
        {"alice " HASH " rate=3", "alice " HASH " rate=4", 0, 1, 0, "alice changed"},
        {"alice " HASH, "alice " OTHER, 0, 1, 0, "alice changed"},
        {"alice " HASH, "bob " HASH "\nalice " OTHER " disabled", 1, 1, 0,
         "alice disabled, bob added"},
        {"alice " HASH, "bob " HASH, 1, 0, 1, "bob added, alice removed"},
    };
    for (size_t r = 0; r < PE_LEN(rows); r++) {
        pe_keys *before = rows[r].before != NULL ? keys_of(rows[r].before) : NULL;
        pe_keys *now = rows[r].now != NULL ? keys_of(rows[r].now) : NULL;
        const pe_keys_changes changes = pe_keys_compare(before, now);
        assert_string_equal(changes.names, rows[r].names);
        assert_int_equal(changes.added, rows[r].added);
        assert_int_equal(changes.changed, rows[r].changed);
        assert_int_equal(changes.removed, rows[r].removed);
        pe_keys_unref(before);
        pe_keys_unref(now);
    }
}

static void mistakes_in_the_file_are_told_by_their_line(void **state)
{
    static const struct {
        const char *text, *told;
    } rows[] = {
        {"", "holds no key"},
        {"# nobody\n", "holds no key"},
        {"alice", "line 1: after the name must stand sha256:"},
        {"#\nalice " HASH " work=1 work=2", "line 2: work stands twice"},
        {"alice " HASH " rate=1 work=1 rate=1", "line 1: rate stands twice"},
        {"alice " HASH " disabled disabled", "line 1: disabled stands twice"},
        {"\nalice sha256:ba78", "line 2: after the name must stand sha256: and 64"},
        {"alice " HASH "0", "64 hexadecimal digits, got 72 characters"},
        {"alice ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "sha256:"},
        {"al/ice " HASH, "line 1: a name must be"},
        {"alice " HASH " rate=-1", "rate must be a whole number from 1"},
        {"alice " HASH " rate=0", "rate must be a whole number from 1"},
        {"alice " HASH " rate=", "rate must be a whole number from 1"},
        {"alice " HASH " work=1e9", "work must be a whole number from 1"},
        {"alice " HASH " work=99999999999999999999", "work must be a whole number from 1"},
        {"alice " HASH " enabled", "rate=N, work=N and disabled"},
        {"alice " HASH "\nalice " OTHER, "line 2: alice is the name of another key"},
        {"alice " HASH "\nbob " HASH, "have the same key"},
        {"a " HASH "\nb " OTHER "\nc " OTHER, "line 3: at most 2 keys are allowed"},
    };
    for (size_t i = 0; i < PE_LEN(rows); i++) {
        pe_problem why;
        pe_keys *keys;
        assert_int_equal(load(rows[i].text, 2, &keys, &why), PE_INVALID_PARAMETER);
        assert_string_equal(why.where, "keys_file");
        if (strstr(why.detail, rows[i].told) == NULL)
            fail_msg("%s\ngave: %s", rows[i].text, why.detail);
        assert_null(strstr(why.detail, "ba78")); /* it might be a key */
    }
}

static void a_new_key_is_random_and_has_its_hash(void **state)
{
    pe_problem why;
    pe_keys *keys;
    uint8_t hash[PE_KEY_HASH_BYTES];
    char key[PE_KEY_TEXT_BYTES], other[PE_KEY_TEXT_BYTES], line[160], digits[65];
    assert_int_equal(pe_key_new(other, hash, &why), PE_OK);
    assert_int_equal(pe_key_new(key, hash, &why), PE_OK);
    assert_string_not_equal(key, other);
    pe_key_print(hash, sizeof hash, digits);
    snprintf(line, sizeof line, "me sha256:%s\n", digits);
    assert_int_equal(load(line, 1, &keys, &why), PE_OK);
    assert_string_equal(pe_keys_find(keys, pe_slice_of(key))->name, "me");
    assert_null(pe_keys_find(keys, pe_slice_of(other)));
    pe_keys_unref(keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_client_keeps_its_order),
        cmocka_unit_test(many_jobs_do_not_delay_one),
        cmocka_unit_test(turns_are_of_work_not_of_jobs),
        cmocka_unit_test(a_price_beyond_all_is_one_turn_of_many),
        cmocka_unit_test(what_comes_round_is_first_in_its_lane),
        cmocka_unit_test(a_bucket_holds_a_window_and_fills_again),
        cmocka_unit_test(a_full_bucket_lends),
        cmocka_unit_test(what_was_not_spent_comes_back),
        cmocka_unit_test(extremes_of_rates_hold),
        cmocka_unit_test(a_client_is_known_again),
        cmocka_unit_test(a_full_table_stays_as_large_as_it_is),
        cmocka_unit_test(connections_are_counted),
        cmocka_unit_test(a_file_of_keys_is_read),
        cmocka_unit_test(what_a_new_file_changes_is_told_by_name),
        cmocka_unit_test(mistakes_in_the_file_are_told_by_their_line),
        cmocka_unit_test(a_new_key_is_random_and_has_its_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
