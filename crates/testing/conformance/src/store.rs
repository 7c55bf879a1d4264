//! The suite of [`Store`](ambit_ports::store::Store).

mod claims;
mod commits;
mod inbox;
mod reads;
pub mod sample;
mod scopes;

pub use claims::{
    a_claim_is_of_its_project, a_key_that_must_be_vacant_is_looked_at_in_the_commit,
    one_of_many_claimers_wins,
};
pub use commits::{
    a_commit_that_is_cut_is_whole_or_absent, a_malformed_commit_is_refused, a_refused_commit_changes_nothing,
    an_older_fence_is_refused, one_of_many_committers_wins, positions_are_gapless,
};
pub use inbox::{an_answered_command_waits_no_more, an_inbox_is_bounded, an_inbox_keeps_the_order};
pub use reads::{a_change_is_marked, long_answers_come_in_pages};
pub use scopes::{another_owner_sees_nothing, another_owner_takes_nothing};

use ambit_ports::leases::StreamLeases;
use ambit_ports::store::Store;

/// Runs every check.
pub async fn suite<S, F>(open: F)
where
    S: Store + StreamLeases + 'static,
    F: Fn(&str) -> S,
{
    positions_are_gapless(&open).await;
    a_malformed_commit_is_refused(&open).await;
    a_refused_commit_changes_nothing(&open).await;
    one_of_many_committers_wins(&open).await;
    an_older_fence_is_refused(&open).await;
    a_commit_that_is_cut_is_whole_or_absent(&open).await;
    one_of_many_claimers_wins(&open).await;
    a_key_that_must_be_vacant_is_looked_at_in_the_commit(&open).await;
    a_claim_is_of_its_project(&open).await;
    another_owner_sees_nothing(&open).await;
    another_owner_takes_nothing(&open).await;
    an_inbox_keeps_the_order(&open).await;
    an_answered_command_waits_no_more(&open).await;
    an_inbox_is_bounded(&open).await;
    long_answers_come_in_pages(&open).await;
    a_change_is_marked(&open).await;
}
