//! Trees at random, from seeds that never change.

use std::collections::BTreeMap;

use ambit_ids::RepoPath;
use ambit_revision::FileKind;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::repository::{Repository, is_git_here};
use crate::world::{Entry, World, bundle, envelope, mail};

const CASES: u32 = 40;

fn content() -> impl Strategy<Value = Vec<u8>> {
    let line = prop::sample::select(vec![
        &b"one\n"[..],
        b"two\n",
        b"three\n",
        b"\n",
        b"-- \n",
        b"---\n",
        b"\r\n",
        b"four\r\n",
        b"\xe9\n",
        b"\0",
        b" \t\n",
        b"no end",
        b"+x\n",
        b"From x\n",
    ]);
    prop::collection::vec(line, 0..8).prop_map(|lines| lines.concat())
}

fn kind() -> impl Strategy<Value = FileKind> {
    prop::sample::select(vec![FileKind::File, FileKind::File, FileKind::Executable, FileKind::Link])
}

fn entry() -> impl Strategy<Value = Entry> {
    let names = vec!["a", "b", "a.b", "a b", "é", "c\n", "d\t", "a0", "Z "];
    let path = prop::collection::vec(prop::sample::select(names), 1..4).prop_map(|names| names.join("/"));
    (path, kind(), content()).prop_map(|(path, kind, content)| {
        // No link leads nowhere by an empty name, and none holds a NUL.
        let target = [b"t".as_slice(), &content].concat().into_iter().filter(|byte| *byte != 0).collect();
        let content = if kind == FileKind::Link { target } else { content };
        (path.into_bytes(), kind, content)
    })
}

/// A world of these entries, where each place is what was put there last.
fn world(entries: &[Entry]) -> World {
    let mut files: BTreeMap<Vec<u8>, Entry> = BTreeMap::new();
    for entry in entries {
        let path = RepoPath::from_bytes(&entry.0).unwrap();
        let above: Vec<Vec<u8>> = std::iter::successors(path.parent(), RepoPath::parent)
            .map(|path| path.as_bytes().to_vec())
            .collect();
        let below = [entry.0.as_slice(), b"/"].concat();
        files.retain(|path, _| !above.contains(path) && !path.starts_with(&below));
        files.insert(entry.0.clone(), entry.clone());
    }
    World::of(&files.into_values().collect::<Vec<_>>())
}

/// What a world becomes: some entries stay, some move, some change, and others come.
fn worlds() -> impl Strategy<Value = (World, World)> {
    let fate = (0..6_u8, entry());
    (prop::collection::vec((entry(), fate), 1..10), prop::collection::vec(entry(), 0..4)).prop_map(
        |(old, new)| {
            let before: Vec<Entry> = old.iter().map(|(entry, _)| entry.clone()).collect();
            let mut after: Vec<Entry> = Vec::new();
            for (entry, (fate, other)) in old {
                match fate {
                    0 => {}
                    1 => after.push((other.0, entry.1, entry.2)),
                    2 => after.push((entry.0, other.1, other.2)),
                    _ => after.push(entry),
                }
            }
            after.extend(new);
            (world(&before), world(&after))
        },
    )
}

#[test]
fn any_tree_leaves_as_it_is() {
    if !is_git_here("any_tree_leaves_as_it_is") {
        return;
    }
    let config =
        Config { cases: CASES, failure_persistence: None, max_shrink_iters: 60, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[11; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
    runner
        .run(&worlds(), |(before, after)| {
            prop_assume!(before.tree != after.tree);
            let (origin, commit) = Repository::holding(&before);
            origin.git(["reset", "--hard", "--quiet"], b"");
            let (clone, say) = (origin, envelope("At random"));
            let applied = clone.run(["am", "--quiet"], &mail(&before, &after, &say).unwrap());
            let told = String::from_utf8_lossy(&applied.stderr);
            prop_assert!(applied.status.success(), "{}", told);
            prop_assert_eq!(&clone.world("HEAD").tree, &after.tree);
            let (bundled, bytes) = bundle(Some((commit, &before)), &after, &say).unwrap();
            std::fs::write(clone.path(".git/x"), bytes).unwrap();
            clone.git(["-c", "fetch.fsckObjects=true", "fetch", "--quiet", ".git/x", "ambit/rev-1"], b"");
            let names = clone.says(["rev-parse", "FETCH_HEAD", "HEAD^{tree}"]);
            prop_assert_eq!(names, format!("{}\n{}", bundled.commit, bundled.tree));
            Ok(())
        })
        .unwrap();
}
