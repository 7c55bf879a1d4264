use ambit_ports::leases::StreamLeases;
use ambit_ports::store::{Seq, Store};

use super::sample::{canonical, commit, fence, message, project_stream, run, run_stream, scope};

/// Records, runs and messages are read in pages, and the pages together are the whole.
pub async fn long_answers_come_in_pages<S: Store + StreamLeases>(open: &impl Fn(&str) -> S) {
    let (store, acme) = (open("pages"), scope("acme", "shop"));
    // Opened in an order that is neither that of the ids nor its reverse.
    let order = [5, 2, 8, 1, 9, 3];
    for (at, number) in order.into_iter().enumerate() {
        let stream = run_stream(number);
        let fence = Some(fence(&store, &stream, "owner", 0).await);
        let texts: Vec<String> = (0..7).map(|n| format!("{number}/{n}")).collect();
        let mut commit = commit(&stream, 0, fence, &texts.iter().map(String::as_str).collect::<Vec<_>>());
        commit.outbox = vec![message(&format!("{at}/a")), message(&format!("{at}/b"))];
        store.commit(commit).await.unwrap();
    }

    let all = store.read(&run_stream(8), Seq(0), usize::MAX).await.unwrap();
    assert_eq!(all.len(), 7);
    for (from, limit) in [(0, 3), (3, 3), (6, 3), (7, 3), (u64::MAX, 3), (2, 0), (0, 7)] {
        let page = store.read(&run_stream(8), Seq(from), limit).await.unwrap();
        let start = usize::try_from(from).map_or(7, |from| from.min(7));
        assert_eq!(page, all[start..(start + limit).min(7)], "{limit} from {from}");
    }

    assert_eq!(store.runs(&acme, None, 4).await.unwrap(), [5, 2, 8, 1].map(run));
    assert_eq!(store.runs(&acme, Some(&run(1)), 4).await.unwrap(), [9, 3].map(run));
    assert_eq!(store.runs(&acme, Some(&run(3)), 4).await.unwrap(), []);
    assert_eq!(store.runs(&acme, Some(&run(777)), 4).await.unwrap(), [], "a run that is not there");

    let first = store.outbox(&acme, 0, 5).await.unwrap();
    let rest = store.outbox(&acme, first[4].id, usize::MAX).await.unwrap();
    assert_eq!((first.len(), rest.len()), (5, 7));
    let bodies: Vec<Vec<u8>> = first.into_iter().chain(rest).map(|entry| entry.bytes).collect();
    let expected: Vec<Vec<u8>> = (0..order.len())
        .flat_map(|at| ["a", "b"].map(|half| canonical(&format!("{at}/{half}")).into_bytes()))
        .collect();
    assert_eq!(bodies, expected, "oldest first, and none twice");
    assert_eq!(store.outbox(&acme, u64::MAX, 5).await.unwrap(), []);
}

/// The mark moves when another process has written, and stays while nobody does.
pub async fn a_change_is_marked<S: Store>(open: &impl Fn(&str) -> S) {
    let store = open("marks");
    let before = store.change_mark().await.unwrap();
    assert_eq!(store.change_mark().await.unwrap(), before, "nobody wrote");
    let other_process = open("marks");
    other_process.commit(commit(&project_stream(), 0, None, &["a"])).await.unwrap();
    let after = store.change_mark().await.unwrap();
    assert_ne!(after, before, "another process committed");
    other_process.send(&project_stream(), canonical("a command")).await.unwrap();
    assert_ne!(store.change_mark().await.unwrap(), after, "another process left a command");
}
