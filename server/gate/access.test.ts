import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HubRule } from '../config/hub.ts';
import { accessTo, meets } from './access.ts';
import { readPath } from './read-path.ts';

const rules: HubRule[] = [
  { path: '/app/open', who: 'public' },
  { path: '/app/kept', who: ['acme'] },
  { path: '/app/kept/open', who: 'public' },
  { path: '/app/open/kept', who: ['acme'] },
];

const accessOf = (sent: string) => {
  const path = readPath(sent);
  return path && accessTo(path, rules);
};

/** What servers undo: each turns a text into another that some of them read as the first. */
const disguises: ((text: string, at: number) => string)[] = [
  (text, at) => text.slice(0, at) + encoded(text.charAt(at)) + text.slice(at + 1),
  (text, at) => text.slice(0, at) + encoded(encoded(text.charAt(at))) + text.slice(at + 1),
  (text, at) => text.slice(0, at) + text.charAt(at).toUpperCase() + text.slice(at + 1),
  (text, at) => atSegment(text, at, (segment) => `${segment};a=b`),
  (text, at) => atSegment(text, at, (segment) => `${segment}.`),
  (text, at) => atSegment(text, at, (segment) => `${segment}%20`),
  (text, at) => atSegment(text, at, (segment) => `${segment}/`),
  (text, at) => atSegment(text, at, (segment) => `${segment}/.`),
  (text, at) => atSegment(text, at, (segment) => `${segment}/x/..`),
  (text, at) => atSegment(text, at, (segment) => `${segment}/x/%2e%2E`),
];

function encoded(text: string): string {
  return text.replace(/./g, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

function atSegment(text: string, at: number, change: (segment: string) => string): string {
  const segments = text.split('/');
  const index = 1 + (at % (segments.length - 1));
  return segments.map((segment, place) => (place === index ? change(segment) : segment)).join('/');
}

describe('GT-07 access by path', () => {
  it('is that of the longest rule for a plain path', () => {
    expect(accessOf('/app')).toEqual({ kind: 'signedIn', oneOfEach: [] });
    expect(accessOf('/app/open/M%C3%BCnchen')).toEqual({ kind: 'public' });
    expect(accessOf('/app/kept/x.html')).toEqual({ kind: 'signedIn', oneOfEach: [['acme']] });
    expect(accessOf('/app/kept/open/x')).toEqual({ kind: 'public' });
    expect(accessOf('/app/open/kept')).toEqual({ kind: 'signedIn', oneOfEach: [['acme']] });
  });

  it('of a path that some hub reads differently is that of all rules on its way', () => {
    expect(accessOf('/app//kept/open')).toEqual({ kind: 'signedIn', oneOfEach: [['acme']] });
    expect(accessOf('/app/open/x;y')).toEqual({ kind: 'signedIn', oneOfEach: [] });
  });

  it.each([
    '/app/open/kept.json',
    '/app/open/kept::$DATA',
    '/app/open/%E2%84%AAept',
    '/app/open/%EF%BD%8Bept/x',
    '/app/open/kept%C2%A0',
    '/app/open%EF%BC%8Fkept',
  ])('of %s, which some hub takes for another, is that of the other', (path) => {
    expect(accessOf(path)).toEqual({ kind: 'signedIn', oneOfEach: [['acme']] });
  });

  it('of dots in other characters is refused', () => {
    expect(readPath('/app/open/%EF%BC%8E%EF%BC%8E/kept')).toBeNull();
  });

  it('of a disguised path is refused, or that of the path behind the disguise at least', () => {
    const paths = fc.constantFrom('/app/kept/x', '/app/open/kept/x', '/app/kept', '/app/open/kept/open');
    const steps = fc.array(fc.tuple(fc.constantFrom(...disguises), fc.nat(40)), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(paths, steps, (path, disguised) => {
        const sent = disguised.reduce<string>((text, [disguise, at]) => disguise(text, at % text.length), path);
        const access = accessOf(sent);
        expect(access === null || !meets(access, ['other']), sent).toBe(true);
      }),
    );
  });

  it('of a path that is not plain is never public', () => {
    const steps = fc.tuple(fc.constantFrom(...disguises), fc.integer({ min: 1, max: 8 }));
    fc.assert(
      fc.property(steps, ([disguise, at]) => {
        const sent = disguise('/app/open', at);
        const isSame = sent === '/app/open' || sent === '/app/open/';
        expect(isSame || accessOf(sent)?.kind !== 'public', sent).toBe(true);
      }),
    );
  });

  it('reads no path in an endless or a foreign encoding', () => {
    expect(readPath(`/app/${'%25'.repeat(3)}2e`)).not.toBeNull();
    expect(readPath(`/app/%${'25'.repeat(12)}41`)).toBeNull();
    for (const path of ['/app/%ff', '/app/%', '/app/%zz', '/app/%25c0%25ae', 'app', '', '/app/%E0%80%AF'])
      expect(readPath(path), path).toBeNull();
  });
});
