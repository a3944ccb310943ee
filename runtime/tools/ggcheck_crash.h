/* ggcheck_crash.h - says where a kernel was when the process got a deadly signal.
 *
 * On SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT and SIGALRM (what a driver sends at a time-out) two
 * kinds of records go to stdout and the process ends as the signal would end it:
 *   X SIGNAL NAME   name: of the kernel that was running
 *   B 0xADDRESS     return addresses, innermost first: for addr2line on this executable
 */
#ifndef GGCHECK_CRASH_H
#define GGCHECK_CRASH_H

void ggcheck_crash_install(void);
/* The kernel that runs from now on; the string must stay. NULL: none. */
void ggcheck_crash_kernel(const char *name);

#endif
