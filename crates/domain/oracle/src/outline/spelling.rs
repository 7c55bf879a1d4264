//! Whether two texts say one value, each in its own spelling.

use super::terms::{is_literal, top_level};

/// Whether both say the same value.
pub(super) fn is_same_value(before: &str, after: &str) -> bool {
    is_same(before, after, 0)
}

fn is_same(before: &str, after: &str, depth: usize) -> bool {
    let (was, is) = (plain(before), plain(after));
    was == is
        || is_same_in_parts(before, after, depth)
        || literal(before).is_some_and(|text| literal(after) == Some(text))
        || is_same_name(&was, &is)
        || formatted(before).is_some_and(|text| formatted(after) == Some(text))
}

/// A value without what only says how it is kept and written: borrowed, in a list of another kind, by a longer path, with
/// its digits in groups.
fn plain(text: &str) -> String {
    let kept = [
        "std::",
        "core::",
        "alloc::",
        "vec!",
        ".to_string()",
        ".to_owned()",
        ".into()",
        ".as_slice()",
        "String::from",
    ];
    let text = kept.iter().fold(text.to_owned(), |text, form| text.replace(form, ""));
    let text = ungrouped(&joined(&text.replace("br\"", "rb\"")));
    text.replace(['&', '(', ')', '*'], "").replace("[..]", "")
}

/// How deep tuples and lists are followed.
const DEPTH: usize = 4;

/// Whether both are tuples, or lists, of the same values.
fn is_same_in_parts(before: &str, after: &str, depth: usize) -> bool {
    let parts = |text: &'_ str, (open, close): (char, char)| -> Option<Vec<String>> {
        let inside = text.strip_prefix(open)?.strip_suffix(close)?;
        Some(top_level(inside, &[","]).into_iter().map(str::to_owned).collect())
    };
    let brackets = [('(', ')'), ('[', ']')];
    depth < DEPTH
        && brackets.into_iter().any(|pair| match (parts(before, pair), parts(after, pair)) {
            (Some(one), Some(other)) => {
                one.len() > 1
                    && one.len() == other.len()
                    && one.iter().zip(&other).all(|(one, other)| is_same(one, other, depth + 1))
            }
            _ => false,
        })
}

/// The text with strings that stand one after another in one, and without the letter that says what all strings are.
fn joined(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    // The letter before the string that is open, and before the one that was closed last.
    let (mut open, mut closed): (Option<char>, Option<char>) = (None, None);
    let prefix = |out: &str| out.chars().next_back().filter(|c| matches!(c, 'b' | 'f' | 'u' | 'r'));
    while let Some(c) = chars.next() {
        out.push(c);
        if let Some(letter) = open {
            match c {
                '\\' => out.extend(chars.next()),
                '"' => (open, closed) = (None, Some(letter)),
                _ => {}
            }
        } else if c == '"' {
            out.pop();
            let mut letter = prefix(&out).filter(|_| {
                !out.chars().rev().nth(1).is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '"'))
                    || closed.is_some()
            });
            if letter == Some('u') {
                out.pop();
                letter = None;
            }
            let letter = letter.unwrap_or(' ');
            if closed == Some(letter) {
                // What lies between them is white space, and the letter again.
                let end = out.rfind('"').unwrap_or(out.len());
                out.truncate(end);
            } else {
                out.push('"');
            }
            (open, closed) = (Some(letter), None);
        } else if !(c.is_whitespace() || matches!(c, 'b' | 'f' | 'u' | 'r')) {
            closed = None;
        }
    }
    out
}

/// The text with the digits of its numbers together.
fn ungrouped(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut quoted = false;
    let mut out = String::with_capacity(text.len());
    for (at, c) in chars.iter().enumerate() {
        quoted ^= *c == '"';
        let between = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(char::is_ascii_digit);
        if *c == '_' && !quoted && between(at.checked_sub(1)) && between(Some(at + 1)) {
            continue;
        }
        out.push(*c);
    }
    out
}

/// Whether one says a name by itself that the other says with the module that it is imported from.
fn is_same_name(one: &str, other: &str) -> bool {
    let (short, long) = (unqualified(one), unqualified(other));
    short == long && (short == one || long == other)
}

/// The text without modules before the names of types.
fn unqualified(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            _ if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (piece, after) = rest.split_at(length);
        let (module, name) = piece.rsplit_once('.').unwrap_or(("", piece));
        let is_module =
            !module.is_empty() && module.split('.').all(|part| part.starts_with(char::is_lowercase));
        out.push_str(if first != '"' && is_module && name.starts_with(char::is_uppercase) {
            name
        } else {
            piece
        });
        rest = after;
    }
    out
}

/// What a string says, however it is written and owned.
fn literal(text: &str) -> Option<&str> {
    let owned = [".to_string()", ".to_owned()", ".into()"];
    let text = owned.iter().find_map(|call| text.strip_suffix(call)).unwrap_or(text);
    let raw = text.strip_prefix("r#").and_then(|rest| rest.strip_suffix('#'));
    let inside = raw.unwrap_or(text).strip_prefix('"')?.strip_suffix('"')?;
    (!inside.contains(['"', '\\'])).then_some(inside)
}

/// What a string says that values are put into, and which of them are written out: `f"{x}"`, `"{}".format(x)`, `"%s" % x`.
fn formatted(text: &str) -> Option<(String, Vec<String>)> {
    let (inside, given) = if let Some(rest) = text.strip_prefix("f\"") {
        (rest.strip_suffix('"')?, None)
    } else {
        let rest = text.strip_prefix('"')?;
        let (inside, call) = rest.split_at(rest.find('"')?);
        let given = call[1..].strip_prefix(".format(").and_then(|given| given.strip_suffix(')'));
        match (given, call[1..].strip_prefix('%')) {
            (Some(given), _) => (inside, Some(given)),
            (None, Some(given)) => return Some(by_percent(inside, given)),
            (None, None) => return None,
        }
    };
    if inside.contains('"') {
        return None;
    }
    let (mut says, mut values) = (String::new(), Vec::new());
    let mut rest = inside.replace("{{", "\u{1}").replace("}}", "\u{2}");
    while let Some(open) = rest.find('{') {
        let close = open + rest[open..].find('}')?;
        says.push_str(&rest[..open]);
        says.push_str("{}");
        values.push(rest[open + 1..close].split(['!', ':']).next().unwrap_or("").to_owned());
        rest = rest[close + 1..].to_owned();
    }
    says.push_str(&rest);
    if let Some(given) = given {
        values = top_level(given, &[","]).into_iter().map(str::to_owned).collect();
    }
    Some((says, written_out(values)))
}

fn by_percent(inside: &str, given: &str) -> (String, Vec<String>) {
    let mut says = String::new();
    let mut pieces = inside.replace("%%", "\u{1}");
    while let Some(at) = pieces.find('%') {
        says.push_str(&pieces[..at]);
        says.push_str("{}");
        let end = pieces[at + 1..].find(|c: char| c.is_alphabetic()).map_or(pieces.len(), |end| at + end + 2);
        pieces = pieces[end..].to_owned();
    }
    says.push_str(&pieces.replace('\u{1}', "%"));
    let given = given.strip_prefix('(').and_then(|given| given.strip_suffix(')')).unwrap_or(given);
    (says, written_out(top_level(given, &[","]).into_iter().map(str::to_owned).collect()))
}

/// Of the values that are put into a string those that it writes out itself.
fn written_out(values: Vec<String>) -> Vec<String> {
    let plain = values.into_iter().map(|value| value.rsplit('=').next().unwrap_or("").trim().to_owned());
    let mut found: Vec<String> = plain.filter(|value| is_literal(value)).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_the_same_in_every_spelling_and_no_other_one() {
        for (one, other) in [
            ("[3,113797]", "[3,1_137_97]"),
            ("shop.Total(\"a\")", "Total(\"a\")"),
            ("\"<{op} {bound}>\".format(op=v.op,bound=23)", "f\"<{v.op} {23}>\""),
            ("\"<%r, %s>\"%(a,b)", "f\"<{a!r}, {b!r}>\""),
            ("f\"Shop {version}\"", "f\"Shop {shop.version()}\""),
            ("br\"x\"", "rb\"x\""),
            ("u\"a\"", "\"a\""),
            ("(\"a\" \"b\")", "\"ab\""),
            ("b\"a\" b\"b\"", "b\"ab\""),
            ("(\"%s%s\"%(a,b),'',1)", "(f\"{a}{c.b}\",'',1)"),
        ] {
            assert!(is_same_value(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("[3,113797]", "[3,1_137_98]"),
            ("\"1_2\"", "\"12\""),
            ("shop.Total(\"a\")", "Total(\"b\")"),
            ("shop.Total", "store.Total"),
            ("\"<{op} {bound}>\".format(op=v.op,bound=23)", "f\"<{v.op} {24}>\""),
            ("\"<{op} {bound}>\".format(op=v.op,bound=23)", "f\"<{v.op}>\""),
            ("f\"Shop {version}\"", "f\"Store {version}\""),
            ("f\"Shop {version}\"", "\"Shop 1\""),
            ("b\"a\"", "\"a\""),
            ("(\"a\",\"b\")", "\"ab\""),
            ("(\"a\" \"b\")", "\"ac\""),
            ("(\"%s%s\"%(a,b),'',1)", "(f\"{a}{c.b}\",'',2)"),
        ] {
            assert!(!is_same_value(one, other), "{one} {other}");
        }
    }
}
