/* What a test does to a process that no safe Rust can: moved clocks, and a fork. Loaded in front of
   the C library, whose functions it takes the place of. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* By how many milliseconds the wall clock and the clock since the boot are ahead: two numbers in a
   file, which is looked at each time. */
static void shifts(long long *wall, long long *boot) {
    *wall = *boot = 0;
    const char *path = getenv("RATELIMIT_TEST_CLOCK");
    int saved = errno;
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
        char text[64] = {0};
        if (read(file, text, sizeof text - 1) > 0)
            sscanf(text, "%lld %lld", wall, boot);
        close(file);
    }
    errno = saved;
}

int clock_gettime(clockid_t id, struct timespec *now) {
    int result = syscall(SYS_clock_gettime, id, now);
    if (result == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE || id == CLOCK_BOOTTIME)) {
        long long wall, boot;
        shifts(&wall, &boot);
        long long ms = id == CLOCK_BOOTTIME ? boot : wall;
        long long ns = now->tv_nsec + ms % 1000 * 1000000;
        now->tv_sec += ms / 1000 + (ns >= 1000000000) - (ns < 0);
        now->tv_nsec = (ns + 1000000000) % 1000000000;
    }
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec time;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &time);
    now->tv_sec = time.tv_sec;
    now->tv_usec = time.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result)
        *result = now.tv_sec;
    return now.tv_sec;
}

/* Who asks for its parent where that is allowed becomes one. A child that hangs does not outlive the
   test by much. */
pid_t getppid(void) {
    if (!getenv("RATELIMIT_TEST_FORK"))
        return syscall(SYS_getppid);
    pid_t child = fork();
    if (child == 0)
        alarm(20);
    return child;
}
