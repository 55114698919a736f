/* What a Go runtime inside somebody else's process needs: never unloaded, the
** host's SIGURG handler left in place, and a fork noticed. */
#define _GNU_SOURCE
#include "shim.h"

volatile int alike_forked;

#ifdef _WIN32
void alike_guard_after_go(void){}
#else
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

static struct sigaction host_urg;
static int have_host_urg;
static pthread_once_t guarded = PTHREAD_ONCE_INIT;

/* A process that forks has only the forking thread in the child: the garbage
** collector's threads are missing there and a Go call may wait for them for
** ever. So the child is told instead (golang/go#15538). */
static void in_child(void){ alike_forked = 1; }

/* Priority 101 comes before the constructor that starts the Go runtime, so the
** handler seen here is still the host's. SQLite closes a library whose entry
** point it does not find, or whose entry point fails; a Go runtime does not
** survive that, so the library pins itself. */
__attribute__((constructor(101))) static void pin(void){
  Dl_info info;
  if( dladdr((void*)pin, &info) && info.dli_fname ){
    dlopen(info.dli_fname, RTLD_LAZY|RTLD_NODELETE|RTLD_NOLOAD);
  }
  have_host_urg = sigaction(SIGURG, 0, &host_urg)==0;
}

/* Go takes SIGURG for preemption. A host that is itself a Go program needs it
** more: without it the host's own collector waits for every busy loop. */
static void guard(void){
  pthread_atfork(0, 0, in_child);
  if( have_host_urg && ((host_urg.sa_flags & SA_SIGINFO) || (host_urg.sa_handler!=SIG_DFL && host_urg.sa_handler!=SIG_IGN)) ){
    host_urg.sa_flags |= SA_ONSTACK;
    sigaction(SIGURG, &host_urg, 0);
  }
}

void alike_guard_after_go(void){ pthread_once(&guarded, guard); }
#endif
