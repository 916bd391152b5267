//! The log of a job: GitHub leads to another server, which needs no token.

use reqwest::header::LOCATION;
use reqwest::{Method, Url};
use symphony_tracker::fault::Fault;
use symphony_tracker::remote::ExternalId;

use super::super::fault::checked;
use super::super::issues::number;
use super::GithubForge;
use crate::http::client::Request;

impl GithubForge {
    pub(super) async fn load_log_end(
        &self,
        run: &ExternalId,
        bytes_max: usize,
    ) -> Result<Option<String>, Fault> {
        let asked = self.asked("read logs", &format!("the log of job {run}"));
        let Some(job) = number(run) else {
            return Ok(None);
        };
        let request = Request {
            method: Method::GET,
            url: self
                .github
                .repository_url(&["actions", "jobs", &job.to_string(), "logs"]),
            body: None,
            etag: None,
        };
        let client = &self.github.client;
        let answer = client.send_once(&request).await?;
        if matches!(answer.status, 301 | 302 | 303 | 307 | 308) {
            let target = answer.header(LOCATION.as_str());
            let Some(target) = target.and_then(|text| request.url.join(text).ok()) else {
                return Err(Fault::Unreadable {
                    detail: format!("{} is at an address that cannot be read", asked.what),
                });
            };
            return self.end_at(target, bytes_max).await;
        }
        match checked(answer, &asked, client) {
            Ok(answer) => {
                let skipped = answer.body.len().saturating_sub(bytes_max);
                Ok(answer.body.get(skipped..).map(|end| text(end, bytes_max)))
            }
            Err(Fault::NotFound { .. } | Fault::Forbidden { .. }) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    async fn end_at(&self, target: Url, bytes_max: usize) -> Result<Option<String>, Fault> {
        let end = self.plain.end_of(target, bytes_max).await?;
        Ok(end.map(|end| text(&end, bytes_max)))
    }
}

/// Reads the end of a log. Where its beginning was cut off, it begins with the next whole line.
fn text(end: &[u8], bytes_max: usize) -> String {
    let text = String::from_utf8_lossy(end);
    let text = text.trim_start_matches('\u{feff}');
    if end.len() < bytes_max {
        return text.to_owned();
    }
    let whole = text.split_once('\n').map(|(_, rest)| rest);
    whole
        .filter(|rest| !rest.is_empty())
        .unwrap_or(text)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_log_begins_with_a_whole_line() {
        assert_eq!(text(b"\xef\xbb\xbfone\ntwo", 100), "one\ntwo");
        assert_eq!(text(b"ne\ntwo\n", 7), "two\n");
        assert_eq!(text("é\ntwo".as_bytes().get(1..).unwrap(), 5), "two");
        assert_eq!(text(b"no line end", 11), "no line end");
        assert_eq!(text(b"cut off here\n", 13), "cut off here\n");
    }
}
