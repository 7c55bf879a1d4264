//! The bytes of every statement, as they are signed. A change here is a change of what others read.

use ambit_attestation::{Envelope, PayloadType};
use serde_json::Value;

use crate::run::Records;

#[test]
fn every_statement_is_written_as_it_was() {
    let mut text = String::new();
    for (called, role, envelope) in Records::read().envelopes() {
        let printed = envelope.print().unwrap();
        assert_eq!(Envelope::parse(printed.as_bytes(), PayloadType::IN_TOTO).unwrap(), envelope);
        let pae = String::from_utf8(envelope.pae()).unwrap();
        let (head, payload) = pae.split_once('{').unwrap();
        let payload: Value = serde_json::from_str(&format!("{{{payload}")).unwrap();
        let payload = serde_json::to_string_pretty(&payload).unwrap();
        text.push_str(&format!(
            "# {called}, signed by {role}: {head}\n{payload}\n{:?}\n\n",
            printed.digest()
        ));
    }
    insta::assert_snapshot!("statements", text);
}
