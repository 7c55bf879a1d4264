use std::net::IpAddr;

use reqwest::Url;

use crate::error::ModelAgentError;

/// Where a model is. One rule makes it an address: the wire's path is put below `/v1`, which is added unless the base
/// URL ends in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BaseUrl(Url);

impl BaseUrl {
    pub(crate) fn parse(text: &str, allow_plain_http: bool) -> Result<Self, ModelAgentError> {
        // The reader of URLs passes over white space and turns a backslash into a slash; people do not see either.
        if text.len() > 2_048 || !text.bytes().all(|b| b.is_ascii_graphic() && b != b'\\') {
            return Err(ModelAgentError::Url(
                "it must be at most 2,048 visible characters without a backslash",
            ));
        }
        let url = Url::parse(text).map_err(|_| ModelAgentError::Url("it is no URL"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(ModelAgentError::Url("only http and https are spoken"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ModelAgentError::Url(
                "it must not hold a user or a password; a key is named in `key`",
            ));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(ModelAgentError::Url("it must not have a query or a fragment"));
        }
        let base = Self(url);
        if base.is_plain() && !base.is_loopback() && !allow_plain_http {
            return Err(ModelAgentError::PlainHttp);
        }
        Ok(base)
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub(crate) fn endpoint(&self, path: &str) -> Url {
        let base = self.0.path().trim_end_matches('/');
        let version = if base.ends_with("/v1") { "" } else { "/v1" };
        let mut url = self.0.clone();
        url.set_path(&format!("{base}{version}/{path}"));
        url
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.0.scheme() == "http"
    }

    /// Whether this is this machine, by its address or by the one name that is pinned to it.
    fn is_loopback(&self) -> bool {
        let host = self.0.host_str().unwrap_or_default();
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    }

    pub(crate) fn is_of(&self, host: &str) -> bool {
        self.0.host_str() == Some(host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_added_unless_it_is_there() {
        for (base, expected) in [
            ("https://api.example.com", "https://api.example.com/v1/messages"),
            ("https://api.example.com/", "https://api.example.com/v1/messages"),
            ("https://api.example.com/v1", "https://api.example.com/v1/messages"),
            ("https://api.example.com/v1/", "https://api.example.com/v1/messages"),
            ("https://openrouter.example/api/v1", "https://openrouter.example/api/v1/messages"),
            ("https://gateway.example/team", "https://gateway.example/team/v1/messages"),
            ("http://localhost:11434", "http://localhost:11434/v1/messages"),
        ] {
            assert_eq!(BaseUrl::parse(base, false).unwrap().endpoint("messages").as_str(), expected);
        }
    }

    #[test]
    fn what_is_not_plainly_a_base_is_refused() {
        for text in [
            "",
            "api.example.com",
            "ftp://a",
            "file:///etc",
            "https://u@a",
            "https://u:p@a",
            "https://a?x=1",
            "https://a#x",
            "https://a\\@b",
            "https:// a",
            "https://a\n",
            "unix:/run/x",
            "https://",
        ] {
            assert_eq!(BaseUrl::parse(text, true).unwrap_err().code(), "MODEL_URL_REFUSED", "{text:?}");
        }
    }

    #[test]
    fn a_key_does_not_travel_in_the_clear() {
        for far in
            ["http://a.example", "http://10.0.0.1", "http://127.0.0.1.example", "http://localhost.example"]
        {
            assert_eq!(BaseUrl::parse(far, false).unwrap_err().code(), "MODEL_PLAIN_HTTP", "{far}");
            assert!(BaseUrl::parse(far, true).is_ok());
        }
        for near in ["http://127.0.0.1:1", "http://127.9.9.9", "http://[::1]:8080/v1", "http://localhost"] {
            assert!(BaseUrl::parse(near, false).is_ok(), "{near}");
        }
    }
}
