// Interposes the calls of the C library that change files, and fails the n-th call below a directory or kills the process
// at it. `interposer.rs` compiles this file, loads it into the server with LD_PRELOAD, and shares the plan with it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OPEN = 1, WRITE = 2, SYNC = 4, NAME = 8, CREATE = 16 };

// The layout is that of `interposer.rs`.
struct plan {
    _Atomic uint64_t loaded, kinds, first, count, error, calls, struck;
    char place[200], below[256];
};

static struct plan *plan;

__attribute__((constructor)) static void load(void) {
    const char *path = getenv("FAULT_PLAN");
    if (!path) return;
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    struct plan *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (shared == MAP_FAILED) return;
    atomic_fetch_add(&shared->loaded, 1);
    plan = shared;
}

// Whether this call fails. Kills the process when the plan's error is 0.
static int fails(int kind, const char *call, const char *path) {
    if (!plan || !(atomic_load(&plan->kinds) & kind)) return 0;
    size_t length = strlen(plan->below);
    if (strncmp(path, plan->below, length) != 0) return 0;
    uint64_t first = atomic_load(&plan->first), number = atomic_fetch_add(&plan->calls, 1) + 1;
    if (number < first || number >= first + atomic_load(&plan->count)) return 0;
    snprintf(plan->place, sizeof plan->place, "%s %s", call, path + length);
    atomic_fetch_add(&plan->struck, 1);
    int error = atomic_load(&plan->error);
    if (!error) {
        kill(getpid(), SIGKILL);
        for (;;) pause();
    }
    errno = error;
    return 1;
}

static int fails_on(int kind, const char *call, int file) {
    if (!plan || !(atomic_load(&plan->kinds) & kind)) return 0;
    char link[32], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return fails(kind, call, path);
}

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    }

#define OPENS(name) \
    int name(const char *path, int flags, ...) { \
        REAL(name); \
        MODE(flags) \
        return fails((flags & O_CREAT) ? OPEN | CREATE : OPEN, "open", path) ? -1 : real(path, flags, mode); \
    }
#define OPENS_AT(name) \
    int name(int directory, const char *path, int flags, ...) { \
        REAL(name); \
        MODE(flags) \
        return fails((flags & O_CREAT) ? OPEN | CREATE : OPEN, "open", path) ? -1 : real(directory, path, flags, mode); \
    }
OPENS(open)
OPENS(open64)
OPENS_AT(openat)
OPENS_AT(openat64)

ssize_t write(int file, const void *bytes, size_t count) {
    REAL(write);
    return fails_on(WRITE, "write", file) ? -1 : real(file, bytes, count);
}
ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    REAL(pwrite);
    return fails_on(WRITE, "write", file) ? -1 : real(file, bytes, count, offset);
}
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    REAL(pwrite64);
    return fails_on(WRITE, "write", file) ? -1 : real(file, bytes, count, offset);
}
ssize_t writev(int file, const struct iovec *parts, int count) {
    REAL(writev);
    return fails_on(WRITE, "write", file) ? -1 : real(file, parts, count);
}

int fsync(int file) {
    REAL(fsync);
    return fails_on(SYNC, "sync", file) ? -1 : real(file);
}
int fdatasync(int file) {
    REAL(fdatasync);
    return fails_on(SYNC, "sync", file) ? -1 : real(file);
}

int rename(const char *from, const char *to) {
    REAL(rename);
    return fails(NAME, "rename to", to) ? -1 : real(from, to);
}
int link(const char *from, const char *to) {
    REAL(link);
    return fails(NAME, "link", to) ? -1 : real(from, to);
}
int unlink(const char *path) {
    REAL(unlink);
    return fails(NAME, "remove", path) ? -1 : real(path);
}
int mkdir(const char *path, mode_t mode) {
    REAL(mkdir);
    return fails(NAME, "make directory", path) ? -1 : real(path, mode);
}
