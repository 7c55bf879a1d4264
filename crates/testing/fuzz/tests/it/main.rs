//! The kept inputs, without a fuzzer.

use std::fs;
use std::path::Path;

use ambit_fuzz::PROPERTIES;

#[test]
fn every_kept_input_has_its_property() {
    for (name, property) in PROPERTIES {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
        let mut inputs: Vec<_> = fs::read_dir(&corpus).unwrap().map(|entry| entry.unwrap().path()).collect();
        inputs.sort();
        assert!(inputs.len() >= 5, "{} holds {} inputs", corpus.display(), inputs.len());
        for input in inputs {
            // What breaks a property is named before it does.
            println!("{}", input.display());
            property(&fs::read(&input).unwrap());
        }
    }
}
