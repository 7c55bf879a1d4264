use ambit_redaction::{Redactor, Rule};

const KEY: &str = "own key \"of\" \\this/program+0123456789?&=";

fn redacted(text: &str) -> (String, usize) {
    let found = Redactor::knowing([KEY, "short"]).text(text).text.into_owned();
    let marks = found.matches(&Rule::Key.mark()).count();
    (found, marks)
}

/// What another program makes of these bytes.
fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    bytes
        .chunks(3)
        .flat_map(|three| {
            let bits =
                three.iter().fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
            (0..4).map(move |at| {
                if at > three.len() { '=' } else { char::from(SIGNS[(bits >> (18 - 6 * at) & 63) as usize]) }
            })
        })
        .collect()
}

// proves E-B05
// break crates/domain/redaction/src/known.rs: `for before in 0..3 {` -> `for before in 0..2 {`
#[test]
fn a_key_of_ours_is_taken_out_in_every_form_in_which_it_could_get_out() {
    assert_eq!(base64(b"hello"), "aGVsbG8=");
    let each = |form: fn(u8) -> String| KEY.bytes().map(form).collect::<String>();
    let mut forms = vec![
        ("plain", KEY.to_owned()),
        ("JSON", KEY.replace('\\', "\\\\").replace('"', "\\\"")),
        (
            "URL",
            each(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") }),
        ),
        ("URL whole", each(|b| format!("%{b:02x}"))),
        ("hexadecimal", each(|b| format!("{b:02x}"))),
        ("HEXADECIMAL", each(|b| format!("{b:02X}"))),
    ];
    for before in ["", "u", "u:", "user:", "user: "] {
        let text = base64(format!("{before}{KEY}{before}").as_bytes());
        forms.push(("for URLs", text.replace('+', "-").replace('/', "_")));
        forms.push((
            "wrapped",
            text.as_bytes().chunks(20).map(|line| format!("{}\r\n", String::from_utf8_lossy(line))).collect(),
        ));
        forms.push(("base64", text));
    }
    for (name, form) in forms {
        for text in [form.clone(), format!("before{form}after"), format!("\"{form}\"")] {
            let (found, marks) = redacted(&text);
            assert_eq!(marks, 1, "{name}: {text} became {found}");
            assert!(found.len() < text.len(), "{name}: {found}");
        }
    }
}

#[test]
fn a_word_that_could_stand_in_any_project_stays() {
    assert_eq!(redacted("short and sweet"), ("short and sweet".to_owned(), 0));
    assert_eq!(redacted(&KEY[1..]).1, 0, "less than the key is not the key");
}

#[test]
fn nothing_shows_a_key() {
    let redactor = Redactor::knowing([KEY]);
    assert_eq!(format!("{redactor:?} {:?}", redactor.text(KEY).redactions).matches("own key").count(), 0);
}
