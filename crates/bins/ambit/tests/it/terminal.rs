//! What a command shows at a real terminal.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::rig::Answered;

/// How a terminal is.
#[derive(Clone, Copy)]
pub(crate) struct Terminal {
    pub(crate) columns: u16,
    pub(crate) kind: &'static str,
    pub(crate) no_color: bool,
}

impl Terminal {
    pub(crate) const PLAIN: Self = Self { columns: 80, kind: "dumb", no_color: false };

    /// What a command of the program shows there, its line ends as in a file; `None` where this machine has no `script`.
    pub(crate) fn shows(self, dir: &Path, command: &Command) -> Option<Answered> {
        let has_script = Command::new("script").arg("--version").output();
        if !has_script.is_ok_and(|output| output.status.success()) {
            println!("skipped: SCRIPT_ABSENT");
            return None;
        }
        let words: Vec<String> =
            command.get_args().map(|word| format!("'{}'", word.to_str().unwrap())).collect();
        let program = command.get_program().to_str().unwrap();
        let line = format!("stty rows 24 cols {}; '{program}' {}", self.columns, words.join(" "));
        let mut shell = Command::new("script");
        shell.args(["-qefc", &line, "/dev/null"]).current_dir(dir).env_clear();
        shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("SHELL", "/bin/sh");
        shell.env("TERM", self.kind).env("LANG", "C.UTF-8").stdin(Stdio::null());
        if self.no_color {
            shell.env("NO_COLOR", "1");
        }
        let mut shown = Answered::of(shell.output().unwrap());
        shown.out = shown.out.replace("\r\n", "\n");
        Some(shown)
    }
}
