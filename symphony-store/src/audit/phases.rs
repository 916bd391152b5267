//! Checks of phases that are one query each: deliveries of the phases of issues, and the phases of plans (I8, I9).

use symphony_core::invariant::Invariant;

/// Cheap, because they start from the index of open deliveries.
pub(super) const LIVE: &[(Invariant, &str)] = &[
    (
        Invariant::I8,
        "SELECT issue, count(*) || ' open deliveries: ' || group_concat(id, ', ') FROM phase_claim
         WHERE open = 1 GROUP BY issue HAVING count(*) > 1",
    ),
    (
        Invariant::I8,
        "SELECT c.issue, 'delivery ' || c.id || ' is open, but the issue is not in the phase ' || c.phase FROM phase_claim c
         WHERE c.open = 1 AND NOT EXISTS (SELECT 1 FROM issue_label l WHERE l.issue = c.issue AND l.label = 'phase:' || c.phase)",
    ),
    // In `review` the next tick moves the issue on; from `blocked` and `backlog` a person does.
    (
        Invariant::I8,
        "SELECT c.issue, 'delivery ' || c.id || ' of ' || c.phase || ' is accepted, but the issue is ' || i.status || ' and no run is live on it'
         FROM phase_claim c JOIN issue i ON i.id = c.issue
         WHERE c.open = 1 AND c.state = 'accepted' AND i.status NOT IN ('review', 'blocked', 'backlog')
         AND NOT EXISTS (SELECT 1 FROM run r WHERE r.issue = c.issue AND r.status IN ('starting', 'running'))",
    ),
    (
        Invariant::I8,
        "SELECT c.issue, 'delivery ' || c.id || ' was never settled, but its run ' || r.id || ' is over'
         FROM phase_claim c JOIN run r ON r.id = c.run
         WHERE c.open = 1 AND c.state = 'submitted' AND r.status NOT IN ('starting', 'running')",
    ),
];

pub(super) const ALL: &[(Invariant, &str)] = &[
    (
        Invariant::I8,
        "SELECT c.issue, 'delivery ' || c.id || ' of ' || c.phase || ' is accepted and closed, but the issue did not go on'
         FROM phase_claim c WHERE c.open = 0 AND c.state = 'accepted' AND NOT EXISTS
         (SELECT 1 FROM event e WHERE e.issue = c.issue AND e.kind = 'phase_advanced' AND CAST(e.payload ->> '$.claim' AS BIGINT) = c.id)",
    ),
    // An advance or an edit changes labels. After an advance, runs are of the phase that it led to.
    (
        Invariant::I8,
        "SELECT r.id, 'it worked on the phase ' || r.phase || ', when ' || r.issue || ' had gone on to ' || (a.payload ->> '$.to')
         FROM run r JOIN event c ON c.run = r.id AND c.kind = 'run_claimed'
         JOIN event a ON a.id = (SELECT max(x.id) FROM event x WHERE x.issue = r.issue AND x.id < c.id AND x.kind IN ('phase_advanced', 'issue_edited'))
         WHERE r.phase IS NOT NULL AND a.kind = 'phase_advanced' AND a.payload ->> '$.to' <> r.phase",
    ),
    (
        Invariant::I8,
        "SELECT r.id, 'it began on the phase ' || r.plan_phase || ' of the plan ' || r.plan || ', which was complete'
         FROM run r JOIN event c ON c.run = r.id AND c.kind = 'run_claimed'
         JOIN event d ON d.id = (SELECT max(x.id) FROM event x WHERE x.plan = r.plan AND x.id < c.id AND x.kind = 'plan_event'
          AND (x.payload ->> '$.type' = 'changes_accepted'
               OR x.payload ->> '$.phase' = r.plan_phase AND x.payload ->> '$.event.type' IN ('completed', 'skipped', 'reset')))
           AND d.payload ->> '$.event.type' IS DISTINCT FROM 'reset'
         WHERE r.plan IS NOT NULL AND d.payload ->> '$.type' = 'phase'",
    ),
    // A changed plan may add dependencies to a running phase.
    (
        Invariant::I8,
        "SELECT p.plan || ' ' || p.phase, 'it is at work, but ' || s.phase || ', which it waits for, is ' || s.status
         FROM plan_phase p JOIN plan ON plan.id = p.plan
         JOIN json_each(plan.document, '$.phases') d ON d.value ->> '$.id' = p.phase
         JOIN plan_phase s ON s.plan = p.plan AND s.phase IN
          (SELECT value FROM json_each(d.value, '$.dependencies')
           UNION SELECT value FROM json_each(d.value, '$.required_context.artifacts_from'))
         WHERE p.status = 'running' AND s.status <> 'complete' AND NOT EXISTS
         (SELECT 1 FROM event e JOIN event c ON c.run = p.run AND c.kind = 'run_claimed'
          WHERE e.plan = p.plan AND e.kind = 'plan_event' AND e.payload ->> '$.type' = 'changes_accepted' AND e.id > c.id)",
    ),
    (
        Invariant::I9,
        "SELECT 'delivery ' || id, 'its verdict names commit ' || (verdict ->> '$.commit') || ', it is about ' || head_commit
         FROM phase_claim WHERE verdict IS NOT NULL AND verdict ->> '$.commit' <> head_commit",
    ),
    (
        Invariant::I9,
        "SELECT 'delivery ' || c.id,
                CASE WHEN r.id IS NULL THEN 'its verdict comes from run ' || (c.verdict ->> '$.run') || ', which is not there'
                     WHEN r.id = c.run THEN 'its verdict comes from run ' || r.id || ', which is its author''s'
                     WHEN r.agent <> 'judge' THEN 'its verdict comes from run ' || r.id || ' of a ' || r.agent
                     ELSE 'its verdict comes from run ' || r.id || ', which was not on it' END
         FROM phase_claim c LEFT JOIN run r ON r.id = c.verdict ->> '$.run'
         WHERE c.verdict ->> '$.run' IS NOT NULL AND (r.id IS NULL OR r.id = c.run OR r.agent <> 'judge' OR r.claim IS DISTINCT FROM c.id)",
    ),
    (
        Invariant::I17,
        "SELECT issue, 'delivery ' || (payload ->> '$.claim') || ' took it on ' || count(*) || ' times' FROM event
         WHERE kind = 'phase_advanced' GROUP BY issue, payload ->> '$.claim' HAVING count(*) > 1",
    ),
];
