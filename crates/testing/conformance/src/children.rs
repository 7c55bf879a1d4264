//! Tests that run an ignored test of their own program as another process: to kill it, to run it as somebody else, or
//! on a disk of its own.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

/// The variable that tells a child of [`on_a_small_disk`] where that disk is.
pub const DISK: &str = "AMBIT_CHILD_DISK";

/// The arguments with which a test program runs one ignored test and lets it speak.
#[must_use]
pub const fn arguments(test: &str) -> [&str; 5] {
    ["--exact", test, "--ignored", "--nocapture", "--test-threads=1"]
}

/// The command that runs an ignored test of this program.
#[must_use]
pub fn child(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(arguments(test));
    command
}

/// What a child that must succeed said.
pub fn said_by(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Runs an ignored test with a file system of 2 MiB mounted on `place`, in a mount namespace of its own. `None` where
/// this machine gives nobody such a namespace.
#[must_use]
pub fn on_a_small_disk(test: &str, place: &Path) -> Option<String> {
    let unshare = || {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount"]);
        command
    };
    if !unshare().arg("true").status().is_ok_and(|status| status.success()) {
        return None;
    }
    let script = format!("mount -t tmpfs -o size=2m none \"${DISK}\" && exec \"$0\" \"$@\"");
    let mut command = unshare();
    command.args(["sh", "-c", &script]).arg(std::env::current_exe().unwrap()).args(arguments(test));
    Some(said_by(command.env(DISK, place)))
}

/// Runs a child until it has acknowledged something, kills it at a point that `random` chooses, and answers everything
/// that it acknowledged.
pub fn killed(child: &mut Command, random: &mut u64) -> Vec<String> {
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    for _ in 0..10 + next_random(random) % 40 {
        assert_ne!(output.read_line(&mut text).unwrap(), 0, "the child ended by itself: {text}");
    }
    // Some way into what comes next.
    for _ in 0..next_random(random) % 300_000 {
        std::hint::spin_loop();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    output.read_to_string(&mut text).unwrap();
    let (whole, _) = text.rsplit_once('\n').unwrap_or_default();
    whole.lines().filter_map(|line| line.strip_prefix("ack ")).map(str::to_owned).collect()
}

/// Tells the parent what is done for good. One write call a line, so that a line is never in parts of two threads.
pub fn acknowledge(what: &str) {
    let mut output = std::io::stdout();
    output.write_all(format!("ack {what}\n").as_bytes()).unwrap();
    output.flush().unwrap();
}

/// A small generator, so that a seed replays what chance decided (Steele, Lea and Flood, SplitMix64).
pub fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
