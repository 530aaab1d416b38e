import type { Database } from '#server/database/database.ts';
import { median, report } from './figures.ts';
import type { RunningServer } from './servers.ts';
import { sendCode, signInThatWaits } from './sign-in-that-waits.ts';
import { timed } from './timed.ts';

const samples = 300;

/** Times right codes against an empty route of the bare server, alternately. */
export async function measureVerify(
  portal: RunningServer,
  bare: RunningServer,
  sql: Database,
  dataFolder: string,
): Promise<void> {
  const times = { verify: [] as number[], empty: [] as number[] };
  for (let sample = 0; sample < samples; sample += 1) {
    const waiting = await signInThatWaits(sql, dataFolder, 'user-3');
    times.empty.push(await timed(async () => (await fetch(`${bare.origin}/empty`)).text()));
    times.verify.push(await timed(() => sendCode(portal.origin, waiting)));
  }
  const cost = median(times.verify) - median(times.empty);
  report(
    'a right code, beside an empty route',
    `${cost.toFixed(1)} ms more (${median(times.verify).toFixed(1)} to ${median(times.empty).toFixed(1)})`,
    'under 5 ms',
    cost < 5,
  );
}
