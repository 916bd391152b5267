// Parses each line of a file of JSON lines, as a supervisor in JavaScript does at the least.
// Each line on stdin asks for one pass over the file named as argument and is answered with its figures as one line of JSON:
// `whole` reads the file at once and cuts the buffer, which is the fastest way but needs the memory; `stream` reads it as it
// comes, line by line, as one has to read a process.
import { createReadStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const file = process.argv[2];

function* whole() {
  const bytes = readFileSync(file);
  for (let at = 0; at < bytes.length; ) {
    let end = bytes.indexOf(10, at);
    if (end < 0) end = bytes.length;
    yield bytes.toString('utf8', at, end);
    at = end + 1;
  }
}

const figures = () => ({ lines: 0, calls: 0, input: 0 });

function take(sum, line) {
  const event = JSON.parse(line);
  sum.lines += 1;
  if (event.type === 'assistant') {
    for (const block of event.message.content) if (block.type === 'tool_use') sum.calls += 1;
  } else if (event.type === 'result') {
    for (const usage of Object.values(event.model_usage_since_last_result)) sum.input += usage.inputTokens;
  }
}

for await (const way of createInterface({ input: process.stdin })) {
  const begin = process.hrtime.bigint();
  const sum = figures();
  if (way === 'whole') {
    for (const line of whole()) take(sum, line);
  } else {
    for await (const line of createInterface({ input: createReadStream(file) })) take(sum, line);
  }
  sum.seconds = Number(process.hrtime.bigint() - begin) / 1e9;
  console.log(JSON.stringify(sum));
}
