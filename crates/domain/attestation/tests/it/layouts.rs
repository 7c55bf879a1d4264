//! Layouts and links.

use ambit_attestation::layout::{
    ArtifactKind, Layout, LinkFile, Pattern, Rule, RunLayout, Step, TREE, file_name,
};
use ambit_attestation::{Envelope, KeyRole, Payload, Threshold};
use ambit_ids::UnixMs;
use serde_json::{Value, json};

use crate::parties::{Party, moment};
use crate::run::{Records, name};

pub(crate) fn run_layout(run: &Records) -> RunLayout {
    RunLayout {
        // 2100-03-01T00:00:00Z.
        expires: UnixMs::new(4_107_542_400_000),
        tool_broker: Party::role(KeyRole::ToolBroker).key,
        evaluator: Party::role(KeyRole::Evaluator).key,
        gates: vec![run.gate.gate.clone()],
    }
}

fn refused<T: Payload>(value: &T, change: impl FnOnce(&mut Value)) -> Option<&'static str> {
    let mut written: Value = serde_json::from_slice(value.to_bytes().unwrap().as_bytes()).unwrap();
    change(&mut written);
    T::from_bytes(&serde_json::to_vec(&written).unwrap()).err().map(|why| why.code())
}

#[test]
fn a_layout_comes_back_as_it_was_from_the_owner_of_the_project() {
    let run = Records::read();
    let layout = run_layout(&run).layout().unwrap();
    assert_eq!(Layout::from_bytes(layout.to_bytes().unwrap().as_bytes()).unwrap(), layout);
    let owner = Party::owner();
    let envelope = owner.envelope(&layout);
    let read = envelope.verify(&Threshold::one(owner.key)).unwrap().read::<Layout>().unwrap();
    assert_eq!(read.content(), &layout);
    assert!(!layout.has_ended(moment("2100-03-01T00:00:00.000Z")));
    assert!(layout.has_ended(moment("2100-03-01T00:00:00.001Z")));
    assert!(envelope.verify(&Threshold::one(Party::role(KeyRole::Evaluator).key)).is_err());
}

#[test]
fn only_rules_that_everybody_reads_alike_are_read() {
    let rules = |to: Value| {
        let layout = run_layout(&Records::read()).layout().unwrap();
        refused(&layout, |value| value["steps"][1]["expected_materials"] = to)
    };
    let all = json!(["DISALLOW", "*"]);
    let shape = Some("ATTESTATION_SHAPE");
    assert_eq!(rules(json!([["REQUIRE", "a"], ["ALLOW", "src/*.r?"], all])), None, "the control");
    assert_eq!(
        rules(json!([["MATCH", "*", "WITH", "MATERIALS", "FROM", "patch"], all])),
        None,
        "the control"
    );
    for rule in [
        json!(["ALLOW", "src/[!a]*"]),
        json!(["ALLOW", "src/[^a]*"]),
        json!(["ALLOW", "[a-z]"]),
        json!(["ALLOW", "a\\*"]),
        json!(["ALLOW", "{a,b}"]),
        json!(["ALLOW", ""]),
        json!(["CREATE", "*"]),
        json!(["MODIFY", "*"]),
        json!(["DELETE", "*"]),
        json!(["allow", "*"]),
        json!(["ALLOW"]),
        json!(["ALLOW", "a", "b"]),
        json!([]),
        json!("ALLOW *"),
        json!(["MATCH", "*", "IN", "a", "WITH", "PRODUCTS", "FROM", "patch"]),
        json!(["MATCH", "*", "WITH", "products", "FROM", "patch"]),
        json!(["MATCH", "*", "WITH", "PRODUCTS", "FROM", ""]),
    ] {
        assert_eq!(rules(json!([rule, all])), shape, "{rule}");
    }
    assert!(Pattern::exactly(&name("src/a.rs")).is_ok());
    assert!(Pattern::exactly(&name("src/*.rs")).is_err(), "a file whose name is a pattern");
}

#[test]
fn a_layout_that_would_let_anything_through_is_none() {
    let run = Records::read();
    let layout = run_layout(&run).layout().unwrap();
    let step = |at: &'static str, to: Value| {
        refused(&layout, move |value| *value.pointer_mut(&format!("/steps/1/{at}")).unwrap() = to)
    };
    let content = Some("ATTESTATION_CONTENT");
    let shape = Some("ATTESTATION_SHAPE");
    assert_eq!(step("threshold", json!(1)), None, "the control");
    assert_eq!(step("threshold", json!(0)), content, "nobody's links");
    assert_eq!(step("threshold", json!(2)), content, "more keys than there are");
    assert_eq!(step("pubkeys", json!([])), content, "no keys");
    assert_eq!(step("pubkeys", json!(["0".repeat(64)])), content, "a key that the layout lacks");
    assert_eq!(step("name", json!("patch")), content, "a name twice");
    assert_eq!(step("expected_materials", json!([])), content, "what is not mentioned is allowed");
    assert_eq!(step("expected_products", json!([["DISALLOW", "a"]])), content, "the rest is allowed");
    let forward = json!([["MATCH", "*", "WITH", "PRODUCTS", "FROM", "gate-unit"], ["DISALLOW", "*"]]);
    assert_eq!(step("expected_materials", forward), content, "matched with itself");
    assert_eq!(step("expected_command", json!(["make"])), shape, "a command");
    assert_eq!(refused(&layout, |value| value["inspect"] = json!([null])), shape, "a program to run");
    assert_eq!(
        refused(&layout, |value| value["inspect"] = json!([{"run": ["sh"]}])),
        shape,
        "a program to run"
    );
    assert_eq!(refused(&layout, |value| value["extra"] = json!(1)), shape, "a member not understood");
    assert_eq!(refused(&layout, |value| value["_type"] = json!("link")), Some("ATTESTATION_KIND"));
    assert_eq!(refused(&layout, |value| value["steps"] = json!([])), content, "no steps");
    assert_eq!(
        refused(&layout, |value| value["steps"][0]["_type"] = json!("inspection")),
        Some("ATTESTATION_KIND")
    );
    for expires in ["2100-03-01T00:00:00.000Z", "2100-03-01", "2100-02-30T00:00:00Z", ""] {
        assert_eq!(refused(&layout, |value| value["expires"] = json!(expires)), content, "{expires}");
    }
    let id = Party::role(KeyRole::Evaluator).key.id().to_string();
    let key = |part: &'static str, to: Value| refused(&layout, |value| value["keys"][&id][part] = to);
    assert_eq!(key("keyval", json!({"public": Party::new("nobody").key.to_pem()})), content, "another's key");
    assert_eq!(key("keyid", json!("0".repeat(64))), content, "another's name");
    assert_eq!(key("scheme", json!("ed25519")), content, "another algorithm");
    let mut later = run_layout(&run);
    later.expires = UnixMs::new(4_107_542_400_001);
    assert!(later.layout().is_err(), "no whole second");
}

#[test]
fn a_link_says_the_same_in_both_shapes() {
    let run = Records::read();
    let statement = run.patch_link();
    let file = LinkFile::of_statement(&statement).unwrap();
    assert_eq!(LinkFile::from_bytes(file.to_bytes().unwrap().as_bytes()).unwrap(), file);
    assert_eq!(file.link(), statement.predicate());
    assert_eq!(file.products().len(), statement.subject().len());
    assert_eq!(file.products()[&name(TREE)], run.revision());
    let twice = [run.products(), run.products()].concat();
    assert!(LinkFile::new(statement.predicate().clone(), twice).is_err());
    assert_eq!(refused(&file, |value| value["_type"] = json!("layout")), Some("ATTESTATION_KIND"));
    assert_eq!(refused(&file, |value| value["materials"] = json!([])), Some("ATTESTATION_SHAPE"));
    let key = Party::role(KeyRole::ToolBroker).key;
    let prefix = &key.id().to_string()[..8];
    assert_eq!(file_name(&name("patch"), &key), format!("patch.{prefix}.link"));
}

/// All of them are in-toto's, so the type of the envelope does not tell them apart.
#[test]
fn a_layout_a_link_and_a_statement_are_not_read_as_each_other() {
    let run = Records::read();
    let owner = Party::owner();
    let threshold = Threshold::one(owner.key);
    let layout = owner.envelope(&run_layout(&run).layout().unwrap());
    let link = owner.envelope(&LinkFile::of_statement(&run.patch_link()).unwrap());
    let statement = owner.envelope(&run.patch_link());
    fn code<T: Payload>(envelope: &Envelope, threshold: &Threshold) -> Option<&'static str> {
        envelope.verify(threshold).unwrap().read::<T>().err().map(|why| why.code())
    }
    type Statement = ambit_attestation::Statement<ambit_attestation::predicate::Link>;
    for (at, envelope) in [&layout, &link, &statement].into_iter().enumerate() {
        let read = [
            code::<Layout>(envelope, &threshold),
            code::<LinkFile>(envelope, &threshold),
            code::<Statement>(envelope, &threshold),
        ];
        let mut expected = [Some("ATTESTATION_KIND"); 3];
        expected[at] = None;
        assert_eq!(read, expected);
    }
}

#[test]
fn a_layout_has_bounds() {
    let run = Records::read();
    let key = Party::role(KeyRole::Evaluator).key;
    let step = |at: usize| Step {
        name: name(&format!("s{at}")),
        keys: [key.id()].into(),
        threshold: 1,
        materials: vec![Rule::disallow_all()],
        products: vec![Rule::disallow_all()],
    };
    let layout =
        |steps: Vec<Step>| Layout::new(run_layout(&run).expires, String::new(), [key], steps).is_ok();
    assert!(layout((0..128).map(step).collect()), "the control");
    assert!(!layout((0..129).map(step).collect()));
    let rule = Rule::Match { pattern: Pattern::all(), with: ArtifactKind::Products, from: name("s0") };
    let long = |count: usize| Step {
        materials: [vec![rule.clone(); count], vec![Rule::disallow_all()]].concat(),
        ..step(1)
    };
    assert!(layout(vec![step(0), long(63)]), "the control");
    assert!(!layout(vec![step(0), long(64)]));
    assert!(!layout(vec![long(1)]), "a step that is not there");
}
