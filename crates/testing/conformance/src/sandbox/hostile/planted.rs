//! What is planted around the sandboxes, and must stay as it is.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use ambit_ids::Digest;

/// Names under which programs look for secrets in their environment.
const NAMES: [&str; 6] =
    ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "DATABASE_URL", "OPENAI_API_KEY", "NPM_TOKEN", "DB_PASSWORD"];
/// And below a home.
const FILES: [&str; 8] = [
    ".ssh/id_rsa",
    ".aws/credentials",
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".cargo/credentials.toml",
    ".docker/config.json",
    ".kube/config",
];
/// The file that is open, under this number, in the process that owns the backend.
const OPEN: &str = "open-file";
const DESCRIPTOR: &str = "9";
const PLACE: &str = "AMBIT_TEST_PLANTED";

/// Plants files with a secret below a directory, readable by anyone.
///
/// # Panics
/// Where a file cannot be written.
pub fn plant(directory: &Path) {
    let seed = format!("{:?} {}", SystemTime::now(), std::process::id());
    let canary = format!("ambit-canary-{}", &Digest::of(seed.as_bytes()).to_hex()[..32]);
    for at in FILES.iter().map(|file| format!("home/{file}")).chain([OPEN.to_owned()]) {
        let file = directory.join(at);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, &canary).unwrap();
    }
    for at in ["", "home", "home/.ssh", "home/.aws", "home/.cargo", "home/.docker", "home/.kube"] {
        fs::set_permissions(directory.join(at), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// A command that runs a program with everything that was planted: the secrets in its environment, the home as its own, a
/// file with a secret under an open descriptor.
///
/// # Panics
/// Where nothing was planted in the directory.
#[must_use]
pub fn planted(directory: &Path, program: &[OsString]) -> Command {
    let canary = fs::read_to_string(directory.join(OPEN)).unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", &format!("exec {DESCRIPTOR}<\"$0\" && exec \"$@\"")]).arg(directory.join(OPEN));
    command.args(program).env(PLACE, directory).env("HOME", directory.join("home"));
    command.envs(NAMES.map(|name| (name, canary.clone())));
    command
}

/// What was planted around this process.
#[derive(Clone, Debug)]
pub struct Plants {
    directory: PathBuf,
    /// The secret that stands in every plant.
    pub(super) canary: String,
    changed: Vec<(PathBuf, SystemTime)>,
}

impl Plants {
    /// Finds what was planted around this process, and sees that all of it is there.
    ///
    /// # Panics
    /// Where something is missing.
    #[must_use]
    pub fn around_this_process() -> Self {
        let directory = PathBuf::from(std::env::var_os(PLACE).expect("the process was started by `planted`"));
        let canary = fs::read_to_string(directory.join(OPEN)).unwrap();
        assert!(canary.len() > 40, "a secret that is short is found by chance");
        let files = FILES.map(|file| directory.join("home").join(file)).into_iter();
        let changed = files
            .chain([directory.join(OPEN)])
            .map(|file| (file.clone(), fs::metadata(&file).unwrap().modified().unwrap()));
        let plants = Self { changed: changed.collect(), directory, canary };
        let environment = String::from_utf8_lossy(&fs::read("/proc/self/environ").unwrap()).into_owned();
        for name in NAMES {
            assert!(environment.contains(&format!("{name}={}", plants.canary)), "{name} is not planted");
        }
        plants.assert_untouched();
        plants
    }

    /// The home with the secrets.
    pub(super) fn home(&self) -> PathBuf {
        self.directory.join("home")
    }

    /// A place for a socket.
    pub(super) fn socket(&self) -> PathBuf {
        std::env::temp_dir().join(format!("ambit-hostile-{}.sock", std::process::id()))
    }

    /// Everything that was planted is as it was, and nobody read on in the open file.
    pub(super) fn assert_untouched(&self) {
        for (file, changed) in &self.changed {
            assert_eq!(fs::read_to_string(file).unwrap(), self.canary, "{}", file.display());
            assert_eq!(fs::metadata(file).unwrap().modified().unwrap(), *changed, "{}", file.display());
        }
        let opened = fs::read_link(format!("/proc/self/fd/{DESCRIPTOR}")).unwrap();
        assert_eq!(opened, self.directory.join(OPEN), "the descriptor was closed");
        let place = fs::read_to_string(format!("/proc/self/fdinfo/{DESCRIPTOR}")).unwrap();
        assert!(place.starts_with("pos:\t0\n"), "somebody read the open descriptor: {place}");
    }

    /// Whether some bytes hold the secret.
    pub(super) fn are_in(&self, bytes: &[u8]) -> bool {
        bytes.windows(self.canary.len()).any(|window| window == self.canary.as_bytes())
    }
}
