use ambit_ids::vocabulary;

vocabulary!(
    /// The typed tools. There is no other way for an agent to act, and none of them takes a command.
    ToolName {
        /// Reads one file of the run's revision.
        ReadProjectFile = "read_project_file",
        /// Lists the files of the run's revision.
        ListProjectFiles = "list_project_files",
        /// Searches the text of the run's revision.
        SearchProjectText = "search_project_text",
        /// Applies a patch to the run's revision at an exact digest.
        ApplyProjectPatch = "apply_project_patch",
        /// Runs a gate of the blueprint by name, in the sandbox.
        RunNamedGate = "run_named_gate",
        /// Asks a person for an approval of one exact proposal.
        RequestScopedApproval = "request_scoped_approval",
    }
);

vocabulary!(
    /// What a tool changes outside of the run's own record.
    SideEffect {
        /// Nothing.
        None = "none",
        /// The copy-on-write workspace of the run's revision.
        ProjectWorkspaceWrite = "project_workspace_write",
        /// A process in the run's sandbox.
        SandboxProcess = "sandbox_process",
    }
);

impl ToolName {
    /// The side-effect class of the tool; a tool has exactly one.
    #[must_use]
    pub const fn side_effect(self) -> SideEffect {
        match self {
            Self::ReadProjectFile
            | Self::ListProjectFiles
            | Self::SearchProjectText
            | Self::RequestScopedApproval => SideEffect::None,
            Self::ApplyProjectPatch => SideEffect::ProjectWorkspaceWrite,
            Self::RunNamedGate => SideEffect::SandboxProcess,
        }
    }
}

vocabulary!(
    /// Powers that a run never has by itself. Each is classified apart; an unclassified action has no word here and is
    /// therefore denied.
    Capability {
        /// Add a dependency that the blueprint does not name.
        DependencyAdd = "dependency.add",
        /// Silence a check in source, by a directive that names it, at one place.
        CheckSilence = "check.silence",
        /// Reach a network origin.
        NetworkOrigin = "network.origin",
        /// Change how the application authenticates.
        AuthenticationChange = "authentication.change",
        /// Weaken a gate, a test or their configuration.
        GateWeaken = "gate.weaken",
        /// Delete a migration.
        MigrationDelete = "migration.delete",
        /// Publish an application or a package.
        Publish = "publish",
        /// Merge into protected code.
        MergeProtected = "merge.protected",
        /// Deploy.
        Deploy = "deploy",
        /// Change the configuration of production.
        ProductionConfigure = "production.configure",
        /// Rotate a real secret.
        SecretRotate = "secret.rotate",
        /// Send a message to somebody outside.
        MessageExternal = "message.external",
    }
);

vocabulary!(
    /// The classes of everything that a run could want done. Each tool and each capability lies in exactly one.
    ActionClass {
        /// Nothing is changed.
        None = "none",
        /// The workspace of the run's revision is changed.
        WorkspaceWrite = "workspace-write",
        /// A process runs in the run's sandbox.
        SandboxProcess = "sandbox-process",
        /// Something is reached over a network.
        Network = "network",
        /// A secret is used.
        SecretUse = "secret-use",
        /// Something outside of the run's project is changed. No approval ever gives this to a run.
        External = "external",
    }
);

impl SideEffect {
    /// The class of what has this side effect.
    #[must_use]
    pub const fn class(self) -> ActionClass {
        match self {
            Self::None => ActionClass::None,
            Self::ProjectWorkspaceWrite => ActionClass::WorkspaceWrite,
            Self::SandboxProcess => ActionClass::SandboxProcess,
        }
    }
}

impl Capability {
    /// The class of what is done with the capability.
    #[must_use]
    pub const fn class(self) -> ActionClass {
        match self {
            Self::DependencyAdd
            | Self::CheckSilence
            | Self::AuthenticationChange
            | Self::GateWeaken
            | Self::MigrationDelete => ActionClass::WorkspaceWrite,
            Self::NetworkOrigin => ActionClass::Network,
            Self::Publish
            | Self::MergeProtected
            | Self::Deploy
            | Self::ProductionConfigure
            | Self::SecretRotate
            | Self::MessageExternal => ActionClass::External,
        }
    }

    /// Whether a person's approval can give it to a run at all.
    #[must_use]
    pub const fn is_approvable(self) -> bool {
        !matches!(self.class(), ActionClass::External)
    }
}
