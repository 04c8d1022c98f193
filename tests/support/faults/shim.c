/* Makes system calls fail, or kills the process, at the n-th call on a file below one folder.

   Loaded with LD_PRELOAD. It does nothing until fault_arm is called. Python, SQLite and Arrow all make their calls
   through these functions of the C library. Not seen: writes through a memory map (SQLite's -shm file) and calls that
   the C library makes inside itself (fopen, fwrite). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { OPEN = 1, READ = 2, WRITE = 4, SYNC = 8, NAME = 16, LOCK = 32, STEP = 64 };
enum { NOTHING, FAIL, KILL, KILL_AFTER, TEAR, SIGNAL, GRANT, CLOCK };

static struct {
    volatile int armed;
    int kinds, action, error, kill_after_call;
    long at, times, delay_us, clock_seconds;
    volatile long count, clock_now;
    char root[PATH_MAX];
    size_t root_length;
} plan;

void fault_arm(const char *root, int kinds, long at, int action, int error, long times, long delay_us, long clock) {
    plan.armed = 0;
    strncpy(plan.root, root, sizeof plan.root - 1);
    plan.root_length = strlen(plan.root);
    plan.kinds = kinds;
    plan.at = at;
    plan.action = action;
    plan.error = error;
    plan.times = times;
    plan.delay_us = delay_us;
    plan.clock_seconds = clock;
    plan.count = plan.clock_now = 0;
    plan.armed = 1;
}

long fault_count(void) { return plan.count; }

void fault_disarm(void) {
    plan.armed = 0;
    plan.clock_now = 0;
}

static int below(const char *path) {
    return strncmp(path, plan.root, plan.root_length) == 0 &&
           (path[plan.root_length] == '/' || path[plan.root_length] == 0);
}

static int path_below(int folder, const char *path) {
    char whole[2 * PATH_MAX], link[64];
    if (path == NULL) return 0;
    if (path[0] == '/') return below(path);
    ssize_t length;
    if (folder == AT_FDCWD) {
        if (getcwd(whole, PATH_MAX) == NULL) return 0;
    } else {
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        length = readlink(link, whole, PATH_MAX - 1);
        if (length < 0) return 0;
        whole[length] = 0;
    }
    strcat(whole, "/");
    strncat(whole, path, PATH_MAX - 1);
    return below(whole);
}

static int file_below(int descriptor) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return below(path);
}

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

/* What to do with this call: NOTHING, FAIL (errno is set), KILL_AFTER, TEAR or GRANT. Other actions are done here. */
static int hit(int kind) {
    if (plan.delay_us && (plan.kinds & kind)) {
        struct timespec pause_for = {plan.delay_us / 1000000, plan.delay_us % 1000000 * 1000};
        nanosleep(&pause_for, NULL);
    }
    if (!(plan.kinds & kind)) return NOTHING;
    long number = __sync_add_and_fetch(&plan.count, 1);
    if (plan.at == 0 || number < plan.at || (plan.times >= 0 && number >= plan.at + plan.times)) return NOTHING;
    switch (plan.action) {
    case FAIL:
        errno = plan.error;
        return FAIL;
    case KILL:
        die();
        return NOTHING;
    case SIGNAL:
        kill(getpid(), plan.error);
        return NOTHING;
    case CLOCK:
        plan.clock_now = plan.clock_seconds;
        return NOTHING;
    default:
        return plan.action;
    }
}

#define REAL(name, type, ...)                                                                                          \
    static type (*real)(__VA_ARGS__);                                                                                  \
    if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

#define FINISH(todo, result)                                                                                           \
    if (todo == KILL_AFTER || todo == TEAR) die();                                                                     \
    return result

#define OPENER(name)                                                                                                   \
    int name(const char *path, int flags, ...) {                                                                       \
        REAL(name, int, const char *, int, ...);                                                                       \
        mode_t mode = 0;                                                                                               \
        if (flags & (O_CREAT | O_TMPFILE)) {                                                                           \
            va_list rest;                                                                                              \
            va_start(rest, flags);                                                                                     \
            mode = va_arg(rest, mode_t);                                                                               \
            va_end(rest);                                                                                              \
        }                                                                                                              \
        int todo = plan.armed && path_below(AT_FDCWD, path) ? hit(OPEN) : NOTHING;                                     \
        if (todo == FAIL) return -1;                                                                                   \
        int result = real(path, flags, mode);                                                                          \
        FINISH(todo, result);                                                                                          \
    }
OPENER(open)
OPENER(open64)

#define OPENER_AT(name)                                                                                                \
    int name(int folder, const char *path, int flags, ...) {                                                           \
        REAL(name, int, int, const char *, int, ...);                                                                  \
        mode_t mode = 0;                                                                                               \
        if (flags & (O_CREAT | O_TMPFILE)) {                                                                           \
            va_list rest;                                                                                              \
            va_start(rest, flags);                                                                                     \
            mode = va_arg(rest, mode_t);                                                                               \
            va_end(rest);                                                                                              \
        }                                                                                                              \
        int todo = plan.armed && path_below(folder, path) ? hit(OPEN) : NOTHING;                                       \
        if (todo == FAIL) return -1;                                                                                   \
        int result = real(folder, path, flags, mode);                                                                  \
        FINISH(todo, result);                                                                                          \
    }
OPENER_AT(openat)
OPENER_AT(openat64)

#define ON_FILE(name, kind, type, parameters, types, arguments)                                                        \
    type name parameters {                                                                                             \
        REAL(name, type, types);                                                                                       \
        int todo = plan.armed && file_below(file) ? hit(kind) : NOTHING;                                               \
        if (todo == FAIL) return -1;                                                                                   \
        type result = real arguments;                                                                                  \
        FINISH(todo, result);                                                                                          \
    }
#define C ,
ON_FILE(read, READ, ssize_t, (int file, void *to, size_t size), int C void * C size_t, (file, to, size))
ON_FILE(pread, READ, ssize_t, (int file, void *to, size_t size, off_t at), int C void * C size_t C off_t,
        (file, to, size, at))
ON_FILE(pread64, READ, ssize_t, (int file, void *to, size_t size, off_t at), int C void * C size_t C off_t,
        (file, to, size, at))
ON_FILE(writev, WRITE, ssize_t, (int file, const struct iovec *from, int number), int C const struct iovec * C int,
        (file, from, number))
ON_FILE(fsync, SYNC, int, (int file), int, (file))
ON_FILE(fdatasync, SYNC, int, (int file), int, (file))
ON_FILE(ftruncate, WRITE, int, (int file, off_t size), int C off_t, (file, size))
ON_FILE(ftruncate64, WRITE, int, (int file, off_t size), int C off_t, (file, size))
ON_FILE(fchmod, NAME, int, (int file, mode_t mode), int C mode_t, (file, mode))

/* A torn write stores the first half, then the process is killed. */
#define WRITER(name, parameters, types, whole, half)                                                                   \
    ssize_t name parameters {                                                                                          \
        REAL(name, ssize_t, types);                                                                                    \
        int todo = plan.armed && file_below(file) ? hit(WRITE) : NOTHING;                                              \
        if (todo == FAIL) return -1;                                                                                   \
        ssize_t result = todo == TEAR ? real half : real whole;                                                        \
        FINISH(todo, result);                                                                                          \
    }
WRITER(write, (int file, const void *from, size_t size), int C const void * C size_t, (file, from, size),
       (file, from, size / 2))
WRITER(pwrite, (int file, const void *from, size_t size, off_t at), int C const void * C size_t C off_t,
       (file, from, size, at), (file, from, size / 2, at))
WRITER(pwrite64, (int file, const void *from, size_t size, off_t at), int C const void * C size_t C off_t,
       (file, from, size, at), (file, from, size / 2, at))

#define ON_PATH(name, parameters, types, where, path, arguments)                                                       \
    int name parameters {                                                                                              \
        REAL(name, int, types);                                                                                        \
        int todo = plan.armed && path_below(where, path) ? hit(NAME) : NOTHING;                                        \
        if (todo == FAIL) return -1;                                                                                   \
        int result = real arguments;                                                                                   \
        FINISH(todo, result);                                                                                          \
    }
ON_PATH(rename, (const char *from, const char *to), const char *C const char *, AT_FDCWD, to, (from, to))
ON_PATH(renameat, (int a, const char *from, int b, const char *to), int C const char *C int C const char *, b, to,
        (a, from, b, to))
ON_PATH(link, (const char *from, const char *to), const char *C const char *, AT_FDCWD, to, (from, to))
ON_PATH(unlink, (const char *path), const char *, AT_FDCWD, path, (path))
ON_PATH(unlinkat, (int folder, const char *path, int flags), int C const char *C int, folder, path,
        (folder, path, flags))
ON_PATH(mkdir, (const char *path, mode_t mode), const char *C mode_t, AT_FDCWD, path, (path, mode))
ON_PATH(rmdir, (const char *path), const char *, AT_FDCWD, path, (path))
ON_PATH(chmod, (const char *path, mode_t mode), const char *C mode_t, AT_FDCWD, path, (path, mode))

#define LOCKER(name)                                                                                                   \
    int name(int file, int command, ...) {                                                                             \
        REAL(name, int, int, int, ...);                                                                                \
        va_list rest;                                                                                                  \
        va_start(rest, command);                                                                                       \
        void *argument = va_arg(rest, void *);                                                                         \
        va_end(rest);                                                                                                  \
        int locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;    \
        int todo = NOTHING;                                                                                            \
        if (locks && plan.armed && ((struct flock *)argument)->l_type != F_UNLCK && file_below(file)) todo = hit(LOCK); \
        if (todo == FAIL) return -1;                                                                                   \
        if (todo == GRANT) return 0;                                                                                   \
        int result = real(file, command, argument);                                                                    \
        FINISH(todo, result);                                                                                          \
    }
LOCKER(fcntl)
LOCKER(fcntl64)

int flock(int file, int operation) {
    REAL(flock, int, int, int);
    int todo = plan.armed && !(operation & LOCK_UN) && file_below(file) ? hit(LOCK) : NOTHING;
    if (todo == FAIL) return -1;
    if (todo == GRANT) return 0;
    int result = real(file, operation);
    FINISH(todo, result);
}

/* Every step of every statement of SQLite, whatever file it concerns. It can be killed, not made to fail: a made-up
   error code would not be the one that the connection reports. */
int sqlite3_step(void *statement) {
    static int (*real)(void *);
    if (!real) { /* the library is loaded by a module, so it is not among the next ones */
        void *library = dlopen("libsqlite3.so.0", RTLD_LAZY | RTLD_NOLOAD);
        real = (int (*)(void *))dlsym(library ? library : RTLD_NEXT, "sqlite3_step");
    }
    int todo = plan.armed && (plan.kinds & STEP) ? hit(STEP) : NOTHING;
    int result = real(statement);
    FINISH(todo, result);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    REAL(clock_gettime, int, clockid_t, struct timespec *);
    int result = real(clock, now);
    if (result == 0 && plan.clock_now && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += plan.clock_now;
    return result;
}

time_t time(time_t *to) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (to) *to = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict to, void *restrict zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    to->tv_sec = now.tv_sec;
    to->tv_usec = now.tv_nsec / 1000;
    return 0;
}
