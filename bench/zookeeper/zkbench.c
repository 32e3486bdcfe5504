/* A client of ZooKeeper's own C library, for any server of the protocol:
 *   gcc -O2 -DTHREADED zkbench.c -o zkbench -lzookeeper_mt -lpthread        (Debian: libzookeeper-mt-dev)
 *   zkbench HOSTS create|set|get N WINDOW SESSIONS SIZE ROOT
 * N requests of SESSIONS sessions, each with WINDOW outstanding. Prints one line: operations a second, p50 and p99 in ms, errors. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zookeeper/zookeeper.h>

struct session {
    zhandle_t *handle;
    int id, count, window, size, errors;
    const char *op, *root;
    char *data;
    double *latencies;
    sem_t free, connected;
};

struct request {
    struct session *session;
    int index;
    double began;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static void on_event(zhandle_t *handle, int type, int state, const char *path, void *context)
{
    if (type == ZOO_SESSION_EVENT && state == ZOO_CONNECTED_STATE) sem_post(&((struct session *)context)->connected);
}

/* Replies of a session come on one thread of the library. */
static void on_reply(int code, const void *data)
{
    struct request *request = (struct request *)data;
    request->session->latencies[request->index] = now() - request->began;
    if (code != ZOK) request->session->errors++;
    sem_post(&request->session->free);
    free(request);
}

static void on_path(int code, const char *path, const void *data) { on_reply(code, data); }

static void on_stat(int code, const struct Stat *stat, const void *data) { on_reply(code, data); }

static void on_data(int code, const char *value, int length, const struct Stat *stat, const void *data)
{
    on_reply(code, data);
}

static void *run(void *argument)
{
    struct session *session = argument;
    char path[512];
    for (int i = 0; i < session->count; i++) {
        sem_wait(&session->free);
        struct request *request = malloc(sizeof *request);
        *request = (struct request){session, i, now()};
        snprintf(path, sizeof path, "%s/%d-%d", session->root, session->id, i);
        int code = !strcmp(session->op, "create")
            ? zoo_acreate(session->handle, path, session->data, session->size, &ZOO_OPEN_ACL_UNSAFE, 0, on_path, request)
            : !strcmp(session->op, "set")
                ? zoo_aset(session->handle, path, session->data, session->size, -1, on_stat, request)
                : zoo_aget(session->handle, path, 0, on_data, request);
        if (code != ZOK) {
            fprintf(stderr, "the library refuses a request: %s\n", zerror(code));
            exit(1);
        }
    }

    for (int i = 0; i < session->window; i++) sem_wait(&session->free);
    return NULL;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

int main(int count, char **words)
{
    if (count != 8) {
        fprintf(stderr, "zkbench HOSTS create|set|get N WINDOW SESSIONS SIZE ROOT\n");
        return 2;
    }

    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    int total = atoi(words[3]), window = atoi(words[4]), sessions = atoi(words[5]), size = atoi(words[6]);
    total -= total % sessions;
    struct session *all = calloc(sessions, sizeof *all);
    double *latencies = calloc(total, sizeof *latencies);
    for (int i = 0; i < sessions; i++) {
        all[i] = (struct session){.id = i, .count = total / sessions, .window = window, .size = size, .op = words[2],
            .root = words[7], .data = malloc(size + 1), .latencies = latencies + (long)i * (total / sessions)};
        memset(all[i].data, 'x', size);
        sem_init(&all[i].free, 0, window);
        sem_init(&all[i].connected, 0, 0);
        all[i].handle = zookeeper_init(words[1], on_event, 30000, 0, &all[i], 0);
        struct timespec limit;
        clock_gettime(CLOCK_REALTIME, &limit);
        limit.tv_sec += 15;
        if (sem_timedwait(&all[i].connected, &limit)) {
            fprintf(stderr, "no connection to %s within 15 s\n", words[1]);
            return 1;
        }
    }

    zoo_create(all[0].handle, words[7], "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, 0, 0);
    pthread_t threads[sessions];
    double began = now();
    for (int i = 0; i < sessions; i++) pthread_create(&threads[i], 0, run, &all[i]);
    for (int i = 0; i < sessions; i++) pthread_join(threads[i], 0);
    double took = now() - began;
    int errors = 0;
    for (int i = 0; i < sessions; i++) errors += all[i].errors;
    qsort(latencies, total, sizeof *latencies, compare);
    printf("%.0f %.3f %.3f %d\n", total / took, latencies[total / 2] * 1e3, latencies[(long)total * 99 / 100] * 1e3, errors);
    for (int i = 0; i < sessions; i++) zookeeper_close(all[i].handle);
    return 0;
}
