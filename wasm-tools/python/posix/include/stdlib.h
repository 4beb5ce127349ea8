/* <stdlib.h> plus system(3). */
#include_next <stdlib.h>
#ifndef WSKILL_POSIX_STDLIB_H
#define WSKILL_POSIX_STDLIB_H
int system(const char *command);
#endif
