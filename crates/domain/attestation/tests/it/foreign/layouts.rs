//! The verifier of in-toto itself, as its users call it.

use std::collections::BTreeMap;
use std::path::Path;

use ambit_attestation::layout::{GATE_STEP, LinkFile, PATCH_STEP, TREE, file_name};
use ambit_attestation::{Envelope, KeyRole, PublicKey, Subject};
use ambit_ids::{Digest, UnixMs};

use super::{ACCEPTED, hold, packages, python, write};
use crate::layouts::run_layout;
use crate::parties::Party;
use crate::run::{Records, name};

/// What somebody who verifies a run has in hand.
struct Evidence {
    run: Records,
    owner: PublicKey,
    layout: Envelope,
    links: BTreeMap<String, Vec<u8>>,
}

fn text(envelope: &Envelope) -> Vec<u8> {
    envelope.print().unwrap().into_bytes()
}

impl Evidence {
    fn genuine() -> Self {
        let run = Records::read();
        let layout = Party::owner().envelope(&run_layout(&run).layout().unwrap());
        let mut evidence = Self { run, owner: Party::owner().key, layout, links: BTreeMap::new() };
        let patch = LinkFile::of_statement(&evidence.run.patch_link()).unwrap();
        evidence.put(PATCH_STEP, KeyRole::ToolBroker, &patch);
        let taken = evidence.run.products();
        evidence.put_gate(KeyRole::Evaluator, taken);
        evidence
    }

    fn gate_step(&self) -> String {
        format!("{GATE_STEP}{}", self.run.gate.gate)
    }

    /// A link under the name of the key that signs it.
    fn put(&mut self, step: &str, role: KeyRole, link: &LinkFile) {
        let party = Party::role(role);
        self.links.insert(file_name(&name(step), &party.key), text(&party.envelope(link)));
    }

    fn put_gate(&mut self, role: KeyRole, taken: Vec<Subject>) {
        let link = self.run.gate_link(&self.run.gate.gate.clone(), taken);
        self.put(&self.gate_step(), role, &link);
    }

    fn gate_file(&self) -> String {
        file_name(&name(&self.gate_step()), &Party::role(KeyRole::Evaluator).key)
    }

    fn verdict(&self, packages: &Path) -> String {
        let place = tempfile::tempdir().unwrap();
        write(place.path(), "root.layout", &text(&self.layout));
        write(place.path(), "owner.pem", self.owner.to_pem().as_bytes());
        for (file, bytes) in &self.links {
            write(place.path(), file, bytes);
        }
        let output = python(packages)
            .args(["-c", "from in_toto.in_toto_verify import main; main()"])
            .args(["--layout", "root.layout", "--verification-keys", "owner.pem"])
            .current_dir(place.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        match output.status.code() {
            Some(0) => ACCEPTED.to_owned(),
            Some(1) => said.trim_start_matches("(in-toto-verify) ").to_owned(),
            other => panic!("{other:?}: {said}"),
        }
    }
}

const UNSIGNED: &str = "SignatureVerificationError";
const THRESHOLD: &str =
    "ThresholdVerificationError: Step 'gate-unit' requires at least '1' links validly signed";
const NO_TREE: &str = "RuleVerificationError: 'REQUIRE /tree' did not find";
const NO_LINK: &str = "LinkNotFoundError: Step 'gate-unit' requires '1' link metadata file(s)";
const RULE: &str = "RuleVerificationError: 'DISALLOW *' matched the following artifacts: ";

/// What happens to the evidence on its way, and how in-toto refuses it.
type Hand = (&'static str, fn(&mut Evidence), &'static str);

const ANOTHER_CONTENT: &[Hand] = &[
    ("genuine", |_| {}, ACCEPTED),
    (
        "a gate of an earlier tree",
        |evidence| {
            let mut taken = evidence.run.products();
            taken[0].digest = evidence.run.patch.base.into();
            evidence.put_gate(KeyRole::Evaluator, taken);
        },
        RULE,
    ),
    (
        "a gate that took one file otherwise",
        |evidence| {
            let mut taken = evidence.run.products();
            taken[1].digest = Digest::of(b"another").into();
            evidence.put_gate(KeyRole::Evaluator, taken);
        },
        RULE,
    ),
    (
        "a gate that took one more",
        |evidence| {
            let more = Subject { name: name("src/more.py"), digest: Digest::of(b"more").into() };
            let taken = [evidence.run.products(), vec![more]].concat();
            evidence.put_gate(KeyRole::Evaluator, taken);
        },
        RULE,
    ),
    ("a gate that took nothing", |evidence| evidence.put_gate(KeyRole::Evaluator, Vec::new()), NO_TREE),
    (
        "a gate that is made of the link of the patch",
        |evidence| {
            let patch = LinkFile::of_statement(&evidence.run.patch_link()).unwrap();
            let bytes = text(&Party::role(KeyRole::Evaluator).envelope(&patch));
            evidence.links.insert(evidence.gate_file(), bytes);
        },
        RULE,
    ),
    (
        "a patch without its tree",
        |evidence| {
            let mut products = evidence.run.products();
            products.retain(|product| product.name.as_str() != TREE);
            let link = evidence.run.patch_link().predicate().clone();
            evidence.put(PATCH_STEP, KeyRole::ToolBroker, &LinkFile::new(link, products).unwrap());
        },
        NO_TREE,
    ),
];

const ANOTHER_SIGNER: &[Hand] = &[
    ("no gate", |evidence| drop(evidence.links.remove(&evidence.gate_file())), NO_LINK),
    (
        "a gate by the tool broker",
        |evidence| {
            evidence.links.remove(&evidence.gate_file());
            let taken = evidence.run.products();
            evidence.put_gate(KeyRole::ToolBroker, taken);
        },
        NO_LINK,
    ),
    (
        "a gate by the tool broker under the evaluator's name",
        |evidence| {
            let link = evidence.run.gate_link(&evidence.run.gate.gate.clone(), evidence.run.products());
            let bytes = text(&Party::role(KeyRole::ToolBroker).envelope(&link));
            evidence.links.insert(evidence.gate_file(), bytes);
        },
        THRESHOLD,
    ),
    (
        "a gate whose signature is another's",
        |evidence| {
            let patch = Party::role(KeyRole::Evaluator).envelope(&evidence.run.patch_link());
            let link = evidence.links.get_mut(&evidence.gate_file()).unwrap();
            let mut value: serde_json::Value = serde_json::from_slice(link).unwrap();
            value["signatures"] = crate::tampered::value(&patch)["signatures"].clone();
            *link = serde_json::to_vec(&value).unwrap();
        },
        THRESHOLD,
    ),
    ("another owner", |evidence| evidence.owner = Party::new("nobody").key, UNSIGNED),
    (
        "a layout of somebody else",
        |evidence| {
            let layout = run_layout(&evidence.run).layout().unwrap();
            evidence.layout = Party::new("nobody").envelope(&layout);
        },
        UNSIGNED,
    ),
    (
        "a layout that has ended",
        |evidence| {
            let mut layout = run_layout(&evidence.run);
            layout.expires = UnixMs::new(1_795_996_000_000);
            evidence.layout = Party::owner().envelope(&layout.layout().unwrap());
        },
        "LayoutExpiredError: Layout expired",
    ),
];

/// A gate's evidence of an earlier tree is stale, and a program of others says so.
#[test]
fn in_toto_accepts_a_run_and_nothing_that_leaves_its_layout() {
    let Some(packages) = packages("python") else { return };
    let (mut verdicts, mut expected) = (BTreeMap::new(), Vec::new());
    for (called, change, verdict) in ANOTHER_CONTENT.iter().chain(ANOTHER_SIGNER) {
        let mut evidence = Evidence::genuine();
        change(&mut evidence);
        verdicts.insert((*called).to_owned(), evidence.verdict(&packages));
        expected.push((*called, *verdict));
    }
    hold(&verdicts, &expected);
}
