//! Which revisions are eligible, and what is answered about those that are not.

use ambit_ids::RevisionId;
use ambit_verify_trace::{CheckId, EligibilityStanding, LinkName, Verdict};

use crate::attack::{Attacker, Target};
use crate::honest::told;
use crate::world::{self, scope};

// proves E-A15 E-G04 E-B07
// break crates/control-plane/verify/src/eligible.rs: `(Some(Err(why)), false) => Some(missing_of(&report, Some(refuting(last, why.to_string())))),` -> `(Some(Err(_)), false) => None,`
#[tokio::test]
async fn only_what_a_completed_run_made_is_eligible() {
    let (site, runs) = world::copy();
    let verifier = site.verifier().await;
    for (number, run) in [(1, &runs.completed), (2, &runs.second)] {
        let answer = verifier.eligible(&scope(), RevisionId::new(number)).await;
        assert_eq!(answer.standing, EligibilityStanding::Eligible, "{:?}", answer.missing);
        assert_eq!(answer.run.as_ref(), Some(run));
        assert!(answer.tree.is_some() && answer.missing.is_none());
    }
    for (number, run) in [
        (3, &runs.cancelled),
        (4, &runs.denied),
        (5, &runs.troubled),
        (6, &runs.expired),
        (7, &runs.exhausted),
        (8, &runs.shrunk),
    ] {
        let answer = verifier.eligible(&scope(), RevisionId::new(number)).await;
        assert_eq!(answer.standing, EligibilityStanding::Ineligible);
        assert_eq!((answer.run.as_ref(), answer.tree), (Some(run), None));
        let report = answer.report.unwrap();
        assert_eq!(report.verdict, Verdict::Proved, "that it did not complete is proved: {}", told(&report));
        let missing = answer.missing.unwrap();
        assert_eq!(missing.check, Some(CheckId::Acceptance));
        assert!(
            matches!(&missing.finding.link, Some(LinkName::Record { kind: Some(kind), .. }) if kind == "run.terminal"),
            "{:?}",
            missing.finding
        );
    }
}

// proves E-A15
// break crates/control-plane/verify/src/eligible.rs: `            [] => {` -> `            [] if false => {`
#[tokio::test]
async fn a_revision_without_a_run_is_not_eligible_by_itself() {
    let (site, _) = world::copy();
    let verifier = site.verifier().await;
    let imported = verifier.eligible(&scope(), RevisionId::FIRST).await;
    assert_eq!(imported.standing, EligibilityStanding::Ineligible);
    assert!(imported.missing.unwrap().finding.why.contains("no run made it"));
    let absent = verifier.eligible(&scope(), RevisionId::new(99)).await;
    assert_eq!(absent.standing, EligibilityStanding::Ineligible);
    assert!(absent.missing.unwrap().finding.why.contains("no such revision"));
}

// proves E-A15
// break crates/control-plane/verify/src/eligible.rs: `Some(missing) if missing.finding.refutes => EligibilityStanding::Ineligible,` -> `Some(missing) if missing.finding.refutes => EligibilityStanding::Unknown,`
#[tokio::test]
async fn whatever_is_missing_is_named_by_its_link() {
    let (site, runs) = world::copy();
    let (verifier, attacker) = (site.verifier().await, Attacker::of(&site));
    let target = Target::run(&runs.completed);

    attacker.cut(&target, 5);
    let answer = verifier.eligible(&scope(), RevisionId::new(1)).await;
    assert_eq!(answer.standing, EligibilityStanding::Ineligible);
    let missing = answer.missing.unwrap();
    assert_eq!(missing.check, Some(CheckId::RunChain));
    let stream = target.name().to_string();
    assert_eq!(missing.finding.link, Some(LinkName::Record { stream, seq: 5, kind: None }));
    attacker.restore();

    let blueprint = site.store_path();
    assert!(blueprint.exists());
    let report = verifier.verify_run(&site.run(&runs.completed)).await;
    let artifact = *report.covered.iter().next().unwrap();
    let path = site.blob_path(&scope(), artifact);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let answer = verifier.eligible(&scope(), RevisionId::new(1)).await;
    assert_eq!(answer.standing, EligibilityStanding::Unknown);
    let missing = answer.missing.unwrap();
    assert!(
        matches!(missing.finding.link, Some(LinkName::Blob { digest, .. }) if digest == artifact),
        "{:?}",
        missing.finding
    );
    std::fs::write(&path, bytes).unwrap();
    assert!(verifier.eligible(&scope(), RevisionId::new(1)).await.is_eligible());
}
