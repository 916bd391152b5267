//! Path A: worker, judge or planner on an issue.

use serde::{Deserialize, Serialize};
use symphony_core::agent::AgentType;
use symphony_core::issue::FindingKind;
use symphony_core::unit::Tokens;

use crate::boundary::boundary;
use crate::budget::{Budgets, Caps, INTEGRATION_PART};
use crate::dispatch::content::{Content, ReviewSections};
use crate::dispatch::layers;
use crate::error::PromptError;
use crate::fence::FenceMarker;
use crate::input::{
    AttemptInput, ChildInput, CommentInput, CriteriaInput, DependencyInput, ExternalResearch,
    FindingInput, GateCommand, GateResult, IssueInput, PhaseArtifact, PointInput,
    PullRequestReview, ResumedInput, Review, VaultNote, Workspace,
};
use crate::layer::{Layer, LayerName};
use crate::omission::OmissionList;
use crate::report::{BuiltPrompt, DispatchPath};
use crate::rule::{WEB_RESTRICTION, external_research};
use crate::section::fit::Fitter;
use crate::section::{
    self, DocumentsOf, PointsReader, SectionDraft, SectionName, Shared, Total, assemble,
    draft_shared, need_of_list,
};
use crate::summary::Preference;
use crate::system::build_system_prompt;
use crate::tokens::{HeuristicCounter, TokenCounter};

/// Everything a dispatch of a profile on an issue is built from (spec: prompts, path A).
///
/// Make one with [`ProfileDispatch::new`], set what there is, and call [`build`](Self::build). What is empty
/// is left out of the prompts.
///
/// ```
/// use symphony_prompt::{AgentType, IssueId, IssueInput, ProfileDispatch, Workspace};
/// let place = Workspace { identifier: "SYM-1".into(), path: "/w".into(), branch: Some("b".into()), base: None };
/// let issue = IssueInput::new(IssueId::parse("SYM-1")?, "Fix the login", "It answers 500.");
/// let mut dispatch = ProfileDispatch::new(AgentType::Worker, place, issue, "5d3c0f9a1e7b4826");
/// dispatch.profile = "You implement one issue.".into();
/// let built = dispatch.build()?;
/// assert!(built.user.starts_with("# SYM-1: Fix the login\n\n> **Working in**: `/w` | **Branch**: `b`\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProfileDispatch {
    /// For whom: worker, judge, planner, intake, or any other type that is sent to an issue without a phase.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: AgentType,
    /// Where the agent works.
    pub workspace: Workspace,
    /// The issue.
    pub issue: IssueInput,
    /// The fence marker: 16 to 64 random letters, digits, `-` or `_`, made again for each prompt.
    pub fence_marker: String,
    /// The profile's text.
    #[serde(default)]
    pub profile: String,
    /// WORKFLOW.md of the project's root; for a worker it replaces the profile, unless it is openai/symphony's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow_md: Option<String>,
    /// The body of the `ready` contract; for workers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<String>,
    /// Leave to look things up outside; for researchers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_research: Option<ExternalResearch>,
    /// Convention learnings, best first.
    #[serde(default)]
    pub convention_learnings: Vec<String>,
    /// Notes of the vault; those that match the issue are chosen here.
    #[serde(default)]
    pub vault: Vec<VaultNote>,
    /// The project's CLAUDE.md; for a judge, that of the base commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claude_md: Option<String>,
    /// Whether the agent's CLI reads CLAUDE.md by itself, as Claude's does and Codex' does not.
    #[serde(default)]
    pub provider_reads_claude_md: bool,
    /// Remarks of the dispatcher for the agent, such as a merge conflict with the base.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Acceptance criteria; for a judge with what the worker says of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria: Option<CriteriaInput>,
    /// Documents of the parent, and of the issue's phases, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<PhaseArtifact>,
    /// Issues this one depends on.
    #[serde(default)]
    pub dependencies: Vec<DependencyInput>,
    /// The sub-tasks of an issue that was split, once all have ended: for its worker, and for a judge of a proposal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<ChildInput>,
    /// Runs before this one, oldest first.
    #[serde(default)]
    pub attempts: Vec<AttemptInput>,
    /// Open points of earlier reviews, in the order of their numbers; all of them are in the prompt, whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub review_points: Vec<PointInput>,
    /// Findings, oldest first.
    #[serde(default)]
    pub findings: Vec<FindingInput>,
    /// Messages of a person that no agent has got yet, oldest first; all of them are in the prompt, whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<CommentInput>,
    /// Comments, oldest first.
    #[serde(default)]
    pub comments: Vec<CommentInput>,
    /// Tactical learnings, best first.
    #[serde(default)]
    pub learnings: Vec<String>,
    /// The project's gates; a judge sees results instead.
    #[serde(default)]
    pub gates: Vec<GateCommand>,
    /// What a judge reviews.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<Review>,
    /// The project's own instructions for this profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_instructions: Option<String>,
    /// The budgets.
    #[serde(default)]
    pub budgets: Budgets,
}

impl ProfileDispatch {
    /// Makes a dispatch with nothing but what every one has.
    pub fn new(
        agent: AgentType,
        workspace: Workspace,
        issue: IssueInput,
        fence_marker: impl Into<String>,
    ) -> Self {
        Self {
            agent,
            workspace,
            issue,
            fence_marker: fence_marker.into(),
            profile: String::new(),
            workflow_md: None,
            contract: None,
            external_research: None,
            convention_learnings: Vec::new(),
            vault: Vec::new(),
            claude_md: None,
            provider_reads_claude_md: false,
            notes: Vec::new(),
            criteria: None,
            documents: Vec::new(),
            dependencies: Vec::new(),
            children: Vec::new(),
            attempts: Vec::new(),
            review_points: Vec::new(),
            findings: Vec::new(),
            messages: Vec::new(),
            comments: Vec::new(),
            learnings: Vec::new(),
            gates: Vec::new(),
            review: None,
            custom_instructions: None,
            budgets: Budgets::default(),
        }
    }

    /// Builds both prompts with the heuristic counter.
    ///
    /// # Errors
    /// When the agent is a scanner or the wizard, which have no issue, or the fence marker is not usable.
    pub fn build(&self) -> Result<BuiltPrompt, PromptError> {
        self.build_with(&HeuristicCounter::default())
    }

    /// Builds both prompts with a counter of the caller's choice.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_with(&self, counter: &dyn TokenCounter) -> Result<BuiltPrompt, PromptError> {
        self.build_for(None, counter)
    }

    pub(super) fn build_for(
        &self,
        resumed: Option<&ResumedInput>,
        counter: &dyn TokenCounter,
    ) -> Result<BuiltPrompt, PromptError> {
        if matches!(self.agent, AgentType::Scanner | AgentType::Wizard) {
            return Err(PromptError::WrongAgent {
                agent: self.agent.name().to_owned(),
                path: "of a profile on an issue",
                expected: "worker, judge, planner or another agent that works on an issue",
            });
        }
        let marker = FenceMarker::parse(&self.fence_marker)?;
        let mut omissions = OmissionList::of(&self.agent);
        if self.agent == AgentType::Architect {
            let why = "outside its phase this profile looks nothing up outside";
            omissions.switch_off(LayerName::ExternalResearch, why);
        }
        let system = build_system_prompt(
            self.layers(counter),
            &omissions,
            self.budgets.system_tokens,
            counter,
        );
        let fitter = Fitter {
            counter,
            marker_chars: marker.as_str().len(),
        };
        let approach = self.approach();
        let findings: Vec<&FindingInput> = self
            .findings
            .iter()
            .enumerate()
            .filter(|(index, _)| approach.is_none_or(|(at, _)| at != *index))
            .map(|(_, finding)| finding)
            .collect();
        let content = Content {
            approach: approach.map(|(_, finding)| finding),
            findings: &findings,
            caps: self.caps(),
            fitter,
        };
        let (mut sections, left) = self.sections(&omissions, content);
        if let Some(resumed) = resumed {
            section::add_resumed(&mut sections, resumed);
        }
        let mut user = assemble(&sections, Some(&marker), resumed, counter)?;
        user.left = Some(left);
        let budgets = &self.budgets;
        let path = DispatchPath::ProfileDispatch;
        Ok(layers::built(
            path,
            &self.agent,
            system,
            user,
            budgets,
            counter,
        ))
    }

    /// The layers of paths A and C, in order.
    fn layers(&self, counter: &dyn TokenCounter) -> Vec<Layer<'_>> {
        let mut list = vec![
            Layer::new(LayerName::Boundary, boundary(&self.workspace, &self.agent)),
            layers::profile(&self.agent, &self.profile, self.workflow_md.as_deref()),
        ];
        if self.agent == AgentType::Worker
            && let Some(contract) = &self.contract
        {
            list.push(Layer::new(LayerName::Contract, contract));
        }
        if matches!(self.agent, AgentType::Worker | AgentType::Judge) {
            list.push(Layer::new(LayerName::WebRestriction, WEB_RESTRICTION));
        }
        if let Some(research) = self.external_research {
            list.push(Layer::new(
                LayerName::ExternalResearch,
                external_research(research),
            ));
        }
        list.push(layers::conventions(&self.convention_learnings));
        let cap = self
            .budgets
            .vault_tokens
            .unwrap_or(self.budgets.system_tokens);
        list.push(layers::vault(&self.vault, Some(&self.issue), cap, counter));
        list.push(layers::claude_md(
            self.claude_md.as_deref(),
            &self.agent,
            self.provider_reads_claude_md,
        ));
        list
    }

    /// The nine sections, the review points, the criteria, the ticket's documents, and a judge's own after them.
    fn sections<'a>(
        &'a self,
        omissions: &OmissionList,
        content: Content<'a, '_>,
    ) -> (Vec<SectionDraft<'a>>, Tokens) {
        let place =
            matches!(self.agent, AgentType::Worker | AgentType::Judge).then_some(&self.workspace);
        let review = self.review_sections(content);
        let (shared, left) = self.shared_sections(omissions, content, &review);
        let mut shared = shared.into_iter();
        let mut next = || shared.next().into_iter();
        let (diff, description, documents) = (next(), next(), next());
        let (findings, comments, attempts, learnings) = (next(), next(), next(), next());
        let mut list = vec![
            section::header(&self.issue, place, &self.notes),
            section::messages(&self.messages),
        ];
        list.extend(description);
        list.push(section::review_points(
            &self.review_points,
            PointsReader::of(&self.agent),
        ));
        if let Some(criteria) = &self.criteria {
            list.push(section::criteria(criteria, &self.agent));
        }
        list.extend(documents);
        list.extend(review.list);
        list.extend(diff);
        list.push(self.integration(content.fitter));
        list.push(section::dependencies(&self.dependencies));
        list.extend(attempts);
        list.extend(findings);
        list.extend(comments);
        list.extend(learnings);
        list.push(match omissions.section(SectionName::GateCommands) {
            Some(why) => {
                SectionDraft::omitted_when(!self.gates.is_empty(), SectionName::GateCommands, why)
            }
            None => section::gate_commands(&self.gates),
        });
        if let Some(results) = self.gate_results() {
            list.push(section::gate_results(results));
        }
        list.push(section::instructions(self.custom_instructions.as_deref()));
        (list, left)
    }

    /// The sections with a share, those first that are given first what others leave: the diff, the description, the documents,
    /// findings, comments, earlier outputs, learnings.
    fn shared_sections<'a>(
        &'a self,
        omissions: &OmissionList,
        content: Content<'a, '_>,
        review: &ReviewSections<'a>,
    ) -> (Vec<SectionDraft<'a>>, Tokens) {
        let Content { caps, fitter, .. } = content;
        let counter = fitter.counter;
        let minus = |cap: Tokens, used: Tokens| Tokens::new(cap.get().saturating_sub(used.get()));
        let diff = self
            .pull_request()
            .and_then(|review| review.diff.as_deref());
        let outputs = self
            .attempts
            .iter()
            .map(|attempt| counter.count(&attempt.output_tail));
        let comments = self.comments.iter().map(|comment| comment.content.as_str());
        let findings = content.findings.iter().map(|finding| finding.text.as_str());
        let why = omissions.section(SectionName::PreviousAttempts);
        let artifacts = if self.documents.is_empty() {
            Tokens::ZERO
        } else {
            self.budgets.artifact_tokens
        };
        let parts = [
            Shared {
                cap: minus(caps.diff, review.answers),
                need: diff.map_or(Tokens::ZERO, |diff| counter.count(diff)),
                draft: Box::new(move |cap| match self.pull_request() {
                    Some(review) => section::diff(review, cap, fitter),
                    None => SectionDraft::new(SectionName::Diff, Vec::new()),
                }),
            },
            Shared {
                cap: caps.description,
                need: counter.count(&self.issue.description),
                draft: Box::new(move |cap| section::description(&self.issue, cap, fitter)),
            },
            Shared {
                cap: artifacts,
                need: section::documents_need(&self.documents, counter),
                draft: Box::new(move |cap| {
                    let (of, preference) = (DocumentsOf::Ticket, Preference::FullText);
                    section::documents(&self.documents, of, cap, preference, fitter)
                }),
            },
            Shared {
                cap: minus(caps.findings, review.approach),
                need: need_of_list(findings, counter),
                draft: Box::new(move |cap| section::findings(content.findings, cap, fitter)),
            },
            Shared {
                cap: caps.comments,
                need: need_of_list(comments, counter),
                draft: Box::new(move |cap| {
                    section::conversation(&self.comments, usize::MAX, cap, fitter)
                }),
            },
            Shared {
                cap: caps.previous_output,
                need: outputs.sum(),
                draft: Box::new(move |cap| match why {
                    Some(why) => SectionDraft::omitted_when(
                        !self.attempts.is_empty(),
                        SectionName::PreviousAttempts,
                        why,
                    ),
                    None => section::attempts(&self.attempts, cap, fitter),
                }),
            },
            Shared {
                cap: caps.learnings,
                need: need_of_list(self.learnings.iter().map(String::as_str), counter),
                draft: Box::new(move |cap| section::learnings(&self.learnings, cap, fitter)),
            },
        ];
        let spent = review.answers + review.approach;
        let total = Total {
            tokens: minus(self.budgets.user_tokens + artifacts, spent),
            pass_on: self.budgets.pass_on,
        };
        draft_shared(&parts, total)
    }

    /// What a judge reviews, the diff apart.
    fn review_sections<'a>(&'a self, content: Content<'a, '_>) -> ReviewSections<'a> {
        let Content { caps, fitter, .. } = content;
        match (&self.agent, &self.review) {
            (AgentType::Judge, Some(Review::PullRequest(review))) => {
                let (draft, approach) =
                    section::pull_request(review, content.approach, caps.findings, fitter);
                let half = Tokens::new(caps.diff.get() / 2);
                let (answer_diff, answers) =
                    section::answer_diff(&review.answer_patches, half, fitter);
                ReviewSections {
                    list: vec![draft, answer_diff],
                    approach,
                    answers,
                }
            }
            (AgentType::Judge, Some(Review::Phase(review))) => ReviewSections {
                list: vec![
                    section::phase_review(review, &self.issue.identifier),
                    section::artifact(review, fitter),
                ],
                approach: Tokens::ZERO,
                answers: Tokens::ZERO,
            },
            (AgentType::Judge, Some(Review::Done(review))) => ReviewSections {
                list: vec![section::done_review(review)],
                ..ReviewSections::default()
            },
            _ => ReviewSections::default(),
        }
    }

    /// The sub-tasks, for who integrates or judges them.
    fn integration(&self, fitter: Fitter<'_>) -> SectionDraft<'_> {
        let children: &[ChildInput] = match (&self.agent, &self.review) {
            (AgentType::Worker, _) | (AgentType::Judge, Some(Review::Done(_))) => &self.children,
            _ => &[],
        };
        let part = self.budgets.user_tokens.get() / INTEGRATION_PART;
        section::integration(children, Tokens::new(part), fitter)
    }

    /// What the gates said of what a judge reviews.
    fn gate_results(&self) -> Option<&[GateResult]> {
        match (&self.agent, &self.review) {
            (AgentType::Judge, Some(review)) => review.gate_results(),
            _ => None,
        }
    }

    /// The pull request that a judge reviews.
    fn pull_request(&self) -> Option<&PullRequestReview> {
        match (&self.agent, &self.review) {
            (AgentType::Judge, Some(Review::PullRequest(review))) => Some(review),
            _ => None,
        }
    }

    /// The latest approach finding, with its place, for a judge of a pull request.
    fn approach(&self) -> Option<(usize, &FindingInput)> {
        self.pull_request()?;
        self.findings
            .iter()
            .enumerate()
            .rfind(|(_, finding)| finding.kind == FindingKind::Approach)
    }

    /// Shares with a diff are for a judge who has one; everybody else gets the others.
    fn caps(&self) -> Caps {
        let has_diff = self
            .pull_request()
            .and_then(|review| review.diff.as_deref())
            .is_some_and(|diff| !diff.trim().is_empty());
        let shares = if has_diff {
            self.budgets.shares_with_diff
        } else {
            self.budgets.shares
        };
        shares.caps(self.budgets.user_tokens)
    }
}
