//! Every query and mutation that is sent to Linear, so that a test can check all of them against its schema.

/// Issues of a page. With their labels and relations, 50 cost about 6,000 of the 10,000 points that a query may cost.
pub const ISSUES_PAGE: usize = 50;

/// Comments of a page.
pub const COMMENTS_PAGE: usize = 100;

/// The fields of an issue, for those queries that fit into one page of labels and relations.
macro_rules! issue_fields {
    ($labels:literal, $relations:literal) => {
        concat!(
            "fragment IssueFields on Issue { id identifier url title description priority trashed createdAt updatedAt \
             team { key } project { slugId } state { name type } assignee { id displayName } creator { id displayName } \
             parent { id } labels(first: ",
            $labels,
            ") { nodes { name } pageInfo { hasNextPage endCursor } } inverseRelations(first: ",
            $relations,
            ") { nodes { type issue { id } } pageInfo { hasNextPage endCursor } } }"
        )
    };
}

/// The newest issue and the newest comment: whether anything changed. With `$issues` and `$comments` as filters.
pub const NEWEST: &str = "query SymphonyNewest($issues: IssueFilter!, $comments: CommentFilter!) { \
    issues(filter: $issues, first: 1, orderBy: updatedAt, includeArchived: true) { nodes { id updatedAt } } \
    comments(filter: $comments, first: 1, orderBy: updatedAt) { nodes { id updatedAt } } }";

/// A page of issues, the last changed first.
pub const CHANGED_ISSUES: &str = concat!(
    "query SymphonyChangedIssues($filter: IssueFilter!, $first: Int!, $after: String) { \
     issues(filter: $filter, first: $first, after: $after, orderBy: updatedAt, includeArchived: true) { \
     nodes { ...IssueFields } pageInfo { hasNextPage endCursor } } } ",
    issue_fields!("50", "25")
);

/// A page of comments, the last changed first.
pub const CHANGED_COMMENTS: &str = "query SymphonyChangedComments($filter: CommentFilter!, $first: Int!, $after: String) { \
    comments(filter: $filter, first: $first, after: $after, orderBy: updatedAt) { \
    nodes { id body createdAt updatedAt editedAt issue { id } user { id displayName } } \
    pageInfo { hasNextPage endCursor } } }";

/// A page of the comments of one issue.
pub const ISSUE_COMMENTS: &str = "query SymphonyIssueComments($id: ID!, $first: Int!, $after: String) { \
    comments(filter: { issue: { id: { eq: $id } } }, first: $first, after: $after) { \
    nodes { id body createdAt updatedAt editedAt issue { id } user { id displayName } } \
    pageInfo { hasNextPage endCursor } } }";

/// Issues by their ids.
pub const ISSUES_BY_ID: &str = concat!(
    "query SymphonyIssuesByIds($ids: [ID!]!, $first: Int!) { \
     issues(filter: { id: { in: $ids } }, first: $first, includeArchived: true) { \
     nodes { ...IssueFields } pageInfo { hasNextPage endCursor } } } ",
    issue_fields!("50", "25")
);

/// One issue with as many labels and relations as a page can have.
pub const ISSUE_IN_FULL: &str = concat!(
    "query SymphonyIssueInFull($id: String!) { issue(id: $id) { ...IssueFields } } ",
    issue_fields!("250", "250")
);

/// The user of the token, and the team.
pub const ACCESS: &str = "query SymphonyAccess($team: String!) { viewer { id displayName guest } \
    teams(filter: { key: { eq: $team } }, first: 1) { nodes { id key name } } }";

/// The project in the team.
pub const PROJECT: &str = "query SymphonyProject($slug: String!, $team: String!) { \
    projects(filter: { slugId: { eq: $slug }, accessibleTeams: { some: { key: { eq: $team } } } }, first: 1) { nodes { id name slugId } } }";

/// The team of an issue, with its states.
pub const TEAM_OF_ISSUE: &str = "query SymphonyTeamOfIssue($id: String!) { issue(id: $id) { id team { id key \
    states(first: 100) { nodes { id name type position } } } } }";

/// The labels of an issue, and those that its team can use, by their names.
pub const LABELS: &str = "query SymphonyLabels($id: String!, $names: [String!]!, $team: String!) { \
    issue(id: $id) { id labels(first: 250) { nodes { id name } } team { id key } } \
    issueLabels(filter: { name: { in: $names }, or: [{ team: { key: { eq: $team } } }, { team: { null: true } }] }, first: 250) \
    { nodes { id name isGroup team { key } } } }";

/// Changes an issue.
pub const UPDATE_ISSUE: &str = concat!(
    "mutation SymphonyUpdateIssue($id: String!, $input: IssueUpdateInput!) { \
     issueUpdate(id: $id, input: $input) { success issue { ...IssueFields } } } ",
    issue_fields!("250", "250")
);

/// Creates an issue with an id of ours.
pub const CREATE_ISSUE: &str = concat!(
    "mutation SymphonyCreateIssue($input: IssueCreateInput!) { \
     issueCreate(input: $input) { success issue { ...IssueFields } } } ",
    issue_fields!("250", "250")
);

/// Writes a comment with an id of ours.
pub const CREATE_COMMENT: &str = "mutation SymphonyCreateComment($input: CommentCreateInput!) { \
    commentCreate(input: $input) { success comment { id } } }";

/// Creates a label in a team.
pub const CREATE_LABEL: &str = "mutation SymphonyCreateLabel($input: IssueLabelCreateInput!) { \
    issueLabelCreate(input: $input) { success issueLabel { id name } } }";

/// Whether a comment with an id exists, and on which issue.
pub const COMMENT: &str =
    "query SymphonyComment($id: String!) { comment(id: $id) { id issue { id } } }";

/// The fields of a ticket, as openai/symphony's specification has them.
macro_rules! ticket_fields {
    () => {
        "nodes { id identifier title description priority branchName url createdAt updatedAt state { name } \
         labels(first: 50) { nodes { name } } \
         inverseRelations(first: 25) { nodes { type issue { id identifier state { name } } } } } \
         pageInfo { hasNextPage endCursor }"
    };
}

/// A page of the tickets of a project in some states.
pub const POLL_BY_STATES: &str = concat!(
    "query SymphonyPollByStates($projectSlug: String!, $stateNames: [String!]!, $first: Int!, $after: String) { \
     issues(filter: { project: { slugId: { eq: $projectSlug } }, state: { name: { in: $stateNames } } }, \
     first: $first, after: $after) { ",
    ticket_fields!(),
    " } }"
);

/// Tickets by their ids.
pub const POLL_BY_IDS: &str = concat!(
    "query SymphonyPollByIds($ids: [ID!]!, $first: Int!) { issues(filter: { id: { in: $ids } }, first: $first) { ",
    ticket_fields!(),
    " } }"
);

/// All of them, with their names.
pub const ALL: &[(&str, &str)] = &[
    ("NEWEST", NEWEST),
    ("CHANGED_ISSUES", CHANGED_ISSUES),
    ("CHANGED_COMMENTS", CHANGED_COMMENTS),
    ("ISSUE_COMMENTS", ISSUE_COMMENTS),
    ("ISSUES_BY_ID", ISSUES_BY_ID),
    ("ISSUE_IN_FULL", ISSUE_IN_FULL),
    ("ACCESS", ACCESS),
    ("PROJECT", PROJECT),
    ("TEAM_OF_ISSUE", TEAM_OF_ISSUE),
    ("LABELS", LABELS),
    ("UPDATE_ISSUE", UPDATE_ISSUE),
    ("CREATE_ISSUE", CREATE_ISSUE),
    ("CREATE_COMMENT", CREATE_COMMENT),
    ("CREATE_LABEL", CREATE_LABEL),
    ("COMMENT", COMMENT),
    ("POLL_BY_STATES", POLL_BY_STATES),
    ("POLL_BY_IDS", POLL_BY_IDS),
];
