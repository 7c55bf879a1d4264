//! The page `docs/documents.md`, whose examples are the samples of the other tests.

use ambit_blueprint::{Document, DocumentKind, ProblemCode};

const PAGE: &str = include_str!("../../../../../docs/documents.md");

/// The complete documents on the page.
fn examples() -> Vec<&'static str> {
    let blocks = PAGE.split("```yaml\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap_or_default()).collect()
}

/// The page's example of a kind: the first, where there are several.
pub(crate) fn sample(kind: DocumentKind) -> &'static str {
    let heading = format!("\nkind: {kind}\n");
    examples().into_iter().find(|text| text.contains(&heading)).unwrap()
}

/// A sample in which one place, which must stand there exactly once, is written differently.
pub(crate) fn edited(sample: &str, from: &str, to: &str) -> String {
    assert_eq!(sample.matches(from).count(), 1, "{from:?} must stand once in the sample");
    sample.replace(from, to)
}

/// The code, line and column of every problem that a text has as a document of any kind.
pub(crate) fn problems(text: &str) -> Vec<(ProblemCode, u32, u32)> {
    match Document::parse("doc.yaml", text.as_bytes()) {
        Ok(_) => Vec::new(),
        Err(error) => error.problems().map(|problem| (problem.code, problem.line, problem.column)).collect(),
    }
}

/// The codes alone.
pub(crate) fn codes(text: &str) -> Vec<ProblemCode> {
    problems(text).into_iter().map(|(code, _, _)| code).collect()
}

#[test]
fn every_example_on_the_page_is_a_document() {
    let kinds: Vec<DocumentKind> = examples()
        .into_iter()
        .map(|text| {
            Document::parse("documents.md", text.as_bytes()).unwrap_or_else(|e| panic!("{}", e.render()))
        })
        .map(|document| document.kind())
        .collect();
    for kind in DocumentKind::ALL {
        assert!(kinds.contains(kind), "the page shows no {kind}");
    }
    assert_eq!(kinds.len(), 7);
}

#[test]
fn every_code_stands_on_the_page() {
    for code in ProblemCode::ALL {
        assert!(PAGE.contains(&format!("| `{code}` |")), "the page does not explain {code}");
    }
}

#[test]
fn the_problem_on_the_page_is_what_a_person_sees() {
    let slip = edited(sample(DocumentKind::Blueprint), "maxModelSteps: 24", "maxModelStep: 24");
    let seen = Document::parse("bp-1.yaml", slip.as_bytes()).unwrap_err().render();
    assert!(PAGE.contains(&format!("```text\n{seen}```")), "{seen}");
}

/// The keys of every mapping of a JSON value that stand in no table and in no sentence of the page.
fn unexplained(value: &serde_json::Value, prose: &str, into: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(members) => {
            for (key, member) in members {
                // Keys stand in backticks, at the end of a path or on the way.
                if ["`", ".", "[]"].iter().all(|next| !prose.contains(&format!("{key}{next}"))) {
                    into.push(key.clone());
                }
                unexplained(member, prose, into);
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| unexplained(item, prose, into)),
        _ => {}
    }
}

#[test]
fn every_key_of_the_examples_stands_in_a_table() {
    let prose: String = PAGE.split("```").step_by(2).collect();
    let mut missing = Vec::new();
    for text in examples() {
        let document = Document::parse("documents.md", text.as_bytes()).unwrap();
        let canonical = document.to_canonical().unwrap();
        unexplained(&serde_json::from_slice(canonical.as_bytes()).unwrap(), &prose, &mut missing);
    }
    // A name of a variable is data and not a key of the document.
    missing.retain(|key| key != "PYTHONDONTWRITEBYTECODE");
    assert_eq!(missing, Vec::<String>::new());
}
