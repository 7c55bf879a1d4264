//! What a person is shown of a call before it is approved: rendered from the kept bytes and from what trusted code found
//! out, never from what the agent says of it. Whatever cannot be shown whole is not shown in part: it cannot be approved.

use std::fmt::Write as _;

use ambit_ids::{Digest, RepoPath, is_unprintable};
use ambit_policy::Fact;
use ambit_run::{Finding, Inspection, PatchFinding, ToolCall, Uninspectable};

use crate::ground::Ground;

/// The most bytes of a patch that a person is shown.
pub const VIEW_BYTES: usize = 64 * 1024;
/// The most lines of it.
pub const VIEW_LINES: usize = 2_000;
/// The most characters of one of its lines.
pub const VIEW_LINE: usize = 500;
/// The most facts about it.
pub const VIEW_FACTS: usize = 100;

/// What stands before a line that is not ours, so that it cannot pass for ours.
const QUOTED: &str = "  | ";

/// The view of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The text; empty where the call cannot be shown whole.
    pub text: String,
    /// Whether it holds everything.
    pub inspection: Inspection,
}

impl View {
    fn whole(text: String) -> Self {
        Self { inspection: Inspection::Whole(Digest::of(text.as_bytes())), text }
    }

    fn impossible(mut reasons: Vec<Uninspectable>) -> Self {
        reasons.sort();
        reasons.dedup();
        Self { text: String::new(), inspection: Inspection::Impossible(reasons) }
    }

    /// The view of a call with what was found out about it.
    pub(crate) fn of(
        ground: &Ground,
        call: &ToolCall,
        patch: Option<&[u8]>,
        facts: &[Fact],
        finding: &Finding,
    ) -> Self {
        match (call, patch, finding) {
            (ToolCall::ApplyProjectPatch { patch: digest, .. }, Some(bytes), Finding::Patch(found)) => {
                of_patch(*digest, bytes, facts, found)
            }
            (ToolCall::ApplyProjectPatch { .. }, ..) => Self::impossible(vec![Uninspectable::EffectUnknown]),
            (call, ..) => of_call(ground, call, facts),
        }
    }
}

fn of_patch(digest: Digest, bytes: &[u8], facts: &[Fact], found: &PatchFinding) -> View {
    let mut reasons = Vec::new();
    if bytes.len() > VIEW_BYTES {
        reasons.push(Uninspectable::TooLarge);
    }
    if facts.len() > VIEW_FACTS {
        reasons.push(Uninspectable::TooManyFacts);
    }
    if !found.files.iter().all(is_plain) {
        reasons.push(Uninspectable::OddPath);
    }
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    let Some(text) = text else {
        reasons.push(Uninspectable::NotText);
        return View::impossible(reasons);
    };
    if text.lines().count() > VIEW_LINES {
        reasons.push(Uninspectable::TooManyLines);
    }
    if text.lines().any(|line| line.chars().count() > VIEW_LINE) {
        reasons.push(Uninspectable::LineTooLong);
    }
    if !reasons.is_empty() {
        return View::impossible(reasons);
    }
    let mut page = format!("a patch of {}\nwhich becomes {}\n", found.base, found.tree);
    let _ = writeln!(page, "it changes {} {}", found.files.len(), plural(found.files.len(), "file"));
    for file in &found.files {
        quote(&mut page, &file.to_string());
    }
    found_in(&mut page, facts);
    let _ = writeln!(page, "the patch, {digest}");
    for line in text.trim_end_matches('\n').split('\n') {
        quote(&mut page, line);
    }
    let odd = text.chars().filter(|c| !c.is_ascii() || is_odd(*c)).count();
    if page.contains(OPEN) {
        let _ = writeln!(
            page,
            "{odd} of its characters are none of ASCII; the odd ones stand as {OPEN}U+number{CLOSE}"
        );
    }
    View::whole(page)
}

/// A call without a patch: its tool, its arguments, and for a gate the command that its name stands for.
fn of_call(ground: &Ground, call: &ToolCall, facts: &[Fact]) -> View {
    let Ok(arguments) = ambit_canonical::encode(call) else {
        return View::impossible(vec![Uninspectable::EffectUnknown]);
    };
    if facts.len() > VIEW_FACTS {
        return View::impossible(vec![Uninspectable::TooManyFacts]);
    }
    let arguments = String::from_utf8_lossy(arguments.as_bytes()).into_owned();
    if arguments.len() > VIEW_BYTES {
        return View::impossible(vec![Uninspectable::TooLarge]);
    }
    let mut page = format!("a call of {}\n", call.tool());
    quote(&mut page, &arguments);
    if let ToolCall::RunNamedGate { gate_id, .. } = call {
        let Some(command) = ground.command(gate_id) else {
            return View::impossible(vec![Uninspectable::EffectUnknown]);
        };
        let _ = writeln!(page, "which runs in the sandbox");
        for word in &command.argv {
            quote(&mut page, word);
        }
    }
    found_in(&mut page, facts);
    View::whole(page)
}

/// Every fact: in them nothing but ASCII stands as it is, since one is all that a person looks at of a name.
fn found_in(page: &mut String, facts: &[Fact]) {
    let told = if facts.is_empty() { "nothing was found in it" } else { "found in it" };
    let _ = writeln!(page, "{told}");
    for fact in facts {
        let fact = fact.to_string();
        let ascii: String = fact.chars().map(|c| numbered_if(c, !c.is_ascii() || is_odd(c))).collect();
        let _ = writeln!(page, "{QUOTED}{ascii}");
    }
}

fn plural(count: usize, thing: &str) -> String {
    if count == 1 { thing.to_owned() } else { format!("{thing}s") }
}

/// Around the number of a character that is not shown as itself. Both are always shown by their number, so that nothing
/// else can look like it.
const OPEN: char = '\u{27e6}';
const CLOSE: char = '\u{27e7}';

/// A line behind a bar. It is cut nowhere.
fn quote(page: &mut String, line: &str) {
    page.push_str(QUOTED);
    for word in line.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_') {
        let is_mixed = word.chars().any(|c| c.is_ascii_alphabetic());
        for c in word.chars() {
            page.push_str(&numbered_if(c, is_odd(c) || (is_mixed && is_foreign(c))));
        }
    }
    page.push('\n');
}

fn numbered_if(c: char, is_numbered: bool) -> String {
    if is_numbered { format!("{OPEN}U+{:04X}{CLOSE}", u32::from(c)) } else { c.to_string() }
}

/// Whether a character is shown by its number wherever it stands: it cannot be seen, moves what stands beside it, is a blank
/// that is none, or is made to look like another one.
fn is_odd(c: char) -> bool {
    if c == '\t' {
        return false;
    }
    is_unprintable(c)
        || (c.is_whitespace() && c != ' ')
        || matches!(c,
            OPEN | CLOSE
            // Marks that stand on the character before them.
            | '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}'
            // Letters that are written from right to left take what stands beside them along.
            | '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
            | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}'
            // Forms of ASCII characters that are none.
            | '\u{ff01}'..='\u{ff5e}' | '\u{1d400}'..='\u{1d7ff}' | '\u{2100}'..='\u{214f}'
            // What nobody has agreed on the look of.
            | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}')
}

/// Whether a character is a letter of another script than Latin.
fn is_foreign(c: char) -> bool {
    c.is_alphabetic() && !c.is_ascii() && !is_latin(c)
}

/// Letters of Latin with their marks, without those that look like another letter or like none.
fn is_latin(c: char) -> bool {
    matches!(c, '\u{c0}'..='\u{17e}') && !matches!(c, '\u{d7}' | '\u{f7}' | '\u{131}' | '\u{138}' | '\u{149}')
}

/// Whether anybody reads a path as what it is.
fn is_plain(path: &RepoPath) -> bool {
    let text = std::str::from_utf8(path.as_bytes());
    let is_plain = |c: char| c.is_ascii_graphic() && c != '\\' || is_latin(c) || c == ' ';
    text.is_ok_and(|text| {
        text.chars().all(is_plain) && text.split('/').all(|part| part.trim() == part && !part.contains("  "))
    })
}
