import { median, report } from './figures.ts';
import { startFloors } from './floors/floors.ts';
import { loadPage, type PageLoad } from './page-load.ts';
import type { RunningServer } from './servers.ts';

/**
 * Loads the sign-in page on a slow phone, alternating with pages that do less: an unstyled form, ours without its
 * script, and React with nothing but a form.
 */
export async function comparePages({ origin }: RunningServer, { rounds }: { rounds: number }): Promise<void> {
  const login = `${origin}/portal/login`;
  const floors = await startFloors(login);
  const { unstyled, withoutScript, react } = floors;
  const loads = new Map([unstyled, withoutScript, react, login].map((url) => [url, [] as PageLoad[]]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [url, measured] of loads) {
      const load = await loadPage(url);
      // The first round warms the server's caches and the disk's.
      if (round > 0) measured.push(load);
    }
  }
  await floors.close();
  const of = (url: string, figure: keyof PageLoad) =>
    median((loads.get(url) ?? []).map((load) => load[figure] ?? Number.NaN));
  const plain = { url: unstyled, is: 'an unstyled form' };
  const scriptless = { url: withoutScript, is: 'ours without script' };
  const bareReact = { url: react, is: 'React with a form' };
  function compare(what: string, figure: keyof PageLoad, floor: { url: string; is: string }, most: number): void {
    const [ours, theirs] = [of(login, figure), of(floor.url, figure)];
    const ratio = ours / theirs;
    const told = `${ratio.toFixed(2)} of ${floor.is} (${Math.round(ours)} to ${Math.round(theirs)} ms)`;
    report(what, told, `at most ${most}`, ratio <= most);
  }
  compare('first paint on slow 4G', 'firstPaint', plain, 1.25);
  compare('first usable field on slow 4G', 'firstField', scriptless, 1.05);
  compare('hydrated on slow 4G', 'hydrated', bareReact, 1.05);
  compare('blocked by long tasks at a quarter of the speed', 'blocking', bareReact, 1.1);
  const size = of(login, 'bytes') / 1000;
  report(
    'until then, compressed',
    `${size.toFixed(1)} KB in ${of(login, 'requests')} requests (React with a form: ${(of(react, 'bytes') / 1000).toFixed(1)})`,
    'at most 71 KB in 3',
    size <= 71 && of(login, 'requests') <= 3,
  );
}
