//! A patch that comes a second time.

use ambit_revision::{Applied, Effect, PatchRefusal};

use crate::source::{Refused, Source, patch_a};

const TEXT: &str = "alpha\nbravo\ncharlie\ndelta\n";

fn base() -> Source {
    Source::of(&[("a.txt", TEXT), ("gone", "1\n"), ("run.sh", "x\n"), ("old", "o\n"), ("left", "l\nm\n")])
}

const EDIT: &str = "@@ -1,2 +1,3 @@\n alpha\n+new\n bravo\n@@ -9 +9 @@\n-delta\n+DELTA\n";
const RENAMES: &str = "diff --git a/old b/d/new\nrename from old\nrename to d/new\n\
    diff --git a/left b/old\nrename from left\nrename to old\n--- a/left\n+++ b/old\n@@ -1 +1 @@\n-l\n+L\n";
const MODE: &str = "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n";
const CREATE: &str =
    "diff --git a/made b/made\nnew file mode 100644\n--- /dev/null\n+++ b/made\n@@ -0,0 +1 @@\n+m\n";

fn delete(mode: &str) -> String {
    format!("diff --git a/gone b/gone\n{mode}--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n")
}

fn whole(delete: &str) -> String {
    patch_a(EDIT) + delete + MODE + CREATE + RENAMES
}

fn again(base: &Source, patch: &str) -> (Applied, Result<Option<Effect>, &'static str>) {
    let applied = base.apply(patch.as_bytes()).unwrap_or_else(|refused| panic!("{refused:?}"));
    let repeated = base.after(&applied).apply(patch.as_bytes());
    let effect = match repeated {
        Err(Refused::Apply(PatchRefusal::AlreadyApplied(effect))) => Ok(effect.map(|effect| *effect)),
        Err(refused) => Err(refused.code()),
        Ok(_) => Err("applied"),
    };
    (applied, effect)
}

#[test]
fn a_repeated_patch_is_answered_with_what_it_did() {
    let base = base();
    let (applied, effect) = again(&base, &whole(&delete("deleted file mode 100644\n")));
    let effect = effect.unwrap().unwrap();
    assert_eq!((effect.before, effect.tree), (base.tree.digest(), applied.tree.digest()));
    assert_eq!((effect.canonical, effect.changes), (applied.canonical, applied.changes));
    assert_eq!((effect.matches, effect.warnings), (applied.matches, applied.warnings));
}

#[test]
fn what_the_patch_does_not_say_is_not_made_up() {
    assert_eq!(again(&base(), &whole(&delete(""))).1, Ok(None));
}

#[test]
fn what_a_refusal_says_of_the_original_effect() {
    let base = base();
    let patch = patch_a(EDIT);
    let applied = base.apply(patch.as_bytes()).unwrap();
    let Err(Refused::Apply(refusal)) = base.after(&applied).apply(patch.as_bytes()) else {
        panic!("not refused as a repetition")
    };
    let expected = format!(
        "the tree already holds everything that the patch asks for: it led here from {}, changing 1 file by the \
         canonical patch {}. Nothing was changed",
        base.tree.digest(),
        applied.canonical.digest
    );
    assert_eq!((refusal.code(), refusal.to_string()), ("PATCH_ALREADY_APPLIED", expected));
}

#[test]
fn a_patch_that_does_not_lead_to_the_tree_is_no_repetition() {
    let base = base();
    let half = base.after(&base.apply(patch_a("@@ -4 +4 @@\n-delta\n+DELTA\n").as_bytes()).unwrap());
    assert_eq!(half.code(&whole(&delete(""))), "PATCH_CONTEXT_MISMATCH");
    assert_eq!(half.code("--- a/none\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"), "PATCH_FILE_MISSING");
    let rename = "diff --git a/old b/n\nrename from old\nrename to n\n";
    assert_eq!(again(&base, rename).1, Err("PATCH_FILE_MISSING"), "it says nothing of the file");
    let edit = rename.to_owned() + "--- a/old\n+++ b/n\n@@ -1 +1 @@\n-o\n+O\n";
    assert!(matches!(again(&base, &edit).1, Ok(Some(_))));
    let stays = base.after(&base.apply(RENAMES.as_bytes()).unwrap());
    let and_left = stays.after(&stays.apply(CREATE.replace("made", "left").as_bytes()).unwrap());
    assert_eq!(and_left.code(RENAMES), "PATCH_RENAME_EXISTS");
}
