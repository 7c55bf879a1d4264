use ambit_ids::vocabulary;

vocabulary!(
    /// What is wrong with a document, by a code that never changes its meaning.
    ProblemCode {
        /// More bytes or more nodes than a document may have.
        TooLarge = "DOCUMENT_TOO_LARGE",
        /// Nested deeper than a document may be.
        TooDeep = "DOCUMENT_TOO_DEEP",
        /// Not UTF-8, or a character that cannot be seen or that moves others.
        Encoding = "DOCUMENT_ENCODING",
        /// Not well-formed YAML.
        Syntax = "DOCUMENT_SYNTAX",
        /// Well-formed, but a feature of YAML that a document may not use: anchor, alias, tag, merge key, directive,
        /// several documents, a key that is not text.
        FeatureRefused = "DOCUMENT_FEATURE_REFUSED",
        /// A key that stands twice in one mapping.
        DuplicateKey = "DOCUMENT_DUPLICATE_KEY",
        /// Another `apiVersion` than this reader knows.
        UnknownVersion = "DOCUMENT_UNKNOWN_VERSION",
        /// Another kind of document than is wanted here.
        WrongKind = "DOCUMENT_WRONG_KIND",
        /// A field that the document does not have.
        UnknownField = "DOCUMENT_UNKNOWN_FIELD",
        /// A field that the document must have.
        MissingField = "DOCUMENT_MISSING_FIELD",
        /// A mapping where text is wanted, text where an integer is wanted, and so on.
        WrongType = "DOCUMENT_WRONG_TYPE",
        /// Unquoted text that another reader of YAML would take for a boolean, a number or a date.
        Ambiguous = "DOCUMENT_AMBIGUOUS_SCALAR",
        /// A number, a length or a count outside of its range.
        OutOfRange = "DOCUMENT_OUT_OF_RANGE",
        /// A word outside of a closed vocabulary.
        UnknownWord = "DOCUMENT_UNKNOWN_WORD",
        /// Text that is not the identifier, path, pattern, reference or amount that it is read as.
        Malformed = "DOCUMENT_MALFORMED_VALUE",
        /// An identifier that stands twice in one list.
        DuplicateId = "DOCUMENT_DUPLICATE_ID",
        /// A reference to something that the document does not hold.
        UnknownReference = "DOCUMENT_UNKNOWN_REFERENCE",
        /// Parts of the document that cannot both hold.
        Contradiction = "DOCUMENT_CONTRADICTION",
        /// An acceptance case or a plane that nothing covers.
        NotCovered = "DOCUMENT_NOT_COVERED",
        /// An image that is not named by its digest.
        ImageNotPinned = "IMAGE_NOT_PINNED",
        /// A volume that is not named by its digest.
        VolumeNotPinned = "VOLUME_NOT_PINNED",
        /// An environment variable that could load code or carry a secret.
        EnvironmentRefused = "ENVIRONMENT_REFUSED",
    }
);
