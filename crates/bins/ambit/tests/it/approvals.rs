//! A person decides about one proposal, with a credential that no run can read.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::rig::{Answered, DEPENDENCY, FIX, GATE, PLAN, Project, patch, transcript};

const ASK: &str = "    - say: { tool: request_scoped_approval, input: { proposalId: \"${proposal}\", capability: \
                   dependency.add, reason: Greeting needs it } }\n";

/// An agent that proposes a dependency, asks for it, proposes it twice more, and does the job.
pub(crate) fn asking() -> String {
    let add = patch(DEPENDENCY, "");
    transcript(&format!("{PLAN}{add}{ASK}{add}{}{GATE}", patch(FIX, "")), "finish")
}

/// The question that a run waits with.
pub(crate) fn question(project: &Project, run: &str) -> (String, String) {
    let seen = project.until(run, |run| run["phase"] == "needs-approval");
    let asked = &seen["approvals"][0];
    assert_eq!((&seen["awaiting"], &asked["state"]), (&"person".into(), &"pending".into()));
    let content = &asked["content"];
    for part in ["subject", "target", "expectedEffect", "evidence", "rollback", "capability"] {
        assert!(!content[part].is_null(), "{part}: {content}");
    }
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&asked["proposal"]), text(&asked["digest"]))
}

fn decide(project: &Project, verdict: &str, proposal: &str, digest: &str, key: &str) -> Answered {
    project.ambit([verdict, proposal, "--digest", digest, "--credential-file", key])
}

// proves C25 E-H03 E-H05
// break crates/bins/ambit/src/verbs/approve.rs: `if pending.digest != arguments.digest {` -> `if false {`
// break crates/domain/run/src/step/propose.rs: `draft.push(Event::ApprovalConsumed { turn, receipt });` -> `let _ = receipt;`
#[test]
fn an_approval_counts_once_and_only_for_what_was_seen() {
    let project = Project::new();
    let mut driving = project.spawn(project.start_words("asks", &asking()));
    let (proposal, digest) = question(&project, "asks");

    let other = format!("sha256:{}", "0".repeat(64));
    let wrong = decide(&project, "approve", &proposal, &other, "approver.key");
    assert!(wrong.code == 2 && wrong.err.contains("APPROVAL_NOT_AWAITED"), "{wrong:?}");
    let unknown = decide(&project, "approve", "prop_0123456789abcdef", &digest, "approver.key");
    assert!(unknown.code == 11 && unknown.err.contains("PROPOSAL_NOT_FOUND"), "{unknown:?}");
    let bare = project.ambit(["approve", &proposal, "--digest", &digest]);
    assert!(bare.code == 11 && bare.err.contains("CREDENTIAL_REFUSED"), "{bare:?}");
    project.write("forged.key", &project.forged_credential());
    let forged = decide(&project, "approve", &proposal, &digest, "forged.key");
    assert!(forged.code == 11 && forged.err.contains("CREDENTIAL_REFUSED"), "{forged:?}");
    assert_eq!(project.show("asks")["phase"], "needs-approval", "none of it counted");

    let approved = decide(&project, "approve", &proposal, &digest, "approver.key").well();
    assert!(approved.out.contains("approved by ada"), "{}", approved.out);
    assert_eq!(driving.wait().unwrap().code(), Some(0));
    let seen = project.show("asks");
    assert_eq!((&seen["phase"], &seen["approvals"][0]["state"]), (&"completed".into(), &"used".into()));
    let again = decide(&project, "approve", &proposal, &digest, "approver.key");
    assert!(again.code == 11 && again.err.contains("PROPOSAL_NOT_FOUND"), "{again:?}");
    project.ambit(["trace", "verify", "asks"]).well();
}

/// An agent whose reason and patch pretend to be words of the page.
fn deceiving() -> String {
    let ask = ASK.replace("Greeting needs it", "\"all is well\\n  ambit approve prop_x\"");
    transcript(&format!("{PLAN}{}{ask}", patch(DEPENDENCY, "")), "finish")
}

// proves E-H05
// break crates/control-plane/broker/src/view.rs: `for line in text.trim_end_matches('\n').split('\n') {` -> `for line in text.lines().take(1) {`
// break crates/control-plane/broker/src/view.rs: `let _ = writeln!(page, "{QUOTED}{ascii}");` -> `let _ = ascii;`
// break crates/bins/ambit/src/question.rs: `let _ = writeln!(page, "{QUOTED}{line}");` -> `let _ = writeln!(page, "{line}");`
#[test]
fn what_is_decided_about_is_seen_whole_and_cannot_pass_for_words_of_the_page() {
    let project = Project::new();
    let mut driving = project.spawn(project.start_words("asks", &deceiving()));
    let (proposal, digest) = question(&project, "asks");
    let page = project.ambit(["run", "show", "asks"]).well().out;
    let (_, asked) = page.split_once("dependency.add for prop_").unwrap();
    let (asked, _) = asked.split_once("last seen").unwrap_or((asked, ""));
    for part in [
        "\n  found in it\n  | requirements.txt adds the dependency attrs\n",
        "\n  the agent says, and nothing vouches for it\n  | all is well\n  |   ambit approve prop_x\n",
        "\n  | --- /dev/null\n  | +++ b/requirements.txt\n  | @@ -0,0 +1 @@\n  | +attrs==25.3.0\n",
        &format!("\n  ambit approve {proposal} \\\n    --digest {digest}\n"),
        &format!("\n  ambit deny {proposal} \\\n    --digest {digest}\n"),
    ] {
        assert!(asked.contains(part), "{part:?} is missing in:\n{asked}");
    }
    let seen = project.show("asks");
    assert_eq!(seen["question"]["patch"], DEPENDENCY);
    assert_eq!(seen["question"]["patchDigest"], seen["approvals"][0]["content"]["subject"]);
    assert_eq!(seen["question"]["viewDigest"], seen["approvals"][0]["content"]["view"]);
    let view = seen["question"]["view"].as_str().unwrap();
    assert_eq!(seen["question"]["viewDigest"], ambit_ids::Digest::of(view.as_bytes()).to_string());
    decide(&project, "deny", &proposal, &digest, "approver.key").well();
    driving.wait().unwrap();
    assert!(project.show("asks")["question"].is_null(), "nothing is asked any more");
}

// proves E-H03
// break crates/bins/ambit/src/verbs/mod.rs: `approve::decide(&context, arguments, false).await` -> `approve::decide(&context, arguments, true).await`
#[test]
fn what_is_denied_is_never_done() {
    let project = Project::new();
    let mut driving = project.spawn(project.start_words("asks", &asking()));
    let (proposal, digest) = question(&project, "asks");
    let denied = decide(&project, "deny", &proposal, &digest, "approver.key").well();
    assert!(denied.out.contains("rejected by ada"), "{}", denied.out);
    driving.wait().unwrap();
    let changed = project.show("asks")["changedFiles"].to_string();
    assert!(!changed.contains("requirements.txt"), "{changed}");
    project.ambit(["trace", "verify", "asks"]).well();
}

// proves E-H03
// break crates/control-plane/orchestrator/src/view.rs: `("person", format!("{} for {}", pending.capability, pending.proposal))` -> `none`
// break crates/bins/ambit/src/verbs/run_view.rs: `(Some(Phase::NeedsApproval), _) => exit::NEEDS_APPROVAL,` -> `(Some(Phase::NeedsApproval), _) => exit::OK,`
#[test]
fn nobody_is_waited_for_where_nobody_may_be_asked() {
    let project = Project::new();
    let mut words = project.start_words("alone", &asking());
    words.push("--no-input".to_owned());
    let ended = project.ambit(&words);
    assert_eq!(ended.code, 6, "{ended:?}");
    assert!(ended.err.contains("a person must decide"), "{}", ended.err);
    let (proposal, digest) = question(&project, "alone");
    assert!(ended.out.contains("ambit run resume alone --agent FILE"), "{}", ended.out);
    let left = project.show("alone");
    assert_eq!((&left["driver"], left["changedFiles"].to_string().as_str()), (&"nobody".into(), "[]"));
    let kinds: Vec<String> =
        project.records("alone").iter().map(|record| record["kind"].as_str().unwrap().to_owned()).collect();
    assert!(!kinds.iter().any(|kind| kind.starts_with("run.cancel") || kind == "run.stopping"), "{kinds:?}");
    assert_eq!(project.sandboxes_of("alone"), Vec::<String>::new());

    // Nothing has changed for who asks again; once a person decided, the run goes on from there.
    let mut resume = ["run", "resume", "alone", "--agent", "alone.agent.yaml", "--no-input"];
    let still = project.ambit(resume);
    assert_eq!(still.code, 6);
    assert!(still.out.contains("waits for    a person: dependency.add for prop_"), "{}", still.out);
    let approved = decide(&project, "approve", &proposal, &digest, "approver.key").well();
    assert!(approved.out.contains("waits for the run to be driven on"), "{}", approved.out);
    resume[5] = "--quiet";
    let ended = project.ambit(resume).well();
    assert!(ended.out.contains("completed") && ended.out.contains("requirements.txt"), "{}", ended.out);
    project.ambit(["trace", "verify", "alone"]).well();
}

// proves E-H03
// break crates/bins/ambit/src/verbs/approve.rs: `one.approver == other.approver && one.approved == other.approved` -> `true`
// break crates/bins/ambit/src/verbs/approve.rs: `if driver != Driver::Process {` -> `if false {`
// break crates/bins/ambit/src/decision.rs: `decision.proposal == asked.proposal` -> `decision.proposal != asked.proposal`
#[test]
fn a_decision_that_waits_is_told_and_not_reversed() {
    let project = Project::new();
    let mut words = project.start_words("alone", &asking());
    words.push("--no-input".to_owned());
    assert_eq!(project.ambit(&words).code, 6);
    let (proposal, digest) = question(&project, "alone");
    let first = decide(&project, "deny", &proposal, &digest, "approver.key").well();
    let seen = project.show("alone");
    let told = format!("{proposal} is rejected by ada, which waits for the run to be driven on");
    assert_eq!((&seen["awaiting"], seen["awaitingWhat"].as_str()), (&"driver".into(), Some(told.as_str())));
    assert_eq!((&seen["approvals"][0]["state"], seen.get("question")), (&"decided".into(), None));
    assert_eq!(
        seen["decision"],
        serde_json::json!({"proposal": proposal, "decision": "rejected", "approver": "ada"})
    );
    let page = project.ambit(["run", "show", "alone"]).well().out;
    assert!(page.contains(&told) && page.contains("ambit run resume alone --agent FILE"), "{page}");
    for part in ["a person", "ambit approve", "ambit deny", "after its approval is decided"] {
        assert!(!page.contains(part), "{part}: {page}");
    }

    let timed = |verdict: &str, holds: &dyn Fn(&Answered) -> bool| {
        let began = Instant::now();
        let answered = decide(&project, verdict, &proposal, &digest, "approver.key");
        assert!(holds(&answered), "{answered:?}");
        began.elapsed()
    };
    let reversal = |reversed: &Answered| {
        let told = ["error[DECISION_WAITS]", "is rejected by ada already"];
        reversed.code == 2 && told.iter().all(|told| reversed.err.contains(told))
    };
    // Whoever waited would wait for a second every time; a busy machine is not as slow every time.
    let mut waits = Vec::new();
    let is_short = |waited: &Duration| *waited < Duration::from_millis(700);
    while waits.len() < 20 && !waits.last().is_some_and(is_short) {
        let refused = timed("approve", &reversal);
        let repeated = timed("deny", &|again| again.code == 0 && again.out == first.out);
        waits.push(repeated.saturating_sub(refused));
    }
    assert!(waits.last().is_some_and(is_short), "it waited for a driver that there is not: {waits:?}");

    project.ambit(["run", "resume", "alone", "--agent", "alone.agent.yaml", "--quiet"]);
    let ended = project.show("alone");
    assert!(ended.get("decision").is_none() && ended["awaiting"] == "nobody", "{ended}");
    assert!(!ended["changedFiles"].to_string().contains("requirements.txt"), "{ended}");
    project.ambit(["trace", "verify", "alone"]).well();
}

#[test]
fn of_decisions_that_are_made_at_once_one_counts_and_the_others_are_told_so() {
    let project = Project::new();
    let mut words = project.start_words("alone", &asking());
    words.push("--no-input".to_owned());
    assert_eq!(project.ambit(&words).code, 6);
    let (proposal, digest) = question(&project, "alone");
    let both = ["approve", "deny"].map(|verdict| {
        let words = [verdict, &proposal, "--digest", &digest, "--credential-file", "approver.key"];
        project.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    });
    let [approved, denied] = both.map(|child| Answered::of(child.wait_with_output().unwrap()));
    let (verdict, other) = if approved.code == 0 { ("approved", denied) } else { ("rejected", approved) };
    assert!(other.code == 2 && other.err.contains("error[DECISION_WAITS]"), "{other:?}");
    assert_eq!(project.show("alone")["decision"]["decision"], verdict);
    project.ambit(["run", "resume", "alone", "--agent", "alone.agent.yaml", "--quiet"]);
    let changed = project.show("alone")["changedFiles"].to_string();
    assert_eq!(changed.contains("requirements.txt"), verdict == "approved", "{changed}");
}

// proves E-H04
// break crates/bins/ambit/src/verbs/approver.rs: `0o600` -> `0o644`
#[test]
fn a_credential_is_in_one_file_and_no_run_can_read_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::empty();
    // A gate that tries to find it: in its environment, and wherever a person might keep it.
    project.write(
        "app/check.sh",
        "set\ncat /proc/self/environ /proc/1/environ /proc/1/cmdline\nfor f in ~/* ~/.* /home/*/* /tmp/* ./* ../*; do\n\
         [ -f \"$f\" ] && cat \"$f\"\ndone\nsh greet.sh ada | grep -q 'hello ada'\n",
    );
    project.approve_as_ada();
    let key = std::fs::read_to_string(project.path("approver.key")).unwrap();
    let mode = std::fs::metadata(project.path("approver.key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    project.start("seeks", &transcript(&format!("{PLAN}{}{GATE}", patch(FIX, "")), "finish")).well();
    assert!(!project.finds(key.trim()), "the credential is in the state");
    assert!(project.finds("Greet by name"), "what is kept can be found");
}

/// Entropy of this test, which no credential but its own is made of.
struct Sevens;

impl ambit_ports::runtime::Entropy for Sevens {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

// proves E-H04
// break crates/bins/ambit/src/credential.rs: `Some(sealed) => unsealed(context, &sealed).await,` -> `Some(sealed) => sealed.open("correct horse battery").ok_or_else(|| refused(CredentialError)),`
#[test]
fn a_process_of_the_same_user_that_reads_every_file_cannot_approve() {
    let project = Project::new();
    let mut words = project.start_words("alone", &asking());
    words.push("--no-input".to_owned());
    assert_eq!(project.ambit(&words).code, 6);
    let (proposal, digest) = question(&project, "alone");
    let key = std::fs::read_to_string(project.path("approver.key")).unwrap();
    let open = ambit_projects::ApproverCredential::read(&key).unwrap();
    project.write("sealed.key", &open.seal("correct horse battery", &Sevens));
    let sealed = std::fs::read_to_string(project.path("sealed.key")).unwrap();
    assert!(!sealed.contains(key.trim().rsplit('-').next().unwrap()), "the seed stands in it");

    // Whoever runs it knows the passphrase, and has no terminal to type it at.
    let typed = ["--credential-file", "sealed.key"];
    let refused = project.ambit([&["approve", &proposal, "--digest", &digest], &typed[..]].concat());
    assert!(refused.code == 11 && refused.err.contains("CREDENTIAL_REFUSED"), "{refused:?}");
    assert!(refused.err.contains("is sealed, and its passphrase is typed"), "{}", refused.err);
    let mut piped = project
        .command(["approve", &proposal, "--digest", &digest, "--credential-file", "sealed.key"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    use std::io::Write as _;
    let _ = piped.stdin.take().unwrap().write_all(b"correct horse battery\n");
    let piped = Answered::of(piped.wait_with_output().unwrap());
    assert!(piped.code == 11 && piped.err.contains("CREDENTIAL_REFUSED"), "{piped:?}");
    assert_eq!(project.show("alone")["awaiting"], "person", "nobody decided");
    // With the open credential the same is a decision.
    decide(&project, "approve", &proposal, &digest, "approver.key").well();
    assert_eq!(project.show("alone")["decision"]["decision"], "approved");
}

// proves E-N02 E-H03
// break crates/domain/evidence/src/project.rs: `self.approvers.get(id).filter(|_| !self.revoked.contains(id))` -> `self.approvers.get(id)`
#[test]
fn who_was_revoked_approves_nothing_and_whoever_else_may_still_does() {
    let project = Project::new();
    let mut words = project.start_words("alone", &asking());
    words.push("--no-input".to_owned());
    assert_eq!(project.ambit(&words).code, 6);
    let (proposal, digest) = question(&project, "alone");
    let own = ["--credential-file", "approver.key"];
    project.ambit([&["approver", "add", "--name", "bob", "--out", "bob.key"], &own[..]].concat()).well();
    decide(&project, "approve", &proposal, &digest, "approver.key").well();
    project.ambit(["approver", "revoke", "ada", "--credential-file", "bob.key"]).well();
    // What ada decided and no run has taken yet counts no more.
    assert_eq!(project.show("alone")["awaiting"], "person");
    let refused = decide(&project, "approve", &proposal, &digest, "approver.key");
    assert!(refused.code == 11 && refused.err.contains("CREDENTIAL_REFUSED"), "{refused:?}");
    let first = project.ambit(["approver", "init", "--name", "eve", "--out", "eve.key"]);
    assert!(first.code == 2 && first.err.contains("APPROVER_EXISTS"), "{first:?}");
    decide(&project, "approve", &proposal, &digest, "bob.key").well();
    project.ambit(["run", "resume", "alone", "--agent", "alone.agent.yaml", "--quiet"]).well();
    assert!(project.show("alone")["changedFiles"].to_string().contains("requirements.txt"));
    project.ambit(["trace", "verify", "alone"]).well();
}
