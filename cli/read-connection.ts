import { isProviderAddress } from '#server/http/provider-fetch.ts';
import { day, hour, minute } from '#server/limits.ts';
import type { Reading } from '#server/names/read-name.ts';
import { canonicalDomain } from '#server/names/read-name.ts';

/** Reads an email domain into ASCII; at least two labels, so that nobody vouches for a whole country. */
export function readDomain(text: string): Reading {
  const value = canonicalDomain(text.trim().toLowerCase().normalize('NFKC').replace(/^@/, ''));
  const isDomain = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})+$/.test(value) && !/\.\d+$/.test(value);
  if (isDomain) return { kind: 'ok', value };
  return {
    kind: 'refused',
    problem: `--domain: ${JSON.stringify(text.slice(0, 100))} is not a domain such as acme.example`,
  };
}

/** Reads the address of a provider: https, or plain http on this machine for tests. */
export function readProviderUrl(option: string, text: string): Reading {
  const value = text.trim();
  // Unchanged: issuers are compared letter by letter.
  if (isProviderAddress(value) && !value.includes('#')) return { kind: 'ok', value };
  const problem = 'is not an https address without user and fragment (plain http is for this machine only)';
  return { kind: 'refused', problem: `${option}: ${JSON.stringify(text.slice(0, 200))} ${problem}` };
}

const secondsOf: Record<string, number> = { m: minute / 1000, h: hour / 1000, d: day / 1000 };

/** Reads how long ago people may have signed in at a provider: in seconds, null for no limit. */
export function readMaxAuthenticationAge(text: string): Reading<number | null> {
  if (text === 'off') return { kind: 'ok', value: null };
  const [, count, unit = ''] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? [];
  if (count) return { kind: 'ok', value: Number(count) * (secondsOf[unit] as number) };
  const problem = `--max-authentication-age: ${JSON.stringify(text.slice(0, 50))} is not a time such as 30m, 12h or 7d, or off`;
  return { kind: 'refused', problem };
}

/** Reads the portal's id at a provider, or a value such as a scope or acr: visible ASCII. */
export function readProviderValue(option: string, text: string): Reading {
  const value = text.trim();
  if (/^[\x21-\x7e]{1,500}$/.test(value)) return { kind: 'ok', value };
  return { kind: 'refused', problem: `${option}: must have 1 to 500 visible ASCII characters without spaces` };
}
