// A plain JavaScript peer of the prompt build: the same document in, the same budgets, counting scalar values
// the way a script does it ([...text].length), cutting by code points. It writes the same sections without
// fences or a report. Reads the document from the file named first, builds N times, prints nanoseconds per build.
import { readFileSync } from "node:fs";

const [, , path, times] = process.argv;
const { description, diff, comments, findings, learnings, outputs } = JSON.parse(readFileSync(path, "utf8"));
const MARKER = "...(truncated)";
const tokens = (text) => Math.ceil([...text].length / 4);
const strip = (text) => text.replace(/<!--[\s\S]*?-->/g, "").replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, "");

function keepEnd(text, cap) {
  if (tokens(text) <= cap) return text;
  const chars = [...text];
  return MARKER + chars.slice(chars.length - (cap * 4 - MARKER.length)).join("");
}

function keepStart(text, cap) {
  if (tokens(text) <= cap) return text;
  return [...text].slice(0, cap * 4 - MARKER.length).join("") + MARKER;
}

function newest(items, cap) {
  const kept = [];
  let used = 0;
  for (const item of [...items].reverse()) {
    const cost = tokens(item);
    if (used + cost > cap) break;
    used += cost;
    kept.unshift(item);
  }
  return kept;
}

function cutDiff(text, cap) {
  const limited = [...text].slice(0, 50_000).join("");
  const files = limited.split(/^(?=diff --git )/m);
  const share = Math.floor(cap / files.length);
  return files.map((file) => keepStart(file, share)).join("\n");
}

function build() {
  const kept = [];
  let used = 0;
  for (const learning of learnings.slice(0, 25)) {
    const cost = tokens(`- ${learning}\n`);
    if (used + cost > 800) break;
    used += cost;
    kept.push(`- ${learning}`);
  }
  const prompt = [
    "# SYM-12: Title",
    "## Description\n\n" + keepEnd(strip(description), 1_200),
    "## Diff\n\n" + cutDiff(diff, 2_000),
    "## Previous Attempts\n\n" + keepEnd(outputs.slice(-3).join("\n"), 2_000),
    "## Previous Findings\n\n" + newest(findings.slice(-5).map(strip), 1_200).join("\n\n"),
    "## Conversation\n\n" + newest(comments.map(strip), 800).join("\n\n"),
    "## Related Learnings\n\n" + kept.join("\n"),
  ].join("\n\n");
  return { prompt, tokens: tokens(prompt) };
}

let length = 0;
for (let warm = 0; warm < 3; warm += 1) length = build().prompt.length;
const start = process.hrtime.bigint();
for (let n = 0; n < Number(times); n += 1) length = build().prompt.length;
const spent = process.hrtime.bigint() - start;
console.log(JSON.stringify({ nanos: Number(spent) / Number(times), chars: length }));
