//! The calls that are refused without a word, by why they are.
//!
//! Honest programs make each of these now and then and go on without. The calls that they never make are in the
//! table of signs.

use crate::call::{Call, calls};

/// Every group.
pub const REFUSED: [&[Call]; 6] = [RINGS, PLACES, HIDDEN, NEIGHBOURS, MACHINE, LEGACY];

/// A second door to most other calls, at which no filter looks, and one through which more got out of sandboxes than
/// through any other. Libraries look for it and take `epoll`.
const RINGS: &[Call] = calls! { __NR_io_uring_setup __NR_io_uring_enter __NR_io_uring_register };

/// On which memory of the machine pages lie: of no use to a command, and of other processes too.
const PLACES: &[Call] = calls! {
    __NR_mbind __NR_set_mempolicy __NR_set_mempolicy_home_node __NR_migrate_pages __NR_move_pages
};

/// Memory that not even the kernel can look into, so that nobody could search it or count it.
const HIDDEN: &[Call] = calls! { __NR_memfd_secret };

/// What other processes are, hold and are told: which of them share what, the end of their memory, every file that anybody
/// opens, mounts by number, the labels of a security module.
const NEIGHBOURS: &[Call] = calls! {
    __NR_kcmp __NR_process_madvise __NR_process_mrelease __NR_fanotify_init __NR_fanotify_mark __NR_statmount
    __NR_listmount __NR_lsm_set_self_attr
};

/// What works on the whole machine and is asked in good faith: whether its clock is in step, that every disk be written,
/// marks on files that would outlive the command, the end of a terminal.
const MACHINE: &[Call] = calls! { __NR_adjtimex __NR_clock_adjtime __NR_sync __NR_file_setattr __NR_vhangup };

/// What nothing built in this century needs; segments of 16 bits are among it.
const LEGACY: &[Call] = calls! {
    __NR_uselib __NR_ustat __NR_sysfs __NR_modify_ldt __NR__sysctl __NR_get_kernel_syms __NR_query_module
    __NR_nfsservctl __NR_getpmsg __NR_putpmsg __NR_afs_syscall __NR_tuxcall __NR_security __NR_lookup_dcookie
    __NR_epoll_ctl_old __NR_epoll_wait_old __NR_remap_file_pages __NR_vserver
};
