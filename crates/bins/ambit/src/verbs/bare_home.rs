//! What the doctor finds where the home cannot be opened: it is full, read-only, damaged or somebody else's. Whatever needs
//! nothing of it is looked at all the same, and nothing is kept.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use ambit_images::DirectoryImages;
use ambit_measurements::Trust;
use ambit_ports::images::ImageStore as _;
use ambit_ports::runtime::IdGenerator as _;
use ambit_ports::sandbox::CapabilityManifest;
use ambit_runtime_system::{SystemClock, TimeOrderedIds};
use ambit_sandboxes::SandboxesError;

use crate::backends::{self, BackendName, Machine};
use crate::context::Context;
use crate::failure::Failure;
use crate::home::Home;
use crate::verbs::doctor::{Finding, disk, images_found, left_behind, of_sandbox};
use crate::verbs::everyday::{self, of_failure};
use crate::verbs::sandbox::scan::look_without_runs;

/// Everything that can be found without opening the home. `why` says what is wrong with it.
pub(super) async fn findings(
    context: &Context,
    backend: &BackendName,
    why: &Failure,
) -> Result<Vec<Finding>, Failure> {
    let (message, help) = why.parts();
    let mend = help.strip_prefix("nothing was changed; ").unwrap_or(help);
    let mut findings = vec![
        Finding::missing("home", format!("{}: {message}", context.home.path().display()), mend).wrong(),
        disk(context.home.path()),
        Finding::missing(
            "not stored",
            "what is measured here, which the next command measures anew; no run can begin, and approvers are not known",
            "see the home",
        ),
    ];
    if context.home.images().is_dir() {
        findings.push(match images(&context.home).await {
            Ok(count) => images_found(count),
            Err(failure) => of_failure("images", &failure),
        });
    }
    findings.extend(everyday::findings(context));
    match Scratch::make() {
        Ok(scratch) => {
            let measured = measure(&scratch, backend).await;
            // Whatever it meets, nothing can be run before the home is mended.
            match measured {
                Ok(measured) => drop(of_sandbox(&measured, &mut findings)?),
                Err(failure) => findings.push(of_failure("sandbox", &failure)),
            }
        }
        Err(error) => findings.push(Finding::missing(
            "sandbox",
            format!("not measured: {} cannot be written to ({error})", std::env::temp_dir().display()),
            "set TMPDIR to a directory that can",
        )),
    }
    findings.push(left_behind(look_without_runs(context, backend, false, why).await));
    Ok(findings)
}

async fn images(home: &Home) -> Result<usize, Failure> {
    let images = DirectoryImages::open(&home.images()).map_err(|error| Failure::of(error.code(), &error))?;
    let listed = images.list().await.map_err(|error| Failure::of(error.code(), &error))?;
    Ok(listed.len())
}

/// Measures the backend outside of the home.
async fn measure(
    scratch: &Scratch,
    backend: &BackendName,
) -> Result<Result<CapabilityManifest, SandboxesError>, Failure> {
    let home = Home::at(scratch.0.clone());
    let images = DirectoryImages::open(&home.images()).map_err(|error| Failure::of(error.code(), &error))?;
    let images = Arc::new(images);
    let machine = Machine {
        images: images.clone(),
        volumes: images,
        clock: Arc::new(SystemClock),
        ids: Arc::new(TimeOrderedIds::default()),
        trust: Trust::Anew,
    };
    let opened = backends::open(backend, &home, machine)?;
    Ok(opened.port.inspect_capabilities().await.map_err(SandboxesError::from))
}

/// A directory of this process alone, outside of the home. It goes with this value.
struct Scratch(PathBuf);

impl Scratch {
    fn make() -> std::io::Result<Self> {
        let name = format!("ambit-doctor-{}", TimeOrderedIds::default().next());
        let place = std::env::temp_dir().join(name);
        DirBuilder::new().mode(0o700).create(&place)?;
        Ok(Self(place))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
