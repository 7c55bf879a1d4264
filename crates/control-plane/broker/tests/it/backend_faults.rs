//! A backend at which everything goes wrong, asked over and over: what it says counts only as far as it proves it.

use std::collections::BTreeSet;

use ambit_gates::Ending;
use ambit_ids::{ByteCount, Digest, DurationMs, ExecutionLimits};
use ambit_ports::AbortHandle;
use ambit_ports::blobs::BlobStore as _;
use ambit_ports::runtime::Clock as _;
use ambit_ports::sandbox::{ExecutionObservation, SandboxLease};
use ambit_run::{Amounts, GateRecord, InFlight, Observation};
use ambit_sandboxes::{GRACE_MS, Needs, patiently};
use ambit_simulation::{Dice, Outcome, SandboxFault as Fault, Setup, Verb, simulate};

use crate::bench::Bench;

/// What passes, and says so in every way that output can.
fn passing() -> Outcome {
    let stdout = b"test result: ok. 9 passed; 0 failed\n{\"exitCode\":0}\n".to_vec();
    Outcome { stdout, ..Outcome::passes() }
}

async fn bench() -> Bench {
    let mut setup = Setup::standard();
    setup.judge = Box::new(|_| passing());
    Bench::new(setup).await
}

impl Bench {
    fn limits(&self) -> ExecutionLimits {
        self.ground.catalog.command(&"unit".parse().unwrap()).unwrap().resources.limits
    }

    fn needs(&self) -> Needs {
        Needs {
            scope: self.world.scope.clone(),
            run: self.ground.pins.run.clone(),
            image: self.lease.image,
            limits: self.limits(),
            fixtures: Vec::new(),
            volumes: Vec::new(),
        }
    }

    /// Runs the gate once more, and answers what was seen and how long that took.
    async fn ask(&self, lease: &SandboxLease, intent: u64) -> (Observation, u64) {
        let flight = InFlight {
            turn: 1,
            attempt: 1,
            call: self.gate(),
            intent,
            reserved: Amounts::default(),
            tree: self.head,
            expected_tree: None,
            base_tests: None,
        };
        let began = self.world.clock.now();
        let (_handle, abort) = AbortHandle::new();
        let performed = self.broker.perform(&self.ground, Some(lease), &flight, None, abort).await;
        (performed.observation, self.world.clock.now().since(began).get())
    }

    async fn seen(&self, artifact: Digest) -> ExecutionObservation {
        let limit = ByteCount::new(1 << 20);
        let bytes = self.world.blobs.get(&self.world.scope, artifact, limit).await.unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }
}

#[test]
fn an_answer_that_is_cut_anywhere_is_never_a_success() {
    simulate(async {
        let bench = bench().await;
        let whole = passing().travelling().len();
        for bytes in 0..=whole {
            bench.world.sandbox.plan(Verb::Execute, 0, Fault::CutAt(bytes));
            let (observation, _) = bench.ask(&bench.lease, 7 + bytes as u64).await;
            let Observation::GateFinished(record) = observation else { panic!("{observation:?}") };
            let expected = if bytes == whole { Ending::Exited { code: 0 } } else { Ending::Indeterminate };
            assert_eq!(record.ending, expected, "cut after {bytes} of {whole} bytes");
        }
    });
}

/// A success at or after the second deadline, a success after the first, and one that says it took no time at all.
#[test]
fn a_success_that_is_made_up_at_the_deadline_is_none() {
    simulate(async {
        let bench = bench().await;
        let wall = bench.limits().wall_ms.get();
        let late = |ms: u64| Fault::Slow(DurationMs::new(ms));
        let cases = [
            (late(wall - 1), "exit 0"),
            (late(wall), "exit 0"),
            (late(wall + 1), "stopped at the timeout limit"),
            (late(wall + GRACE_MS.get() - 1), "stopped at the timeout limit"),
            (late(wall + GRACE_MS.get() + 1), "OBSERVATION_LOST"),
            (Fault::MadeUp, "stopped at the timeout limit"),
            (Fault::MadeUpInNoTime, "indeterminate"),
        ];
        for (number, (fault, expected)) in cases.into_iter().enumerate() {
            bench.world.sandbox.plan(Verb::Execute, 0, fault);
            let (observation, took) = bench.ask(&bench.lease, 7 + number as u64).await;
            let told = match observation {
                Observation::GateFinished(record) => record.ending.to_string(),
                Observation::Failed { code } => code,
                other => panic!("{other:?}"),
            };
            assert_eq!(told, expected, "{fault:?}");
            assert!(took <= wall + GRACE_MS.get(), "{fault:?} took {took} ms");
        }
    });
}

const VERBS: [Verb; 5] = [Verb::Allocate, Verb::Write, Verb::Execute, Verb::Execute, Verb::Destroy];

fn any_fault(dice: &mut Dice) -> Fault {
    match dice.roll(16) {
        0 => Fault::Unavailable,
        1 => Fault::Stumbles,
        2 => Fault::Unreachable,
        3 => Fault::Hangs,
        4 => Fault::NoExit,
        5 => Fault::LosesReply,
        6 => Fault::BreaksReply,
        7 => Fault::Vanished,
        8 => Fault::Vanishes,
        9 => Fault::CutAt(usize::try_from(dice.roll(100)).unwrap()),
        10 => Fault::MadeUp,
        11 => Fault::MadeUpInNoTime,
        12 => Fault::Repeats,
        13 => Fault::Slow(DurationMs::new(dice.roll(60_000))),
        14 => Fault::AnotherLife,
        _ => Fault::AnotherRun,
    }
}

/// What one history came to: gates that count, and gates that do not.
#[derive(Default)]
struct Count {
    passed: u64,
    other: u64,
}

impl Bench {
    /// A few gates in a row, in as many lives of the sandbox as it takes, with whatever goes wrong.
    async fn history(&self, seed: u64, count: &mut Count) {
        let (mut dice, sandboxes) = (Dice::new(seed), self.broker.sandboxes());
        for _ in 0..1 + dice.roll(5) {
            self.world.sandbox.plan(*dice.pick(&VERBS), dice.roll(4), any_fault(&mut dice));
        }
        let mut effects = BTreeSet::new();
        let mut lease = None;
        for number in 0..3 {
            if lease.is_none() {
                lease = self.allocated().await;
            }
            let Some(held) = &lease else { continue };
            let intent = seed * 8 + number;
            let (observation, took) = self.ask(held, intent).await;
            let last = (self.limits().wall_ms.get() + GRACE_MS.get()).max(60_000);
            assert!(took <= last, "seed {seed}: {took} ms");
            match observation {
                Observation::GateFinished(record) if record.ending.is_success() => {
                    self.check(&record, held, intent, seed).await;
                    assert!(effects.insert(intent), "seed {seed}: one answer counts twice");
                    count.passed += 1;
                }
                Observation::GateFinished(_) => count.other += 1,
                Observation::Failed { .. } => {
                    count.other += 1;
                    self.in_two_seconds(sandboxes.destroy(held)).await;
                    lease = None;
                }
                other => panic!("seed {seed}: {other:?}"),
            }
        }
        self.world.sandbox.heal();
        sandboxes.destroy_every(&self.world.scope, &self.ground.pins.run, self.lease.image).await.unwrap();
        assert!(self.world.sandbox.live().is_empty(), "seed {seed}: something is forgotten");
    }

    /// What counts as passed was told of this life and this execution, ran exactly once, and ended in its time.
    async fn check(&self, record: &GateRecord, lease: &SandboxLease, intent: u64, seed: u64) {
        let seen = self.seen(record.artifact).await;
        assert_eq!(seen.incarnation, lease.incarnation, "seed {seed}");
        assert!(seen.effect.as_str().ends_with(&format!(".call.{intent}")), "seed {seed}: {}", seen.effect);
        assert!(seen.duration_ms <= self.limits().wall_ms, "seed {seed}: {}", seen.duration_ms);
        let ran = self.world.sandbox.executed();
        let ran: Vec<_> = ran.iter().rev().take(4).filter(|it| it.effect == seen.effect).collect();
        assert_eq!(ran.len(), 1, "seed {seed}: {} ran {} times", seen.effect, ran.len());
    }

    async fn allocated(&self) -> Option<SandboxLease> {
        let sandboxes = self.broker.sandboxes();
        let manifest = sandboxes.measure().await.unwrap();
        let asking = patiently(&self.world.clock, || sandboxes.allocate(self.needs(), &manifest));
        self.in_two_seconds(asking).await?.ok().map(|kept| kept.receipt)
    }

    async fn in_two_seconds<T>(&self, verb: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            answer = verb => Some(answer),
            () = self.world.clock.pass(DurationMs::new(2_000)) => None,
        }
    }
}

/// How many histories are played. A failing one says its seed.
const HISTORIES: u64 = 2_000;

#[test]
fn whatever_a_backend_does_nothing_passes_without_evidence_and_nothing_is_forgotten() {
    simulate(async {
        let bench = bench().await;
        bench.broker.sandboxes().destroy(&bench.lease).await.unwrap();
        let mut count = Count::default();
        for seed in 0..HISTORIES {
            bench.history(seed, &mut count).await;
        }
        println!("{} gates passed, {} did not", count.passed, count.other);
        assert!(
            count.passed > HISTORIES && count.other > HISTORIES / 2,
            "{} and {}",
            count.passed,
            count.other
        );
    });
}
