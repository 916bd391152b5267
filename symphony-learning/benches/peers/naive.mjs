// Ranks learnings as the specification defines it, without any cleverness: what a first version in JavaScript does.
// Reads one document, then ranks it once for each further line.
import { createInterface } from 'node:readline';

const WEIGHTS = { labels: 0.35, paths: 0.3, keywords: 0.2, recency: 0.15 };
const CONVENTION_CHAR_CAP = 1500;
const DEFAULT_MAX_RESULTS = 25;
const DAYS_90 = 7776000;

const normalise = (text) =>
  text.toLowerCase().replace(/[^\p{Alphabetic}\p{N}_\s]/gu, '').replace(/\s+/g, ' ').trim();

const tokens = (text, stop) =>
  new Set(text.toLowerCase().split(/[^\p{Alphabetic}\p{N}_]+/u).filter((w) => [...w].length >= 2 && !stop.has(w)));

const jaccard = (a, b) => {
  let shared = 0;
  for (const x of a) if (b.has(x)) shared++;
  const all = a.size + b.size - shared;
  return all === 0 ? 0 : shared / all;
};

function rank({ now, issue, learnings, stop_words }) {
  const stop = new Set(stop_words);
  const text = `${issue.title}\n${issue.description}`;
  const lower = text.toLowerCase();
  const issueTokens = tokens(text, stop);
  const issueLabels = new Set(issue.labels);
  const at = Date.parse(now);
  const all = learnings
    .map((l) => ({ l, text: normalise(l.pattern), created: Date.parse(l.created_at) }))
    .filter((x) => x.text !== '');
  const newer = (a, b) => b.created - a.created || (a.l.id < b.l.id ? -1 : a.l.id > b.l.id ? 1 : 0);
  const kept = all.filter(
    (x) =>
      !all.some(
        (y) => y !== x && y.text.includes(x.text) && (y.text.length > x.text.length || newer(y, x) < 0),
      ),
  );
  for (const x of kept) {
    const paths = x.l.applies_to;
    const age = Math.min(Math.floor(Math.max(at - x.created, 0) / 1000), DAYS_90);
    x.score =
      WEIGHTS.labels * jaccard(issueLabels, new Set(x.l.labels)) +
      WEIGHTS.paths * (paths.length ? paths.filter((p) => lower.includes(p.toLowerCase())).length / paths.length : 0) +
      WEIGHTS.keywords * jaccard(issueTokens, tokens(x.l.pattern, stop)) +
      WEIGHTS.recency * (1 - age / DAYS_90);
  }
  kept.sort((a, b) => b.score - a.score || newer(a, b));
  const conventions = [];
  let left = CONVENTION_CHAR_CAP;
  for (const x of kept.filter((y) => y.l.learning_type === 'convention')) {
    const chars = [...`- ${x.l.pattern}\n`].length;
    if (chars > left) continue;
    left -= chars;
    conventions.push(x.l.id);
  }
  const tactical = kept.filter((x) => x.l.learning_type !== 'convention').slice(0, DEFAULT_MAX_RESULTS);
  return { conventions, tactical: tactical.map((x) => x.l.id) };
}

let input;
for await (const line of createInterface({ input: process.stdin })) {
  if (input === undefined) {
    input = JSON.parse(line);
    continue;
  }
  const start = process.hrtime.bigint();
  const answer = rank(input);
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  console.log(JSON.stringify({ seconds, ...answer }));
}
