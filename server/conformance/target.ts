import { notices } from '#contract/notices.ts';
import { queryNames, type Screen, screenOfPath } from '#contract/screens.ts';
import type { Answer } from './backend-visit.ts';

/** Where an answer leads: a screen with its query, another address of the backend, or another origin. */
export type Target =
  | { kind: 'screen'; screen: Screen; search: string }
  | { kind: 'own'; address: string }
  | { kind: 'elsewhere'; origin: string };

/** A browser follows a form post with a GET at these alone; the others repeat the post, or are kept. */
const redirects = [302, 303];

/** Null if the answer is no such redirect. A screen may be named by its path or by its hash (specification §2). */
export function targetOf({ status, location }: Answer, base: URL): Target | null {
  if (!redirects.includes(status) || !location) return null;
  if (location.origin !== base.origin) return { kind: 'elsewhere', origin: location.origin };
  const { pathname, search, hash } = location;
  const isBelow = pathname === base.pathname || pathname.startsWith(`${base.pathname}/`);
  const [hashPath = '', hashQuery] = hash.slice(1).split('?');
  const named = isBelow && hashPath.startsWith('/') ? screenOfPath(hashPath) : null;
  if (named && named.name !== 'notFound')
    return { kind: 'screen', screen: named, search: hashQuery === undefined ? search : `?${hashQuery}` };
  const screen = isBelow ? screenOfPath(pathname.slice(base.pathname.length)) : null;
  if (screen && screen.name !== 'notFound') return { kind: 'screen', screen, search };
  return { kind: 'own', address: pathname + search + hash };
}

/** What a query may be quoted with: everything else in it may be somebody's own, in a name as in a value. */
const names: readonly string[] = Object.values(queryNames);
const values: readonly string[] = notices;
const quotedName = (name: string) => (names.includes(name) || /^\d{1,2}$/.test(name) ? name : '…');
const quotedValue = (value: string) =>
  /^(?:\d{1,2}|true|false)?$/.test(value) || values.includes(value) ? value : '…';

/** An answer in words, without a token, a code or a name. */
export function inWords(answer: Answer, base: URL): string {
  const target = targetOf(answer, base);
  const { status, json, location } = answer;
  if (!target && location) return `${status} with a Location`;
  if (!target) return `${status}${json === undefined ? '' : typeof json === 'boolean' ? ` ${json}` : ' with JSON'}`;
  if (target.kind === 'elsewhere') return `${status} to ${target.origin}`;
  if (target.kind === 'own') return `${status} to ${target.address.split(/[;?#]/, 1)[0]}`;
  const { screen, search } = target;
  const name = screen.name === 'loginFail' ? `loginfail/${screen.type}` : screen.name;
  const query = [...new URLSearchParams(search)].map(
    ([name, value]) => `${quotedName(name)}${value && `=${quotedValue(value)}`}`,
  );
  return `${status} to ${name}${query.length > 0 ? `?${query.join('&')}` : ''}`;
}
