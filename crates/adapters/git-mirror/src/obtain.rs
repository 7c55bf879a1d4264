use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ambit_ids::Digest;

use crate::branch::BranchName;
use crate::commit::{CommitName, CommitSha};
use crate::error::{GitCall, MirrorError};
use crate::limits;
use crate::lock::Lock;
use crate::program::Program;
use crate::repository::{Fetch, Repository};
use crate::source::Source;

/// The mirrors of one home: a bare repository for each source, under the digest of its name.
#[derive(Clone, Debug)]
pub struct Mirrors {
    root: PathBuf,
    program: Program,
    ssh_agent: Option<PathBuf>,
}

/// What is to be obtained.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The commit.
    pub commit: CommitName,
    /// The branch that is searched for it, unless the source hands it out by its full name.
    pub branch: BranchName,
    /// How many commits of a history are fetched at first, at least one. More are fetched where the commit is older.
    pub depth: u32,
    /// How long it may take in all. Then whatever runs is killed.
    pub deadline: Duration,
}

impl Wanted {
    /// A commit on `main`, with a depth of one commit, within five minutes.
    #[must_use]
    pub fn new(commit: CommitName) -> Self {
        Self { commit, branch: BranchName::default(), depth: limits::DEPTH, deadline: limits::DEADLINE }
    }
}

/// A commit that is here with its whole tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obtained {
    /// The bare repository that holds it. It is ours, and holds nothing but what git wrote.
    pub repository: PathBuf,
    /// Its full name.
    pub commit: CommitSha,
    /// Whether there was no mirror of the source before.
    pub is_fresh: bool,
    /// How long it took.
    pub duration_ms: u64,
}

impl Mirrors {
    /// The mirrors below `root`, with the git that stands in `search_path`.
    ///
    /// # Errors
    /// [`MirrorError::GitMissing`] where none stands there, [`MirrorError::Storage`] where `root` is no path.
    pub fn new(root: &Path, search_path: &OsStr) -> Result<Self, MirrorError> {
        let program = Program::find(search_path).ok_or(MirrorError::GitMissing)?;
        let root = std::path::absolute(root).map_err(|error| storage(root, error))?;
        Ok(Self { root, program, ssh_agent: None })
    }

    /// The same, with the socket of an agent that holds keys for `ssh`.
    #[must_use]
    pub fn with_ssh_agent(self, socket: PathBuf) -> Self {
        Self { ssh_agent: Some(socket), ..self }
    }

    /// Where the mirror of a source is, whether or not there is one yet.
    #[must_use]
    pub fn place(&self, source: &Source) -> PathBuf {
        self.root.join(format!("{}.git", Digest::of(source.argument().as_bytes()).to_hex()))
    }

    /// Obtains a commit, with every object of its tree. Blocks until it is there, or until the deadline, also while another
    /// process works on the same mirror.
    ///
    /// A commit that is here already is answered without asking the source. An abbreviation is looked for among the
    /// commits that are here, which are more after every fetch.
    ///
    /// # Errors
    /// [`MirrorError`]. A mirror that was being made is removed again, and so is one in which git was killed.
    pub fn obtain(&self, source: &Source, wanted: &Wanted) -> Result<Obtained, MirrorError> {
        let started = Instant::now();
        self.make_root(source)?;
        let place = self.place(source);
        let lock = self.lock(&place, started + wanted.deadline)?;
        let repository = Repository {
            program: &self.program,
            path: &place,
            lock: &lock,
            source,
            ssh_agent: self.ssh_agent.as_deref(),
            wanted: &wanted.commit,
            started,
            deadline: wanted.deadline,
        };
        let (commit, is_fresh) = match update(&repository, wanted) {
            // What was whole when it came is not any more: begin anew.
            Err(MirrorError::Incomplete { .. }) if place.is_dir() => {
                remove(&place)?;
                update(&repository, wanted)?
            }
            outcome => outcome?,
        };
        let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(Obtained { repository: place, commit, is_fresh, duration_ms })
    }

    /// Whether the mirror of a source holds a commit with its whole tree. The source is not asked.
    ///
    /// # Errors
    /// [`MirrorError`] where that cannot be found out.
    pub fn holds(
        &self,
        source: &Source,
        commit: &CommitSha,
        deadline: Duration,
    ) -> Result<bool, MirrorError> {
        let place = self.place(source);
        if !place.is_dir() {
            return Ok(false);
        }
        let started = Instant::now();
        let lock = self.lock(&place, started + deadline)?;
        let wanted = CommitName::Full(commit.clone());
        let repository = Repository {
            program: &self.program,
            path: &place,
            lock: &lock,
            source,
            ssh_agent: None,
            wanted: &wanted,
            started,
            deadline,
        };
        match repository.find() {
            Ok(Some(sha)) => Ok(repository.is_whole(&sha)?.is_ok()),
            Ok(None) | Err(MirrorError::NotACommit { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn make_root(&self, source: &Source) -> Result<(), MirrorError> {
        if source.local_path().is_some_and(|path| !path.is_dir()) {
            return Err(MirrorError::SourceMissing { source_name: source.to_string() });
        }
        fs::create_dir_all(&self.root).map_err(|error| storage(&self.root, error))
    }

    fn lock(&self, place: &Path, deadline: Instant) -> Result<Lock, MirrorError> {
        let path = place.with_extension("lock");
        match Lock::take(&path, deadline) {
            Ok(Some(lock)) => Ok(lock),
            Ok(None) => Err(MirrorError::Busy { repository: place.to_path_buf() }),
            Err(error) => Err(storage(&path, error)),
        }
    }
}

/// Finds the commit in a mirror, making and fetching what is missing. Answers whether the mirror is new.
fn update(repository: &Repository<'_>, wanted: &Wanted) -> Result<(CommitSha, bool), MirrorError> {
    let place = repository.path;
    let unfinished = place.with_extension("unfinished");
    if unfinished.exists() {
        // Git was killed in it and may have left locks and halves of files.
        remove(place)?;
    }
    let is_fresh = !place.is_dir();
    fs::write(&unfinished, b"").map_err(|error| storage(&unfinished, error))?;
    if is_fresh {
        repository.init()?;
    }
    let outcome = search(repository, wanted);
    if !outcome.as_ref().is_err_and(is_cut_off) {
        if is_fresh && outcome.is_err() {
            remove(place)?;
        }
        fs::remove_file(&unfinished).map_err(|error| storage(&unfinished, error))?;
    }
    outcome.map(|commit| (commit, is_fresh))
}

/// Whether git did not come to its end, and may have left locks and halves of files.
fn is_cut_off(error: &MirrorError) -> bool {
    let was_killed = error.call().is_some_and(|call| call.exit.is_none());
    was_killed || matches!(error, MirrorError::Unstartable { .. })
}

/// Looks for the commit after each fetch, from the smallest to the largest.
fn search(repository: &Repository<'_>, wanted: &Wanted) -> Result<CommitSha, MirrorError> {
    if let Some(commit) = repository.find()? {
        return settle(repository, commit);
    }
    repository.gather_packs()?;
    let source = repository.source;
    if source.directory_named().is_some_and(|directory| !directory.is_dir()) {
        return Err(MirrorError::SourceMissing { source_name: source.to_string() });
    }
    let mut last = None;
    for fetch in fetches(wanted) {
        match (repository.fetch(fetch)?, fetch) {
            (Ok(()), _) => {}
            (Err(call), _) if says(&call, &NO_REPOSITORY) => {
                return Err(MirrorError::NotARepository { source_name: source.to_string(), call });
            }
            (Err(call), _) if says(&call, &OTHER_OWNER) => {
                return Err(MirrorError::OtherOwner { source_name: source.to_string(), call });
            }
            (Err(call), Fetch::Commit { .. }) if says(&call, &UNKNOWN) => {
                return Err(MirrorError::NotFound { call });
            }
            // A source may refuse to hand out a commit by its name, and have it in a branch all the same; and it may not
            // have the branch.
            (Err(call), Fetch::Commit { .. }) => last = Some(call),
            (Err(call), Fetch::Branch { .. } | Fetch::WholeBranch { .. }) if says(&call, &NO_BRANCH) => {
                last = Some(call);
            }
            // Git says nothing where a source has neither branches nor tags.
            (Err(call), Fetch::Everything) if call.output.is_empty() => {}
            (Err(call), _) => return Err(MirrorError::Git { call }),
        }
        if let Some(commit) = repository.find()? {
            return settle(repository, commit);
        }
    }
    Err(MirrorError::NotFound { call: last.unwrap_or_else(|| Box::new(unseen(repository))) })
}

fn fetches(wanted: &Wanted) -> Vec<Fetch<'_>> {
    let (name, depth) = (&wanted.branch, wanted.depth.max(1));
    let mut fetches = Vec::new();
    if matches!(wanted.commit, CommitName::Full(_)) {
        fetches.push(Fetch::Commit { depth });
    }
    fetches.extend([Fetch::Branch { name, depth }, Fetch::WholeBranch { name }, Fetch::Everything]);
    fetches
}

/// That the source does not have the object at all, in git's words.
const UNKNOWN: [&str; 1] = ["not our ref"];
/// The same of a branch.
const NO_BRANCH: [&str; 1] = ["couldn't find remote ref"];
/// That there is no repository, in the words of git and of those who serve it.
const NO_REPOSITORY: [&str; 4] =
    ["does not appear to be a git repository", "not a git repository", "repository not found", "' not found"];
/// That another user's directory is not fetched from.
const OTHER_OWNER: [&str; 1] = ["dubious ownership"];

fn says(call: &GitCall, words: &[&str]) -> bool {
    let output = call.output.to_lowercase();
    words.iter().any(|words| output.contains(words))
}

/// Nothing failed, and the commit did not come.
fn unseen(repository: &Repository<'_>) -> GitCall {
    GitCall {
        repository: repository.path.to_path_buf(),
        wanted: repository.wanted.clone(),
        command: format!("git fetch {}", repository.source),
        brief: format!("git fetch {}", repository.source),
        exit: Some(0),
        output: "every branch and tag was fetched whole".to_owned(),
    }
}

fn settle(repository: &Repository<'_>, commit: CommitSha) -> Result<CommitSha, MirrorError> {
    match repository.is_whole(&commit)? {
        Ok(()) => {
            repository.hold(&commit)?;
            Ok(commit)
        }
        Err(call) => Err(MirrorError::Incomplete { call }),
    }
}

fn remove(place: &Path) -> Result<(), MirrorError> {
    match fs::remove_dir_all(place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(storage(place, error)),
        _ => Ok(()),
    }
}

fn storage(path: &Path, source: io::Error) -> MirrorError {
    MirrorError::Storage { path: path.to_path_buf(), source }
}
