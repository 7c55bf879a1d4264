//! How high the second wall is: what Landlock refuses that nothing else would, as far as the kernel's version has it.

use ambit_ports::sandbox::{MissingFeature, Probe};
use ambit_probes::Subject;
use ambit_probes::denials::{Denial, denied};

use crate::backend::LinuxSandboxes;

/// What a version of Landlock adds, and the attempt that it alone refuses.
struct Course {
    since: u32,
    denial: Denial,
}

const EPERM: &str = "errno 1";
const EACCES: &str = "errno 13";

const COURSES: [Course; 3] = [
    Course {
        since: 3,
        denial: Denial {
            id: "denied.wall.truncation",
            // Opening a file of /proc, which can be written, to cut it, and only to write it.
            denied: &["path-call", "2", "/proc/self/comm", "0x201"],
            control: &["path-call", "2", "/proc/self/comm", "1"],
            errnos: &[EACCES],
        },
    },
    Course {
        since: 5,
        denial: Denial {
            id: "denied.wall.device-control",
            // A question that only a driver answers, and one about the descriptor.
            denied: &["control", "/dev/null", "0x5401"],
            control: &["control", "/dev/null", "0x5450"],
            errnos: &[EACCES],
        },
    },
    Course {
        since: 6,
        denial: Denial {
            id: "denied.wall.signal",
            // The guest has the user of the command, so only this refuses a signal to it.
            denied: &["call", "62", "1", "0"],
            control: &["call", "62", "0", "0"],
            errnos: &[EPERM],
        },
    },
];

/// The probes of all that this kernel's version has.
pub(super) async fn all(subject: &Subject<'_, LinuxSandboxes>) -> Vec<Probe> {
    let mut probes = Vec::new();
    for course in COURSES.iter().filter(|course| version() >= Some(course.since)) {
        probes.push(denied(subject, &course.denial).await);
    }
    probes
}

/// What the wall lacks on this kernel.
pub(super) fn lack() -> Option<MissingFeature> {
    let (feature, consequence, mend) = match version() {
        None | Some(..=1) => (
            "Landlock 2",
            "the mounts are the only wall around files; there is no second one behind them",
            "use Linux 5.19 or newer with Landlock among its security modules",
        ),
        Some(2) => (
            "Landlock 3",
            "cutting a file short is no right of its own: behind the mounts it goes with being allowed to write",
            "use Linux 6.2 or newer",
        ),
        Some(3 | 4) => (
            "Landlock 5",
            "operations of devices are refused by the devices alone, of which there are five",
            "use Linux 6.10 or newer",
        ),
        Some(5) => (
            "Landlock 6",
            "signals and sockets without a file are held by the namespaces alone",
            "use Linux 6.12 or newer",
        ),
        Some(6..) => return None,
    };
    Some(MissingFeature { feature: feature.into(), consequence: consequence.into(), mend: mend.into() })
}

#[cfg(target_arch = "x86_64")]
fn version() -> Option<u32> {
    ambit_sandbox_guest::raw::landlock_version()
}

#[cfg(not(target_arch = "x86_64"))]
fn version() -> Option<u32> {
    None
}
