use std::collections::BTreeSet;

use ambit_ids::limits;
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError};

use super::node::{Entry, Node, Value};
use super::plain::Plain;
use super::source::Source;
use super::span::{Span, count};
use super::unreadable::is_unreadable;
use crate::problem::{DocumentError, Finding, ProblemCode};
use crate::suggest::quoted;

/// The most nodes of a document.
const MAX_NODES: usize = 50_000;

/// Reads the one document of a source.
pub(crate) fn read_tree(source: &Source<'_>) -> Result<Node, DocumentError> {
    refuse_directive(source)?;
    let mut builder = Builder { source, open: Vec::new(), root: None, nodes: 0 };
    for event in Parser::new_from_str(source.text()) {
        let (event, span) = event.map_err(|error| malformed(source, &error))?;
        builder.take(event, place(span))?;
    }
    builder.root.ok_or_else(|| {
        source.error(
            Finding::new(ProblemCode::Syntax, "the document is empty", "nothing stands here"),
            Span::START,
        )
    })
}

/// A directive could only stand before the first line of content; the parser would follow it without telling.
fn refuse_directive(source: &Source<'_>) -> Result<(), DocumentError> {
    let is_content = |line: &&str| !line.trim_start().is_empty() && !line.trim_start().starts_with('#');
    let Some((number, line)) = source.text().lines().enumerate().find(|(_, line)| is_content(line)) else {
        return Ok(());
    };
    if !line.starts_with('%') {
        return Ok(());
    }
    let span = Span { line: count(number + 1), column: 1, width: count(line.chars().count()) };
    Err(source.error(refused("a directive"), span))
}

fn refused(what: &str) -> Finding {
    Finding::new(
        ProblemCode::FeatureRefused,
        format!("{what} must not stand in a document"),
        "write out what is meant",
    )
}

fn malformed(source: &Source<'_>, error: &ScanError) -> DocumentError {
    let span = place(saphyr_parser::Span::empty(*error.marker()));
    if error.info().contains("recursion limit") {
        return source.error(too_deep(), span);
    }
    let help =
        "within quotes only the escapes of YAML 1.2 are known; a character past U+FFFF is written as itself";
    let finding = Finding::new(ProblemCode::Syntax, "the document is not well-formed YAML", error.info());
    let is_escape = error.info().contains("escape");
    source.error(if is_escape { finding.with_help(help) } else { finding }, span)
}

fn too_deep() -> Finding {
    let message = format!("the document is nested deeper than {} levels", limits::NESTING_DEPTH);
    Finding::new(ProblemCode::TooDeep, message, "no document needs this level")
}

fn place(span: saphyr_parser::Span) -> Span {
    Span {
        line: count(span.start.line().max(1)),
        column: count(span.start.col() + 1),
        width: count(span.end.index().saturating_sub(span.start.index())),
    }
}

/// A collection whose end was not read yet.
enum Open {
    Sequence { span: Span, items: Vec<Node> },
    Mapping { span: Span, entries: Vec<Entry>, names: BTreeSet<String>, key: Option<(String, Span)> },
}

struct Builder<'a> {
    source: &'a Source<'a>,
    open: Vec<Open>,
    root: Option<Node>,
    nodes: usize,
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), DocumentError> {
        match event {
            Event::DocumentStart(_) if self.root.is_some() => {
                Err(self.source.error(refused("a second document"), span))
            }
            Event::Alias(_) => Err(self.source.error(refused("an alias"), span)),
            Event::Scalar(_, _, anchor, tag) if anchor > 0 || tag.is_some() => Err(self.marked(anchor, span)),
            Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag)
                if anchor > 0 || tag.is_some() =>
            {
                Err(self.marked(anchor, span))
            }
            Event::Scalar(text, style, _, _) => self.scalar(text.into_owned(), style, span),
            Event::SequenceStart(..) => self.start(Open::Sequence { span, items: Vec::new() }, span),
            Event::MappingStart(..) => {
                let (entries, names) = (Vec::new(), BTreeSet::new());
                self.start(Open::Mapping { span, entries, names, key: None }, span)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    fn marked(&self, anchor: usize, span: Span) -> DocumentError {
        self.source.error(refused(if anchor > 0 { "an anchor" } else { "a tag" }), span)
    }

    fn scalar(&mut self, text: String, style: ScalarStyle, span: Span) -> Result<(), DocumentError> {
        if let Some(c) = text.chars().find(|c| !matches!(c, '\n' | '\t') && is_unreadable(*c)) {
            let message = format!("the character U+{:04X} must not stand in text", u32::from(c));
            let label = "it cannot be seen, or it changes how other characters are seen";
            return Err(self.source.error(Finding::new(ProblemCode::Encoding, message, label), span));
        }
        let is_plain = style == ScalarStyle::Plain;
        match self.open.last_mut() {
            Some(Open::Mapping { names, key: key @ None, .. }) => {
                check_name(&text, is_plain).map_err(|finding| self.source.error(finding, span))?;
                if !names.insert(text.clone()) {
                    let message = format!("the key {} stands twice in one mapping", quoted(&text));
                    let finding = Finding::new(ProblemCode::DuplicateKey, message, "the second one");
                    return Err(self.source.error(finding, span));
                }
                *key = Some((text, span));
                self.counted(span)
            }
            _ => {
                let value = if is_plain { Value::Plain(text) } else { Value::Text(text) };
                self.counted(span)?;
                self.place(Node { span, value });
                Ok(())
            }
        }
    }

    fn start(&mut self, collection: Open, span: Span) -> Result<(), DocumentError> {
        if let Some(Open::Mapping { key: None, .. }) = self.open.last() {
            return Err(self.source.error(refused("a key that is not text"), span));
        }
        if self.open.len() == limits::NESTING_DEPTH {
            return Err(self.source.error(too_deep(), span));
        }
        self.counted(span)?;
        self.open.push(collection);
        Ok(())
    }

    fn end(&mut self) -> Result<(), DocumentError> {
        match self.open.pop() {
            Some(Open::Sequence { span, items }) => self.place(Node { span, value: Value::Sequence(items) }),
            Some(Open::Mapping { span, entries, .. }) => {
                self.place(Node { span, value: Value::Mapping(entries) });
            }
            None => {}
        }
        Ok(())
    }

    /// Puts a finished node where the open collection expects one.
    fn place(&mut self, node: Node) {
        match self.open.last_mut() {
            Some(Open::Sequence { items, .. }) => items.push(node),
            Some(Open::Mapping { entries, key, .. }) => {
                if let Some((name, name_span)) = key.take() {
                    entries.push(Entry { name, name_span, node });
                }
            }
            None => self.root = Some(node),
        }
    }

    fn counted(&mut self, span: Span) -> Result<(), DocumentError> {
        self.nodes += 1;
        if self.nodes <= MAX_NODES {
            return Ok(());
        }
        let message = format!("the document has more than {MAX_NODES} keys and values");
        Err(self.source.error(Finding::new(ProblemCode::TooLarge, message, "the first too many"), span))
    }
}

/// Whether a key is text to every reader.
fn check_name(text: &str, is_plain: bool) -> Result<(), Finding> {
    if !is_plain || Plain::of(text) == Plain::Text {
        return Ok(());
    }
    if text == "<<" {
        return Err(refused("a merge key"));
    }
    let message = format!("the key {} is not text to every reader of YAML", quoted(text));
    Err(Finding::new(ProblemCode::FeatureRefused, message, "put it in quotes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Result<Node, (ProblemCode, u32, u32)> {
        let source = Source::admit("x.yaml", text.as_bytes()).unwrap();
        read_tree(&source).map_err(|error| {
            let first = error.problems().next().unwrap();
            (first.code, first.line, first.column)
        })
    }

    fn span(line: u32, column: u32, width: u32) -> Span {
        Span { line, column, width }
    }

    #[test]
    fn every_node_knows_its_place() {
        let Value::Mapping(entries) = tree("a: 1\nb:\n  - 'x'\n  - é\n").unwrap().value else { panic!() };
        assert_eq!(entries[0].name_span, span(1, 1, 1));
        assert_eq!(entries[0].node, Node { span: span(1, 4, 1), value: Value::Plain("1".into()) });
        let Value::Sequence(items) = &entries[1].node.value else { panic!() };
        assert_eq!(items[0], Node { span: span(3, 5, 3), value: Value::Text("x".into()) });
        assert_eq!(items[1], Node { span: span(4, 5, 1), value: Value::Plain("é".into()) });
    }

    #[test]
    fn features_that_change_what_is_read_are_refused_at_their_place() {
        for (text, line, column) in [
            ("a: &x 1", 1, 4),
            ("- &x 1\n- *x", 1, 3),
            ("a: !!str 1", 1, 4),
            ("a: !x {}", 1, 4),
            ("a: &x []", 1, 4),
            ("a:\n  <<: {}", 2, 3),
            ("%YAML 1.1\n---\na: 1", 1, 1),
            ("# x\n\n%TAG ! x\n---\na: 1", 3, 1),
            ("a: 1\n---\nb: 2", 2, 1),
            ("a: 1\n...\n---\n", 3, 1),
            ("? [a]\n: 1", 1, 3),
            ("{a: 1}: 2", 1, 1),
            ("1: a", 1, 1),
            ("a:\n  no: b", 2, 3),
            ("~: a", 1, 1),
            (": a", 1, 1),
        ] {
            assert_eq!(tree(text), Err((ProblemCode::FeatureRefused, line, column)), "{text}");
        }
        for good in ["---\na: 1\n...\n", "'no': a", "\"1\": a", "'<<': a", "a: 1\n# %\n"] {
            assert!(tree(good).is_ok(), "{good}");
        }
    }

    #[test]
    fn a_key_stands_once_however_it_is_spelled() {
        for (text, line, column) in [
            ("a: 1\nb: 2\na: 3", 3, 1),
            ("{\"a\":1,\"\\u0061\":2}", 1, 8),
            ("a: 1\n'a': 2", 2, 1),
            ("x:\n- {a: 1, \"\\x61\": 2}", 2, 10),
        ] {
            assert_eq!(tree(text), Err((ProblemCode::DuplicateKey, line, column)), "{text}");
        }
        assert!(tree("a: {a: 1}").is_ok());
    }

    #[test]
    fn size_and_depth_are_bounded() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(tree(&nested(16)).is_ok());
        assert_eq!(tree(&nested(17)), Err((ProblemCode::TooDeep, 1, 17)));
        assert!(matches!(tree(&nested(100_000)), Err((ProblemCode::TooDeep, 1, _))));
        let block: String = (0..400).map(|level| format!("{}a:\n", " ".repeat(level))).collect();
        assert_eq!(tree(&block), Err((ProblemCode::TooDeep, 17, 17)));
        let items = |count: usize| format!("[{}]", "1,".repeat(count));
        assert!(tree(&items(MAX_NODES - 1)).is_ok());
        assert!(matches!(tree(&items(MAX_NODES)), Err((ProblemCode::TooLarge, 1, _))));
    }

    #[test]
    fn what_is_not_well_formed_is_refused_at_its_place() {
        for (text, line) in [
            ("a: [1", 1),
            ("a: \"x", 1),
            ("a: b: c", 1),
            ("a: 1\n b: 2", 2),
            ("a: \"\\ud800\"", 1),
            ("a: \"\\q\"", 1),
            ("a: @x", 1),
            ("{a: 1}}", 1),
            ("", 1),
            ("# nothing\n", 1),
            ("a: 1\nb", 2),
        ] {
            let (code, found, _) = tree(text).unwrap_err();
            assert_eq!((code, found), (ProblemCode::Syntax, line), "{text}");
        }
    }

    #[test]
    fn escapes_do_not_bring_in_what_the_source_may_not_hold() {
        for text in ["a: \"\\0\"", "a: \"\\u202e\"", "\"a\\e\": 1", "a: \"\\r\""] {
            assert!(matches!(tree(text), Err((ProblemCode::Encoding, 1, _))), "{text}");
        }
        let Value::Mapping(entries) = tree("a: \"x\\ty\\n\"").unwrap().value else { panic!() };
        assert_eq!(entries[0].node.value, Value::Text("x\ty\n".into()));
    }
}
