/* <sys/time.h> plus the real-time interval timer. */
#include_next <sys/time.h>
#ifndef WSKILL_POSIX_SYS_TIME_H
#define WSKILL_POSIX_SYS_TIME_H
#define ITIMER_REAL    0
#define ITIMER_VIRTUAL 1
#define ITIMER_PROF    2
struct itimerval { struct timeval it_interval, it_value; };
int getitimer(int which, struct itimerval *value);
int setitimer(int which, const struct itimerval *restrict value, struct itimerval *restrict old);
#endif
