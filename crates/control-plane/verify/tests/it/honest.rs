//! Positive controls: what nobody harmed is proved.

use ambit_verify_trace::{CheckId, Report, Standing, Verdict};

use crate::world;

pub(crate) fn told(report: &Report) -> String {
    report.findings().iter().map(|(id, finding)| format!("{id}: {finding}\n")).collect()
}

#[tokio::test]
async fn every_run_that_nobody_harmed_is_proved() {
    let (site, runs) = world::copy();
    let verifier = site.verifier().await;
    for run in runs.all() {
        let report = verifier.verify_run(&site.run(run)).await;
        assert_eq!(report.verdict, Verdict::Proved, "{run}\n{}", told(&report));
        assert!(report.checks.iter().all(|check| check.standing == Standing::Proved));
        assert_eq!(report.checks.len(), CheckId::OF_RUN.len());
        assert!(report.flags.is_empty(), "{:?}", report.flags);
    }
}
