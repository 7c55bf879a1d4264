use ambit_ids::Scope;
use ambit_ports::store::StreamId;

/// A stream as the columns of every table spell it: an empty text where there is no project or no run.
#[derive(Clone, Copy)]
pub(crate) struct StreamKey<'a> {
    pub(crate) organization: &'a str,
    pub(crate) project: &'a str,
    pub(crate) run: &'a str,
}

impl<'a> StreamKey<'a> {
    pub(crate) fn of(stream: &'a StreamId) -> Self {
        Self {
            organization: stream.organization().as_str(),
            project: stream.project().map_or("", |project| project.as_str()),
            run: stream.run().map_or("", |run| run.as_str()),
        }
    }

    pub(crate) fn columns(self) -> [&'a str; 3] {
        [self.organization, self.project, self.run]
    }
}

pub(crate) fn scope_columns(scope: &Scope) -> [&str; 2] {
    [scope.organization.as_str(), scope.project.as_str()]
}
