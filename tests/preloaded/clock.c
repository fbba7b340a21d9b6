/* The clock of one process: CLOCK_OFFSET seconds before or after the system's, or stopped at
 * CLOCK_STOPPED seconds after 1970. Other clocks, such as the monotonic one, stay as they are. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

typedef int (*clock_function)(clockid_t, struct timespec *);

int clock_gettime(clockid_t clock, struct timespec *now) {
    static clock_function system_clock;
    if (!system_clock)
        system_clock = (clock_function)dlsym(RTLD_NEXT, "clock_gettime");
    int result = system_clock(clock, now);
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) {
        const char *offset = getenv("CLOCK_OFFSET"), *stopped = getenv("CLOCK_STOPPED");
        if (offset)
            now->tv_sec += atol(offset);
        if (stopped) {
            now->tv_sec = atol(stopped);
            now->tv_nsec = 0;
        }
    }
    return result;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec precise;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *stored) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (stored)
        *stored = now.tv_sec;
    return now.tv_sec;
}
