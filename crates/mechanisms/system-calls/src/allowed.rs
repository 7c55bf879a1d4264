//! The calls that are made whatever their arguments, by what they are for and why that is safe.

use crate::call::{Call, calls};

/// Every group.
pub const ALLOWED: [&[Call]; 9] =
    [FILES, OLD_FILES, DESCRIPTORS, MEMORY, PROCESSES, SIGNALS, TIME, NETWORK, IPC];

/// Files: which of them, and how, is decided by the mounts and by Landlock, whatever the call. Opening by number, past both,
/// is not among them, and a device cannot be made.
const FILES: &[Call] = calls! {
    __NR_openat __NR_openat2 __NR_close __NR_close_range __NR_read __NR_write __NR_pread64 __NR_pwrite64
    __NR_readv __NR_writev __NR_preadv __NR_pwritev __NR_preadv2 __NR_pwritev2 __NR_lseek __NR_fstat
    __NR_newfstatat __NR_statx __NR_getdents64 __NR_getcwd __NR_fchdir __NR_mkdirat __NR_unlinkat
    __NR_renameat __NR_renameat2 __NR_linkat __NR_symlinkat __NR_readlinkat __NR_fchmod __NR_fchmodat
    __NR_fchmodat2 __NR_fchown __NR_fchownat __NR_faccessat __NR_faccessat2 __NR_utimensat __NR_futimesat
    __NR_ftruncate __NR_fallocate __NR_fsync __NR_fdatasync __NR_syncfs __NR_sync_file_range __NR_fadvise64
    __NR_readahead __NR_copy_file_range __NR_sendfile __NR_splice __NR_tee __NR_vmsplice __NR_flock
    __NR_fstatfs __NR_statfs __NR_umask __NR_setxattr __NR_lsetxattr __NR_fsetxattr __NR_getxattr
    __NR_lgetxattr __NR_fgetxattr __NR_listxattr __NR_llistxattr __NR_flistxattr __NR_removexattr
    __NR_lremovexattr __NR_fremovexattr __NR_setxattrat __NR_getxattrat __NR_listxattrat __NR_removexattrat
    __NR_name_to_handle_at __NR_cachestat __NR_inotify_init __NR_inotify_init1 __NR_inotify_add_watch
    __NR_inotify_rm_watch __NR_file_getattr __NR_memfd_create
};

/// What older programs use for the same, and the older way to read and write asynchronously, which does nothing but that.
const OLD_FILES: &[Call] = calls! {
    __NR_open __NR_creat __NR_stat __NR_lstat __NR_access __NR_chdir __NR_mkdir __NR_rmdir __NR_rename
    __NR_link __NR_unlink __NR_symlink __NR_readlink __NR_chmod __NR_chown __NR_lchown __NR_utime
    __NR_utimes __NR_truncate __NR_getdents __NR_io_setup __NR_io_destroy __NR_io_getevents __NR_io_submit
    __NR_io_cancel __NR_io_pgetevents
};

/// Descriptors and waiting for them: a process's own, within its limit.
const DESCRIPTORS: &[Call] = calls! {
    __NR_dup __NR_dup2 __NR_dup3 __NR_pipe __NR_pipe2 __NR_fcntl __NR_poll __NR_ppoll __NR_select
    __NR_pselect6 __NR_epoll_create __NR_epoll_create1 __NR_epoll_ctl __NR_epoll_wait __NR_epoll_pwait
    __NR_epoll_pwait2 __NR_eventfd __NR_eventfd2 __NR_signalfd __NR_signalfd4 __NR_timerfd_create
    __NR_timerfd_settime __NR_timerfd_gettime
};

/// A process's own memory, which the limits bound. Lending it to the kernel's rings or faults is not among them.
const MEMORY: &[Call] = calls! {
    __NR_mmap __NR_mprotect __NR_munmap __NR_mremap __NR_brk __NR_madvise __NR_mincore __NR_msync __NR_mlock
    __NR_mlock2 __NR_munlock __NR_mlockall __NR_munlockall __NR_membarrier __NR_pkey_alloc __NR_pkey_free
    __NR_pkey_mprotect __NR_mseal __NR_map_shadow_stack __NR_get_mempolicy
};

/// Processes of this sandbox, which has a process namespace of its own; users and capabilities, of which there are none to
/// gain; and more walls of a program's own, which only ever take away.
const PROCESSES: &[Call] = calls! {
    __NR_fork __NR_vfork __NR_execve __NR_execveat __NR_exit __NR_exit_group __NR_wait4 __NR_waitid
    __NR_getpid __NR_getppid __NR_gettid __NR_getpgrp __NR_getpgid __NR_setpgid __NR_getsid __NR_setsid
    __NR_getuid __NR_geteuid __NR_getgid __NR_getegid __NR_getresuid __NR_getresgid __NR_getgroups
    __NR_setuid __NR_setgid __NR_setreuid __NR_setregid __NR_setresuid __NR_setresgid __NR_setgroups
    __NR_setfsuid __NR_setfsgid __NR_capget __NR_capset __NR_prctl __NR_arch_prctl __NR_set_thread_area
    __NR_get_thread_area __NR_set_tid_address __NR_set_robust_list __NR_get_robust_list __NR_rseq __NR_futex
    __NR_futex_waitv __NR_futex_wake __NR_futex_wait __NR_futex_requeue __NR_getrlimit __NR_setrlimit
    __NR_getrusage __NR_getpriority __NR_ioprio_get __NR_sched_yield __NR_sched_getparam
    __NR_sched_getscheduler __NR_sched_getaffinity __NR_sched_getattr __NR_sched_get_priority_max
    __NR_sched_get_priority_min __NR_sched_rr_get_interval __NR_getcpu __NR_uname __NR_sysinfo
    __NR_getrandom __NR_seccomp __NR_landlock_create_ruleset __NR_landlock_add_rule
    __NR_landlock_restrict_self __NR_restart_syscall __NR_pidfd_open __NR_lsm_get_self_attr
    __NR_lsm_list_modules
};

/// Signals reach this sandbox's processes at most, and the kernel keeps them from its first one.
const SIGNALS: &[Call] = calls! {
    __NR_rt_sigaction __NR_rt_sigprocmask __NR_rt_sigreturn __NR_rt_sigpending __NR_rt_sigtimedwait
    __NR_rt_sigsuspend __NR_sigaltstack __NR_kill __NR_tkill __NR_tgkill __NR_rt_sigqueueinfo
    __NR_rt_tgsigqueueinfo __NR_pause __NR_pidfd_send_signal
};

/// Reading the clock and waiting for it. Setting it is not among them.
const TIME: &[Call] = calls! {
    __NR_time __NR_gettimeofday __NR_times __NR_nanosleep __NR_clock_gettime __NR_clock_getres
    __NR_clock_nanosleep __NR_getitimer __NR_setitimer __NR_alarm __NR_timer_create __NR_timer_settime
    __NR_timer_gettime __NR_timer_getoverrun __NR_timer_delete
};

/// What is done with a socket once it could be made: `socket` says which kinds can, and the network namespace has nothing but
/// a loopback interface.
const NETWORK: &[Call] = calls! {
    __NR_bind __NR_listen __NR_accept __NR_accept4 __NR_connect __NR_shutdown __NR_getsockname
    __NR_getpeername __NR_getsockopt __NR_setsockopt __NR_sendto __NR_recvfrom __NR_sendmsg __NR_recvmsg
    __NR_sendmmsg __NR_recvmmsg
};

/// Objects of System V and queues of POSIX, in a namespace that every command has for itself.
const IPC: &[Call] = calls! {
    __NR_shmget __NR_shmat __NR_shmctl __NR_shmdt __NR_semget __NR_semop __NR_semtimedop __NR_semctl
    __NR_msgget __NR_msgsnd __NR_msgrcv __NR_msgctl __NR_mq_open __NR_mq_unlink __NR_mq_timedsend
    __NR_mq_timedreceive __NR_mq_notify __NR_mq_getsetattr
};
