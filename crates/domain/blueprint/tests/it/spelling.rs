//! One document has one digest, however it is spelled.

use ambit_blueprint::{Document, DocumentKind};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::Value;

use crate::page::{edited, sample};

fn digest(text: &str) -> ambit_ids::Digest {
    let document =
        Document::parse("doc", text.as_bytes()).unwrap_or_else(|e| panic!("{}\n{text}", e.render()));
    document.digest().unwrap()
}

fn canonical(text: &str) -> String {
    let document = Document::parse("doc", text.as_bytes()).unwrap();
    String::from_utf8(document.to_canonical().unwrap().into_bytes()).unwrap()
}

#[test]
fn the_canonical_bytes_are_a_document_with_the_same_value_and_digest() {
    for kind in DocumentKind::ALL {
        let document = Document::parse("doc", sample(*kind).as_bytes()).unwrap();
        let bytes = document.to_canonical().unwrap();
        let again = Document::parse("doc", bytes.as_bytes()).unwrap_or_else(|e| panic!("{}", e.render()));
        assert_eq!(again, document, "{kind}");
        assert_eq!(again.to_canonical().unwrap(), bytes, "{kind}");
    }
}

#[test]
fn the_canonical_bytes_are_what_anyone_would_write_by_the_standard() {
    let expected = concat!(
        "{\"apiVersion\":\"coding-agent.enterprise/v1\",\"kind\":\"PolicyBundle\",",
        "\"metadata\":{\"name\":\"generation-egress\",\"version\":5},\"spec\":{\"egress\":{\"default\":\"deny-all\"}}}"
    );
    assert_eq!(canonical(ambit_blueprint::builtin::GENERATION_EGRESS_V5.text), expected);
}

#[test]
fn spelling_makes_no_difference() {
    let blueprint = sample(DocumentKind::Blueprint);
    let expected = digest(blueprint);
    let quoted = edited(blueprint, "stage: generate", "stage: 'generate'");
    let escaped = edited(blueprint, "stage: generate", "\"st\\u0061ge\": \"gener\\x61te\"");
    let money = edited(blueprint, "maxToolCostUsd: 4.00", "maxToolCostUsd: 4");
    let micro = edited(blueprint, "maxToolCostUsd: 4.00", "maxToolCostMicroUsd: 4000000");
    let default = format!("{blueprint}  authorizes: []\n");
    let block = edited(blueprint, "goal: >\n", "goal: |\n");
    let spaced =
        edited(blueprint, "title: Create and complete a todo", "title: '  Create and complete a todo '");
    let commented = format!("# a comment\n---\n{blueprint}...\n# another\n");
    let line_ends = blueprint.replace('\n', "\r\n");
    for other in [quoted, escaped, money, micro, default, block, spaced, commented, line_ends] {
        assert_ne!(other, blueprint);
        assert_eq!(digest(&other), expected, "{other}");
    }

    let profile = sample(DocumentKind::ExecutionCapabilityProfile);
    let default = edited(profile, "    aggregateLimits: enforced\n", "");
    assert_eq!(digest(profile), digest(&default));

    let catalog = sample(DocumentKind::NamedCommandCatalog);
    let default =
        edited(catalog, "        outputKib: 256\n", "        outputKib: 256\n        parallelProcesses: 1\n");
    assert_eq!(digest(catalog), digest(&default));
}

#[test]
fn meaning_makes_a_difference() {
    let blueprint = sample(DocumentKind::Blueprint);
    let changes = [
        ("maxModelSteps: 24", "maxModelSteps: 25"),
        ("maxToolCostUsd: 4.00", "maxToolCostUsd: 4.000001"),
        ("version: 1\n", "version: 2\n"),
        ("work: [domain, repository", "work: [repository, domain"),
        ("afterDays: 0", "afterDays: 1"),
        ("expect: allowed", "expect: denied"),
        ("hiddenCheck: tenant-integration-hidden", "hiddenCheck: another"),
    ];
    let mut digests: Vec<_> = changes.iter().map(|(from, to)| digest(&edited(blueprint, from, to))).collect();
    digests.push(digest(blueprint));
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), changes.len() + 1);
}

/// What a writer of documents may choose, taken from a stream of random bytes.
struct Choices<'a>(std::slice::Iter<'a, u8>);

impl Choices<'_> {
    fn among(&mut self, count: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or(0)) % count
    }
}

/// Members in an order of the writer's choice.
fn shuffled<'a>(
    members: &'a serde_json::Map<String, Value>,
    choices: &mut Choices<'_>,
) -> Vec<(&'a String, &'a Value)> {
    let mut left: Vec<_> = members.iter().collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        order.push(left.remove(choices.among(left.len())));
    }
    order
}

fn scalar(text: &str, choices: &mut Choices<'_>) -> String {
    let json = serde_json::to_string(text).unwrap();
    match choices.among(3) {
        0 => json,
        1 if !text.contains(['\n', '\t']) => format!("'{}'", text.replace('\'', "''")),
        _ => {
            let escaped: String = text.chars().map(|c| format!("\\U{:08X}", u32::from(c))).collect();
            format!("\"{escaped}\"")
        }
    }
}

fn write(value: &Value, depth: usize, choices: &mut Choices<'_>) -> String {
    let pad = "  ".repeat(depth);
    let flow = choices.among(4) == 0;
    match value {
        Value::String(text) => scalar(text, choices),
        Value::Object(members) if flow || members.is_empty() => {
            let members: Vec<String> = shuffled(members, choices)
                .into_iter()
                .map(|(key, member)| format!("{}: {}", scalar(key, choices), write_flow(member, choices)))
                .collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Object(members) => shuffled(members, choices)
            .into_iter()
            .map(|(key, member)| {
                let key = if choices.among(2) == 0 { key.clone() } else { scalar(key, choices) };
                format!("\n{pad}{key}: {}", write(member, depth + 1, choices))
            })
            .collect(),
        Value::Array(items) if flow || items.is_empty() => {
            let items: Vec<String> = items.iter().map(|item| write_flow(item, choices)).collect();
            format!("[{}]", items.join(","))
        }
        Value::Array(items) => {
            items.iter().map(|item| format!("\n{pad}- {}", write(item, depth + 1, choices))).collect()
        }
        other => other.to_string(),
    }
}

fn write_flow(value: &Value, choices: &mut Choices<'_>) -> String {
    match value {
        Value::String(text) => scalar(text, choices),
        Value::Object(members) => {
            let members: Vec<String> = shuffled(members, choices)
                .into_iter()
                .map(|(key, member)| format!("{}: {}", scalar(key, choices), write_flow(member, choices)))
                .collect();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| write_flow(item, choices)).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn any_order_any_quoting_and_either_notation_have_one_digest(bytes in proptest::collection::vec(any::<u8>(), 0..3000)) {
        let mut choices = Choices(bytes.iter());
        for kind in DocumentKind::ALL {
            let expected = canonical(sample(*kind));
            let text = write(&serde_json::from_str(&expected).unwrap(), 0, &mut choices);
            let read = Document::parse("doc", text.as_bytes());
            let read = read.unwrap_or_else(|error| panic!("{}\n{text}", error.render()));
            let bytes = read.to_canonical().unwrap();
            prop_assert_eq!(bytes.as_bytes(), expected.as_bytes());
        }
    }

    #[test]
    fn text_that_is_read_is_read_back_from_the_canonical_bytes(text in "\\PC{0,60}|[ -~\n\t]{0,60}") {
        let catalog = sample(DocumentKind::NamedCommandCatalog);
        let argument = serde_json::to_string(&text).unwrap();
        let spelled = edited(catalog, "argv: [python3,", &format!("argv: [{argument},"));
        if let Ok(document) = Document::parse("doc", spelled.as_bytes()) {
            let Document::Catalog(read) = &document else { panic!() };
            prop_assert_eq!(&read.spec.commands[0].argv[0], &text);
            let again = Document::parse("doc", document.to_canonical().unwrap().as_bytes()).unwrap();
            prop_assert_eq!(again, document);
        }
    }
}
