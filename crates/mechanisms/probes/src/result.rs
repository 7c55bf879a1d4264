use std::error::Error as _;

use ambit_ports::sandbox::{Probe, ProbeFamily, SandboxError};

/// The most characters of a cause that a probe tells.
const CAUSE_CHARS: usize = 300;

/// What a probe says of a sandbox that failed: the code, and everything that is known of the cause, in one line. The words
/// may be those of a runtime.
pub(crate) fn cause(error: &SandboxError) -> String {
    let mut told = error.to_string();
    let mut below = error.source();
    while let Some(cause) = below {
        let text = cause.to_string();
        if !told.contains(&text) {
            told = format!("{told}: {text}");
        }
        below = cause.source();
    }
    let line: String = told.replace(char::is_control, " ");
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut kept: String = line.chars().take(CAUSE_CHARS).collect();
    if kept.len() < line.len() {
        kept.push_str("...");
    }
    format!("{}: {kept}", error.code())
}

/// The result of a probe.
pub(crate) fn probe(family: ProbeFamily, id: &str, passed: bool, observed: impl Into<String>) -> Probe {
    Probe { id: id.into(), family, passed, observed: observed.into() }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_sandbox_that_failed_is_told_with_its_cause_in_one_bounded_line() {
        let of = |words: String| {
            let source = io::Error::other(words);
            cause(&SandboxError::ControlFailed { control: "the container".into(), source })
        };
        assert_eq!(
            of("the runtime ended with 1:\n\u{1b}[31mno cgroup".into()),
            "SANDBOX_CONTROL_FAILED: the container could not be put in place; nothing was run: the runtime ended with 1: [31mno cgroup"
        );
        let long = of("\u{e9}".repeat(5000));
        assert!(long.chars().count() < CAUSE_CHARS + 40 && long.ends_with("..."), "{long}");
    }
}
