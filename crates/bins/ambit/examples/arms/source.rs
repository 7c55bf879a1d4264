//! The source trees that are patched, looked at and imported, on disk and as values, and the patches of their files.
//!
//! They come out of numbers alone, so that every arm has the same ones.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ambit_ids::RepoPath;
use ambit_revision::{FileKind, Tree, TreeFile};

use crate::failed;
use crate::failure::Failure;

/// How many files a module has, and modules a package: as many entries as directories of large projects have.
const MODULE: usize = 50;
const PACKAGE: usize = 20;
/// Each line has 60 bytes, and a file 6 KB: about the average of large projects.
const LINES: usize = 100;
/// The lines that a patch changes.
const CHANGED: std::ops::Range<usize> = 40..50;
const CONTEXT: usize = 3;

/// The file of a number.
pub(crate) fn path(number: usize) -> String {
    let (module, file) = (number / MODULE, number % MODULE);
    format!("package-{}/module-{}/file-{file}.txt", module / PACKAGE, module % PACKAGE)
}

/// What it holds at first.
pub(crate) fn content(number: usize) -> String {
    let mut state = number as u64;
    (0..LINES)
        .map(|line| {
            format!("{line:010} {:016x} {:016x} {:014}\n", next(&mut state), next(&mut state), number)
        })
        .collect()
}

/// The next of a series of numbers that look random (splitmix64).
const fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The content with the changed lines of a step.
pub(crate) fn edited(before: &str, step: usize) -> String {
    let line = |(number, line): (usize, &str)| {
        if CHANGED.contains(&number) { format!("step {step} of line {number}\n") } else { line.to_owned() }
    };
    before.split_inclusive('\n').enumerate().map(line).collect()
}

/// The part of a patch that leads one file from one content to another.
pub(crate) fn hunk(path: &str, before: &str, after: &str) -> String {
    let shown = CHANGED.start - CONTEXT..CHANGED.end + CONTEXT;
    let lines = |text: &str, sign: char, range: std::ops::Range<usize>| -> String {
        text.lines().skip(range.start).take(range.len()).map(|line| format!("{sign}{line}\n")).collect()
    };
    let span = format!("{},{}", shown.start + 1, shown.len());
    let above = lines(before, ' ', shown.start..CHANGED.start);
    let (removed, added) = (lines(before, '-', CHANGED), lines(after, '+', CHANGED));
    let below = lines(before, ' ', CHANGED.end..shown.end);
    format!(
        "diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -{span} +{span} @@\n{above}{removed}{added}{below}"
    )
}

/// Some files, spread evenly over a tree of so many.
pub(crate) fn spread(files: usize, count: usize) -> Vec<usize> {
    (0..count).map(|index| index * (files / count)).collect()
}

/// The tree of the files with these numbers.
pub(crate) fn tree(numbers: impl IntoIterator<Item = usize>) -> Result<Tree, Failure> {
    let file = |number| -> Result<(RepoPath, TreeFile), Failure> {
        Ok((path(number).parse().map_err(failed)?, TreeFile::of(FileKind::File, content(number).as_bytes())))
    };
    let files: Result<Vec<_>, Failure> = numbers.into_iter().map(file).collect();
    Tree::from_files(files?).map_err(failed)
}

/// The numbers of `left` files out of so many, chosen so that every directory above one of `kept` has all of its entries.
pub(crate) fn thinned(files: usize, left: usize, kept: &[usize]) -> BTreeSet<usize> {
    let package = MODULE * PACKAGE;
    let modules = kept.iter().flat_map(|number| number / MODULE * MODULE..(number / MODULE + 1) * MODULE);
    let packages = kept.iter().map(|number| number / package * package);
    let siblings = packages.flat_map(|first| (first..first + package).step_by(MODULE));
    let mut numbers: BTreeSet<usize> =
        modules.chain(siblings).chain((0..files).step_by(package)).filter(|number| *number < files).collect();
    // The rest lies in directories that are there, and above none of those that are kept.
    let beside = (0..files).filter(|number| kept.iter().all(|kept| kept / MODULE != number / MODULE));
    let mut beside = beside.filter(|number| number % package / MODULE == 1);
    while numbers.len() < left
        && let Some(number) = beside.next()
    {
        numbers.insert(number);
    }
    numbers
}

/// Writes a tree into `trees` of the working directory where it is not there yet, with patches of it beside, and prints
/// where it lies.
pub(crate) fn lay(kind: &str) -> Result<(), Failure> {
    let trees = std::env::current_dir().map_err(failed)?.join("trees");
    let (place, whole) = (trees.join(kind), trees.join(format!("{kind}.whole")));
    if !whole.exists() {
        if place.exists() {
            fs::remove_dir_all(&place).map_err(failed)?;
        }
        if kind == "gigabyte" {
            lay_gigabyte(&place)?;
        } else {
            lay_files(&place, kind.parse().map_err(failed)?)?;
        }
        fs::write(&whole, "").map_err(failed)?;
    }
    println!("{}", place.display());
    Ok(())
}

fn lay_files(place: &Path, files: usize) -> Result<(), Failure> {
    for number in 0..files {
        write(&place.join(path(number)), content(number).as_bytes())?;
    }
    for count in [1, 20] {
        let numbers = spread(files, count);
        let way = |there: bool| -> String {
            let one = |number: &usize| {
                let (before, after) = (content(*number), edited(&content(*number), 1));
                let (from, to) = if there { (&before, &after) } else { (&after, &before) };
                hunk(&path(*number), from, to)
            };
            numbers.iter().map(one).collect()
        };
        for (name, there) in [("there", true), ("back", false)] {
            write(&patch_beside(place, count, name), way(there).as_bytes())?;
        }
    }
    Ok(())
}

/// Where the patch of so many files lies.
fn patch_beside(place: &Path, count: usize, way: &str) -> PathBuf {
    place.with_extension(format!("{count}-{way}.patch"))
}

/// 8,192 files of 64 KiB and 512 of 1 MiB, none like another.
fn lay_gigabyte(place: &Path) -> Result<(), Failure> {
    for (folder, files, size_bytes) in [("small", 8_192, 64 << 10), ("large", 512, 1 << 20)] {
        for number in 0..files {
            let content = content(number);
            let bytes: Vec<u8> = content.bytes().cycle().take(size_bytes).collect();
            write(&place.join(folder).join(path(number)), &bytes)?;
        }
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let above = path.parent().unwrap_or(path);
    fs::create_dir_all(above).and_then(|()| fs::write(path, bytes)).map_err(failed)
}
