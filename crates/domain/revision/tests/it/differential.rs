//! The same patches through `git apply --recount`: wherever both accept they must agree, and whatever only this engine
//! accepts must be explained.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use ambit_revision::diff;

use crate::cases::{Files, read_files, source};
use crate::source::Source;

/// What is done to a right patch or to its base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mutation {
    None,
    ShiftedLines,
    WrongCounts,
    FirstContextDropped,
    LastContextDropped,
    ContextAltered,
    NoContext,
    FinalLineFeedLost,
    FalseEndMarker,
    HunksSwapped,
    BaseGrewAbove,
    BaseLostItsEnd,
    BaseGotCarriageReturns,
    BlankContextStripped,
}

const MUTATIONS: [Mutation; 14] = [
    Mutation::None,
    Mutation::ShiftedLines,
    Mutation::WrongCounts,
    Mutation::FirstContextDropped,
    Mutation::LastContextDropped,
    Mutation::ContextAltered,
    Mutation::NoContext,
    Mutation::FinalLineFeedLost,
    Mutation::FalseEndMarker,
    Mutation::HunksSwapped,
    Mutation::BaseGrewAbove,
    Mutation::BaseLostItsEnd,
    Mutation::BaseGotCarriageReturns,
    Mutation::BlankContextStripped,
];

/// What git says of patches that only this engine accepts, and why that is right.
const EXPLAINED: &[(&[Mutation], &str, &str)] = &[
    (
        &[Mutation::FinalLineFeedLost],
        "corrupt patch",
        "git wants the last line feed of the patch; here a context line without it is compared with the file",
    ),
    (
        &[
            Mutation::BaseGrewAbove,
            Mutation::FirstContextDropped,
            Mutation::LastContextDropped,
            Mutation::NoContext,
        ],
        "patch does not apply",
        "git holds a hunk that states line 1 to the start of a file, and one without context below to its end; here \
         the only place in the file is enough",
    ),
];

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

fn text(random: &mut Random) -> Vec<String> {
    let words = ["", "alpha", "bravo", "charlie", "    return x;", "}", "-- note", "++ i;"];
    (0..8 + random.below(30))
        .map(|n| match random.below(3) {
            0 => words[random.below(words.len())].to_owned(),
            _ => format!("line {n} {}", random.below(4)),
        })
        .collect()
}

fn edited(lines: &[String], random: &mut Random) -> Vec<String> {
    let mut lines = lines.to_vec();
    for _ in 0..1 + random.below(3) {
        let at = random.below(lines.len());
        match random.below(3) {
            0 => lines[at] = format!("changed {}", random.below(100)),
            1 => lines.insert(at, format!("inserted {}", random.below(100))),
            _ => drop(lines.remove(at)),
        }
    }
    lines
}

fn joined(lines: &[String]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}

fn base_and_patch(random: &mut Random) -> (BTreeMap<&'static str, Vec<u8>>, String) {
    let names = ["a.txt", "d/b.txt"];
    let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
    for name in names.iter().take(1 + random.below(2)) {
        let lines = text(random);
        after.insert(*name, joined(&edited(&lines, random)));
        before.insert(*name, joined(&lines));
    }
    let (old, new) = (of(&before), of(&after));
    let read = |digest: &_| new.contents.get(digest).or_else(|| old.contents.get(digest));
    let text = diff(&old.tree, &new.tree, &read).unwrap().text;
    (before, String::from_utf8(text).unwrap())
}

fn of(files: &BTreeMap<&'static str, Vec<u8>>) -> Source {
    source(&as_files(files))
}

fn as_files(files: &BTreeMap<&'static str, Vec<u8>>) -> Files {
    let file = |bytes: &Vec<u8>| (ambit_revision::FileKind::File, bytes.clone());
    files.iter().map(|(path, bytes)| (path.as_bytes().to_vec(), file(bytes))).collect()
}

fn mutate(
    mutation: Mutation,
    base: &mut BTreeMap<&'static str, Vec<u8>>,
    patch: &str,
    random: &mut Random,
) -> String {
    let lines: Vec<&str> = patch.lines().collect();
    let is_context = |line: &str| line.starts_with(' ');
    let mut out: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    match mutation {
        Mutation::None => {}
        Mutation::ShiftedLines | Mutation::WrongCounts => {
            let by = 1 + random.below(6);
            for line in out.iter_mut().filter(|line| line.starts_with("@@ -")) {
                *line = renumber(line, mutation == Mutation::ShiftedLines, by);
            }
        }
        Mutation::FirstContextDropped => {
            if let Some(at) = out.iter().position(|line| is_context(line)) {
                out.remove(at);
            }
        }
        Mutation::LastContextDropped => {
            if let Some(at) = out.iter().rposition(|line| is_context(line)) {
                out.remove(at);
            }
        }
        Mutation::ContextAltered => {
            if let Some(at) = out.iter().position(|line| is_context(line)) {
                out[at].push('~');
            }
        }
        Mutation::NoContext => out.retain(|line| !is_context(line)),
        Mutation::FalseEndMarker => out.push("\\ No newline at end of file".to_owned()),
        Mutation::HunksSwapped => {
            let hunks: Vec<usize> = (0..out.len()).filter(|at| out[*at].starts_with("@@ -")).collect();
            if let [first, second] = hunks.as_slice()
                && !out.iter().skip(4).any(|line| line.starts_with("diff "))
            {
                let moved: Vec<String> = out.drain(*first..*second).collect();
                out.extend(moved);
            }
        }
        Mutation::BaseGrewAbove => {
            let above: String = (0..1 + random.below(5)).map(|n| format!("above {n}\n")).collect();
            base.values_mut().for_each(|bytes| *bytes = [above.as_bytes(), bytes.as_slice()].concat());
        }
        Mutation::BaseLostItsEnd => base.values_mut().for_each(|bytes| bytes.truncate(bytes.len() - 1)),
        Mutation::BaseGotCarriageReturns => {
            for bytes in base.values_mut() {
                *bytes = String::from_utf8(bytes.clone()).unwrap().replace('\n', "\r\n").into_bytes();
            }
        }
        Mutation::BlankContextStripped => out.iter_mut().filter(|line| *line == " ").for_each(String::clear),
        Mutation::FinalLineFeedLost => {}
    }
    let end = if mutation == Mutation::FinalLineFeedLost { "" } else { "\n" };
    out.join("\n") + end
}

/// A hunk header with its lines or its counts moved.
fn renumber(header: &str, lines: bool, by: usize) -> String {
    let (ranges, _) = header[4..].split_once(" @@").unwrap();
    let (old, new) = ranges.split_once(" +").unwrap();
    let moved = |range: &str| {
        let (line, count) = range.split_once(',').unwrap_or((range, "1"));
        let (line, count): (usize, usize) = (line.parse().unwrap(), count.parse().unwrap());
        if lines { format!("{},{count}", line + by) } else { format!("{line},{}", count + by) }
    };
    format!("@@ -{} +{} @@", moved(old), moved(new))
}

/// What git makes of a patch; `Err` holds what it says.
fn git_apply(directory: &Path, base: &Files, patch: &str) -> Result<Files, String> {
    let work = directory.join("work");
    let _ = fs::remove_dir_all(&work);
    for (path, (_, bytes)) in base {
        let path = work.join(std::str::from_utf8(path).unwrap());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let file = directory.join("patch");
    fs::write(&file, patch).unwrap();
    let output = Command::new("git")
        .args(["apply", "--recount", "--whitespace=nowarn"])
        .arg(&file)
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

fn is_explained(mutation: Mutation, said: &str) -> bool {
    EXPLAINED.iter().any(|(known, message, _)| known.contains(&mutation) && said.contains(message))
}

#[test]
fn whatever_is_accepted_is_accepted_alike_by_git_or_explained() {
    if Command::new("git").arg("--version").output().is_err() {
        println!("skipped: GIT_ABSENT");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut random = Random(20_261);
    let mut unexplained = Vec::new();
    let mut tally: BTreeMap<(Mutation, &str), usize> = BTreeMap::new();
    for round in 0..420 {
        let mutation = MUTATIONS[round % MUTATIONS.len()];
        let (mut base, patch) = base_and_patch(&mut random);
        let patch = mutate(mutation, &mut base, &patch, &mut random);
        let ours = of(&base);
        let theirs = git_apply(directory.path(), &as_files(&base), &patch);
        let outcome = match (ours.apply(patch.as_bytes()), theirs) {
            (Ok(applied), Ok(files)) if ours.after(&applied).listing() == source(&files).listing() => {
                "both, alike"
            }
            (Ok(_), Ok(_)) => {
                unexplained.push(format!("both, differently: {mutation:?}\n{patch}"));
                "both, differently"
            }
            (Ok(_), Err(said)) if is_explained(mutation, &said) => "ours, explained",
            (Ok(_), Err(said)) => {
                unexplained.push(format!("ours alone: {mutation:?}\n{patch}\n{said}"));
                "ours alone"
            }
            (Err(_), Ok(_)) => "git alone",
            (Err(_), Err(_)) => "neither",
        };
        *tally.entry((mutation, outcome)).or_default() += 1;
    }
    assert!(unexplained.is_empty(), "{}\n{tally:#?}", unexplained.join("\n"));
    println!("{tally:#?}");
    assert!(tally.iter().any(|((_, outcome), count)| *outcome == "both, alike" && *count > 20));
}
