//! Removing the directories of groups.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// Removes a group with the groups in it that a runtime may have made, as far as no process is in any of them. For at most
/// `patience` it waits for processes that are ending.
///
/// # Errors
/// The kernel's: it keeps a group that holds a process.
pub fn remove_empty(directory: &Path, patience: Duration) -> io::Result<()> {
    for entry in fs::read_dir(directory)?.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            match remove_empty(&entry.path(), patience) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    remove_directory(directory, patience)
}

/// Removes the directory of a group that nobody is in.
///
/// From the moment in which a process begins to end, the kernel's tables of processes may tell of no group any more; the
/// group lets go of it only when its memory is given back and its files are closed, which takes long enough on a busy
/// machine to be met. A group in which every process is ending is tried again.
pub(crate) fn remove_directory(directory: &Path, patience: Duration) -> io::Result<()> {
    once_let_go(|| fs::remove_dir(directory), || holds_somebody(directory), patience)
}

fn once_let_go(
    mut remove: impl FnMut() -> io::Result<()>,
    is_held: impl Fn() -> bool,
    patience: Duration,
) -> io::Result<()> {
    let began = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        match remove() {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                if began.elapsed() >= patience || is_held() {
                    return Err(error);
                }
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(20));
            }
            other => return other,
        }
    }
}

/// Whether a process that is not ending, or a further group, is in this one.
fn holds_somebody(directory: &Path) -> bool {
    let processes = fs::read_to_string(directory.join("cgroup.procs")).unwrap_or_default();
    let mut entries = fs::read_dir(directory).into_iter().flatten().flatten();
    processes.lines().any(|pid| !is_ending(pid))
        || entries.any(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
}

/// Whether a process has begun to end, as its flags tell (`proc_pid_stat(5)`), or is not there.
fn is_ending(pid: &str) -> bool {
    /// `PF_EXITING`.
    const ENDING: u32 = 0x4;
    let Ok(stat) = fs::read(format!("/proc/{pid}/stat")) else { return true };
    // The name is in parentheses and may hold anything; the flags are the 7th field after it.
    let stat = String::from_utf8_lossy(&stat);
    let flags = stat.rsplit_once(')').and_then(|(_, fields)| fields.split_whitespace().nth(6)?.parse().ok());
    flags.is_some_and(|flags: u32| flags & ENDING != 0)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    /// A removal that is refused so often.
    fn refused(times: u32) -> (Cell<u32>, impl Fn(&Cell<u32>) -> io::Result<()>) {
        let remove = |left: &Cell<u32>| match left.get() {
            0 => Ok(()),
            some => {
                left.set(some - 1);
                Err(io::ErrorKind::ResourceBusy.into())
            }
        };
        (Cell::new(times), remove)
    }

    #[test]
    fn what_holds_nobody_is_tried_until_the_kernel_lets_go() {
        let (left, remove) = refused(5);
        once_let_go(|| remove(&left), || false, LONG).unwrap();
        assert_eq!(left.get(), 0);
    }

    #[test]
    fn what_holds_somebody_or_takes_too_long_is_refused_at_once() {
        for (is_held, patience) in [(true, LONG), (false, Duration::ZERO)] {
            let (left, remove) = refused(5);
            let told = once_let_go(|| remove(&left), || is_held, patience).unwrap_err();
            assert_eq!((told.kind(), left.get()), (io::ErrorKind::ResourceBusy, 4));
        }
        let denied = || Err(io::ErrorKind::PermissionDenied.into());
        assert_eq!(once_let_go(denied, || false, LONG).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn groups_in_a_group_are_removed_from_within_and_kept_where_something_is_in_one() {
        let directory = tempfile::tempdir().unwrap();
        let group = directory.path().join("group");
        fs::create_dir_all(group.join("a/b/c")).unwrap();
        fs::create_dir_all(group.join("d")).unwrap();
        remove_empty(&group, LONG).unwrap();
        assert!(!group.exists());
        assert_eq!(remove_empty(&group, LONG).unwrap_err().kind(), io::ErrorKind::NotFound);
        // What the kernel keeps.
        fs::create_dir_all(group.join("a/b/c/held")).unwrap();
        fs::write(group.join("a/b/c/held/process"), "").unwrap();
        assert!(remove_empty(&group, LONG).is_err());
        assert!(group.join("a/b/c/held/process").exists());
    }
}
