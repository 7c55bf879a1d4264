use std::sync::OnceLock;

use ambit_redaction::{MARK_OPENS, Redacted, Redactor, Rule};
use proptest::prelude::*;

use crate::samples::{drawn, pem, secrets};

const KEY: &str = "own/key+with~\"signs\"-0123456789";

fn redactor() -> Redactor {
    static REDACTOR: OnceLock<Redactor> = OnceLock::new();
    REDACTOR.get_or_init(|| Redactor::knowing([KEY])).clone()
}

fn in_pieces<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> Redacted<Vec<u8>> {
    let (mut stream, mut text) = (redactor().stream(), Vec::new());
    for piece in pieces {
        stream.push(piece, &mut text);
    }
    Redacted { redactions: stream.finish(&mut text), text }
}

#[test]
fn a_text_may_be_cut_at_every_byte() {
    let near = "-----BEGIN RSA PRIVATE KEY-----\nnone\n://a:b://c:d@ eyJ. sk- AKIA ghp_".to_owned();
    let texts = secrets().into_iter().map(|(_, before, secret, after)| before + &secret + &after);
    for (at, text) in texts.chain([KEY.to_owned(), near]).enumerate() {
        let text = format!("{at} {text} \n");
        let whole = redactor().bytes(text.as_bytes());
        assert_eq!(whole.redactions.total(), u32::from(!text.contains("none")), "{text}");
        for at in 0..text.len() {
            let (first, rest) = text.as_bytes().split_at(at);
            assert_eq!(in_pieces([first, rest]), whole, "cut at {at}");
        }
        assert_eq!(in_pieces(text.as_bytes().chunks(1)), whole);
    }
}

/// Pieces of which secrets, near misses and what stands between them are made.
fn fragment() -> impl Strategy<Value = String> {
    let secrets: Vec<String> =
        secrets().into_iter().map(|(_, before, secret, after)| before + &secret + &after).collect();
    let near: Vec<String> = secrets.iter().map(|secret| secret[..secret.len() * 2 / 3].to_owned()).collect();
    let starts = [
        "ghp_",
        "sk-",
        "sk-ant-",
        "AKIA",
        "eyJ",
        "://",
        ":",
        "@",
        "-----BEGIN ",
        "PRIVATE KEY",
        "-----",
        "-----END ",
        "SECRET_ACCESS_KEY",
        "=",
    ];
    let marks = Rule::ALL.iter().map(|rule| rule.mark()).chain([
        "[".to_owned(),
        "]".to_owned(),
        "[redacted:".to_owned(),
    ]);
    let words: Vec<String> = starts.iter().map(|start| (*start).to_owned()).chain(marks).collect();
    prop_oneof![
        3 => proptest::sample::select(words),
        2 => proptest::sample::select(secrets),
        2 => proptest::sample::select(near),
        2 => (1_usize..45).prop_map(drawn),
        1 => "[ \\n_./+-]{1,3}",
        1 => Just(KEY.to_owned()),
        1 => (0_usize..KEY.len()).prop_map(|len| KEY[..len].to_owned()),
        1 => "\\PC{0,4}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    // proves E-B05
    // break crates/domain/redaction/src/class.rs: `Self::Alphanumeric => alphanumeric,` -> `Self::Alphanumeric => alphanumeric || byte == b'[',`
    #[test]
    fn pieces_make_no_difference_and_neither_does_a_second_time(
        fragments in proptest::collection::vec(fragment(), 0..24),
        size in 1_usize..90,
    ) {
        let text = fragments.concat();
        let whole = redactor().bytes(text.as_bytes());
        prop_assert_eq!(&in_pieces(text.as_bytes().chunks(size)), &whole);
        let again = redactor().bytes(&whole.text);
        prop_assert_eq!(String::from_utf8_lossy(&again.text), String::from_utf8_lossy(&whole.text));
        prop_assert_eq!(again.redactions.total(), 0);
    }

    #[test]
    fn bytes_that_are_no_text_pass_through(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let found = in_pieces(bytes.chunks(7));
        prop_assert_eq!(found.text, bytes);
    }
}

#[test]
fn little_waits_whatever_is_written() {
    let endless = [
        pem("", "\n").split_once("-----END").unwrap().0.to_owned() + &"words\n".repeat(30_000),
        "-----BEGIN RSA PRIVATE KEY-----".repeat(3_000),
        "-".repeat(100_000),
        "eyJ".repeat(30_000),
        "://a".repeat(30_000),
        format!("x://{}", "a".repeat(100_000)),
        "sk-".repeat(30_000),
        KEY[..KEY.len() - 1].repeat(3_000),
        format!("ghp_{}", drawn(100_000)),
    ];
    for text in endless {
        let (mut stream, mut clean, mut most) = (redactor().stream(), Vec::new(), 0);
        for piece in text.as_bytes().chunks(3) {
            stream.push(piece, &mut clean);
            most = most.max(stream.waiting());
        }
        assert!(most <= 25_000, "{most} bytes wait of {:?}", &text[..40]);
        stream.finish(&mut clean);
        assert!(!clean.is_empty());
    }
}

#[test]
fn what_is_certain_does_not_wait() {
    for text in ["running", "Tests: 3 passed", "progress 10%", "ok\n", "....", "glass", "a page"] {
        let (mut stream, mut clean) = (Redactor::by_rules().stream(), Vec::new());
        stream.push(text.as_bytes(), &mut clean);
        assert_eq!(String::from_utf8_lossy(&clean), text);
    }
    let (mut stream, mut clean) = (Redactor::by_rules().stream(), Vec::new());
    stream.push(b"token: gh", &mut clean);
    assert_eq!(
        (clean.as_slice(), stream.waiting()),
        (&b"token: "[..], 2),
        "what may be the start of one does"
    );
}

#[test]
fn a_mark_is_no_part_of_any_secret() {
    for rule in Rule::ALL {
        let mark = rule.mark();
        assert_eq!(mark.as_bytes()[0], MARK_OPENS);
        assert_eq!(redactor().text(&mark.repeat(3)).redactions.total(), 0);
    }
}
