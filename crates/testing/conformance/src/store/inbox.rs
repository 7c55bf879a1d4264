use ambit_ids::limits;
use ambit_ports::leases::StreamLeases;
use ambit_ports::store::{InboxEntry, Store};

use super::sample::{canonical, commit, fence, record, run_stream};

fn ids(entries: &[InboxEntry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.id).collect()
}

/// Commands wait in the order in which they came, each for its own stream, even for one that has no record yet.
pub async fn an_inbox_keeps_the_order<S: Store>(open: &impl Fn(&str) -> S) {
    let store = open("order");
    let other_process = open("order");
    let mut sent = Vec::new();
    for number in 0..20_usize {
        let sender = if number % 2 == 0 { &store } else { &other_process };
        let id = sender.send(&run_stream(number % 3), canonical(&number.to_string())).await.unwrap();
        assert!(sent.iter().all(|earlier| *earlier < id), "ids grow over the whole store");
        sent.push(id);
    }
    for stream in 0..3 {
        let waiting = store.inbox(&run_stream(stream)).await.unwrap();
        let expected: Vec<InboxEntry> = (stream..20)
            .step_by(3)
            .map(|n| InboxEntry { id: sent[n], bytes: canonical(&n.to_string()).into_bytes() })
            .collect();
        assert_eq!(waiting, expected);
    }
}

/// A command leaves the inbox with the commit that answers it, or when it is taken back; its id never comes back.
pub async fn an_answered_command_waits_no_more<S: Store + StreamLeases>(open: &impl Fn(&str) -> S) {
    let (store, stream) = (open("answers"), run_stream(1));
    let fence = Some(fence(&store, &stream, "owner", 0).await);
    let mut sent = Vec::new();
    for text in ["a", "b", "c"] {
        sent.push(store.send(&stream, canonical(text)).await.unwrap());
    }
    let mut answer = commit(&stream, 0, fence, &["answer"]);
    answer.answered = vec![sent[2], sent[0]];
    store.commit(answer).await.unwrap();
    assert_eq!(ids(&store.inbox(&stream).await.unwrap()), [sent[1]]);

    let mut again = commit(&stream, 1, fence, &["answer"]);
    again.answered = vec![sent[0]];
    assert_eq!(store.commit(again).await.unwrap_err().code(), "COMMIT_MALFORMED");
    store.dismiss(&stream, sent[1]).await.unwrap();
    store.dismiss(&stream, sent[1]).await.unwrap();
    assert_eq!(store.inbox(&stream).await.unwrap(), []);
    let next = store.send(&stream, canonical("d")).await.unwrap();
    assert!(next > sent[2], "{next} was an id before");
}

/// A stream whose owner answers nothing does not fill the store.
pub async fn an_inbox_is_bounded<S: Store>(open: &impl Fn(&str) -> S) {
    let (store, stream) = (open("bounded"), run_stream(1));
    for number in 0..limits::INBOX_ENTRIES {
        store.send(&stream, canonical(&number.to_string())).await.unwrap();
    }
    let refusal = store.send(&stream, canonical("one more")).await.unwrap_err();
    assert_eq!(refusal.code(), "INBOX_FULL");
    let waiting = store.inbox(&stream).await.unwrap();
    assert_eq!(waiting.len(), limits::INBOX_ENTRIES);
    store.send(&run_stream(2), canonical("another stream has room")).await.unwrap();
    store.dismiss(&stream, waiting[0].id).await.unwrap();
    store.send(&stream, canonical("room again")).await.unwrap();
    let large = record(&"x".repeat(limits::RECORD_BYTES)).bytes;
    assert_eq!(store.send(&run_stream(2), large).await.unwrap_err().code(), "COMMIT_MALFORMED");
}
