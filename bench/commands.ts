import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { median, report } from './figures.ts';
import { root } from './servers.ts';

/** Times commands beside the running server on its data folder, alternating with a Node that does nothing. */
export async function measureCommands(dataFolder: string, { rounds }: { rounds: number }): Promise<void> {
  const times = { add: [] as number[], show: [] as number[], node: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    times.node.push(await timed(['--eval', '']));
    times.add.push(await timed(vestibule('customer', 'add', `bench-${round}`, '--name', 'Bench'), dataFolder));
    times.show.push(await timed(vestibule('user', 'show', 'user-0'), dataFolder));
  }
  for (const [command, figures] of [
    ['customer add', times.add],
    ['user show', times.show],
  ] as const) {
    const ms = median(figures);
    const told = `${Math.round(ms)} ms (Node that does nothing: ${Math.round(median(times.node))})`;
    report(`vestibule ${command}, beside a running server`, told, 'at most 500 ms', ms <= 500);
  }
}

function vestibule(...words: string[]): string[] {
  return ['cli/vestibule.ts', ...words];
}

/** How long a Node process takes from start to end, in ms; throws if it fails. */
async function timed(words: string[], dataFolder?: string): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, words, {
    cwd: root,
    env: { ...process.env, ...(dataFolder && { VESTIBULE_DATA: dataFolder }) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}`);
  return performance.now() - started;
}
