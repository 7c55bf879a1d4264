//! What a person is shown of a call, and what cannot be shown.

use ambit_ids::Digest;
use ambit_run::{Finding, Inspection, ProposedCall, Uninspectable};
use ambit_simulation::{Setup, creation, edit, simulate};

use crate::bench::Bench;

fn adding(path: &str, line: &str) -> String {
    creation(path, &format!("{line}\n"))
}

async fn shown(bench: &Bench, patch: &str) -> String {
    let view = bench.assess(bench.patch(patch), Some(patch)).await.view;
    assert_eq!(view.inspection, Inspection::Whole(Digest::of(view.text.as_bytes())), "{}", view.text);
    view.text
}

async fn refused(bench: &Bench, patch: &str) -> Vec<Uninspectable> {
    let view = bench.assess(bench.patch(patch), Some(patch)).await.view;
    assert_eq!(view.text, "", "nothing of it is shown in part");
    match view.inspection {
        Inspection::Impossible(reasons) => reasons,
        Inspection::Whole(_) => panic!("it is shown: {patch:?}"),
    }
}

// proves E-H05
// break crates/control-plane/broker/src/view.rs: `is_unprintable(c)` -> `c.is_control()`
// break crates/control-plane/broker/src/view.rs: `(is_mixed && is_foreign(c))` -> `(is_mixed && is_foreign(c) && false)`
// break crates/control-plane/broker/src/view.rs: `OPEN | CLOSE` -> `'\u{27e8}' | '\u{27e9}'`
#[test]
fn odd_characters_are_shown_by_their_number_and_nothing_else_looks_like_that() {
    simulate(async {
        let bench = Bench::new(Setup::standard()).await;
        for (what, line, expected) in [
            ("text that turns round", "a \u{202e}b", "+a \u{27e6}U+202E\u{27e7}b"),
            ("isolates", "\u{2066}x\u{2069}", "+\u{27e6}U+2066\u{27e7}x\u{27e6}U+2069\u{27e7}"),
            ("nothing to see", "a\u{200b}b\u{feff}", "+a\u{27e6}U+200B\u{27e7}b\u{27e6}U+FEFF\u{27e7}"),
            ("an escape of terminals", "\u{1b}[2Jx", "+\u{27e6}U+001B\u{27e7}[2Jx"),
            ("a carriage return", "good\rbad", "+good\u{27e6}U+000D\u{27e7}bad"),
            ("tags", "a\u{e0041}", "+a\u{27e6}U+E0041\u{27e7}"),
            ("a blank that is none", "a\u{a0}b", "+a\u{27e6}U+00A0\u{27e7}b"),
            ("a mark over a letter", "a\u{301}", "+a\u{27e6}U+0301\u{27e7}"),
            ("a Cyrillic letter in a word", "p\u{430}ypal", "+p\u{27e6}U+0430\u{27e7}ypal"),
            ("wide ASCII", "\u{ff41}dmin", "+\u{27e6}U+FF41\u{27e7}dmin"),
            ("letters that run backwards", "x = \u{5d0}", "+x = \u{27e6}U+05D0\u{27e7}"),
            (
                "what the numbers look like",
                "\u{27e6}U+202E\u{27e7}",
                "+\u{27e6}U+27E6\u{27e7}U+202E\u{27e6}U+27E7\u{27e7}",
            ),
            ("plain text", "said = \"ada\"", "+said = \"ada\""),
            ("a word of German", "gr\u{fc}\u{df}e", "+gr\u{fc}\u{df}e"),
            (
                "a word of Russian",
                "\u{43f}\u{440}\u{438}\u{432}\u{435}\u{442}",
                "+\u{43f}\u{440}\u{438}\u{432}\u{435}\u{442}",
            ),
            ("a word of Chinese", "\u{4f60}\u{597d}", "+\u{4f60}\u{597d}"),
        ] {
            let page = shown(&bench, &adding("src/new.txt", line)).await;
            assert!(page.contains(&format!("\n  | {expected}\n")), "{what}:\n{page}");
        }
    });
}

// proves E-H05
// break crates/control-plane/broker/src/view.rs: `if bytes.len() > VIEW_BYTES {` -> `if bytes.len() > 2 * VIEW_BYTES {`
// break crates/control-plane/broker/src/view.rs: `if text.lines().count() > VIEW_LINES {` -> `if text.lines().count() > 2 * VIEW_LINES {`
// break crates/control-plane/broker/src/view.rs: `.any(|line| line.chars().count() > VIEW_LINE)` -> `.any(|line| line.chars().count() > 2 * VIEW_LINE)`
// break crates/control-plane/broker/src/view.rs: `if !found.files.iter().all(is_plain) {` -> `if found.files.is_empty() {`
#[test]
fn what_is_too_much_to_be_seen_or_no_text_is_shown_not_even_in_part() {
    simulate(async {
        let bench = Bench::new(Setup::standard()).await;
        let lines = |count: usize, line: &str| creation("src/new.txt", &format!("{line}\n").repeat(count));
        // Each beside the most that is still shown: a patch has three lines of its own.
        shown(&bench, &lines(1_997, "x")).await;
        assert_eq!(refused(&bench, &lines(1_998, "x")).await, [Uninspectable::TooManyLines]);
        shown(&bench, &adding("src/new.txt", &"x".repeat(499))).await;
        assert_eq!(
            refused(&bench, &adding("src/new.txt", &"x".repeat(500))).await,
            [Uninspectable::LineTooLong]
        );
        shown(&bench, &lines(140, &"x".repeat(450))).await;
        assert_eq!(refused(&bench, &lines(150, &"x".repeat(450))).await, [Uninspectable::TooLarge]);
        // What is binary for the patch engine applies to nothing, and bytes of no characters can be applied and not seen.
        assert_eq!(refused(&bench, &adding("src/new.txt", "a\0b")).await, [Uninspectable::EffectUnknown]);
        let bytes = adding("src/new.txt", "?").replace('?', "\u{ff}").chars().map(|c| c as u8).collect();
        let call = bench.patch("of other bytes");
        let proposed = ProposedCall { call, patch: Some(bytes), step: None, hypothesis: None };
        let latin = bench.broker.assess(&bench.ground, bench.head, &proposed).await.unwrap();
        assert!(matches!(latin.finding, Finding::Patch(_)), "{:?}", latin.finding);
        assert_eq!(latin.view.inspection, Inspection::Impossible(vec![Uninspectable::NotText]));
        for path in
            ["src/p\u{430}ypal.py", "src/x\u{200b}.py", "src/\u{202e}yp.x", "src/a \u{a0}.py", "src/a  b"]
        {
            let reasons = refused(&bench, &adding(path, "x")).await;
            // Where the patch engine takes no such path, there is no effect that could be shown.
            let is_odd =
                reasons.contains(&Uninspectable::OddPath) || reasons == [Uninspectable::EffectUnknown];
            assert!(is_odd, "{path:?}: {reasons:?}");
        }
        for path in ["src/gr\u{fc}n.py", "src/a b.py", "src/under_score-1.txt"] {
            assert!(shown(&bench, &adding(path, "x")).await.contains(&format!("\n  | {path}\n")), "{path}");
        }
    });
}

// proves E-H05
// break crates/control-plane/broker/src/view.rs: `numbered_if(c, !c.is_ascii() || is_odd(c))` -> `numbered_if(c, is_odd(c))`
#[test]
fn a_view_is_of_the_kept_bytes_and_names_every_file_and_every_fact() {
    simulate(async {
        let bench = Bench::new(Setup::standard()).await;
        let lookalike = "\u{441}\u{43e}\u{441}\u{43e}";
        let more = format!("attrs==25.3.0\n{lookalike}==1.0\n");
        let patch = edit("requirements.txt", "attrs==25.3.0\n", &more) + &adding("src/new.txt", "x");
        let page = shown(&bench, &patch).await;
        for part in [
            "it changes 2 files\n  | requirements.txt\n  | src/new.txt\n",
            "\u{27e6}U+0441\u{27e7}\u{27e6}U+043E\u{27e7}\u{27e6}U+0441\u{27e7}\u{27e6}U+043E\u{27e7}",
            &format!("\nthe patch, {}\n", Digest::of(patch.as_bytes())),
            "\n  | +x\n",
        ] {
            assert!(page.contains(part), "{part} is missing:\n{page}");
        }
        // Nothing but our own words stands without a bar.
        let ours = page.lines().filter(|line| !line.starts_with("  | ")).count();
        assert!(ours <= 6, "{page}");
        // A gate is shown as the command that its name stands for.
        let view = bench.assess(bench.gate(), None).await.view;
        let command = bench.ground.catalog.command(&"unit".parse().unwrap()).unwrap();
        assert!(
            command.argv.iter().all(|word| view.text.contains(&format!("\n  | {word}\n"))),
            "{}",
            view.text
        );
        // A patch that cannot be applied has no effect that could be shown.
        let stale = edit("requirements.txt", "other\n", "more\n");
        assert_eq!(refused(&bench, &stale).await, [Uninspectable::EffectUnknown]);
    });
}
