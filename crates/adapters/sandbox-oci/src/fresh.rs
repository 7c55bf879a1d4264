//! Starting a program that was written a moment ago.

use std::io;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// How long others may take to let go of it.
const LETTING_GO: Duration = Duration::from_secs(30);

/// Starts a program that this process has just written and closed. What it was given of this process's own, such as its end
/// of a socket, is the child's alone afterwards.
///
/// Whatever another thread starts at that moment has a copy of every descriptor until it becomes its own program, of the one
/// that writes too, and the kernel executes nothing that anybody has open for writing. Each lets go of it by itself, and
/// none can get it any more, so it is tried again until all have.
pub(crate) fn spawn(mut command: Command) -> io::Result<Child> {
    once_let_go(|| command.spawn())
}

fn once_let_go<T>(mut start: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let began = Instant::now();
    let mut pause = Duration::from_micros(500);
    loop {
        match start() {
            Err(error)
                if error.kind() == io::ErrorKind::ExecutableFileBusy && began.elapsed() < LETTING_GO =>
            {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(20));
            }
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn what_is_held_is_tried_again_and_any_other_failure_is_one() {
        let mut held = 5;
        let mut start = || {
            held -= 1;
            if held > 0 { Err(io::ErrorKind::ExecutableFileBusy.into()) } else { Ok(held) }
        };
        assert_eq!(once_let_go(&mut start).unwrap(), 0);
        let mut tries = 0;
        let failed: io::Result<()> = once_let_go(|| {
            tries += 1;
            Err(io::ErrorKind::PermissionDenied.into())
        });
        assert_eq!((failed.unwrap_err().kind(), tries), (io::ErrorKind::PermissionDenied, 1));
    }

    /// Without another try, some of so many cannot be started.
    #[test]
    fn a_fresh_program_starts_while_others_are_started() {
        let directory = tempfile::tempdir().unwrap();
        let content = fs::read("/bin/true").unwrap();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    // In a directory of its own a child is forked, and stays a copy of this process for a while.
                    Command::new("/bin/true").current_dir("/").status().unwrap();
                }
            });
            let started: Vec<io::Result<bool>> = (0..300)
                .map(|number| {
                    let program = directory.path().join(number.to_string());
                    fs::write(&program, &content)?;
                    fs::set_permissions(&program, Permissions::from_mode(0o755))?;
                    Ok(spawn(Command::new(&program))?.wait()?.success())
                })
                .collect();
            over.store(true, Ordering::Relaxed);
            assert!(started.iter().all(|it| matches!(it, Ok(true))), "{started:?}");
        });
    }
}
