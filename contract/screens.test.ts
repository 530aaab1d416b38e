import { describe, expect, it } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import { bestLanguage, languageOfTag, tagsOfAcceptLanguage } from './languages.ts';
import { noticeOfSearch } from './notices.ts';
import { loginFailTypeOf, reasonOfSearch } from './reasons.ts';
import { type PlainScreen, pathOfScreen, screenOfPath, screenPaths, screenUrl } from './screens.ts';

describe('the screen of a path', () => {
  it('has its path', () =>
    eachRow(Object.entries(screenPaths), ([name, path]) => {
      expect(screenOfPath(path)).toEqual({ name });
      expect(screenOfPath(`${path}/`)).toEqual({ name });
      expect(screenOfPath(path.toUpperCase())).toEqual({ name: 'notFound' });
      expect(screenOfPath(`${path}/x`)).toEqual({ name: 'notFound' });
      expect(pathOfScreen({ name: name as PlainScreen })).toBe(path);
    }));

  it('the sign-in form has three paths', () =>
    eachRow(['', '/'], (path) => expect(screenOfPath(path)).toEqual({ name: 'login' })));

  it('IN-03 a failure has its type, or the default', () =>
    eachRow(
      [
        ['/loginFail', 'default'],
        ['/loginfailSAML', 'saml'],
        ['/loginfailIP', 'ip'],
        ['/loginfail/ip', 'ip'],
        ['/loginfail/anything', 'default'],
        ['/loginfail/__proto__', 'default'],
        ['/loginfail/<script>', 'default'],
      ],
      ([path, type]) => expect(screenOfPath(path)).toEqual({ name: 'loginFail', type }),
    ));

  it('LM-19 is not found by any other path', () =>
    eachRow(
      '/loginfail /loginfail/ /loginfail/ip/x /__proto__ /toString //login /login// /%6cogin /login%2f /login;x login'.split(
        ' ',
      ),
      (path) => expect(screenOfPath(path)).toEqual({ name: 'notFound' }),
    ));
});

it('the address of a screen keeps its query, without undefined values', () =>
  expect(screenUrl('/portal', 'forgotten', { lang: 'de', login: undefined, destination: '/a?b=c&d#e' })).toBe(
    '/portal/forgotten?lang=de&destination=%2Fa%3Fb%3Dc%26d%23e',
  ));

it('the reason is read from the query', () =>
  eachRow(
    [
      ['?reason=3', 3],
      ['?3', 3],
      ['?11', 11],
      ['?3=&lang=de', 3],
      ['?lang=de&reason=10', 10],
      ['?reason=1&3', 1],
      ['', null],
      ['?12', null],
      ['?reason=12', null],
      ['?reason=-1', null],
      ['?reason=constructor', null],
      ['?lang=de&3', null],
      ['?3x', null],
    ],
    ([search, reason]) => expect(reasonOfSearch(search)).toBe(reason),
  ));

it('the login-fail type is one of the list, or the default', () => {
  for (const type of ['default', 'ip', 'oidc', 'saml', 'passkey']) expect(loginFailTypeOf(type)).toBe(type);
  for (const text of ['', 'IP', 'constructor', '__proto__', 'x']) expect(loginFailTypeOf(text)).toBe('default');
});

it('the notice of an address is one of the list, or none', () =>
  eachRow(
    [
      ['?notice=signInExpired', 'signInExpired'],
      ['?lang=de&notice=codeWrong', 'codeWrong'],
      ['?notice=constructor', null],
      ['?notice=<b>', null],
      ['', null],
    ],
    ([search, notice]) => expect(noticeOfSearch(search)).toBe(notice),
  ));

it('the language of a tag is that of its first part, or none', () =>
  eachRow(
    [
      ['de', 'de'],
      ['de-AT', 'de'],
      ['DE_ch', 'de'],
      [' pl ', 'pl'],
      ['nl-Latn-BE-x-y', 'nl'],
      ['deu', null],
      ['fr', null],
      ['*', null],
      ['', null],
      ['../../etc', null],
      ['__proto__', null],
      ['constructor', null],
    ],
    ([tag, expected]) => expect(languageOfTag(tag)).toBe(expected),
  ));

it('the tags of an Accept-Language header are in order of preference', () =>
  eachRow(
    [
      ['de', ['de']],
      ['fr;q=0.9, es;q=0.95, *;q=0.1', ['es', 'fr', '*']],
      ['en;q=0, de;q=0.5', ['de']],
      ['de-DE,de;q=0.9,en-US;q=0.8', ['de-DE', 'de', 'en-US']],
      ['', []],
      [',,;;q=1,', []],
      ['it;q=x', []],
      ['it; q=0.3 , nl', ['nl', 'it']],
    ],
    ([header, expected]) => expect(tagsOfAcceptLanguage(header)).toEqual(expected),
  ));

it('the best language is the first one that there is', () =>
  eachRow(
    [
      [['fr', 'pl-PL', 'de'], 'pl'],
      [['fr', '*'], 'en'],
      [[], 'en'],
    ],
    ([tags, expected]) => expect(bestLanguage(tags)).toBe(expected),
  ));
