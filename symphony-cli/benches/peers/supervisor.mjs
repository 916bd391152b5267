// Follows an agent as a supervisor in JavaScript does at the least: starts `sh` with the script named as argument, parses
// each line, keeps the raw line and a readable one in files of the folder named second, adds up what was used.
// When a line says "result", prints its memory and the time its processor took, as JSON; ends when its standard input does.
import { spawn } from 'node:child_process';
import { createWriteStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [script, folder] = process.argv.slice(2);
const raw = createWriteStream(`${folder}/stream.ndjson`);
const log = createWriteStream(`${folder}/log.txt`);
const agent = spawn('sh', [script], { stdio: ['ignore', 'pipe', 'inherit'] });
let events = 0;
let output = 0;
for await (const line of createInterface({ input: agent.stdout })) {
  raw.write(`${line}\n`);
  const event = JSON.parse(line);
  events += 1;
  if (event.type === 'assistant') {
    output += event.message.usage?.output_tokens ?? 0;
    for (const block of event.message.content) {
      log.write(`${new Date().toISOString()} [${block.type}] ${block.text ?? block.thinking ?? JSON.stringify(block.input)}\n`);
    }
  } else if (event.type === 'result') {
    break;
  }
}
const { user, system } = process.cpuUsage();
const pss = /^Pss:\s+(\d+)/m.exec(readFileSync('/proc/self/smaps_rollup', 'utf8'))?.[1];
console.log(JSON.stringify({ events, output, cpu_us: user + system, pss_kib: Number(pss) }));
process.stdin.resume();
process.stdin.on('end', () => {
  agent.kill('SIGKILL');
  process.exit(0);
});
