// The system calls that the sandbox process needs, by architecture: Node's start, V8's memory and threads, pipes that are already open.
// What is not listed does not exist for it (ENOSYS): no socket, no connection, no tracing, no mount, no io_uring, no other process's memory.

/** By Node's name of the architecture: its number in audit records (linux/audit.h), and of each call (asm/unistd_64.h, asm-generic/unistd.h). */
interface Architecture {
  audit: number;
  /** Numbers from here on are of another interface of the same machine (x32). */
  foreignFrom?: number;
  clone: number;
  ioctl: number;
  prctl: number;
  allowed: readonly number[];
}

const X64: Record<string, number> = {
  ...{ read: 0, write: 1, open: 2, close: 3, stat: 4, fstat: 5, lstat: 6, poll: 7, lseek: 8, mmap: 9, mprotect: 10, munmap: 11, brk: 12 },
  ...{ rt_sigaction: 13, rt_sigprocmask: 14, rt_sigreturn: 15, pread64: 17, readv: 19, writev: 20, access: 21, pipe: 22 },
  ...{ sched_yield: 24, mremap: 25, mincore: 27, madvise: 28, dup: 32, dup2: 33, nanosleep: 35, getpid: 39, sendto: 44, recvfrom: 45 },
  ...{ sendmsg: 46, recvmsg: 47, shutdown: 48, getsockname: 51, getpeername: 52, setsockopt: 54, getsockopt: 55, execve: 59, exit: 60 },
  ...{ wait4: 61, kill: 62, uname: 63, fcntl: 72, getcwd: 79, readlink: 89, umask: 95, gettimeofday: 96, getrlimit: 97, getrusage: 98 },
  ...{ sysinfo: 99, getuid: 102, getgid: 104, setuid: 105, setgid: 106, geteuid: 107, getegid: 108, getppid: 110, setgroups: 116 },
  ...{ setresuid: 117, getresuid: 118, setresgid: 119, getresgid: 120, capget: 125, sigaltstack: 131, getpriority: 140 },
  ...{ sched_getparam: 143, sched_setscheduler: 144, sched_getscheduler: 145, sched_get_priority_max: 146, sched_get_priority_min: 147 },
  ...{ arch_prctl: 158, gettid: 186, time: 201, futex: 202, sched_getaffinity: 204, getdents64: 217, set_tid_address: 218 },
  ...{ restart_syscall: 219, clock_gettime: 228, clock_getres: 229, clock_nanosleep: 230, exit_group: 231, epoll_wait: 232 },
  ...{ epoll_ctl: 233, tgkill: 234, openat: 257, newfstatat: 262, readlinkat: 267, faccessat: 269, ppoll: 271, set_robust_list: 273 },
  ...{ epoll_pwait: 281, eventfd2: 290, epoll_create1: 291, dup3: 292, pipe2: 293, getrandom: 318, membarrier: 324, statx: 332 },
  ...{ rseq: 334, epoll_pwait2: 441, faccessat2: 439, pkey_alloc: 330, pkey_free: 331, pkey_mprotect: 329 },
};

const ARM64: Record<string, number> = {
  ...{ getcwd: 17, eventfd2: 19, epoll_create1: 20, epoll_ctl: 21, epoll_pwait: 22, dup: 23, dup3: 24, fcntl: 25, faccessat: 48 },
  ...{ openat: 56, close: 57, pipe2: 59, getdents64: 61, lseek: 62, read: 63, write: 64, readv: 65, writev: 66, pread64: 67, ppoll: 73 },
  ...{ readlinkat: 78, newfstatat: 79, fstat: 80, capget: 90, exit: 93, exit_group: 94, set_tid_address: 96, futex: 98 },
  ...{ set_robust_list: 99, nanosleep: 101, clock_gettime: 113, clock_getres: 114, clock_nanosleep: 115, sched_setscheduler: 119 },
  ...{ sched_getscheduler: 120, sched_getparam: 121, sched_getaffinity: 123, sched_yield: 124, sched_get_priority_max: 125 },
  ...{ sched_get_priority_min: 126, restart_syscall: 128, kill: 129, tgkill: 131, sigaltstack: 132, rt_sigaction: 134 },
  ...{ rt_sigprocmask: 135, rt_sigreturn: 139, getpriority: 141, setgid: 144, setuid: 146, setresuid: 147, getresuid: 148 },
  ...{ setresgid: 149, getresgid: 150, setgroups: 159, uname: 160, getrlimit: 163, getrusage: 165, umask: 166, gettimeofday: 169 },
  ...{ getpid: 172, getppid: 173, getuid: 174, geteuid: 175, getgid: 176, getegid: 177, gettid: 178, sysinfo: 179 },
  ...{ getsockname: 204, getpeername: 205, sendto: 206, recvfrom: 207, setsockopt: 208, getsockopt: 209, shutdown: 210 },
  ...{ sendmsg: 211, recvmsg: 212, brk: 214, munmap: 215, mremap: 216, execve: 221, mmap: 222, mprotect: 226, mincore: 232 },
  ...{ madvise: 233, wait4: 260, getrandom: 278, membarrier: 283, pkey_mprotect: 288, pkey_alloc: 289, pkey_free: 290, statx: 291 },
  ...{ rseq: 293, faccessat2: 439, epoll_pwait2: 441 },
};

export const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: { audit: 0xc000003e, foreignFrom: 0x40000000, clone: 56, ioctl: 16, prctl: 157, allowed: Object.values(X64) },
  arm64: { audit: 0xc00000b7, clone: 220, ioctl: 29, prctl: 167, allowed: Object.values(ARM64) },
};

/** FIONBIO, FIOCLEX, FIONCLEX, FIONREAD, TCGETS: what libuv asks of its pipes. Nothing that types into a terminal (TIOCSTI). */
export const ALLOWED_IOCTLS = [0x5421, 0x5451, 0x5450, 0x541b, 0x5401];
/** PR_SET_NAME, PR_GET_NAME, PR_CAPBSET_READ, PR_SET_VMA (names of memory), PR_GET_DUMPABLE. */
export const ALLOWED_PRCTLS = [15, 16, 23, 0x53564d41, 3];
/** A thread of this process, the only thing that may be cloned. */
export const CLONE_THREAD = 0x10000;
