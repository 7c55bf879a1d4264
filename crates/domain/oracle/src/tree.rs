//! Whether the tree of a test file tells what the file says.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

use ambit_ids::RepoPath;
use tree_sitter::{Language as Grammar, Node, ParseOptions, ParseState, Parser, Tree};

use crate::change::Unreadable;
use crate::narrow::{Narrowed, narrowed};
use crate::source::Language;

/// How deep a tree is followed by those who read it.
const DEPTH: usize = 160;
/// How often a parser may report before it is stopped, beside once for so many bytes. What people write takes it a tenth
/// of that; what is written to keep it busy, any time.
const ROUNDS: usize = 500;
const BYTES_PER_ROUND: usize = 20;

/// What cannot be relied upon in a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Shape {
    /// Places that could not be parsed.
    errors: usize,
    /// The deepest place.
    depth: usize,
}

/// One side of a file with its tree, which is made once for all who read it.
#[derive(Debug)]
pub(crate) struct Side<'t> {
    pub(crate) text: Cow<'t, str>,
    pub(crate) tree: Tree,
}

/// Both sides of a file.
#[derive(Debug)]
pub(crate) struct Sides<'t> {
    pub(crate) before: Side<'t>,
    pub(crate) after: Side<'t>,
    /// Functions that both sides have and that are left out of them.
    pub(crate) left_out: BTreeSet<String>,
    /// Whether nothing in the side after is illegible for certain.
    is_plain: bool,
}

impl<'t> Side<'t> {
    fn of(grammar: &Grammar, text: &'t str) -> Result<Self, Unreadable> {
        let tree = parsed(grammar, text).ok_or(Unreadable::Laborious)?;
        Ok(Self { text: text.into(), tree })
    }
}

impl<'t> Sides<'t> {
    /// Both sides as the grammar of their language reads them, without what is the same on both.
    ///
    /// # Errors
    /// [`Unreadable`] where a parser would be kept busy.
    pub(crate) fn of(
        language: Language,
        grammar: &Grammar,
        (before, after): (&'t str, &'t str),
        is_test: bool,
    ) -> Result<Self, Unreadable> {
        let after = Side::of(grammar, after)?;
        let narrowed = narrowed(language, (before, &after.text), &after.tree, is_test);
        match narrowed.and_then(|narrowed| Self::without_the_same(grammar, narrowed)) {
            Some(sides) => Ok(sides),
            None => Ok(Self {
                before: Side::of(grammar, before)?,
                after,
                left_out: BTreeSet::new(),
                is_plain: false,
            }),
        }
    }

    /// Both sides, the whole of them.
    #[cfg(test)]
    pub(crate) fn whole(grammar: &Grammar, before: &'t str, after: &'t str) -> Result<Self, Unreadable> {
        let (before, after) = (Side::of(grammar, before)?, Side::of(grammar, after)?);
        Ok(Self { before, after, left_out: BTreeSet::new(), is_plain: false })
    }

    /// Both sides without what is the same. `None` where that would be read in another way than the whole is.
    fn without_the_same(grammar: &Grammar, narrowed: Narrowed) -> Option<Self> {
        let before = parsed(grammar, &narrowed.before.text)?;
        let after = parsed(grammar, &narrowed.after.text)?;
        if !narrowed.is_sound(&before, &after) || is_deeper(after.root_node(), DEPTH) {
            return None;
        }
        let side = |text: String, tree| Side { text: text.into(), tree };
        Some(Self {
            before: side(narrowed.before.text, before),
            after: side(narrowed.after.text, after),
            left_out: narrowed.functions,
            is_plain: true,
        })
    }

    /// Whether the side after can be read as far as the one before could. What a grammar does not know, and what nobody
    /// follows, stays where it is; a patch may bring no more of it, since a test could lie in there.
    ///
    /// # Errors
    /// [`Unreadable`] where it does.
    pub(crate) fn legible(&self) -> Result<(), Unreadable> {
        if self.is_plain {
            return Ok(());
        }
        let root = self.after.tree.root_node();
        if !root.has_error() && !is_deeper(root, DEPTH) {
            return Ok(());
        }
        let after = measured(&self.after.tree);
        let before = measured(&self.before.tree);
        if after.errors > before.errors {
            return Err(Unreadable::Syntax);
        }
        if after.depth > DEPTH.max(before.depth) { Err(Unreadable::Nested) } else { Ok(()) }
    }
}

/// The grammar of a file whose outline is read from its tree.
pub(crate) fn grammar(path: &RepoPath, language: Language) -> Option<Grammar> {
    match language {
        Language::Python => Some(tree_sitter_python::LANGUAGE.into()),
        Language::Rust => Some(tree_sitter_rust::LANGUAGE.into()),
        Language::Go => Some(tree_sitter_go::LANGUAGE.into()),
        Language::Java if path.file_name().ends_with(b".java") => Some(tree_sitter_java::LANGUAGE.into()),
        Language::Java | Language::JavaScript { .. } => None,
    }
}

#[cfg(test)]
thread_local! {
    /// How long each text was that this thread has parsed.
    pub(crate) static PARSED: std::cell::RefCell<Vec<usize>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// The tree of a text. `None` where the parser would be kept busy for longer than its length allows.
pub(crate) fn parsed(grammar: &Grammar, text: &str) -> Option<Tree> {
    #[cfg(test)]
    PARSED.with_borrow_mut(|parsed| parsed.push(text.len()));
    let mut parser = Parser::new();
    parser.set_language(grammar).ok()?;
    let (mut rounds, most) = (0_usize, ROUNDS + text.len() / BYTES_PER_ROUND);
    let mut progress = |_: &ParseState| {
        rounds += 1;
        if rounds > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let bytes = text.as_bytes();
    let mut input = |at: usize, _| bytes.get(at..).unwrap_or_default();
    let options = ParseOptions::new().progress_callback(&mut progress);
    parser.parse_with_options(&mut input, None, Some(options))
}

/// Whether anything lies deeper than so many levels. What holds no more nodes than levels are left need not be looked at.
pub(crate) fn is_deeper(root: Node<'_>, levels: usize) -> bool {
    let (mut cursor, mut depth) = (root.walk(), 0);
    loop {
        if depth > levels {
            return true;
        }
        // A node counts itself.
        let may_be_deeper = cursor.node().descendant_count() > levels - depth + 1;
        if may_be_deeper && cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while depth == 0 || !cursor.goto_next_sibling() {
            if depth == 0 || !cursor.goto_parent() {
                return false;
            }
            depth -= 1;
        }
    }
}

fn measured(tree: &Tree) -> Shape {
    let mut cursor = tree.walk();
    let (mut shape, mut depth) = (Shape::default(), 0);
    loop {
        let node = cursor.node();
        shape.errors += usize::from(node.is_error() || node.is_missing());
        shape.depth = shape.depth.max(depth);
        if cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return shape;
            }
            depth -= 1;
        }
    }
}
