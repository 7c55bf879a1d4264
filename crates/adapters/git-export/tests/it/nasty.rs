//! Trees that are hard to carry, each as a mail on a fresh clone and as a bundle.

use crate::repository::{Repository, is_git_here};
use crate::world::{Entry, World, bundle, envelope, file, link, mail, program};

type Case = (&'static str, Vec<Entry>, Vec<Entry>);

/// Lines enough to have hunks apart.
fn lines(changed: &[(usize, &str)]) -> String {
    (1..=60)
        .map(|n| {
            changed.iter().find(|(at, _)| *at == n).map_or(format!("line {n}\n"), |(_, s)| (*s).to_owned())
        })
        .collect()
}

fn noise(seed: u32, length: usize) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24).to_le_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

fn contents() -> Vec<Case> {
    let crlf = |text: &str| text.replace('\n', "\r\n");
    vec![
        ("two hunks", vec![file("a", lines(&[]))], vec![file("a", lines(&[(3, "x\n"), (50, "")]))]),
        (
            "empty files come, go and fill",
            vec![file("gone", ""), file("fills", ""), file("empties", "x\n")],
            vec![file("new", ""), file("fills", "y\n"), file("empties", "")],
        ),
        (
            "no final newline",
            vec![file("loses", "a\nb\n"), file("gains", "a\nb"), file("keeps", "a\nb")],
            vec![file("loses", "a\nb"), file("gains", "a\nb\n"), file("keeps", "x\nb"), file("new", "only")],
        ),
        (
            "carriage returns",
            vec![file("all", crlf(&lines(&[]))), file("mixed", "a\r\nb\n"), file("goes", "a\r\n")],
            vec![
                file("all", crlf(&lines(&[(7, "x\n")]))),
                file("mixed", "a\nb\r\n"),
                file("goes", "a\n"),
                file("new", "x\r\n"),
                file("lone", "a\rb\nc\n"),
                file("end", "x\r"),
                file("double", "x\r\r\n"),
            ],
        ),
        (
            "binaries",
            vec![file("same", noise(1, 999)), file("changes", noise(2, 5000)), file("goes", noise(3, 70))],
            vec![
                file("same", noise(1, 999)),
                file("changes", noise(4, 300)),
                program("new", noise(5, 70_000)),
                file("nul", "a\0b\n"),
            ],
        ),
        (
            "binary becomes text and back",
            vec![file("a", "x\0"), file("b", "x\n")],
            vec![file("a", "x\n"), file("b", "\0")],
        ),
    ]
}

fn lines_of_all_kinds() -> Vec<Case> {
    vec![
        (
            "8-bit text",
            vec![file("latin", b"caf\xe9\nth\xe9\n")],
            vec![
                file("latin", b"caf\xe9\ntea\n\xff\xfe\n"),
                file("utf", "é\u{2028}x\u{feff}\n"),
                file("controls", b"\x01\x0c\x1b[2J\x7f\n"),
            ],
        ),
        (
            "what looks like mail and patch",
            vec![file("a", "From me\n>From you\n---\n-- \nkept\n")],
            vec![
                file(
                    "a",
                    "From me\n>From you\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-- \n2.0\ndiff --git a/x b/x\nkept\n-- >8 --\n",
                ),
                file("b", "-- \n\n\n"),
                file("c", "\\ No newline at end of file\n"),
            ],
        ),
        ("dashes removed", vec![file("a", "-- x\n-\n--\n++ y\n+\n")], vec![file("a", "++ z\n++\n")]),
        (
            "very long lines",
            vec![file("long", "x".repeat(5000)), file("short", "x".repeat(900))],
            vec![file("long", format!("{}\n", "y".repeat(100_000))), file("short", "y".repeat(900))],
        ),
        (
            "blanks",
            vec![file("a", "x \n\t\n   \n")],
            vec![file("a", "x\t\n \t \n\n\n\n"), file("b", " \n"), file("c", "\n")],
        ),
        (
            "what attributes would change",
            vec![
                file(".gitattributes", "* text=auto eol=crlf\n*.u working-tree-encoding=UTF-16\n"),
                file("a", "x\n"),
                file("b.u", "é\n"),
            ],
            vec![
                file(".gitattributes", "* text=auto eol=crlf\n*.u working-tree-encoding=UTF-16\n"),
                file("a", "x\ny\n"),
                file("b.u", "é\nx\n"),
            ],
        ),
    ]
}

fn names() -> Vec<Case> {
    vec![
        (
            "names that are quoted",
            vec![file("tab\there", "1\n"), file("quote\"d", "2\n"), file("new\nline", "3\n")],
            vec![
                file("tab\there", "x\n"),
                file("quote\"d", "y\n"),
                file(b"caf\xe9", "4\n"),
                file("é/ü", "5\n"),
                file("back\\slash", "6\n"),
                file("bell\x07", "7\n"),
            ],
        ),
        (
            "names with blanks",
            vec![file("a b", "1\n"), file(" lead", "1\n"), file("trail ", "2\n"), file("d /e", "")],
            vec![
                file("a b", "x\n"),
                program(" lead", "1\n"),
                file("trail ", "y\n"),
                file("x b/x", ""),
                file("d /f ", ""),
            ],
        ),
        (
            "names that look like others",
            vec![file("a", "1\n"), file("b/a", "1\n"), file("dev/null", "1\n")],
            vec![
                file("a", "2\n"),
                file("b/a", "3\n"),
                file("dev/null", "x\n"),
                file("a/".to_owned().replace('/', "b"), "1\n"),
                file("HEAD", "x\n"),
                file("-n", "x\n"),
                file("--- a", "x\n"),
                file("a => b", ""),
                file("{x}", ""),
            ],
        ),
    ]
}

fn orders_and_lengths() -> Vec<Case> {
    vec![
        (
            "names that git sorts otherwise",
            vec![file("a/x", "1\n"), file("a.b", "2\n"), file("a-b", "3\n"), file("ab", "4\n")],
            vec![
                file("a/x", "5\n"),
                file("a.b", "2\n"),
                file("a0", "3\n"),
                file("ab/c", "4\n"),
                file("a.b0/c", "6\n"),
            ],
        ),
        (
            "names that differ in case",
            vec![file("Read", "1\n")],
            vec![file("Read", "2\n"), file("READ", "3\n"), file("read/x", "4\n")],
        ),
        (
            "deep and long",
            vec![file("x", "1\n")],
            vec![
                file([b"d/".repeat(60).as_slice(), b"f"].concat(), "1\n"),
                file("n".repeat(250), "2\n"),
                file([b"e/".repeat(60).as_slice(), b"f"].concat(), "1\n"),
            ],
        ),
        (
            "names of git's own files",
            vec![file(".gitignore", "*\n")],
            vec![
                file(".gitignore", "*\n!x\n"),
                file("ignored", "x\n"),
                file(".github/w", "x\n"),
                file(".mailmap", "x\n"),
            ],
        ),
    ]
}

fn kinds() -> Vec<Case> {
    let body = lines(&[]);
    vec![
        (
            "modes alone",
            vec![file("a b", "x\n"), program("p", "x\n"), file("empty", "")],
            vec![program("a b", "x\n"), file("p", "x\n"), program("empty", "")],
        ),
        (
            "mode and content",
            vec![file("a", "x\n"), program("b", "\0")],
            vec![program("a", "y\n"), file("b", "\0\0")],
        ),
        (
            "links",
            vec![link("moves", "a"), link("goes", "b"), link("out", "../../etc/passwd")],
            vec![
                link("moves", "c/d"),
                link("new", "nowhere"),
                link("out", "/etc/passwd"),
                link("line", "a\nb\r"),
                link("é", "é"),
            ],
        ),
        (
            "kinds change",
            vec![file("f", "a"), link("l", "f"), program("p", "x\n"), link("same", "t")],
            vec![link("f", "a"), file("l", "f"), link("p", "f"), file("same", "t")],
        ),
        (
            "a file becomes a directory",
            vec![file("a", "1\n"), file("b/c", "2\n"), file("b/d", "3\n")],
            vec![file("a/x", "4\n"), file("a/y", "5\n"), file("b", "6\n")],
        ),
        (
            "a link becomes a directory",
            vec![link("a", "b"), file("b/c", "2\n"), file("d/e", "x\n")],
            vec![file("a/c", "4\n"), file("b/c", "2\n"), link("d", "b")],
        ),
        (
            "renames",
            vec![file("a", &body), file("b c", &body), program("d/e", noise(9, 400)), link("l", "target")],
            vec![
                file("x/y", &body),
                program("z", &body),
                program("new\nline", noise(9, 400)),
                link("m", "target"),
            ],
        ),
        (
            "renames into and out of what they were",
            vec![file("a", &body), file("d/e", lines(&[(1, "x\n")]))],
            vec![file("a/b", &body), file("d", lines(&[(1, "x\n")]))],
        ),
        (
            "contents swap",
            vec![file("a", "1\n"), file("b", "2\n"), file("c", "3\n")],
            vec![file("a", "2\n"), file("b", "1\n"), file("d", "3\n"), file("e", "3\n")],
        ),
        ("everything goes", vec![file("a", "1\n"), link("b/c", "x")], vec![]),
        (
            "everything comes",
            vec![],
            vec![file("a", "1\n"), file("b/e", ""), link("b/c", "x"), program("p", "\0")],
        ),
    ]
}

fn cases() -> impl Iterator<Item = Case> {
    [contents(), lines_of_all_kinds(), names(), orders_and_lengths(), kinds()].into_iter().flatten()
}

#[test]
fn a_mail_makes_the_very_tree_on_a_fresh_clone() {
    if !is_git_here("a_mail_makes_the_very_tree_on_a_fresh_clone") {
        return;
    }
    for (what, before, after) in cases() {
        let (before, after) = (World::of(&before), World::of(&after));
        let origin = Repository::holding(&before).0;
        let clone = origin.cloned();
        let mail = mail(&before, &after, &envelope("Change it")).unwrap();
        let applied = clone.run(["am", "--quiet"], &mail);
        let told = String::from_utf8_lossy(&applied.stderr).into_owned();
        assert!(applied.status.success(), "{what}: {told}\n{}", String::from_utf8_lossy(&mail));
        clone.assert_is("HEAD", &after.tree, what);
    }
}

#[test]
fn a_bundle_holds_the_very_tree_and_only_what_is_new() {
    if !is_git_here("a_bundle_holds_the_very_tree_and_only_what_is_new") {
        return;
    }
    for (what, before, after) in cases() {
        let (before, after) = (World::of(&before), World::of(&after));
        let (origin, commit) = Repository::holding(&before);
        for parent in [Some((commit, &before)), None] {
            let (bundled, bytes) = bundle(parent, &after, &envelope("Change it")).unwrap();
            let place = if parent.is_some() { &origin } else { &Repository::new() };
            std::fs::write(place.path(".git/x.bundle"), bytes).unwrap();
            place.git(["bundle", "verify", "--quiet", ".git/x.bundle"], b"");
            place.git(["fetch", "--quiet", ".git/x.bundle", "refs/heads/*:refs/heads/*"], b"");
            let names = place.says(["rev-parse", "ambit/rev-1", "ambit/rev-1^{tree}"]);
            assert_eq!(names, format!("{}\n{}", bundled.commit, bundled.tree));
            place.assert_is("ambit/rev-1", &after.tree, what);
            let beyond = if parent.is_some() { "^main" } else { "ambit/rev-1" };
            let list = ["rev-list", "--objects", "--no-object-names", "ambit/rev-1", beyond];
            assert_eq!(place.says(list).lines().count(), bundled.objects as usize, "{what}");
        }
    }
}
