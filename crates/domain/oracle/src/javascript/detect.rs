//! Places where source asks whether a test runs it, or ends the process that runs it.

use tree_sitter::Node;

use super::text::Text;
use super::vacuous::plain;

/// Variables that only test runners set.
const VARIABLES: [&str; 14] = [
    "JEST_WORKER_ID",
    "VITEST",
    "VITEST_WORKER_ID",
    "VITEST_POOL_ID",
    "VITEST_MODE",
    "NODE_TEST_CONTEXT",
    "NODE_TEST_WORKER_ID",
    "MOCHA_COLORS",
    "AVA_PATH",
    "TAP",
    "TAP_CHILD_ID",
    "CYPRESS",
    "PLAYWRIGHT_TEST",
    "TEST_WORKER_INDEX",
];
/// Names that only test runners define.
const GLOBALS: [&str; 12] = [
    "jest",
    "vi",
    "vitest",
    "jasmine",
    "mocha",
    "describe",
    "it",
    "expect",
    "cy",
    "Cypress",
    "beforeEach",
    "__vitest_worker__",
];
/// Words in an argument of the process, or in a stack, that tell a runner.
const WORDS: [&str; 14] = [
    "jest",
    "mocha",
    "vitest",
    "jasmine",
    "node:test",
    "--test",
    ".test.",
    ".spec.",
    "__tests__",
    "playwright",
    "cypress",
    "ava",
    "/test/",
    "tap",
];

/// Whether the node is such a place.
pub(super) fn detects(node: Node<'_>, text: Text<'_>) -> bool {
    match node.kind() {
        "member_expression" | "subscript_expression" => variable(node, text) || global(node, text),
        "binary_expression" => compares(node, text),
        "switch_statement" => {
            let over = node.child_by_field_name("value").map_or("", |value| text.of(value));
            is_environment(over) && text.of(node).contains("'test'")
        }
        "call_expression" => looks_around(node, text),
        _ => false,
    }
}

fn variable(node: Node<'_>, text: Text<'_>) -> bool {
    let whole = text.of(node);
    let Some(rest) =
        ["process.env", "import.meta.env", "Bun.env"].iter().find_map(|of| whole.strip_prefix(of))
    else {
        return false;
    };
    let name = rest.trim_start_matches(['?', '.', '[', '\'', '"']).trim_end_matches([']', '\'', '"']);
    VARIABLES.contains(&name)
}

fn global(node: Node<'_>, text: Text<'_>) -> bool {
    let of = node.child_by_field_name("object").map_or("", |object| text.of(plain(object)));
    let name = node.child_by_field_name("property").or_else(|| node.child_by_field_name("index"));
    let name = name.map_or("", |name| text.unquoted(name));
    matches!(of, "globalThis" | "global" | "window" | "self") && GLOBALS.contains(&name)
}

fn compares(node: Node<'_>, text: Text<'_>) -> bool {
    let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
    else {
        return false;
    };
    let (left, right) = (plain(left), plain(right));
    let operator = node.child_by_field_name("operator").map_or("", |operator| text.of(operator));
    if operator == "in" {
        return GLOBALS.contains(&text.unquoted(left))
            && matches!(text.of(right), "globalThis" | "global" | "window");
    }
    if !matches!(operator, "===" | "==" | "!==" | "!=") {
        return false;
    }
    [(left, right), (right, left)].into_iter().any(|(one, other)| {
        let said = text.unquoted(other);
        let of_environment = is_environment(text.of(one)) && matches!(said, "test" | "testing");
        let of_type = one.kind() == "unary_expression"
            && text.of(one).strip_prefix("typeof ").is_some_and(|name| GLOBALS.contains(&name.trim()))
            && said == "undefined";
        of_environment || of_type
    })
}

fn is_environment(text: &str) -> bool {
    let name = text.rsplit(['.', '[']).next().unwrap_or("").trim_matches(['\'', '"', ']']);
    matches!(name, "NODE_ENV" | "BUN_ENV" | "DENO_ENV" | "BABEL_ENV")
        || text == "import.meta.env.MODE"
        || text == "process.env.npm_lifecycle_event"
}

/// `process.argv.some(…)`, `new Error().stack.includes('.test.')`.
fn looks_around(node: Node<'_>, text: Text<'_>) -> bool {
    let Some(function) =
        node.child_by_field_name("function").filter(|function| function.kind() == "member_expression")
    else {
        return false;
    };
    let of = function.child_by_field_name("object").map_or("", |object| text.of(object));
    let asks = of.ends_with(".stack")
        || of.ends_with(".stack?")
        || of.starts_with("process.argv")
        || of.starts_with("require.main")
        || of.starts_with("module.parent")
        || of.starts_with("process.execArgv");
    let given = node.child_by_field_name("arguments").map_or("", |given| text.of(given));
    asks && WORDS.iter().any(|word| quotes(given, word))
}

/// Whether a word stands in a string, or a pattern, of the text.
fn quotes(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        let ends = |c: Option<char>| c.is_some_and(|c| !c.is_alphanumeric());
        ends(before) && ends(after)
    })
}
