//! The closest valid name for one that is not.

/// The longest name that is compared: the names of documents are shorter.
const COMPARED_BYTES: usize = 64;

/// The candidate that `name` is most likely a slip of, if one is close and closer than every other.
#[must_use]
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > COMPARED_BYTES {
        return None;
    }
    let folded = name.to_ascii_lowercase();
    let mut close: Vec<(usize, &str)> = candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&folded, &candidate.to_ascii_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.len().max(name.len()).max(3) / 3)
        .collect();
    close.sort_unstable();
    match close[..] {
        [(best, _), (next, _), ..] if best == next => None,
        [(_, candidate), ..] => Some(candidate),
        [] => None,
    }
}

/// `a`, `b` or `c`, each in backticks.
pub(crate) fn any_of<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    listed(words, "or")
}

/// `a`, `b` and `c`, each in backticks.
pub(crate) fn all_of<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    listed(words, "and")
}

/// The most words that a message lists; more are in the documentation.
const LISTED: usize = 16;

fn listed<'a>(words: impl IntoIterator<Item = &'a str>, last_joined_by: &str) -> String {
    let quoted: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    if quoted.len() > LISTED {
        return format!("the {} that docs/documents.md lists", quoted.len());
    }
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} {last_joined_by} {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// Text of a document as a message quotes it.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", shown(text))
}

/// Text of a document as a message may hold it: bounded, and without a character that could not be seen.
pub(crate) fn shown(text: &str) -> String {
    const SHOWN: usize = 48;
    let mut shown: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let names = ["goal", "stage", "scope", "runBudget", "acceptanceCases", "AC-1", "AC-2"];
        for (slip, meant) in [
            ("gaol", Some("goal")),
            ("goall", Some("goal")),
            ("runbudget", Some("runBudget")),
            ("acceptance_cases", Some("acceptanceCases")),
            ("owner", None),
            ("", None),
            ("AC-3", None),
        ] {
            assert_eq!(closest(slip, names), meant, "{slip}");
        }
        assert_eq!(closest(&"g".repeat(1 << 20), names), None);
    }

    #[test]
    fn words_are_listed_as_a_sentence_has_them() {
        assert_eq!(any_of([]), "");
        assert_eq!(any_of(["a"]), "`a`");
        assert_eq!(any_of(["a", "b", "c"]), "`a`, `b` or `c`");
        assert_eq!(all_of(["a", "b"]), "`a` and `b`");
    }

    #[test]
    fn a_quotation_is_bounded_and_readable() {
        assert_eq!(quoted("a\u{1b}b"), "`a\\u{1b}b`");
        assert_eq!(quoted(&"x".repeat(100)), format!("`{}…`", "x".repeat(48)));
    }
}
