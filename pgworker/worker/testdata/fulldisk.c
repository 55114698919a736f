// Preloaded into a server, it makes the disk full for tables and indexes: while
// the file $ALIKE_FULL_DISK exists no file below base/ grows.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static int full(int fd, off_t end) {
  const char *flag = getenv("ALIKE_FULL_DISK");
  int saved = errno, grows = 0;
  if (flag && access(flag, F_OK) == 0) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    struct stat s;
    if (n > 0 && (path[n] = 0, strstr(path, "/base/")) && fstat(fd, &s) == 0)
      grows = end > s.st_size;
  }
  errno = grows ? ENOSPC : saved;
  return grows;
}

static size_t total(const struct iovec *v, int n) {
  size_t sum = 0;
  for (int i = 0; i < n; i++) sum += v[i].iov_len;
  return sum;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t pwrite(int fd, const void *b, size_t n, off_t at) { return full(fd, at + n) ? -1 : NEXT(pwrite)(fd, b, n, at); }
ssize_t pwrite64(int fd, const void *b, size_t n, off64_t at) { return full(fd, at + n) ? -1 : NEXT(pwrite64)(fd, b, n, at); }
ssize_t pwritev(int fd, const struct iovec *v, int n, off_t at) { return full(fd, at + total(v, n)) ? -1 : NEXT(pwritev)(fd, v, n, at); }
ssize_t pwritev64(int fd, const struct iovec *v, int n, off64_t at) { return full(fd, at + total(v, n)) ? -1 : NEXT(pwritev64)(fd, v, n, at); }
int posix_fallocate(int fd, off_t at, off_t n) { return full(fd, at + n) ? ENOSPC : NEXT(posix_fallocate)(fd, at, n); }
int posix_fallocate64(int fd, off64_t at, off64_t n) { return full(fd, at + n) ? ENOSPC : NEXT(posix_fallocate64)(fd, at, n); }
