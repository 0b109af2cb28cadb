/*
 * Preloaded into a database, it remembers what files held before what has not been synced: when the power fails, that is what they hold again.
 * What the kernel has and a killed process leaves behind is not lost by a kill, so without this nobody would notice a missing sync.
 *
 * CASCADE_UNSYNCED names the file that gets the records. For the control, a sync of a file does nothing whose path contains CASCADE_SYNCS_NOTHING.
 * A record: kind (8 bytes: 'w' a write, 's' a sync, 'n' a new file), inode, offset, size of the file before, length, and as many bytes that were there.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

struct head {
  uint64_t kind, inode, offset, size, length;
};

static int records = -1;
static const char *syncs_nothing;
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_ftruncate)(int, off_t);
static int (*real_fallocate)(int, int, off_t, off_t);
static int (*real_open)(const char *, int, ...);

__attribute__((constructor)) static void begin(void) {
  real_pwrite = dlsym(RTLD_NEXT, "pwrite");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate");
  real_fallocate = dlsym(RTLD_NEXT, "fallocate");
  real_open = dlsym(RTLD_NEXT, "open");
  syncs_nothing = getenv("CASCADE_SYNCS_NOTHING");
  const char *path = getenv("CASCADE_UNSYNCED");
  if (path) records = real_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* All of it, in one piece: the records of threads do not mix. */
static void note(struct head *head, const void *bytes) {
  struct iovec parts[2] = {{head, sizeof *head}, {(void *)bytes, head->length}};
  if (writev(records, parts, head->length ? 2 : 1) != (ssize_t)(sizeof *head + head->length)) abort();
}

/* What stands at a place that is about to be written, or cut off. */
static void note_before(int fd, off_t offset, size_t length) {
  struct stat file;
  if (records < 0 || fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) return;
  size_t there = offset >= file.st_size ? 0 : (size_t)(file.st_size - offset) < length ? (size_t)(file.st_size - offset) : length;
  struct head head = {'w', file.st_ino, offset, file.st_size, there};
  char *bytes = there ? malloc(there) : NULL;
  if (there && pread(fd, bytes, there, offset) != (ssize_t)there) abort();
  note(&head, bytes);
  free(bytes);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
  pthread_mutex_lock(&order);
  note_before(fd, offset, length);
  ssize_t written = real_pwrite(fd, bytes, length, offset);
  int error = errno;
  pthread_mutex_unlock(&order);
  errno = error;
  return written;
}
ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t offset) { return pwrite(fd, bytes, length, offset); }

int ftruncate(int fd, off_t size) {
  pthread_mutex_lock(&order);
  struct stat file;
  int is_cut = fstat(fd, &file) == 0 && size < file.st_size;
  note_before(fd, is_cut ? size : 0, is_cut ? (size_t)(file.st_size - size) : 0);
  int result = real_ftruncate(fd, size);
  int error = errno;
  pthread_mutex_unlock(&order);
  errno = error;
  return result;
}
int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }

int fallocate(int fd, int mode, off_t offset, off_t length) {
  pthread_mutex_lock(&order);
  note_before(fd, 0, 0);
  int result = real_fallocate(fd, mode, offset, length);
  int error = errno;
  pthread_mutex_unlock(&order);
  errno = error;
  return result;
}
int posix_fallocate(int fd, off_t offset, off_t length) { return fallocate(fd, 0, offset, length) == 0 ? 0 : errno; }

static int is_heard(int fd) {
  char link[64], path[4096];
  if (!syncs_nothing) return 1;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) abort();
  path[length] = 0;
  return strstr(path, syncs_nothing) == NULL;
}

/* What was written before counts from here on. The disk itself is not waited for: the power of this machine stays. */
static int synced(int fd) {
  struct stat file;
  if (records >= 0 && fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && is_heard(fd)) {
    struct head head = {'s', file.st_ino, 0, 0, 0};
    pthread_mutex_lock(&order);
    note(&head, NULL);
    pthread_mutex_unlock(&order);
  }
  return 0;
}
int fsync(int fd) { return synced(fd); }
int fdatasync(int fd) { return synced(fd); }

/* A number may have been another file's. */
static int opened(const char *path, int flags, mode_t mode) {
  struct stat file;
  if (!real_open) begin(); /* by another library that is loaded */
  int is_new = records >= 0 && (flags & O_CREAT) && stat(path, &file) != 0;
  int fd = real_open(path, flags, mode);
  int error = errno;
  if (is_new && fd >= 0 && fstat(fd, &file) == 0 && S_ISREG(file.st_mode)) {
    struct head head = {'n', file.st_ino, 0, 0, 0};
    pthread_mutex_lock(&order);
    note(&head, NULL);
    pthread_mutex_unlock(&order);
  }
  errno = error;
  return fd;
}
static mode_t mode_in(int flags, va_list rest) { return flags & O_CREAT ? va_arg(rest, mode_t) : 0; }
int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = mode_in(flags, rest);
  va_end(rest);
  return opened(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = mode_in(flags, rest);
  va_end(rest);
  return opened(path, flags, mode);
}
