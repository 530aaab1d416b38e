import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { acceptableDestination, type DestinationRules } from './destination.ts';

const rules: DestinationRules = {
  origin: 'https://portal.example',
  basePath: '/portal',
  allowedOrigins: ['https://old.example'],
};
const origins = [rules.origin, ...rules.allowedOrigins];

/** What addresses are made of, and what parsers have disagreed about. */
const parts = fc.constantFrom(
  ...[
    '/',
    '//',
    '\\',
    '.',
    '..',
    '/..',
    '/./',
    '@',
    ':',
    '?',
    '#',
    '&',
    ';',
    '=',
    '%',
    ' ',
    '\t',
    '\n',
    '\u0000',
    '\u00a0',
  ],
  ...['%2f', '%5c', '%2e', '%09', '%0a', '%00', '%252f', '%ff', '%40', '%3a'],
  ...['https:', 'http:', 'HTTPS:', 'javascript:', 'data:', 'blob:', 'ftp:', 'file:', 'view-source:'],
  ...[
    'portal.example',
    'old.example',
    'evil.example',
    'PORTAL.example',
    'portal.example.evil.example',
    '[::1]',
    '0x7f.1',
  ],
  ...[
    'portal',
    'login',
    'logout',
    'performlogin',
    'webbundle',
    ':443',
    ':80',
    ':8443',
    'user:pass@',
    'ｐortal',
    '。',
    '⁄',
    '／',
  ],
);
const value = fc.oneof(
  fc.array(parts, { maxLength: 12 }).map((texts) => texts.join('')),
  fc
    .tuple(
      fc.constantFrom('/', 'https://portal.example', 'https://old.example/', '/portal/'),
      fc.array(parts, { maxLength: 8 }),
    )
    .map(([start, texts]) => start + texts.join('')),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.webUrl({ withFragments: true, withQueryParameters: true }),
);

describe('OR-01 any destination', () => {
  it('that is accepted leads a browser to this origin, or to one that is listed, whatever page it is on', () => {
    let accepted = 0;
    const pages = ['/portal/login', '/portal/authenticate/finish', '/portal/', '/'];
    fc.assert(
      fc.property(value, fc.constantFrom(...pages), (text, page) => {
        const destination = acceptableDestination(text, rules);
        if (destination === null) return;
        accepted += 1;
        const { origin, username, password } = new URL(destination, rules.origin + page);
        expect([username, password]).toEqual(['', '']);
        expect(origins, text).toContain(origin);
        // What a header or an attribute can carry as it is.
        expect(destination).toMatch(/^(?:\/(?!\/)|https:\/\/)[\x21-\x7e]*$/);
      }),
    );
    expect(accepted).toBeGreaterThan(10);
  });

  it('that is accepted is accepted again as it is: the value checked is the value used', () => {
    fc.assert(
      fc.property(value, (text) => {
        const destination = acceptableDestination(text, rules);
        if (destination !== null) expect(acceptableDestination(destination, rules), text).toBe(destination);
      }),
    );
  });
});
