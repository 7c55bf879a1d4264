//! The kernel's own answers under the filter.

use ambit_sandbox_guest::raw::{self, Fork};
use linux_raw_sys::{errno, general as nr};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::WaitOptions;

use super::{BOTH, HIGHEST, Rule, Sharing, X32, program, rule};

const SIGSYS: i32 = 31;

/// The kernel's own, for probes of programs: no filter is asked, and whoever makes one by hand is killed.
const UNFILTERED: [u32; 2] = [nr::__NR_uretprobe, nr::__NR_uretprobe + 1];

/// What a call answered: 0 where it was made, or the error number.
type Answered = i32;

/// Makes calls in a process under the filter that has nobody to ask, and answers what they answered; fewer where the
/// process was killed before, and the signal that did.
fn under_the_filter(sharing: Sharing, calls: &[(u32, [usize; 5])]) -> (Vec<Answered>, Option<i32>) {
    let bytes: Vec<u8> = program(sharing).iter().flat_map(|instruction| instruction.to_bytes()).collect();
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).unwrap();
    let child = match raw::fork().unwrap() {
        // From here on nothing is allocated: another thread may have held the lock at the fork.
        Fork::Child => {
            let confined = rustix::thread::set_no_new_privs(true).and_then(|()| raw::set_filter(&bytes));
            if confined.is_err() {
                raw::exit(1);
            }
            // Its other end goes at once, so that nobody can be asked.
            drop(confined);
            for (number, arguments) in calls {
                let answered = raw::attempt(*number, *arguments).map_or_else(Errno::raw_os_error, |_| 0);
                if rustix::io::write(&writer, &answered.to_ne_bytes()).is_err() {
                    raw::exit(2);
                }
            }
            raw::exit(0)
        }
        Fork::Parent(child) => child,
    };
    drop(writer);
    let mut said = Vec::new();
    std::io::Read::read_to_end(&mut std::fs::File::from(reader), &mut said).unwrap();
    let (_, status) = rustix::process::waitpid(Some(child), WaitOptions::empty()).unwrap().unwrap();
    assert_ne!(status.exit_status(), Some(1), "no filter could be installed");
    let answered = said.as_chunks::<4>().0.iter().map(|bytes| i32::from_ne_bytes(*bytes)).collect();
    (answered, status.terminating_signal())
}

fn number_of(errno: u32) -> i32 {
    i32::try_from(errno).unwrap()
}

// proves E-J13
// break crates/adapters/sandbox-linux/src/filter/compile.rs: `const FAIL: u32 = 0x0005_0000;` -> `const FAIL: u32 = 0x7fff_0000;`
#[test]
fn the_kernel_refuses_what_the_tables_refuse() {
    for sharing in BOTH {
        let refused = (0..=HIGHEST + 40).filter_map(|number| match rule(number, sharing) {
            _ if UNFILTERED.contains(&number) => None,
            Rule::Refuse(errno) => Some((number, number_of(*errno))),
            // Without anybody to ask, the kernel answers as one that does not have the call.
            Rule::Report => Some((number, number_of(errno::ENOSYS))),
            _ => None,
        });
        let refused: Vec<_> = refused.collect();
        assert!(refused.len() > 150, "{}", refused.len());
        let calls: Vec<_> = refused.iter().map(|(number, _)| (*number, [0; 5])).collect();
        let (answered, signal) = under_the_filter(sharing, &calls);
        assert_eq!(signal, None);
        for ((number, expected), answered) in refused.iter().zip(&answered) {
            assert_eq!(answered, expected, "call {number}");
        }
        assert_eq!(answered.len(), refused.len());
    }
}

#[test]
fn the_kernel_makes_what_the_tables_allow() {
    const NO_FILE: usize = usize::MAX;
    let (badf, perm, nosys) = (number_of(errno::EBADF), number_of(errno::EPERM), number_of(errno::ENOSYS));
    let samples = [
        (nr::__NR_getpid, [0; 5], 0),
        (nr::__NR_umask, [0o22, 0, 0, 0, 0], 0),
        (nr::__NR_read, [NO_FILE, 0, 0, 0, 0], badf),
        (nr::__NR_fstat, [NO_FILE, 0, 0, 0, 0], badf),
        (nr::__NR_unshare, [0; 5], 0),
        (nr::__NR_unshare, [0x1000_0000, 0, 0, 0, 0], nosys),
        (nr::__NR_clone, [0x4000_0011, 0, 0, 0, 0], nosys),
        (nr::__NR_ioctl, [NO_FILE, 0x5401, 0, 0, 0], badf),
        (nr::__NR_ioctl, [NO_FILE, 0x5412, 0, 0, 0], nosys),
        // The kernel looks at the low half of it, and so does the filter.
        (nr::__NR_ioctl, [NO_FILE, 0x1_0000_5412, 0, 0, 0], nosys),
        (nr::__NR_socket, [2, 1, 0, 0, 0], 0),
        (nr::__NR_socket, [16, 3, 0, 0, 0], 0),
        (nr::__NR_socket, [16, 3, 12, 0, 0], perm),
        (nr::__NR_socket, [2, 3, 1, 0, 0], nosys),
        (nr::__NR_socket, [17, 3, 0, 0, 0], nosys),
        (nr::__NR_socket, [38, 5, 0, 0, 0], nosys),
        (nr::__NR_socket, [40, 1, 0, 0, 0], nosys),
        (nr::__NR_personality, [0xffff_ffff, 0, 0, 0, 0], 0),
        (nr::__NR_personality, [0x0040_0000, 0, 0, 0, 0], perm),
    ];
    let calls = samples.map(|(number, arguments, _)| (number, arguments));
    for sharing in BOTH {
        let (answered, signal) = under_the_filter(sharing, &calls);
        assert_eq!(signal, None);
        assert_eq!(answered.len(), samples.len());
        for ((number, arguments, expected), answered) in samples.iter().zip(answered) {
            assert_eq!(answered, *expected, "call {number} with {arguments:x?}");
        }
    }
}

/// The x32 variant of a call, and one of the 32-bit family by its own instruction.
#[test]
fn the_kernel_kills_who_calls_in_another_way() {
    let before = (nr::__NR_getpid, [0; 5]);
    let (answered, signal) =
        under_the_filter(Sharing::Free, &[before, (X32 | nr::__NR_getpid, [0; 5]), before]);
    assert_eq!((answered.as_slice(), signal), (&[0][..], Some(SIGSYS)));
    let (answered, signal) =
        under_the_filter(Sharing::Free, &[before, (raw::OLD_FAMILY | 20, [0; 5]), before]);
    assert_eq!((answered.as_slice(), signal), (&[0][..], Some(SIGSYS)));
}
