//! What an agent gets to read of files that hold secrets.

use ambit_redaction::{Redactor, Rule};
use ambit_run::{Finding, Observation};
use ambit_simulation::{Setup, simulate};

use crate::bench::Bench;

const OWN_KEY: &str = "own-key/of+the~model-0123456789";

fn token() -> String {
    format!("glpat-{}", "q7Zr2Xw9Kc4Vb8Nm1Lp6")
}

async fn bench() -> Bench {
    let key_line = "q7Zr2Xw9Kc4Vb8Nm1Lp6Jh3Gf5Ds0AyTuIoPeRkWzQvXcBnM";
    let file = format!(
        "first\nTOKEN={}\n-----BEGIN PRIVATE KEY-----\n{key_line}\n{key_line}\n-----END PRIVATE KEY-----\nown {OWN_KEY}\nlast TOKEN\n",
        token()
    );
    let mut setup = Setup::standard();
    setup.files.push(("src/settings.env".to_owned(), file.into_bytes()));
    let mut bench = Bench::new(setup).await;
    bench.broker = bench.broker.clone().withholding(Redactor::knowing([OWN_KEY]));
    bench
}

// proves E-B05
// break crates/control-plane/broker/src/read.rs: `let (content, truncated) = window(&text);` -> `let (content, truncated) = window(&bytes);`
#[test]
fn what_is_read_has_a_mark_in_place_of_each_secret_and_every_line_its_number() {
    simulate(async {
        let bench = bench().await;
        let read = bench.perform(bench.read("src/settings.env"), &Finding::Clear).await;
        let expected =
            "first\nTOKEN=[redacted:gitlab]\n[redacted:pem]\n\n\n\nown [redacted:key]\nlast TOKEN\n";
        assert_eq!(read.reply["content"], expected);
        let Observation::FileRead { redactions: Some(taken), bytes, .. } = read.observation else {
            panic!("{read:?}")
        };
        assert!(bytes.get() > expected.len() as u64, "the size is that of the file");
        let found: Vec<(Rule, u32)> = taken.found.into_iter().collect();
        assert_eq!(found, [(Rule::Gitlab, 1), (Rule::Pem, 1), (Rule::Key, 1)]);
    });
}

// proves E-B05
// break crates/control-plane/broker/src/read.rs: `in clean.text.split(` -> `in bytes.split(`
#[test]
fn a_search_tells_no_secret_and_not_whether_one_begins_so() {
    simulate(async {
        let bench = bench().await;
        let found = bench.perform(bench.search("TOKEN", Some("src")), &Finding::Clear).await;
        let lines = ["src/settings.env:2: TOKEN=[redacted:gitlab]", "src/settings.env:8: last TOKEN"];
        assert_eq!(found.reply["matches"], serde_json::json!(lines));
        for guess in ["glpat-q7", &token(), "q7Zr2Xw9Kc4V", "own-key/of"] {
            let found = bench.perform(bench.search(guess, Some("src")), &Finding::Clear).await;
            assert_eq!(found.reply["matches"], serde_json::json!([]), "{guess}");
        }
    });
}

#[test]
fn a_patch_that_quotes_a_mark_is_told_why_it_fits_nowhere() {
    simulate(async {
        let bench = bench().await;
        let header = "--- a/src/settings.env\n+++ b/src/settings.env\n";
        for (hunk, line) in [
            ("@@ -1,2 +1,2 @@\n-first\n+second\n TOKEN=[redacted:gitlab]\n", 2),
            // Nor is a line of a key told to whoever guesses that something else stands there.
            ("@@ -4,1 +4,1 @@\n-guessed\n+x\n", 4),
        ] {
            let patch = format!("{header}{hunk}");
            let assessed = bench.assess(bench.patch(&patch), Some(&patch)).await;
            let Finding::Refused(denial) = &assessed.finding else { panic!("{assessed:?}") };
            assert!(denial.detail.contains(&format!("line {line} holds a secret")), "{denial}");
            assert_eq!(denial.instead, "leave that line out of the patch");
            assert!(!denial.detail.contains("q7Zr2Xw9"), "{denial}");
        }
        let patch = format!("{header}@@ -7,2 +7,2 @@\n own {OWN_KEY}\n-last TOKEN\n+last WORD\n");
        let assessed = bench.assess(bench.patch(&patch), Some(&patch)).await;
        assert!(matches!(assessed.finding, Finding::Patch(_)), "a patch is taken as it is: {assessed:?}");
    });
}
