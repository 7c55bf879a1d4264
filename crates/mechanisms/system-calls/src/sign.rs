//! The calls that no honest program makes: who makes one is trying to get out, or into somebody else.
//!
//! They are refused in any case. Beyond that they are worth a word: where a filter can leave them to the first process of the
//! sandbox, that refuses them and counts them by class. What honest programs try as well, and cope with, is refused by the kernel alone and is in
//! none of these classes: libraries look for `io_uring`, runtimes ask for a memory policy, and that is no sign of anything.

#[cfg(target_arch = "x86_64")]
use linux_raw_sys::general as nr;

macro_rules! signs {
    ($($(#[$doc:meta])* $name:ident: $($call:ident)*;)+) => {
        /// What a refused call was meant to reach.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Sign {
            $($(#[$doc])* $name),+
        }

        impl Sign {
            /// Every class.
            pub const ALL: [Self; SIGNS] = [$(Self::$name),+];

            /// The calls of the class that are refused whatever their arguments.
            #[cfg(target_arch = "x86_64")]
            #[must_use]
            pub const fn calls(self) -> &'static [u32] {
                match self {
                    $(Self::$name => &[$(nr::$call),*]),+
                }
            }
        }
    };
}

/// The number of classes.
pub const SIGNS: usize = 9;

/// How often a call of each class was refused, in the order of [`Sign::ALL`].
pub type Counts = [u32; SIGNS];

signs! {
    /// Another namespace: in one of users a command would be root, with every capability over whatever it makes there, and
    /// most ways into the kernel of the last years begin so. Beside these, `clone` and `unshare` with flags of namespaces.
    Namespace: __NR_setns;
    /// Other mounts or another root: they would show what the view of a sandbox leaves out. The newer calls can build
    /// mounts that are attached nowhere, so they are no less.
    Mount: __NR_mount __NR_umount2 __NR_pivot_root __NR_chroot __NR_open_tree __NR_move_mount __NR_fsopen __NR_fsconfig
        __NR_fsmount __NR_fspick __NR_mount_setattr __NR_open_tree_attr;
    /// Code in the kernel, or another kernel.
    Module: __NR_create_module __NR_init_module __NR_finit_module __NR_delete_module __NR_kexec_load
        __NR_kexec_file_load;
    /// The kernel's keys, which belong to users and not to namespaces: another run's could be found.
    Keyring: __NR_add_key __NR_request_key __NR_keyctl;
    /// Programs in the kernel, and its counters: both see the whole machine.
    Bpf: __NR_bpf __NR_perf_event_open;
    /// The memory or the descriptors of another process.
    Ptrace: __NR_ptrace __NR_process_vm_readv __NR_process_vm_writev __NR_pidfd_getfd;
    /// Sockets below or beside the Internet's protocols: packets of one's own making, the host of a virtual machine, the
    /// kernel's cryptography, and families that few use and that make the kernel load a module. All are arguments of
    /// `socket`.
    RawSocket:;
    /// The clock of the machine, which has no namespace.
    Clock: __NR_settimeofday __NR_clock_settime;
    /// What else belongs to the machine as a whole: files by their number, past every view of mounts; its log, power, swap,
    /// accounting, quotas, names and ports; page faults served by a program, which is how races in the kernel are won. And,
    /// by their arguments: typing into a terminal, and the limits of the first process.
    Other: __NR_open_by_handle_at __NR_syslog __NR_reboot __NR_swapon __NR_swapoff __NR_acct __NR_quotactl
        __NR_quotactl_fd __NR_sethostname __NR_setdomainname __NR_iopl __NR_ioperm __NR_userfaultfd;
}

#[cfg(target_arch = "x86_64")]
impl Sign {
    /// The class of a call that was refused.
    #[must_use]
    pub fn of(number: u32) -> Self {
        match number {
            nr::__NR_clone | nr::__NR_unshare => Self::Namespace,
            nr::__NR_socket | nr::__NR_socketpair => Self::RawSocket,
            _ => Self::ALL.into_iter().find(|sign| sign.calls().contains(&number)).unwrap_or(Self::Other),
        }
    }
}

#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_one_class() {
        for (index, sign) in Sign::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(sign as u8), index);
            for call in sign.calls() {
                assert_eq!(Sign::of(*call), sign, "{call}");
            }
        }
    }
}
