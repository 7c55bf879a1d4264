//! The same patches through `git apply --recount` and GNU patch: whatever is accepted here one of them accepts alike, or
//! a table tells why it is right.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::cases::{Files, read_files, source};
use crate::mutations::{MUTATIONS, Mutation, Random, as_files, base_and_patch, mutate, of};
use crate::source::Source;

/// What both refuse and this engine accepts, with what git says of it, and why it is right.
const ACCEPTED_HERE: &[(&[Mutation], &str, &str)] = &[
    (
        &[Mutation::FinalLineFeedLost],
        "corrupt patch",
        "both want the last line feed of the patch; here a context line without it is compared with the file",
    ),
    (
        &[
            Mutation::BaseGrewAbove,
            Mutation::FirstContextDropped,
            Mutation::LastContextDropped,
            Mutation::NoContext,
        ],
        "patch does not apply",
        "both hold a hunk that states line 1 to the start of a file, and one without context below to its end; here \
         the only place in the file is enough",
    ),
    (
        &[Mutation::Placeless],
        "patch with only garbage",
        "neither reads a hunk without line numbers; here the only place in the file is enough",
    ),
    (
        &[Mutation::BaseLostItsEnd],
        "patch does not apply",
        "both compare the line feed at the end of the file; here it may differ in context, which stays as it is",
    ),
    (
        &[Mutation::FalseEndMarker],
        "",
        "GNU patch wants the file to end where a marker says so; here context stays as it is, and its end with it",
    ),
];

/// What a tool makes of a patch otherwise, and why it is wrong.
const WRONG_THERE: &[(&[Mutation], Tool, &str)] = &[(
    &[Mutation::FalseEndMarker],
    Tool::Git,
    "git lets a marker take the line feed from the line of the file that it stands below, context or not",
)];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tool {
    Git,
    Gnu,
}

impl Tool {
    const BOTH: [Self; 2] = [Self::Git, Self::Gnu];

    fn command(self, patch: &Path) -> Command {
        let mut command = Command::new(self.name());
        match self {
            Self::Git => command.args(["apply", "--recount", "--whitespace=nowarn"]),
            Self::Gnu => command.args(["-p1", "--fuzz=0", "--force", "--no-backup-if-mismatch", "-i"]),
        };
        command.arg(patch);
        command
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Git => "git",
            Self::Gnu => "patch",
        }
    }

    /// What it makes of a patch; `Err` holds what it says where it refuses any of it.
    fn apply(self, directory: &Path, base: &Files, patch: &str) -> Result<Files, String> {
        let work = directory.join("work");
        let _ = fs::remove_dir_all(&work);
        for (path, (_, bytes)) in base {
            let path = work.join(std::str::from_utf8(path).unwrap());
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let file = directory.join("patch");
        fs::write(&file, patch).unwrap();
        let output = self
            .command(&file)
            .current_dir(&work)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", directory)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CEILING_DIRECTORIES", directory)
            .output()
            .unwrap();
        if output.status.success() {
            Ok(read_files(&work))
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into())
        }
    }
}

type Outcome = (Tool, Result<Files, String>);

/// What came of a patch here and there, or what is wrong with that.
fn judge(mutation: Mutation, ours: Option<&Source>, theirs: &[Outcome]) -> Result<String, String> {
    let Some(ours) = ours else {
        let accept: Vec<_> = theirs.iter().filter(|(_, files)| files.is_ok()).map(|(tool, _)| tool).collect();
        return Ok(format!("refused; accepted by {accept:?}"));
    };
    let listing = ours.listing();
    let (mut alike, mut otherwise, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    for (tool, files) in theirs {
        match files {
            Ok(files) if source(files).listing() == listing => alike.push(*tool),
            Ok(_) => otherwise.push(*tool),
            Err(said) => refused.push((*tool, said)),
        }
    }
    let is_wrong = |tool: &Tool| {
        WRONG_THERE.iter().any(|(mutations, wrong, _)| wrong == tool && mutations.contains(&mutation))
    };
    let is_explained = ACCEPTED_HERE.iter().any(|(mutations, message, _)| {
        let is_meant = |(tool, said): &(Tool, &String)| *tool == Tool::Gnu || said.contains(message);
        mutations.contains(&mutation) && refused.iter().all(is_meant)
    });
    let outcome = format!("accepted; alike {alike:?}, otherwise {otherwise:?}");
    let is_right = otherwise.iter().all(is_wrong) && (!alike.is_empty() || is_explained);
    if is_right { Ok(outcome) } else { Err(format!("{outcome}, refused {refused:?}")) }
}

#[test]
fn whatever_is_accepted_is_accepted_alike_by_another_tool_or_explained() {
    let tools: Vec<Tool> = Tool::BOTH
        .into_iter()
        .filter(|tool| Command::new(tool.name()).arg("--version").output().is_ok())
        .collect();
    if !tools.contains(&Tool::Git) {
        println!("skipped: GIT_ABSENT");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut random = Random(20_261);
    let mut wrong = Vec::new();
    let mut tally: BTreeMap<(Mutation, String), usize> = BTreeMap::new();
    for round in 0..MUTATIONS.len() * 14 {
        let mutation = MUTATIONS[round % MUTATIONS.len()];
        let (mut base, patch) = base_and_patch(&mut random);
        let patch = mutate(mutation, &mut base, &patch, &mut random);
        let before = of(&base);
        let ours = before.apply(patch.as_bytes()).map(|applied| before.after(&applied));
        let theirs = tools.iter().map(|tool| (*tool, tool.apply(directory.path(), &as_files(&base), &patch)));
        let outcome = judge(mutation, ours.as_ref().ok(), &theirs.collect::<Vec<_>>());
        if let Err(outcome) = &outcome {
            wrong.push(format!("{mutation:?}: {outcome}\n{patch}"));
        }
        *tally.entry((mutation, outcome.unwrap_or_else(|wrong| wrong))).or_default() += 1;
    }
    assert!(wrong.is_empty(), "{}\n{tally:#?}", wrong.join("\n"));
    println!("{tally:#?}");
    for mutation in [Mutation::None, Mutation::Renamed, Mutation::ChangedPlaces, Mutation::ModeChanged] {
        let alike =
            tally.iter().any(|((found, outcome), _)| *found == mutation && outcome.contains("alike [Git"));
        assert!(alike, "{mutation:?}: {tally:#?}");
    }
}
