use ambit_ids::Digest;
use ambit_revision::tree::{TreeLoader, decode_directory};

/// Bytes are the object of a directory, and then the only spelling of it; or they are refused. A tree that loads has the
/// digest that it was asked for, and gives back the very objects that it was made from.
pub fn directory(input: &[u8]) {
    let decoded = decode_directory(input);
    let digest = Digest::of(input);
    let mut loader = TreeLoader::new(digest);
    if loader.supply(input).is_err() {
        return;
    }
    assert!(decoded.is_ok(), "a tree took what is no directory");
    if loader.wanted().next().is_some() {
        return;
    }
    if let Ok(tree) = loader.finish() {
        assert_eq!(tree.digest(), digest);
        assert!(tree.objects().iter().any(|object| object.bytes == input), "another spelling was taken");
    }
}
