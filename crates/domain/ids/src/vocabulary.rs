/// Declares a closed vocabulary: an enum with one text form per word, as documents and records spell it.
///
/// The enum lists its words in `ALL`, and reads and writes them through `as_str`, `Display`, `FromStr` and serde, which
/// the calling crate must depend on. No other spelling parses.
#[macro_export]
macro_rules! vocabulary {
    (
        $(#[$doc:meta])*
        $name:ident { $($(#[$word_doc:meta])* $word:ident = $text:literal),+ $(,)? }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$word_doc])* $word),+ }

        impl $name {
            /// Every word, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$word),+];

            /// The word as documents and records spell it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$word => $text),+ }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = ();
            fn from_str(text: &str) -> Result<Self, ()> {
                match text { $($text => Ok(Self::$word),)+ _ => Err(()) }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(|()| serde::de::Error::unknown_variant(&text, &[$($text),+]))
            }
        }
    };
}
