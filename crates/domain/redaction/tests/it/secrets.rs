use ambit_ids::Digest;
use ambit_redaction::{MoreFound, Redactions, Redactor, Rule, rules_digest};

use crate::samples::{drawn, pem, secrets};

/// The mark, with the line feeds of the secret.
fn in_place_of(rule: Rule, secret: &str) -> String {
    rule.mark() + &"\n".repeat(secret.matches('\n').count())
}

// proves E-B05
// break crates/domain/redaction/src/scan.rs: `return if run == rest.len() { ahead.ended() } else { Look::Nothing };` -> `return Look::Nothing;`
#[test]
fn a_secret_of_every_form_is_taken_out_and_what_stands_around_it_stays() {
    let redactor = Redactor::by_rules();
    let mut seen: Vec<Rule> = Vec::new();
    for (rule, before, secret, after) in secrets() {
        for (left, right) in [
            ("", ""),
            ("key: ", "\n"),
            ("a\n\t\"", "\"}"),
            ("\\n", " "),
            ("\u{1b}[32m", "\u{1b}[0m"),
            ("é", "é"),
        ] {
            let text = format!("{left}{before}{secret}{after}{right}");
            let found = redactor.bytes(text.as_bytes());
            let expected = format!("{left}{before}{}{after}{right}", in_place_of(rule, &secret));
            assert_eq!(String::from_utf8(found.text).unwrap(), expected, "{rule} in {text:?}");
            assert_eq!(found.redactions.found.get(&rule), Some(&1), "{text:?}");
        }
        let mut stream = redactor.stream();
        let mut piecewise = Vec::new();
        for byte in format!("{before}{secret}{after} ").bytes() {
            stream.push(&[byte], &mut piecewise);
        }
        stream.finish(&mut piecewise);
        assert_eq!(
            String::from_utf8(piecewise).unwrap(),
            format!("{before}{}{after} ", in_place_of(rule, &secret)),
            "byte by byte"
        );
        seen.push(rule);
    }
    let missing: Vec<&Rule> =
        Rule::ALL.iter().filter(|rule| !seen.contains(rule) && **rule != Rule::Key).collect();
    assert!(missing.is_empty(), "no sample of {missing:?}");
}

#[test]
fn secrets_that_touch_are_each_taken_out() {
    let (github, aws) = (format!("ghp_{}", drawn(36)), format!("AKIA{}", "Q7ZR2XW9KC4VB8NM"));
    let text = format!("{github}:{aws}\n{github},{github}");
    let found = Redactor::by_rules().text(&text).text.into_owned();
    assert_eq!(found, "[redacted:github]:[redacted:aws]\n[redacted:github],[redacted:github]");
}

#[test]
fn a_key_whose_end_is_missing_is_taken_out_as_far_as_it_goes() {
    let whole = pem("EC ", "\n");
    let (cut, _) = whole.split_once("\n-----END").unwrap();
    let found = Redactor::by_rules()
        .text(&format!("{cut}\n\nthe rest of a log, with words in it\n"))
        .text
        .into_owned();
    assert_eq!(found.lines().count(), cut.lines().count() + 2, "every line keeps its number");
    let found = found.replace("\n\n\n\n\n\n", "");
    assert_eq!(found, "[redacted:pem]\n\nthe rest of a log, with words in it\n");
    let endless = format!("{cut}\n{}", format!("{}\n", drawn(64)).repeat(400));
    let found = Redactor::by_rules().text(&endless).text.into_owned();
    assert!(found.starts_with("[redacted:pem]") && found.len() < 12_000, "{}", found.len());
}

#[test]
fn the_rules_of_a_version_never_change() {
    assert_eq!(
        rules_digest(),
        PINNED.parse::<Digest>().unwrap(),
        "another set of rules is another version beside this"
    );
}

const PINNED: &str = "sha256:68fcc396d64264ef2f6a5f91b844d28d2315e345fde4008524c289bf1ded16c6";

#[test]
fn what_is_kept_can_be_held_against_what_is_said_of_it() {
    let redactor = Redactor::by_rules();
    let secret = format!("glpat-{}", drawn(20));
    let taken = redactor.bytes(format!("{secret} {secret}").as_bytes());
    assert_eq!((taken.redactions.total(), taken.redactions.contradicted_by(&taken.text)), (2, None));
    let short = taken.redactions.contradicted_by(b"one [redacted:gitlab]");
    assert_eq!(short, Some(MoreFound::FewerMarks(Rule::Gitlab)));
    let still = Redactions::default().contradicted_by(secret.as_bytes());
    assert_eq!(still, Some(MoreFound::Secret(Rule::Gitlab)));
    let foreign = Redactions { rules: Digest::of(b"others"), ..Redactions::default() };
    assert_eq!(foreign.contradicted_by(secret.as_bytes()), None, "nobody knows what other rules find");
    assert_eq!(taken.redactions.clone().and(&taken.redactions).total(), 4);
}
