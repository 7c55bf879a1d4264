//! Right patches, and what can become of them.

use std::collections::BTreeMap;

use ambit_revision::diff;

use crate::cases::{Files, source};
use crate::source::Source;

/// What is done to a right patch or to its base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mutation {
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
    Placeless,
    Renamed,
    RenamedAsIs,
    ChangedPlaces,
    ModeChanged,
}

pub(crate) const MUTATIONS: [Mutation; 19] = [
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
    Mutation::Placeless,
    Mutation::Renamed,
    Mutation::RenamedAsIs,
    Mutation::ChangedPlaces,
    Mutation::ModeChanged,
];

pub(crate) struct Random(pub(crate) u64);

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

pub(crate) fn base_and_patch(random: &mut Random) -> (BTreeMap<&'static str, Vec<u8>>, String) {
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

pub(crate) fn of(files: &BTreeMap<&'static str, Vec<u8>>) -> Source {
    source(&as_files(files))
}

pub(crate) fn as_files(files: &BTreeMap<&'static str, Vec<u8>>) -> Files {
    let file = |bytes: &Vec<u8>| (ambit_revision::FileKind::File, bytes.clone());
    files.iter().map(|(path, bytes)| (path.as_bytes().to_vec(), file(bytes))).collect()
}

pub(crate) fn mutate(
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
        Mutation::Placeless => {
            out.iter_mut().filter(|line| line.starts_with("@@ -")).for_each(|line| *line = "@@".to_owned());
        }
        Mutation::Renamed | Mutation::RenamedAsIs | Mutation::ChangedPlaces | Mutation::ModeChanged => {
            return with_another_header(mutation, base, patch);
        }
    }
    let end = if mutation == Mutation::FinalLineFeedLost { "" } else { "\n" };
    out.join("\n") + end
}

const HEADER: &str = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n";
const SIDES: &str = "--- a/a.txt\n+++ b/e/n.txt\n";

fn rename(from: &str, to: &str) -> String {
    format!("diff --git a/{from} b/{to}\nsimilarity index 90%\nrename from {from}\nrename to {to}\n")
}

/// A right patch that does something else to `a.txt`.
fn with_another_header(
    mutation: Mutation,
    base: &mut BTreeMap<&'static str, Vec<u8>>,
    patch: &str,
) -> String {
    match mutation {
        Mutation::Renamed => patch.replacen(HEADER, &(rename("a.txt", "e/n.txt") + SIDES), 1),
        Mutation::ChangedPlaces => {
            base.entry("d/b.txt").or_insert_with(|| b"other\n".to_vec());
            rename("a.txt", "d/b.txt") + &rename("d/b.txt", "a.txt")
        }
        Mutation::ModeChanged => {
            let modes = "diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n";
            patch.replacen("diff --git a/a.txt b/a.txt\n", modes, 1)
        }
        _ => rename("a.txt", "e/n.txt"),
    }
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
