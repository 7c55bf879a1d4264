use ambit_ids::BackendId;
use ambit_ports::sandbox::{Found, LeakScan, Maker, SandboxError, Surface, Survey, Unseen};
use async_trait::async_trait;

use super::{SandboxFault, SimSandbox, Verb};

/// Looks at the sandboxes that exist. What goes wrong with a removal is what is planned for [`Verb::Destroy`]: one that
/// [remains](SandboxFault::Remains) is said to be removed, and is still there.
#[async_trait]
impl LeakScan for SimSandbox {
    fn backend_id(&self) -> &BackendId {
        &self.id
    }

    async fn survey(&self) -> Result<Survey, SandboxError> {
        let found = self.lived(|lives| lives.makers()).into_iter().map(|(lease, maker)| Found {
            surface: Surface::Leases,
            reference: lease.to_string(),
            lease: Some(lease),
            maker,
        });
        let memory = Unseen { what: "memory".to_owned(), why: "nothing here has any".to_owned() };
        Ok(Survey { looked_at: vec![Surface::Leases], not_looked_at: vec![memory], found: found.collect() })
    }

    async fn survey_everywhere(&self) -> Result<Survey, SandboxError> {
        self.survey().await
    }

    async fn remove(&self, found: &Found) -> Result<(), SandboxError> {
        let fault = self.begin(Verb::Destroy, None).await?;
        let known = self.lived(|lives| lives.makers());
        let mut meant = known.into_iter().filter(|(lease, _)| Some(lease) == found.lease.as_ref());
        match meant.next() {
            Some((lease, Maker::Gone)) if fault != Some(SandboxFault::Remains) => {
                self.lived(|lives| lives.remove(&lease));
                Ok(())
            }
            Some((_, Maker::Lives | Maker::Unknown)) => Err(SandboxFault::Stumbles.error(None)),
            _ => Ok(()),
        }
    }
}
