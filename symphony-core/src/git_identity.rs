//! The committer of commits that agents, set-up commands and gates make.
//!
//! Git refuses to commit if neither a variable nor its configuration says who commits. On a fresh machine every run of
//! an agent would end without a commit, and an agent that helps itself writes its own name into the configuration that
//! the user's commits use. So Symphony's name is used exactly where git would refuse.

/// Git's answer to the question who the author or committer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It knows, by a variable, its configuration or the machine.
    Known,
    /// It does not, and would refuse to commit.
    Refused,
}

/// Git's answers about the author and the committer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Committers {
    /// Who wrote the change.
    pub author: Answer,
    /// Who made the commit.
    pub committer: Answer,
}

impl Committers {
    /// Returns whether git would refuse to commit.
    pub fn are_refused(self) -> bool {
        self.author == Answer::Refused || self.committer == Answer::Refused
    }

    /// Returns the variables that a command needs so that git does not refuse its commits: none if git knows the name,
    /// and none that is set already.
    pub fn missing_variables<'a>(
        self,
        name: &'a str,
        email: &'a str,
        is_set: impl Fn(&str) -> bool,
    ) -> Vec<(&'static str, &'a str)> {
        let author = [("GIT_AUTHOR_NAME", name), ("GIT_AUTHOR_EMAIL", email)];
        let committer = [("GIT_COMMITTER_NAME", name), ("GIT_COMMITTER_EMAIL", email)];
        [(self.author, author), (self.committer, committer)]
            .into_iter()
            .filter(|(answer, _)| *answer == Answer::Refused)
            .flat_map(|(_, variables)| variables)
            .filter(|(variable, _)| !is_set(variable))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whom_git_refuses_is_given_a_name() {
        use Answer::{Known, Refused};
        let author = ["GIT_AUTHOR_NAME=S", "GIT_AUTHOR_EMAIL=s@l"];
        let committer = ["GIT_COMMITTER_NAME=S", "GIT_COMMITTER_EMAIL=s@l"];
        let both = [author, committer].concat();
        let table = [
            ((Known, Known), "", &[][..]),
            ((Refused, Refused), "", &both),
            ((Refused, Known), "", &author),
            ((Known, Refused), "", &committer),
            // What the project's `env` sets stays, and is completed.
            ((Refused, Known), "GIT_AUTHOR_NAME", &author[1..]),
            ((Known, Known), "GIT_AUTHOR_NAME", &[]),
        ];
        for ((author, committer), set, expected) in table {
            let answers = Committers { author, committer };
            let given = answers.missing_variables("S", "s@l", |name| name == set);
            let given: Vec<String> = given
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            assert_eq!(given, expected, "{answers:?} with {set:?}");
            let is_refused = author == Refused || committer == Refused;
            assert_eq!(answers.are_refused(), is_refused);
        }
    }
}
