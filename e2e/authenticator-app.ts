import { setTimeout as pause } from 'node:timers/promises';
import { runOathtool } from './find-oathtool.ts';

const step = 30;

/** What an app with this key shows, on a phone whose clock is off by this many seconds. */
export function appCode(key: string, secondsOff = 0): string {
  return runOathtool(['--totp', '-b', `--now=${timeOff(secondsOff)}`, key]).trim();
}

/**
 * Waits, if need be, for a time step with so many seconds left: what a test says about a code's offset holds only while
 * the portal checks it in the step that it was made in.
 */
export async function stepLasts(seconds: number): Promise<void> {
  const left = () => step - ((Date.now() / 1000) % step);
  // Not once: a timer may fire a fraction of a millisecond early, still in the step before.
  while (left() < seconds) await pause(left() * 1000);
}

/** Codes that the app shows at no time near now, within any reported clock offset. */
export function wrongAppCodes(key: string, count: number): string[] {
  const near = 15 * 60;
  const codes = runOathtool(['--totp', '-b', `--now=${timeOff(-near)}`, `-w${(2 * near) / step}`, key]).split('\n');
  const wrong: string[] = [];
  for (let number = 100_000; wrong.length < count; number += 1)
    if (!codes.includes(String(number))) wrong.push(String(number));
  return wrong;
}

function timeOff(seconds: number): string {
  return new Date(Date.now() + seconds * 1000).toISOString().replace('T', ' ').replace(/\..*/, ' UTC');
}
