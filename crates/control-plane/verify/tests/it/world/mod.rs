//! A project with real runs in every ending, made once, and copied for whoever wants to harm it.

mod agent;
mod clock;
mod documents;
mod sandbox;
mod site;
mod stories;

use std::path::PathBuf;
use std::sync::OnceLock;

use ambit_ids::RunId;
use tempfile::TempDir;

pub(crate) use site::{Site, scope};

/// The runs of the world by what became of them.
#[derive(Clone, Debug)]
pub(crate) struct Runs {
    /// Completed `rev-1`: with a failure, a hypothesis, a fix, denials, an approval that was used, and a hidden check.
    pub(crate) completed: RunId,
    /// Completed `rev-2` from `rev-1`, for a revision request.
    pub(crate) second: RunId,
    /// Cancelled after a patch.
    pub(crate) cancelled: RunId,
    /// Ended by the policy.
    pub(crate) denied: RunId,
    /// Lost its sandbox and its process on the way, and could not be cleaned up at once.
    pub(crate) troubled: RunId,
    /// Nobody answered its question.
    pub(crate) expired: RunId,
    /// Had only few turns.
    pub(crate) exhausted: RunId,
    /// Let a test of its base go, and was not believed.
    pub(crate) shrunk: RunId,
    /// The completed run of another tenant.
    pub(crate) foreign: RunId,
}

impl Runs {
    /// Every run of the project.
    pub(crate) fn all(&self) -> [&RunId; 8] {
        [
            &self.completed,
            &self.second,
            &self.cancelled,
            &self.denied,
            &self.troubled,
            &self.expired,
            &self.exhausted,
            &self.shrunk,
        ]
    }
}

/// The runs of the world in which approvals end.
#[derive(Clone, Debug)]
pub(crate) struct Consents {
    /// Used what bob approved.
    pub(crate) used: RunId,
    /// Bob was revoked before what he approved was used.
    pub(crate) revoked: RunId,
    /// The blueprint was withdrawn before what alice approved was used.
    pub(crate) withdrawn: RunId,
}

struct World {
    directory: TempDir,
    runs: Runs,
    early_head: site::Head,
}

static WORLD: OnceLock<World> = OnceLock::new();

fn world() -> &'static World {
    WORLD.get_or_init(|| {
        // A runtime of its own: the first test that comes is on one already.
        std::thread::spawn(|| {
            let directory = tempfile::tempdir().unwrap();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let (runs, early_head) = runtime.block_on(stories::tell(directory.path()));
            World { directory, runs, early_head }
        })
        .join()
        .unwrap()
    })
}

/// A copy of the world that a test may harm.
pub(crate) fn copy() -> (Site, Runs) {
    let world = world();
    let directory = tempfile::tempdir().unwrap();
    copy_directory(&world.directory.path().join("site"), &directory.path().join("site"));
    (Site::open(directory), world.runs.clone())
}

/// A copy of the world in which approvals end.
pub(crate) fn copy_of_consents() -> (Site, Consents) {
    static CONSENTS: OnceLock<(TempDir, Consents)> = OnceLock::new();
    let (made, consents) = CONSENTS.get_or_init(|| {
        std::thread::spawn(|| {
            let directory = tempfile::tempdir().unwrap();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let consents = runtime.block_on(stories::tell_consents(directory.path()));
            (directory, consents)
        })
        .join()
        .unwrap()
    });
    let directory = tempfile::tempdir().unwrap();
    copy_directory(&made.path().join("site"), &directory.path().join("site"));
    (Site::open(directory), consents.clone())
}

/// A head of the completed run that was genuine while it went on.
pub(crate) fn early_head() -> site::Head {
    world().early_head.clone()
}

fn copy_directory(from: &PathBuf, to: &PathBuf) {
    std::fs::create_dir(to).unwrap();
    std::fs::set_permissions(to, std::fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_directory(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
