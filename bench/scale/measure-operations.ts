import { median, report } from '../figures.ts';
import { timed } from '../timed.ts';
import { type Installation, operations } from './operations.ts';

/** Each operation on a small installation and on a large one, alternately, after one of each to warm up. */
export async function measureOperations(small: Installation, large: Installation): Promise<void> {
  for (const { name, samples, prepare } of operations) {
    const times = { small: [] as number[], large: [] as number[] };
    for (let turn = 0; turn <= samples; turn += 1)
      for (const [size, installation] of [
        ['small', small],
        ['large', large],
      ] as const) {
        const run = await prepare(installation, turn);
        const time = await timed(run);
        if (turn > 0) times[size].push(time);
      }
    const [few, many] = [median(times.small), median(times.large)];
    const ratio = many / few;
    const figure = `${ratio.toFixed(2)} of the small one (${many.toFixed(1)} to ${few.toFixed(1)} ms)`;
    report(`${name}, large installation`, figure, '0.80 to 1.20', ratio >= 0.8 && ratio <= 1.2);
  }
}
