//! How text is written into a document.

/// How wide a line may become before a list is written an item a line.
const WIDTH: usize = 100;

/// Text in double quotes. It holds no character that a document may not hold.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// `KEY: [ITEMS]`, or an item a line where that would be too wide, each line indented by so many spaces.
pub(super) fn list(key: &str, items: &[String], indent: usize) -> String {
    let space = " ".repeat(indent);
    let items: Vec<String> = items.iter().map(|item| quoted(item)).collect();
    let short = format!("{space}{key}: [{}]\n", items.join(", "));
    if items.is_empty() || short.len() <= WIDTH {
        return short;
    }
    let lines: String = items.iter().map(|item| format!("{space}  - {item}\n")).collect();
    format!("{space}{key}:\n{lines}")
}
