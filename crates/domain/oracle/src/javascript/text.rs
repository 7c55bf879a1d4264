//! The text of a node, and when two texts say the same.

use std::collections::BTreeMap;
use std::ops::Range;

use tree_sitter::Node;

/// The source that the nodes of a tree are places in.
#[derive(Clone, Copy)]
pub(super) struct Text<'t>(pub(super) &'t str);

impl<'t> Text<'t> {
    pub(super) fn of(self, node: Node<'_>) -> &'t str {
        self.0.get(node.byte_range()).unwrap_or("")
    }

    pub(super) fn at(self, range: Range<usize>) -> &'t str {
        self.0.get(range).unwrap_or("")
    }

    /// How often each word stands in the whole of it.
    pub(super) fn words(self) -> BTreeMap<&'t str, u32> {
        let mut found = BTreeMap::new();
        for word in self.0.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$'))) {
            *found.entry(word).or_default() += 1;
        }
        found
    }

    /// The text of a string without its quotation marks, of anything else as it is.
    pub(super) fn unquoted(self, node: Node<'_>) -> &'t str {
        let text = self.of(node);
        let is_quoted = matches!(node.kind(), "string" | "template_string") && text.len() >= 2;
        if is_quoted { &text[1..text.len() - 1] } else { text }
    }

    /// The tokens of a node without what changes nothing: white space, comments, the choice of quotation marks,
    /// brackets around an expression, commas and semicolons at an end, quotation marks around the key of a property.
    pub(super) fn normal(self, node: Node<'_>) -> String {
        let mut tokens = String::new();
        self.write_normal(node, &mut tokens);
        tokens
    }

    fn write_normal(self, node: Node<'_>, tokens: &mut String) {
        let mut push = |text: &str| {
            let glues = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
            if tokens.ends_with(glues) && text.starts_with(glues) {
                tokens.push(' ');
            }
            tokens.push_str(text);
        };
        match node.kind() {
            "comment" | ";" => {}
            "string" | "template_string" if node.named_child_count() <= 1 && is_plain(node) => {
                let inner = self.unquoted(node);
                let is_key = node.parent().is_some_and(|up| {
                    up.kind() == "pair"
                        && up.child_by_field_name("key").is_some_and(|key| key.id() == node.id())
                });
                let is_word = !inner.is_empty() && inner.chars().all(|c| c.is_alphanumeric() || c == '_');
                if is_key && is_word {
                    push(inner);
                } else {
                    push("'");
                    tokens.push_str(&inner.replace("\\'", "'").replace("\\\"", "\""));
                    tokens.push('\'');
                }
            }
            "number" => push(&number(self.of(node))),
            "string" | "template_string" | "regex" | "jsx_text" => push(self.of(node)),
            _ if node.child_count() == 0 => push(self.of(node)),
            kind => {
                let is_wrapper = kind == "parenthesized_expression";
                let mut cursor = node.walk();
                let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
                for (at, child) in children.iter().enumerate() {
                    let is_bracket = is_wrapper && matches!(child.kind(), "(" | ")");
                    let ends = child.kind() == ","
                        && children.get(at + 1).is_some_and(|next| matches!(next.kind(), ")" | "]" | "}"));
                    if !is_bracket && !ends {
                        self.write_normal(*child, tokens);
                    }
                }
            }
        }
    }
}

/// Whether a string holds nothing but its text.
fn is_plain(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).all(|part| part.kind() == "string_fragment")
}

/// `0.30`, `.3` and `0.3` are one number.
fn number(text: &str) -> String {
    let plain = text.replace('_', "");
    match plain.parse::<f64>() {
        Ok(value) if value.is_finite() && value.abs() < 1e15 => format!("{value}"),
        _ => plain,
    }
}
