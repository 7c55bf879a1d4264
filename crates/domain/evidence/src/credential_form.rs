use ambit_ids::vocabulary;

vocabulary!(
    /// How an approver's credential was kept when it was used, in the words of the program that used it. `open` is an admission, and
    /// stands: whoever could read the file could sign. `sealed` is worth as much as the registration of the key says so too: a key
    /// that was open once may have been read then.
    CredentialForm {
        /// Under a passphrase, which is typed and kept nowhere.
        Sealed = "sealed",
        /// Readable by every process of whoever holds it.
        Open = "open",
    }
);
