//! What git is allowed: nothing of the caller's environment, one transport, and no configuration but this.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::Program;
use crate::source::Scheme;

/// The configuration on our side. It cannot be overridden: no other is read.
const CONFIGURATION: [(&str, &str); 19] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.askPass", ""),
    ("core.alternateRefsCommand", ""),
    ("credential.helper", ""),
    ("protocol.ext.allow", "never"),
    ("transfer.fsckObjects", "true"),
    ("transfer.credentialsInUrl", "die"),
    ("transfer.bundleURI", "false"),
    ("transfer.unpackLimit", "1"),
    ("fetch.recurseSubmodules", "false"),
    ("fetch.writeCommitGraph", "false"),
    ("submodule.recurse", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("http.followRedirects", "false"),
    ("http.sslVerify", "true"),
    ("http.lowSpeedLimit", "1"),
    ("http.lowSpeedTime", "120"),
];

/// What the reading side of a local source may do. Its own configuration is read there, and these words of the command
/// outrank it. The hook of `pack-objects` is not among them: git takes it from no repository.
const READING_SIDE: &str = " -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.useReplaceRefs=false \
                            -c protocol.allow=never upload-pack";

/// No configuration of the user, no forwarding, no question; the host must be known already.
const SSH: &str = "ssh -F none -o BatchMode=yes -o StrictHostKeyChecking=yes -o ClearAllForwardings=yes \
                   -o PermitLocalCommand=no -o ForwardAgent=no -o ConnectTimeout=30";

/// A command of git inside the fence, on a repository of ours.
pub(crate) fn command(program: &Program, repository: &Path, outward: Option<&Outward>) -> Command {
    let mut command = Command::new(program.path());
    command
        .env_clear()
        .current_dir("/")
        .env("PATH", search_path(program))
        .env("LC_ALL", "C")
        // Where there is no home, there is no `.netrc` either.
        .env("HOME", "/dev/null")
        .env("XDG_CONFIG_HOME", "/dev/null")
        .env("GIT_DIR", repository)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_ATTR_NOSYSTEM", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_ASKPASS", "")
        .env("SSH_ASKPASS", "")
        .env("SSH_ASKPASS_REQUIRE", "never")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_NO_REPLACE_OBJECTS", "1")
        .env("GIT_PROTOCOL_FROM_USER", "0")
        // An empty list allows nothing.
        .env("GIT_ALLOW_PROTOCOL", outward.map_or("", |outward| outward.scheme.as_str()))
        .env("GIT_CONFIG_COUNT", CONFIGURATION.len().to_string());
    for (number, (key, value)) in CONFIGURATION.iter().enumerate() {
        command.env(format!("GIT_CONFIG_KEY_{number}"), key).env(format!("GIT_CONFIG_VALUE_{number}"), value);
    }
    if let Some(Outward { scheme: Scheme::Ssh, ssh_agent }) = outward {
        command.env("GIT_SSH_COMMAND", SSH).env("GIT_SSH_VARIANT", "ssh");
        if let Some(socket) = ssh_agent {
            command.env("SSH_AUTH_SOCK", socket);
        }
    }
    command
}

/// What a command that leaves our own repository may use.
pub(crate) struct Outward {
    /// The one transport.
    pub(crate) scheme: Scheme,
    /// The socket of an agent that holds keys, for `ssh` alone.
    pub(crate) ssh_agent: Option<PathBuf>,
}

/// The option that starts the reading side of a local source inside the fence. A shell reads it.
pub(crate) fn upload_pack(program: &Program) -> OsString {
    let mut option = OsString::from("--upload-pack='");
    let path = program.path().to_string_lossy().replace('\'', "'\\''");
    option.push(path);
    option.push("'");
    option.push(READING_SIDE);
    option
}

/// Where git finds itself, a shell and `ssh`.
fn search_path(program: &Program) -> OsString {
    let mut path = program.path().parent().unwrap_or(Path::new("/usr/bin")).as_os_str().to_owned();
    path.push(":/usr/bin:/bin");
    path
}
