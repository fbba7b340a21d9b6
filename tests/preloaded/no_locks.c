/* A file system without locks: fcntl(2) refuses them, as on NFS without its lock daemon. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

typedef int (*fcntl_function)(int, int, ...);

static int without_locks(const char *name, int descriptor, int command, void *argument) {
    switch (command) {
    case F_GETLK:
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_GETLK:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
        errno = ENOLCK;
        return -1;
    }
    return ((fcntl_function)dlsym(RTLD_NEXT, name))(descriptor, command, argument);
}

#define DEFINE(name)                                                                              \
    int name(int descriptor, int command, ...) {                                                  \
        va_list arguments;                                                                        \
        va_start(arguments, command);                                                             \
        void *argument = va_arg(arguments, void *);                                               \
        va_end(arguments);                                                                        \
        return without_locks(#name, descriptor, command, argument);                               \
    }

DEFINE(fcntl)
DEFINE(fcntl64)
