//! Whether the files of hidden checks can be had, and are hidden.

use ambit_blueprint::Blueprint;
use ambit_ids::{Digest, Scope};
use ambit_revisions::{HiddenFilesError, not_in_source};

use crate::drive_error::DriveError;
use crate::orchestrator::Orchestrator;
use crate::start::{StartError, reject};

impl Orchestrator {
    /// Refuses a blueprint whose hidden files are not kept whole, or lie in the revision that its agent reads.
    pub(crate) async fn check_hidden_files(
        &self,
        scope: &Scope,
        blueprint: &Blueprint,
        base: Option<Digest>,
    ) -> Result<(), StartError> {
        let revisions = self.broker.revisions();
        let mut source = None;
        for (gate, files) in blueprint.hidden_files() {
            let hidden = revisions.hidden(scope, files.digest).await;
            let hidden = hidden.map_err(|error| unfit(gate.as_str(), error))?;
            if let (Some(base), None) = (base, &source) {
                source = Some(
                    revisions.load(scope, base).await.map_err(|error| Box::new(DriveError::from(error)))?,
                );
            }
            if let Some(source) = &source {
                not_in_source(&hidden, source).map_err(|error| unfit(gate.as_str(), error))?;
            }
        }
        Ok(())
    }
}

fn unfit(gate: &str, error: HiddenFilesError) -> StartError {
    let (code, detail) = (error.code(), format!("{gate}: {error}"));
    let mend = match error {
        HiddenFilesError::Missing { source, .. } if source.is_of_storage() => {
            return Box::new(DriveError::from(*source)).into();
        }
        HiddenFilesError::InSource => {
            "no run was created; keep them where no revision is made from, and import the source without them"
        }
        _ => {
            "no run was created; `ambit blueprint approve FILE` keeps the folder that lies beside the blueprint"
        }
    };
    reject(code, detail, mend).into()
}
