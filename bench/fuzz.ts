// Tries every property of the tests with new random values, again and again, until one fails or the time is over.
// Usage: npm run fuzz [-- --minutes 10] [--seed N, for one round with its values] [test files, instead of all]
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string' } },
  allowPositionals: true,
});
const files = positionals.length > 0 ? positionals : filesWithProperties();
const end = Date.now() + Number(values.minutes) * 60_000;

let rounds = 0;
do {
  const seed = values.seed ?? String(randomInt(2 ** 31));
  const env = { ...process.env, FUZZ_SEED: seed, TEST_ALL: '1' };
  const round = spawn('vitest', ['run', '--silent', '--reporter=agent', ...files], { env, stdio: 'inherit' });
  const [status] = await once(round, 'exit');
  rounds += 1;
  if (status !== 0) {
    console.error(`Round ${rounds} failed. The same values again: npm run fuzz -- --seed ${seed}`);
    process.exit(1);
  }
} while (!values.seed && Date.now() < end);
console.log(`Nothing found; rounds: ${rounds}`);

function filesWithProperties(): string[] {
  const tests = globSync(['contract/**/*.test.ts', 'web/**/*.test.{ts,tsx}', 'server/**/*.test.ts']);
  return tests.filter((file) =>
    /from '(?:fast-check|#test\/support\/hostile-requests\.ts)'/.test(readFileSync(file, 'utf8')),
  );
}
