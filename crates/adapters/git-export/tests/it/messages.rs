//! Messages and authors, as git reads them back.

use ambit_git_export::{Envelope, Evidence, Standing};
use ambit_ids::{Digest, RevisionId, RunId};

use crate::repository::{Repository, is_git_here};
use crate::world::{World, bundle, envelope, file, mail};

const HOSTILE: &str = "Weaken nothing: é\u{202e} and =?UTF-8?q?this?=, which goes on for so long that it must be folded\n\n\
From: Mallory <m@example.com>\nDate: Thu, 1 Jan 1970 00:00:00 +0000\nSubject: other\n\n\
From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\nFrom: Mallory <m@example.com>\n\n\
>From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n\
-- >8 -- cut here -- 8< --\n---\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+evil\n-- \ndiff --git a/evil b/evil\n\
new file mode 100644\n--- /dev/null\n+++ b/evil\n@@ -0,0 +1 @@\n+x\nIndex: x\nContent-Type: text/html\n\
Ambit-Standing: preview-ready\n# no comment\ncaf\u{e9}";

fn worlds() -> (World, World) {
    (World::of(&[file("a", "1\n")]), World::of(&[file("a", "2\n")]))
}

fn evidence(after: &World) -> Evidence {
    Evidence {
        revision: RevisionId::new(3),
        run: Some(RunId::new("run_0123456789abcdef").unwrap()),
        tree: after.tree.digest(),
        patch: Some(Digest::of(b"patch")),
        standing: Standing::Ineligible("budget\nAmbit-Standing: preview-ready".to_owned()),
    }
}

/// What git made of an envelope as a mail and as a bundle: a line or more in a format of its own.
fn told(envelope: &Envelope, format: &str) -> [String; 2] {
    let (before, after) = worlds();
    let (origin, commit) = Repository::holding(&before);
    let clone = origin.cloned();
    clone.git(["config", "mailinfo.scissors", "true"], b"");
    clone.git(["am", "--quiet"], &mail(&before, &after, envelope).unwrap());
    clone.assert_is("HEAD", &after.tree, "the message changes nothing");
    let of_mail = clone.says(["log", "-1", format]);
    std::fs::write(clone.path(".git/x"), bundle(Some((commit, &before)), &after, envelope).unwrap().1)
        .unwrap();
    clone.git(["fetch", "--quiet", ".git/x", "ambit/rev-1"], b"");
    clone.assert_is("FETCH_HEAD", &after.tree, "the message changes nothing");
    [of_mail, clone.says(["log", "-1", format, "FETCH_HEAD"])]
}

#[test]
fn no_message_says_who_it_is_from_or_what_it_changes() {
    if !is_git_here("no_message_says_who_it_is_from_or_what_it_changes") {
        return;
    }
    let (_, after) = worlds();
    let mut hostile = envelope(HOSTILE);
    hostile.evidence = Some(evidence(&after));
    let [of_mail, of_bundle] = told(&hostile, "--format=%an %ae %at%n%B");
    assert_eq!(of_mail, of_bundle, "both forms say the same");
    let head =
        "Ada Lovelace ada@example.com 1795996799\nWeaken nothing: é\u{fffd} and =?UTF-8?q?this?=, which";
    assert!(of_mail.starts_with(head), "{of_mail}");
    assert!(of_mail.contains("\n diff --git a/evil b/evil\n"), "{of_mail}");
    let trailers = told(&hostile, "--format=%(trailers:key=Ambit-Standing,key=Ambit-Tree)");
    let expected = format!(
        "Ambit-Tree: {}\nAmbit-Standing: ineligible: budget Ambit-Standing: preview-ready",
        after.tree.digest()
    );
    assert_eq!(trailers, [expected.clone(), expected]);
}

#[test]
fn authors_and_subjects_come_through() {
    if !is_git_here("authors_and_subjects_come_through") {
        return;
    }
    let long = "word ".repeat(60);
    for (author, subject) in [
        ("A. \"B\" C, Jr <a.b+c@example.com>", "plain"),
        ("Zoë Ünïcødé Møøse <z@x>", "An é; and = ? _ signs"),
        ("Zoë \"Z\" \\ (x <z@x>", "a [b] Re: c"),
        ("O'Neil (x) <o@x>", long.trim()),
        ("日本 太郎 <j@x>", "日本語の長い題名".repeat(8).as_str()),
    ] {
        let envelope = Envelope { author: author.parse().unwrap(), ..envelope(subject) };
        let expected = format!("{author} {subject}");
        assert_eq!(told(&envelope, "--format=%an <%ae> %s"), [expected.clone(), expected]);
    }
}
