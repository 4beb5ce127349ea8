/* <sys/ioctl.h> plus the terminal size. */
#include_next <sys/ioctl.h>
#ifndef WSKILL_POSIX_SYS_IOCTL_H
#define WSKILL_POSIX_SYS_IOCTL_H
#define TIOCGWINSZ 0x5413
struct winsize { unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel; };
#endif
