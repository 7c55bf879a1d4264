use ambit_policy::{Fact, FactKind};
use ambit_revision::{Contents, FileKind, TreeFile};
use ambit_run::{DenialCode, Finding, ToolCall};
use ambit_simulation::{Setup, Verb, creation, edit, simulate};

use crate::bench::Bench;

fn kinds(facts: &[Fact]) -> Vec<FactKind> {
    let mut kinds: Vec<FactKind> = facts.iter().map(Fact::kind).collect();
    kinds.dedup();
    kinds
}

// proves E-F04 E-F07 E-H02 E-A13
// break crates/control-plane/broker/src/ground.rs: `scope: spec.scope.paths.clone(),` -> `scope: PathSet::default(),`
// break crates/control-plane/broker/src/ground.rs: `tests: spec.protected_oracles.test_paths.clone(),` -> `tests: PathSet::default(),`
#[test]
fn a_patch_is_told_by_what_it_does_and_not_by_what_it_says() {
    let cases: [(&str, String, Vec<FactKind>); 6] = [
        ("an honest edit", edit("src/word.txt", "undone\n", "right\n"), vec![]),
        (
            "a protected path",
            edit("tests/protected/check.txt", "the word is right\n", "any\n"),
            vec![FactKind::ProtectedPathTouched, FactKind::ScopeLeft],
        ),
        ("out of scope", creation("deploy/live.yaml", "live: true\n"), vec![FactKind::ScopeLeft]),
        (
            "a dependency",
            edit("requirements.txt", "attrs==25.3.0\n", "attrs==25.3.0\nrequests==2.32.0\n"),
            vec![FactKind::DependencyAdded],
        ),
        (
            "a skipped test",
            creation(
                "tests/test_new.py",
                "import unittest\n@unittest.skip('later')\ndef test_a():\n    assert True\n",
            ),
            vec![FactKind::SkipMarkerAdded, FactKind::ScopeLeft],
        ),
        (
            "a test that says less",
            edit(
                "tests/test_old.py",
                "def test_a():\n    assert a()\n    assert b()\n",
                "def test_a():\n    assert a()\n",
            ),
            vec![FactKind::AssertionRemoved, FactKind::ScopeLeft],
        ),
    ];
    simulate(async {
        let mut setup = Setup::standard();
        let old = "def test_a():\n    assert a()\n    assert b()\n";
        setup.files.push(("tests/test_old.py".to_owned(), old.as_bytes().to_vec()));
        let bench = Bench::new(setup).await;
        for (what, patch, expected) in cases {
            let assessed = bench.assess(bench.patch(&patch), Some(&patch)).await;
            assert_eq!(kinds(&assessed.facts), expected, "{what}: {:?}", assessed.facts);
            assert!(matches!(assessed.finding, Finding::Patch(_)), "{what}: {:?}", assessed.finding);
        }
        assert_eq!(bench.world.sandbox.asked(Verb::Execute), 0, "nothing was performed");
    });
}

// proves E-D05 E-D04
// break crates/control-plane/broker/src/patch.rs: `added_dependencies: self.dependencies_since_base(ground, &from_base, &applied.blobs).await?,` -> `added_dependencies: 0,`
#[test]
fn changes_and_dependencies_are_counted_from_the_base_over_all_patches() {
    simulate(async {
        let mut bench = Bench::new(Setup::standard()).await;
        for (number, text) in [(1, "attrs==25.3.0\nrequests==2.32.0\n"), (2, "attrs==25.3.0\n")] {
            let before = if number == 1 { "attrs==25.3.0\n" } else { "attrs==25.3.0\nrequests==2.32.0\n" };
            let patch =
                edit("requirements.txt", before, text) + &creation(&format!("src/{number}.txt"), "new\n");
            let call = bench.patch(&patch);
            let assessed = bench.assess(call.clone(), Some(&patch)).await;
            let Finding::Patch(found) = &assessed.finding else { panic!("{:?}", assessed.finding) };
            let expected = if number == 1 { (2, 1) } else { (2, 0) };
            assert_eq!((found.changed_from_base, found.added_dependencies), expected, "patch {number}");
            bench.perform(call, &assessed.finding).await;
            bench.head = found.tree;
        }
    });
}

#[test]
fn a_patch_that_does_not_apply_is_a_finding_with_its_reason() {
    simulate(async {
        let bench = Bench::new(Setup::standard()).await;
        for patch in [
            "Sure, here is the patch",
            &edit("src/word.txt", "another\n", "right\n"),
            &edit("src/none.txt", "a\n", "b\n"),
        ] {
            let assessed = bench.assess(bench.patch(patch), Some(patch)).await;
            let Finding::Refused(denial) = &assessed.finding else { panic!("{:?}", assessed.finding) };
            assert_eq!(denial.code, DenialCode::PatchRefused);
            assert!(
                bench.world.blob(ambit_ids::Digest::of(patch.as_bytes())).is_some(),
                "it is kept all the same"
            );
        }
    });
}

#[test]
fn a_path_that_is_refused_is_named_to_the_agent() {
    simulate(async {
        let bench = Bench::new(Setup::standard()).await;
        for path in ["../x", "src/../../x", "src/aux.c", "src/word.txt/x"] {
            let patch = creation(path, "x\n");
            let assessed = bench.assess(bench.patch(&patch), Some(&patch)).await;
            let Finding::Refused(denial) = &assessed.finding else { panic!("{:?}", assessed.finding) };
            assert!(denial.detail.contains(path), "{denial}");
        }
    });
}

#[test]
fn a_patch_that_comes_again_is_answered_with_what_it_did() {
    simulate(async {
        let mut bench = Bench::new(Setup::standard()).await;
        let patch = edit("src/word.txt", "undone\n", "right\n");
        let call = bench.patch(&patch);
        let first = bench.assess(call.clone(), Some(&patch)).await;
        let Finding::Patch(found) = &first.finding else { panic!("{:?}", first.finding) };
        bench.perform(call, &first.finding).await;
        let before = std::mem::replace(&mut bench.head, found.tree);
        let again = bench.assess(bench.patch(&patch), Some(&patch)).await;
        let Finding::Refused(denial) = &again.finding else { panic!("{:?}", again.finding) };
        assert!(denial.detail.starts_with("PATCH_ALREADY_APPLIED: "), "{denial}");
        for told in [before, found.canonical] {
            assert!(denial.detail.contains(&told.to_string()), "{denial}");
        }
        assert_eq!(denial.instead, "go on from the current tree, which has all of the patch");
    });
}

// proves E-E08 E-E12
// break crates/control-plane/broker/src/assess.rs: `Place::File(file) | Place::Beyond(file) if file.kind == FileKind::Link => refused(` -> `Place::File(file) | Place::Beyond(file) if file.kind == FileKind::Link && path.as_bytes().is_empty() => refused(`
#[test]
fn a_link_is_never_followed_and_another_project_is_a_fact() {
    simulate(async {
        let mut bench = Bench::new(Setup::standard()).await;
        // A patch cannot make a link; the imported base may hold one, here to a file that can be read.
        let (target, mut contents) = (&b"word.txt"[..], Contents::new());
        contents.insert(target.to_vec());
        let link = TreeFile::of(FileKind::Link, target);
        let tree = bench.world.base_tree.with(&[("src/link".parse().unwrap(), Some(link))].into()).unwrap();
        let scope = bench.world.scope.clone();
        bench.head = bench.broker.revisions().keep(&scope, &tree, &contents).await.unwrap();
        for (path, code) in [
            ("src", DenialCode::PathNotFound),
            ("src/none", DenialCode::PathNotFound),
            ("src/link", DenialCode::PathRefused),
        ] {
            let Finding::Refused(denial) = bench.assess(bench.read(path), None).await.finding else {
                panic!("{path}")
            };
            assert_eq!(denial.code, code, "{path}");
        }
        let mut read = bench.read("src/word.txt");
        let own = bench.assess(read.clone(), None).await;
        assert_eq!((own.finding, kinds(&own.facts)), (Finding::Clear, vec![]));
        if let ToolCall::ReadProjectFile { project_id, .. } = &mut read {
            *project_id = "payroll".parse().unwrap();
        }
        assert_eq!(kinds(&bench.assess(read, None).await.facts), [FactKind::ForeignProject]);
    });
}
