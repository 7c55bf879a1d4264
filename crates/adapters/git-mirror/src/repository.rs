//! A mirror: questions to it, and what is brought into it.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use ambit_ids::Digest;

use crate::branch::BranchName;
use crate::commit::{CommitName, CommitSha};
use crate::error::{GitCall, MirrorError};
use crate::fence::{self, Outward};
use crate::limits::{CANDIDATES, PACKS, WHOLE_HISTORY};
use crate::lock::Lock;
use crate::process::{self, Ran, RunFault};
use crate::program::Program;
use crate::source::{Scheme, Source};

/// A mirror that nobody else works on, while one commit is looked for.
pub(crate) struct Repository<'a> {
    pub(crate) program: &'a Program,
    pub(crate) path: &'a Path,
    pub(crate) lock: &'a Lock,
    pub(crate) source: &'a Source,
    pub(crate) ssh_agent: Option<&'a Path>,
    pub(crate) wanted: &'a CommitName,
    pub(crate) started: Instant,
    pub(crate) deadline: Duration,
}

/// What is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fetch<'a> {
    /// The wanted commit by its full name, and as many commits before it.
    Commit { depth: u32 },
    /// The tip of a branch, and as many commits before it.
    Branch { name: &'a BranchName, depth: u32 },
    /// The whole history of a branch.
    WholeBranch { name: &'a BranchName },
    /// The whole history of every branch and tag.
    Everything,
}

impl Repository<'_> {
    pub(crate) fn init(&self) -> Result<(), MirrorError> {
        let path = self.path.as_os_str();
        let words: [&OsStr; 5] =
            ["init".as_ref(), "--quiet".as_ref(), "--bare".as_ref(), "--template=".as_ref(), path];
        let (ran, call) = self.run(None, &words)?;
        if ran.status.success() { Ok(()) } else { Err(MirrorError::Git { call }) }
    }

    /// Brings something from the source. Answers the call where it failed.
    pub(crate) fn fetch(&self, what: Fetch<'_>) -> Result<Result<(), Box<GitCall>>, MirrorError> {
        let branch = |name: &BranchName| {
            // By its digest: a name that is taken here may be the folder of another one there, later on.
            let place = Digest::of(name.as_str().as_bytes()).to_hex();
            vec![format!("+refs/heads/{name}:refs/branches/{place}")]
        };
        let (depth, refspecs) = match what {
            Fetch::Commit { depth } => (depth, vec![format!("+{0}:refs/commits/{0}", self.wanted)]),
            Fetch::Branch { name, depth } => (depth, branch(name)),
            Fetch::WholeBranch { name } => (WHOLE_HISTORY, branch(name)),
            Fetch::Everything => (
                WHOLE_HISTORY,
                vec!["+refs/heads/*:refs/heads/*".to_owned(), "+refs/tags/*:refs/tags/*".to_owned()],
            ),
        };
        let mut words: Vec<OsString> = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-recurse-submodules",
            "--no-write-fetch-head",
            "--no-auto-gc",
        ]
        .map(OsString::from)
        .to_vec();
        words.push(format!("--depth={depth}").into());
        if what == Fetch::Everything {
            words.push("--prune".into());
        }
        if self.source.scheme() == Scheme::File {
            words.push(fence::upload_pack(self.program));
        }
        words.extend(["--".into(), self.source.argument()]);
        words.extend(refspecs.into_iter().map(OsString::from));
        let outward =
            Outward { scheme: self.source.scheme(), ssh_agent: self.ssh_agent.map(Path::to_path_buf) };
        let (ran, call) = self.run(Some(&outward), &words)?;
        Ok(if ran.status.success() { Ok(()) } else { Err(call) })
    }

    /// The wanted commit, where it is here already.
    pub(crate) fn find(&self) -> Result<Option<CommitSha>, MirrorError> {
        match self.wanted {
            CommitName::Full(sha) => match self.kind(sha)?.as_deref() {
                None => Ok(None),
                Some("commit") => Ok(Some(sha.clone())),
                Some(found) => Err(MirrorError::NotACommit { sha: sha.clone(), found: found.to_owned() }),
            },
            CommitName::Abbreviated(digits) => self.find_abbreviated(digits),
        }
    }

    fn find_abbreviated(&self, digits: &str) -> Result<Option<CommitSha>, MirrorError> {
        let (ran, call) = self.run(None, &["rev-parse", &format!("--disambiguate={digits}")])?;
        if !ran.status.success() {
            return Err(MirrorError::Git { call });
        }
        let answer = String::from_utf8_lossy(&ran.answer).into_owned();
        let named = answer.lines().filter_map(|line| match CommitName::parse(line) {
            Ok(CommitName::Full(sha)) => Some(sha),
            _ => None,
        });
        let named: Vec<CommitSha> = named.take(CANDIDATES + 1).collect();
        if named.len() > CANDIDATES || ran.is_cut {
            return Err(MirrorError::Ambiguous { digits: digits.to_owned(), candidates: named });
        }
        let mut commits = Vec::new();
        for sha in named {
            if self.kind(&sha)?.as_deref() == Some("commit") {
                commits.push(sha);
            }
        }
        match commits.len() {
            0 | 1 => Ok(commits.pop()),
            _ => Err(MirrorError::Ambiguous { digits: digits.to_owned(), candidates: commits }),
        }
    }

    /// What an object is, where it is here.
    fn kind(&self, sha: &CommitSha) -> Result<Option<String>, MirrorError> {
        let (ran, _) = self.run(None, &["cat-file", "-t", sha.as_str()])?;
        let kind = String::from_utf8_lossy(&ran.answer).trim_end().to_owned();
        Ok(ran.status.success().then_some(kind))
    }

    /// Whether every object of a commit's tree is here. Answers the call that missed one.
    pub(crate) fn is_whole(&self, sha: &CommitSha) -> Result<Result<(), Box<GitCall>>, MirrorError> {
        let words = ["rev-list", "--objects", "--no-walk", "--quiet", sha.as_str(), "--"];
        let (ran, call) = self.run(None, &words)?;
        Ok(if ran.status.success() { Ok(()) } else { Err(call) })
    }

    /// Keeps a commit from being taken for garbage by whoever tidies the mirror.
    pub(crate) fn hold(&self, sha: &CommitSha) -> Result<(), MirrorError> {
        let (ran, call) = self.run(None, &["update-ref", &format!("refs/commits/{sha}"), sha.as_str()])?;
        if ran.status.success() { Ok(()) } else { Err(MirrorError::Git { call }) }
    }

    /// Makes one pack of many: each fetch brings one, and whoever reads the mirror opens them all.
    pub(crate) fn gather_packs(&self) -> Result<(), MirrorError> {
        let packs = self.path.join("objects/pack");
        let entries = std::fs::read_dir(&packs);
        let entries = entries.map_err(|source| MirrorError::Storage { path: packs.clone(), source })?;
        let is_pack = |name: &OsStr| name.as_encoded_bytes().ends_with(b".pack");
        let count = entries.flatten().filter(|entry| is_pack(&entry.file_name())).count();
        if count >= PACKS {
            let (ran, call) = self.run(None, &["repack", "-a", "-d", "-q"])?;
            if !ran.status.success() {
                return Err(MirrorError::Git { call });
            }
        }
        Ok(())
    }

    fn run<S: AsRef<OsStr>>(
        &self,
        outward: Option<&Outward>,
        words: &[S],
    ) -> Result<(Ran, Box<GitCall>), MirrorError> {
        let mut command = fence::command(self.program, self.path, outward);
        let unstartable = |source| MirrorError::Unstartable { source };
        // Should this process die, the lock lasts as long as its child does.
        command.args(words).stdin(Stdio::from(self.lock.file().map_err(unstartable)?));
        match process::run(&mut command, self.started + self.deadline) {
            Ok(ran) => {
                let call = self.call(words, ran.status.code(), &ran.errors);
                // Something ended it, so that what it wrote or did not write means nothing.
                if call.exit.is_none() { Err(MirrorError::Git { call }) } else { Ok((ran, call)) }
            }
            Err(RunFault::Io(source)) => Err(unstartable(source)),
            Err(RunFault::Deadline { errors }) => {
                Err(MirrorError::Deadline { call: self.call(words, None, &errors), deadline: self.deadline })
            }
        }
    }

    fn call<S: AsRef<OsStr>>(&self, words: &[S], exit: Option<i32>, errors: &[u8]) -> Box<GitCall> {
        let words: Vec<String> =
            words.iter().map(|word| word.as_ref().to_string_lossy().into_owned()).collect();
        let command = format!("git {}", words.join(" "));
        let is_fetch = words.first().is_some_and(|word| word == "fetch");
        Box::new(GitCall {
            repository: self.path.to_path_buf(),
            wanted: self.wanted.clone(),
            brief: if is_fetch { format!("git fetch {}", self.source) } else { command.clone() },
            command,
            exit,
            output: told(errors),
        })
    }
}

/// The words of a program, without what would act on a terminal.
fn told(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let told: String =
        text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c }).collect();
    told.trim_end().to_owned()
}
