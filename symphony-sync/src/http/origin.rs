//! Whether an address belongs to the server that may have the token.

use reqwest::Url;

/// Returns the address that a redirect leads to, if it is on the same server by the same scheme; otherwise its host.
pub(crate) fn same_origin(asked: &Url, location: &str) -> Result<Url, String> {
    let Ok(target) = asked.join(location) else {
        return Err("an address that cannot be read".to_owned());
    };
    if target.origin() == asked.origin() && target.username().is_empty() {
        Ok(target)
    } else {
        Err(target.host_str().unwrap_or("another server").to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_stays_on_its_server() {
        let asked = Url::parse("https://api.github.com/repos/a/b/issues?page=2").unwrap();
        let table = [
            (
                "https://api.github.com/repositories/7/issues",
                Ok("https://api.github.com/repositories/7/issues"),
            ),
            (
                "/repositories/7",
                Ok("https://api.github.com/repositories/7"),
            ),
            (
                "http://api.github.com/repositories/7",
                Err("api.github.com"),
            ),
            ("https://api.github.com:8443/x", Err("api.github.com")),
            (
                "https://api.github.com.evil.example/x",
                Err("api.github.com.evil.example"),
            ),
            ("//evil.example/x", Err("evil.example")),
            ("https://me@api.github.com/x", Err("api.github.com")),
        ];
        for (location, expected) in table {
            let found = same_origin(&asked, location);
            let found = found.as_ref().map(Url::as_str).map_err(String::as_str);
            assert_eq!(found, expected, "{location}");
        }
    }
}
