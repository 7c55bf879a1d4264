use std::collections::BTreeMap;
use std::fmt::Write as _;

use ambit_ids::Digest;

use super::yaml::{list, quoted};
use crate::gate::{ProposedGate, VolumeNeed};
use crate::plan::Plan;

/// The name of the catalog in its file.
pub const CATALOG_NAME: &str = "project-commands";

/// What stands in the catalog where a volume was needed and is not to be had.
#[must_use]
pub fn catalog_mark(volume: VolumeNeed) -> String {
    format!("# volumes: /volumes/{} is needed here and was not captured", volume.as_str())
}

impl Plan {
    /// The catalog of the gates' commands, all in one image, with the volumes that could be had.
    #[must_use]
    pub fn catalog(&self, image: Digest, volumes: &BTreeMap<VolumeNeed, Digest>) -> String {
        let mut text = HEAD.to_owned();
        for gate in &self.gates {
            command(&mut text, gate, image, volumes);
        }
        text
    }
}

fn command(text: &mut String, gate: &ProposedGate, image: Digest, volumes: &BTreeMap<VolumeNeed, Digest>) {
    let _ = writeln!(text, "    - id: {}\n      summary: {}", quoted(&gate.id), quoted(&gate.summary));
    text.push_str(&list("argv", &gate.argv, 6));
    let _ = writeln!(text, "      image: {image}");
    let (had, lacking): (Vec<_>, Vec<_>) =
        gate.volumes.iter().partition(|volume| volumes.contains_key(*volume));
    if !had.is_empty() {
        text.push_str("      volumes:\n");
    }
    for (volume, digest) in had.iter().filter_map(|volume| Some((volume, volumes.get(*volume)?))) {
        let _ = writeln!(text, "        - {{name: {}, digest: \"{digest}\"}}", volume.as_str());
    }
    for volume in lacking {
        let _ = writeln!(text, "      {}", catalog_mark(*volume));
    }
    text.push_str("      environment:\n");
    for (variable, value) in &gate.environment {
        let _ = writeln!(text, "        {variable}: {}", quoted(value));
    }
    if let Some(workdir) = &gate.workdir {
        let _ = writeln!(text, "      workdir: {}", quoted(workdir));
    }
    let resources = gate.resources;
    let _ = writeln!(
        text,
        "      resources:
        memoryMib: {}
        processes: {}
        cpuMillis: {}
        cpuSeconds: {}
        wallSeconds: {}
        diskMib: {}
        outputKib: {}
        parallelProcesses: 1
      verdict: exit-status",
        resources.memory_mib,
        resources.processes,
        resources.cpu_millis,
        resources.cpu_seconds,
        resources.wall_seconds,
        resources.disk_mib,
        resources.output_kib
    );
}

const HEAD: &str = "# What the gates of this repository run, each without a network in a fresh copy of the source. An agent chooses one by
# its id and nothing else. The digest names the image of the tools; `ambit image list` shows those of this machine.
apiVersion: coding-agent.enterprise/v1
kind: NamedCommandCatalog
metadata:
  name: project-commands
  version: 1
spec:
  commands:
";
