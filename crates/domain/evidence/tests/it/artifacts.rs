use std::sync::LazyLock;

use ambit_evidence::artifacts::{
    Approval, Budget, Check, CheckVerdict, DOCUMENT_BYTES, DocumentKind, Grant, LogReference, PatchReference,
    RunArtifacts, TreeReference, schema,
};
use ambit_evidence::v1::{AmountsV1, LimitsV1, PatchV1, StopReasonV1};
use ambit_gates::{Ending, NotStarted, ResourceLimit};
use ambit_ids::{ByteCount, Digest, DurationMs, MicroUsd, RepoPath, RevisionId, RuleId, UnixMs};
use ambit_policy::Capability;
use ambit_revision::{FileKind, Touch, TouchedFile, TreeFile};
use ambit_run::Phase;
use jsonschema::Validator;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

static SCHEMA: LazyLock<Validator> = LazyLock::new(|| jsonschema::draft202012::new(&schema()).unwrap());
const TOP: u64 = (1 << 53) - 1;

fn digest() -> impl Strategy<Value = Digest> + Clone {
    any::<u64>().prop_map(|seed| Digest::of(&seed.to_be_bytes()))
}

/// Any path: spaces, quotes, line feeds, and bytes that are no text.
fn path() -> impl Strategy<Value = RepoPath> + Clone {
    vec(any::<u8>(), 1..12).prop_filter_map("no path", |bytes| RepoPath::from_bytes(&bytes).ok())
}

fn reference() -> impl Strategy<Value = TreeReference> {
    (any::<u32>(), digest(), option::of("[0-9a-f]{40}|[0-9a-f]{64}")).prop_map(|(revision, tree, commit)| {
        let commit = commit.map(|text| text.try_into().unwrap());
        TreeReference { revision: RevisionId::new(revision), tree, commit }
    })
}

fn file() -> impl Strategy<Value = TreeFile> {
    let kinds = select(vec![FileKind::File, FileKind::Executable, FileKind::Link]);
    (kinds, digest(), 0..=TOP).prop_map(|(kind, content, size)| TreeFile {
        kind,
        content,
        size: ByteCount::new(size),
    })
}

fn touched() -> impl Strategy<Value = Vec<TouchedFile>> {
    let file = (select(Touch::ALL.to_vec()), option::of(path()), option::of(file()), option::of(file()));
    btree_map(path(), file, 0..4).prop_map(|files| {
        let told = files.into_iter().map(|(path, (touch, from, before, after))| TouchedFile {
            path,
            touch,
            from,
            before,
            after,
        });
        told.collect()
    })
}

fn ending() -> impl Strategy<Value = Ending> {
    prop_oneof![
        any::<u8>().prop_map(|code| Ending::Exited { code }),
        any::<u8>().prop_map(|signal| Ending::Signalled { signal }),
        Just(Ending::LimitReached { limit: ResourceLimit::Timeout }),
        Just(Ending::NotStarted { why: NotStarted::CommandNotFound }),
        Just(Ending::Aborted),
        Just(Ending::Indeterminate),
    ]
}

fn log() -> impl Strategy<Value = LogReference> {
    (digest(), 0..=TOP, any::<bool>()).prop_map(|(digest, size, cut)| LogReference {
        digest,
        size_bytes: ByteCount::new(size),
        cut,
    })
}

fn check() -> impl Strategy<Value = Check> {
    let words = vec(".{0,6}", 0..3);
    let parts = (
        "[a-z]{1,8}",
        any::<u32>(),
        any::<bool>(),
        words,
        ending(),
        digest(),
        0..=TOP,
        digest(),
        log(),
        log(),
    );
    parts.prop_map(|(gate, attempt, hidden, command, ending, tree, duration, observation, stdout, stderr)| {
        Check {
            gate: gate.parse().unwrap(),
            attempt,
            hidden,
            command,
            verdict: CheckVerdict::of(ending, &[]),
            exit: match ending {
                Ending::Exited { code } => Some(code),
                _ => None,
            },
            ending,
            objections: Vec::new(),
            tree,
            duration_ms: DurationMs::new(duration),
            observation,
            stdout,
            stderr,
        }
    })
}

fn approval() -> impl Strategy<Value = Approval> {
    let grant = (0..=TOP, any::<bool>()).prop_map(|(expires, used)| Grant {
        receipt: "apr_000001".parse().unwrap(),
        expires_ms: UnixMs::new(expires),
        used,
    });
    (select(Capability::ALL.to_vec()), digest(), digest(), option::of(grant)).prop_map(
        |(capability, patch, tree, granted)| Approval {
            proposal: "prop_000001".parse().unwrap(),
            capability,
            patch,
            tree,
            granted,
        },
    )
}

fn budget() -> impl Strategy<Value = Budget> {
    (any::<u32>(), 0..=TOP).prop_map(|(count, amount)| Budget {
        limits: LimitsV1 {
            max_model_steps: count,
            max_patch_attempts_per_gate: count,
            max_elapsed_ms: DurationMs::new(amount),
            max_changed_files: count,
            max_added_dependencies: count,
            max_parallel_processes: count,
            max_tool_cost_micro_usd: MicroUsd::new(amount),
            stop_on_repeated_failure_fingerprint: count,
            max_output_bytes: ByteCount::new(amount),
            max_side_effects: count,
        },
        spent: AmountsV1 {
            model_steps: count,
            micro_usd: MicroUsd::new(amount),
            output_bytes: ByteCount::new(amount),
            side_effects: count,
            processes: count,
        },
    })
}

fn patch() -> impl Strategy<Value = PatchReference> {
    let applied =
        (digest(), digest(), vec(path(), 0..3), any::<u32>()).prop_map(|(one, other, files, count)| {
            PatchV1 {
                base: one,
                tree: other,
                proposed: one,
                canonical: other,
                files,
                changed_from_base: count,
                added_dependencies: count,
            }
        });
    (digest(), 0..=TOP, vec(applied, 0..2)).prop_map(|(digest, size, applied)| PatchReference {
        digest,
        size_bytes: ByteCount::new(size),
        applied,
    })
}

fn stop() -> impl Strategy<Value = StopReasonV1> {
    (".{0,8}", option::of(".{0,8}"), option::of(".{0,8}")).prop_map(|(code, limit, failure)| StopReasonV1 {
        code,
        limit,
        rules: vec![RuleId::new("rule").unwrap()],
        failure,
    })
}

fn artifacts() -> impl Strategy<Value = RunArtifacts> {
    let ends = (select(Phase::ALL.to_vec()), option::of(stop()), any::<bool>(), digest());
    let lists = (touched(), vec(check(), 0..3), vec(approval(), 0..2));
    (ends, reference(), reference(), patch(), lists, budget()).prop_map(
        |((phase, stop, preview_ready, blueprint), base, head, patch, lists, budget)| RunArtifacts {
            kind: DocumentKind::V1,
            run: "run_000001".parse().unwrap(),
            phase,
            stop,
            preview_ready,
            blueprint,
            base,
            head,
            patch,
            touched: lists.0,
            verification: lists.1,
            approvals: lists.2,
            budget,
        },
    )
}

fn with(artifacts: &RunArtifacts, change: impl FnOnce(&mut serde_json::Value)) -> Vec<u8> {
    let mut value = serde_json::from_slice(&artifacts.to_bytes().unwrap()).unwrap();
    change(&mut value);
    ambit_canonical::encode(&value).unwrap().into_bytes()
}

fn code(bytes: &[u8]) -> &'static str {
    RunArtifacts::read(bytes).map_or_else(|error| error.code(), |_| "read")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    // proves E-S10
    // break crates/domain/evidence/src/artifacts/mod.rs: `pub hidden: bool,` -> `#[serde(skip)] pub hidden: bool,`
    #[test]
    fn what_is_written_is_read_back_and_has_the_shape_of_the_schema(artifacts in artifacts()) {
        let bytes = artifacts.to_bytes().unwrap();
        prop_assert_eq!(&RunArtifacts::read(&bytes).unwrap(), &artifacts);
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let schema = &*SCHEMA;
        prop_assert!(schema.is_valid(&value), "{:?}", schema.iter_errors(&value).next().map(|e| e.to_string()));
        for place in ["", "/base", "/patch", "/budget", "/budget/limits", "/verification/0/stdout", "/touched/0"] {
            let mut more = value.clone();
            let Some(object) = more.pointer_mut(place).and_then(|part| part.as_object_mut()) else { continue };
            object.insert("more".to_owned(), 1.into());
            prop_assert!(!schema.is_valid(&more), "{}", place);
            let more = ambit_canonical::encode(&more).unwrap();
            prop_assert_eq!(code(more.as_bytes()), "ARTIFACTS_SHAPE", "{}", place);
        }
    }

    #[test]
    fn no_bytes_make_reading_panic(bytes in vec(any::<u8>(), 0..256)) {
        // A single digit is JSON, and no document.
        prop_assert_ne!(code(&bytes), "read");
    }

    #[test]
    fn a_document_that_was_cut_or_altered_is_never_read_as_another(
        artifacts in artifacts(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let bytes = artifacts.to_bytes().unwrap();
        let at = at.index(bytes.len());
        prop_assert_eq!(code(&bytes[..at]), "ARTIFACTS_NOT_JSON");
        let mut altered = bytes;
        altered[at] = byte;
        if let Ok(read) = RunArtifacts::read(&altered) {
            prop_assert_eq!(read.to_bytes().unwrap(), altered);
        }
    }
}

fn one(check: Check, touched: Vec<TouchedFile>) -> RunArtifacts {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut value = proptest::strategy::ValueTree::current(&artifacts().new_tree(&mut runner).unwrap());
    value.verification = vec![check];
    value.touched = touched;
    value
}

fn passed() -> Check {
    let log = LogReference { digest: Digest::of(b""), size_bytes: ByteCount::ZERO, cut: false };
    Check {
        gate: "unit".parse().unwrap(),
        attempt: 1,
        hidden: false,
        command: vec!["sh".to_owned()],
        verdict: CheckVerdict::Passed,
        exit: Some(0),
        ending: Ending::Exited { code: 0 },
        objections: Vec::new(),
        tree: Digest::of(b"tree"),
        duration_ms: DurationMs::new(1),
        observation: Digest::of(b"seen"),
        stdout: log,
        stderr: log,
    }
}

fn added(path: &str) -> TouchedFile {
    TouchedFile { path: path.parse().unwrap(), touch: Touch::Added, from: None, before: None, after: None }
}

// proves E-S10
// break crates/domain/evidence/src/artifacts/mod.rs: `check.exit == exit && check.verdict == CheckVerdict::of(check.ending, &check.objections)` -> `check.exit == exit`
#[test]
fn each_way_of_being_wrong_has_a_code_of_its_own() {
    let good = one(passed(), vec![added("a"), added("b")]);
    let bytes = good.to_bytes().unwrap();
    assert_eq!(code(&bytes), "read");
    let pretty = serde_json::to_vec_pretty(&good).unwrap();
    assert_eq!(code(&pretty), "ARTIFACTS_NOT_CANONICAL");
    assert_eq!(code(&[&bytes[..bytes.len() - 1], b",\"kind\":1}"].concat()), "ARTIFACTS_NOT_JSON");
    assert_eq!(code(&with(&good, |value| value["kind"] = "RunArtifacts/v2".into())), "ARTIFACTS_SHAPE");
    assert_eq!(code(&with(&good, |value| value["base"]["commit"] = "HEAD".into())), "ARTIFACTS_SHAPE");
    assert_eq!(code(&vec![b' '; DOCUMENT_BYTES + 1]), "ARTIFACTS_TOO_LARGE");
    let objected = serde_json::to_value([ambit_gates::Objection::NoTests]).unwrap();
    for (place, value) in [
        ("exit", 1.into()),
        ("verdict", "failed".into()),
        ("ending", good_ending(7)),
        ("objections", objected),
    ] {
        let forged = with(&good, |document| document["verification"][0][place] = value);
        assert_eq!(code(&forged), "ARTIFACTS_CONTRADICTION", "{place}");
    }
    let twice = one(passed(), vec![added("a"), added("a")]);
    assert_eq!(twice.to_bytes().unwrap_err().code(), "ARTIFACTS_CONTRADICTION");
    let mut large = good;
    large.patch.size_bytes = ByteCount::new(u64::MAX);
    assert_eq!(large.to_bytes().unwrap_err().code(), "ARTIFACTS_UNWRITABLE");
}

fn good_ending(code: u8) -> serde_json::Value {
    serde_json::to_value(Ending::Exited { code }).unwrap()
}
