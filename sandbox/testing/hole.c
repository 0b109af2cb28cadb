// Native code that runs inside the sandbox process, as if an isolate had a hole: it tries what the confinement has to prevent, by system
// calls of its own, and tells what it got. Built by hole.ts where there is a C compiler.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void *napi_env;
typedef void *napi_value;
typedef void *napi_callback_info;
typedef napi_value (*napi_callback)(napi_env, napi_callback_info);
extern int napi_create_function(napi_env, const char *, size_t, napi_callback, void *, napi_value *);
extern int napi_create_string_utf8(napi_env, const char *, size_t, napi_value *);
extern int napi_get_cb_info(napi_env, napi_callback_info, size_t *, napi_value *, napi_value *, void **);
extern int napi_get_value_int32(napi_env, napi_value, int *);

static char text[8192];
static void tell(const char *what, long got) {
  size_t used = strlen(text);
  snprintf(text + used, sizeof text - used, "%s=%s\n", what, got >= 0 ? "done" : strerror(errno));
}

static int program(const char *file) {
  // Either the process cannot be made, or the program cannot be loaded into it.
  int pid = fork();
  if (pid < 0) return -1;
  if (pid == 0) {
    char *arguments[] = {(char *)file, NULL}, *environment[] = {NULL};
    execve(file, arguments, environment);
    _exit(126);
  }
  int status = 0;
  if (waitpid(pid, &status, 0) < 0) return -1;
  errno = ENOEXEC;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

/** @param service a process id to reach for */
static napi_value attack(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value argument, result;
  int service = 0;
  napi_get_cb_info(env, info, &count, &argument, NULL, NULL);
  napi_get_value_int32(env, argument, &service);
  text[0] = 0;
  char path[64];
  struct sockaddr_in loopback = {.sin_family = AF_INET, .sin_port = htons(22), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  char word[8];
  struct iovec ours = {word, sizeof word}, theirs = {(void *)0x400000, sizeof word};
  struct rlimit more = {64, 64};

  // A descriptor that is given up makes room for none.
  close(0);
  tell("read a file", open("/etc/passwd", O_RDONLY));
  tell("read a file by openat2", syscall(437, AT_FDCWD, "/etc/passwd", (unsigned long[]){0, 0, 0}, 24));
  tell("write a file", open(".", O_TMPFILE | O_WRONLY, 0600));
  tell("list a folder", open("/", O_RDONLY | O_DIRECTORY));
  tell("read its own code", open("/proc/self/exe", O_RDONLY));
  snprintf(path, sizeof path, "/proc/%d/environ", service);
  tell("read the environment of the service", open(path, O_RDONLY));
  snprintf(path, sizeof path, "/proc/%d/mem", getppid());
  tell("read the memory of its parent", open(path, O_RDONLY));
  tell("open a TCP socket", socket(AF_INET, SOCK_STREAM, 0));
  tell("open a UDP socket", socket(AF_INET6, SOCK_DGRAM, 0));
  tell("open a unix socket", socket(AF_UNIX, SOCK_STREAM, 0));
  tell("open a netlink socket", socket(AF_NETLINK, SOCK_RAW, 0));
  tell("turn a pipe into a connection", connect(3, (struct sockaddr *)&loopback, sizeof loopback));
  tell("make a file in memory", syscall(SYS_memfd_create, "x", 0));
  tell("set up io_uring", syscall(425, 1, path));
  tell("run a program", program("/bin/true"));
  tell("raise a limit", setrlimit(RLIMIT_NOFILE, &more));
  tell("trace the service", ptrace(PTRACE_SEIZE, service, 0, 0)); // does not stop it
  tell("read the memory of the service", process_vm_readv(service, &ours, 1, &theirs, 1, 0));
  tell("end the service", kill(service, 0));
  tell("become root", setuid(0) == 0 && geteuid() == 0 ? 0 : (errno = EPERM, -1));
  tell("enter a new namespace", unshare(CLONE_NEWUSER));
  napi_create_string_utf8(env, text, strlen(text), &result);
  return result;
}

napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  (void)exports;
  napi_value function;
  napi_create_function(env, "attack", 6, attack, NULL, &function);
  return function;
}
