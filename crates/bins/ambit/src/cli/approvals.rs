//! The verbs of people who approve.

use std::path::PathBuf;

use ambit_ids::{ApproverId, Digest, ProposalId};
use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum ApproverVerb {
    /// Make a credential and register who holds it. At a terminal it is sealed with a passphrase.
    Init {
        /// The name of the person.
        #[arg(long, default_value = "approver")]
        name: ApproverId,
        /// Write the credential to this new file instead of showing it once, unsealed.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Ask for no passphrase: whatever reads the file can then approve.
        #[arg(long)]
        unsealed: bool,
    },
    /// List who may approve, who could once, and how each credential is kept.
    List,
    /// Seal a credential with a passphrase that is typed: whoever reads the file can then approve nothing.
    Seal {
        /// The file [default: approver.key in the user's configuration of ambit].
        file: Option<PathBuf>,
    },
    /// Let somebody else approve too: make a credential and register who holds it.
    Add {
        /// The name of the person. A name is given once.
        #[arg(long)]
        name: ApproverId,
        /// Write the credential to this new file.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// Ask for no passphrase: whatever reads the file can then approve.
        #[arg(long)]
        unsealed: bool,
        #[command(flatten)]
        credential: CredentialArgs,
    },
    /// Let somebody approve no more. What was approved and not used counts no more either.
    Revoke {
        /// The name of the person.
        name: ApproverId,
        #[command(flatten)]
        credential: CredentialArgs,
    },
}

#[derive(Args, Debug)]
pub(crate) struct CredentialArgs {
    /// The file with the approver's credential [default: approver.key in the user's configuration of ambit, where it
    /// approves here; or else it is asked for at the terminal].
    #[arg(long, value_name = "FILE")]
    pub(crate) credential_file: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct DecideArgs {
    /// The proposal.
    pub(crate) proposal: ProposalId,
    /// The digest of what was seen.
    #[arg(long)]
    pub(crate) digest: Digest,
    #[command(flatten)]
    pub(crate) credential: CredentialArgs,
}
