use ambit_evidence::v1::{Body, Record, RunBody};
use ambit_ids::limits;
use ambit_run::Event;

use crate::samples::{digest, events, records};

const GOLDEN: &str = include_str!("../golden/v1.jsonl");

/// The corpus that every version of Ambit reads. To add a kind, append; a line that stands is never changed.
fn golden() -> Vec<&'static str> {
    GOLDEN.lines().collect()
}

#[test]
fn every_sample_is_written_exactly_as_the_corpus_has_it() {
    let written: Vec<String> = records()
        .iter()
        .map(|record| String::from_utf8(ambit_canonical::encode(record).unwrap().into_bytes()).unwrap())
        .collect();
    let missing: Vec<&String> = written.iter().filter(|line| !golden().contains(&line.as_str())).collect();
    assert!(missing.is_empty(), "the corpus lacks: {missing:#?}");
    assert_eq!(written, golden());
}

// proves E-M01 E-M03
// break crates/domain/evidence/src/v1/read.rs: `was_plan: true,` -> `was_plan: false,`
#[test]
fn every_event_is_read_back_from_the_corpus_as_it_was() {
    let read: Vec<Event> = golden()
        .iter()
        .map(|line| ambit_canonical::decode::<Record>(line.as_bytes(), limits::RECORD_BYTES).unwrap())
        .filter(|record| matches!(record.body, Body::Run(_)))
        .map(|record| record.event().unwrap())
        .collect();
    assert_eq!(read, events());
}

// proves E-M01
// break crates/domain/evidence/src/v1/write.rs: `Self::ApprovalDecided { approver, .. } => {` -> `Self::ApprovalDecided { approver, .. } if approver.as_str().is_empty() => {`
#[test]
fn every_row_names_actor_scope_precondition_artifact_time_and_environment() {
    for record in records() {
        let text = String::from_utf8(ambit_canonical::encode(&record).unwrap().into_bytes()).unwrap();
        for field in ["actor", "org", "project", "precondition", "ts", "environment", "kind", "prev", "salt"]
        {
            assert!(text.contains(&format!("\"{field}\":")), "{}: no {field}", record.kind());
        }
        if let Body::Run(body) = &record.body {
            let expected = match body.as_ref() {
                RunBody::ApprovalDecided { .. } | RunBody::CancelRequested { .. } => "human",
                RunBody::PlanAccepted { .. }
                | RunBody::PlanRejected { .. }
                | RunBody::ProposalRejected { .. }
                | RunBody::HypothesisRecorded { .. } => "run",
                _ => "service",
            };
            assert!(text.contains(&format!("\"type\":\"{expected}\"")), "{}: {text}", record.kind());
        }
        assert!(record.artifact.is_some() || !text.contains("\"artifact\":"), "{}", record.kind());
    }
}

#[test]
fn a_record_of_another_version_or_with_a_field_too_many_is_refused() {
    let line = golden()[3];
    let decode = |text: &str| ambit_canonical::decode::<Record>(text.as_bytes(), limits::RECORD_BYTES);
    assert!(decode(line).is_ok());
    assert!(decode(&line.replace("\"v\":1", "\"v\":2")).is_err());
    assert!(decode(&line.replace("\"v\":1}", "\"v\":1,\"w\":1}")).is_err());
    assert!(decode(&line.replace("\"turn\":1", "\"turn\":1,\"turo\":1")).is_err());
}

#[test]
fn a_run_names_its_volumes_where_it_names_its_image_and_only_where_it_has_any() {
    let plain = golden()[0];
    assert!(!plain.contains("volumes"), "a run without volumes says nothing of them");
    let volume = ambit_ids::VolumeMount { name: "cargo".parse().unwrap(), digest: digest("crates") };
    let image = format!("\"image\":\"{}\"", digest("image"));
    let mut record: Record = ambit_canonical::decode(plain.as_bytes(), limits::RECORD_BYTES).unwrap();
    let Event::Admitted { mut pins, at } = record.event().unwrap() else { panic!("{plain}") };
    pins.volumes = vec![volume.clone()];
    record.body = Body::Run(Box::new(RunBody::from(&Event::Admitted { pins, at })));
    record.environment.volumes = vec![volume.digest];

    let bytes = ambit_canonical::encode(&record).unwrap().into_bytes();
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert_eq!(text.matches(&image).count(), 2);
    assert!(text.contains(&format!("\"volumes\":[\"{}\"]", volume.digest)), "{text}");
    assert!(
        text.contains(&format!("\"volumes\":[{{\"digest\":\"{}\",\"name\":\"cargo\"}}]", volume.digest)),
        "{text}"
    );
    let read: Record = ambit_canonical::decode(&bytes, limits::RECORD_BYTES).unwrap();
    assert_eq!(read, record);
    let Event::Admitted { pins, .. } = read.event().unwrap() else { panic!("{text}") };
    assert_eq!(pins.volumes, [volume]);
}

#[test]
fn fields_that_contradict_each_other_have_no_event() {
    let allow = golden().into_iter().find(|line| line.contains("\"effect\":\"allow\"")).unwrap();
    for contradiction in [
        allow.replace("\"effect\":\"allow\"", "\"effect\":\"deny\""),
        allow.replace("\"effect\":\"allow\"", "\"effect\":\"needs-approval\""),
    ] {
        let record: Record = ambit_canonical::decode(contradiction.as_bytes(), limits::RECORD_BYTES).unwrap();
        assert!(record.event().is_err());
    }
}
