//! Text of the program with everything that is another in each run made the same.

const ALPHABET: &str = "_.:-";

/// The text, with ids, digests, moments and durations replaced by what they are.
pub(crate) fn stable(text: &str) -> String {
    let mut words: Vec<String> = split(text).iter().map(|word| named(word)).collect();
    let units: Vec<usize> = (2..words.len())
        .filter(|at| matches!(words[*at].as_str(), "ms" | "s" | "min") && words[*at - 1] == " ")
        .collect();
    for at in units {
        if words[at - 2].chars().all(|c| c.is_ascii_digit() || c == '.') {
            words[at - 2] = "N".to_owned();
        }
    }
    words.concat().replace("N min N s", "N s").replace("N ms", "N s")
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || ALPHABET.contains(c)
}

/// The words and what stands between them, in order.
fn split(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for c in text.chars() {
        match parts.last_mut() {
            Some(part) if part.chars().all(is_of_word) && is_of_word(c) => part.push(c),
            _ => parts.push(c.to_string()),
        }
    }
    parts
}

fn named(word: &str) -> String {
    let bare = word.trim_end_matches([':', '.']);
    let rest = &word[bare.len()..];
    let is_hex =
        |text: &str, length| text.len() == length && text.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
    let name = if let Some((before, hex)) = bare.split_once("sha256:")
        && is_hex(hex, 64)
    {
        format!("{before}sha256:DIGEST")
    } else if let Some(id) = ["run_", "lease_", "prop_", "receipt_", "apr_", "inc_"]
        .iter()
        .find(|id| bare.starts_with(**id) && bare.len() > 20)
    {
        format!("{id}ID")
    } else if is_hex(bare, 12) {
        "DIGEST".to_owned()
    } else if bare.len() == 24 && bare.ends_with('Z') && bare.contains('T') {
        "MOMENT".to_owned()
    } else if bare.starts_with("greeter-") {
        "PROJECT".to_owned()
    } else if matches!(bare, "secure-generation-v1" | "laptop-v1") {
        "PROFILE".to_owned()
    } else {
        bare.to_owned()
    };
    name + rest
}
