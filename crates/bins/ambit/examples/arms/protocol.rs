//! The child's side of the protocol of an arm.

use std::io::{BufRead as _, Write as _};
use std::time::Duration;

use ambit_ids::DurationMs;
use ambit_ports::runtime::Clock as _;
use ambit_runtime_system::SystemClock;
use async_trait::async_trait;
use tokio::sync::mpsc;

use crate::failed;
use crate::failure::Failure;

/// One way of doing an operation.
#[async_trait]
pub(crate) trait Arm: Send {
    /// Does it once, and answers what that took.
    async fn operate(&mut self) -> Result<Duration, Failure>;

    /// Runs a script of a shell where it runs commands, and answers the line that this prints; `None` where it has no place
    /// for one.
    async fn run(&mut self, _script: &str) -> Result<Option<String>, Failure> {
        Ok(None)
    }

    /// What it counts by itself beside the time.
    fn counts(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

/// Performs the operation as often as it is asked to, until the input ends.
pub(crate) async fn answer(arm: &mut dyn Arm) -> Result<(), Failure> {
    // Reading blocks, and must not hold a worker of the runtime that is measured.
    let (sender, mut questions) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        let lines = std::io::stdin().lock().lines();
        let _ = lines.map_while(Result::ok).try_for_each(|line| sender.send(line));
    });
    tell("ready run")?;
    while let Some(question) = questions.recv().await {
        if let Some(script) = question.strip_prefix("run ") {
            let said = arm.run(&script.replace('\r', "\n")).await?;
            tell(&said.unwrap_or_default())?;
            continue;
        }
        if question != "op" {
            return Err(Failure::new("USAGE_ARM", format!("an arm was asked {question:?}")));
        }
        let took = arm.operate().await?;
        let counts: String = arm.counts().iter().map(|(name, count)| format!(" {name}={count}")).collect();
        tell(&format!("{}{counts}", took.as_nanos()))?;
    }
    Ok(())
}

/// Lets time pass that is no part of what is measured.
pub(crate) async fn pause(length: DurationMs) {
    SystemClock.sleep_until(SystemClock.now().saturating_add(length)).await;
}

fn tell(line: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(failed)
}
