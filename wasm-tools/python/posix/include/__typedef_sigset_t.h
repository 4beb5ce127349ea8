/* Shadows wasi-libc's one-byte placeholder: bit n-1 stands for signal n. */
#ifndef __wasilibc___typedef_sigset_t_h
#define __wasilibc___typedef_sigset_t_h
typedef unsigned long long sigset_t;
#endif
