import { describe, expect, it } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
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

describe('the address of a screen', () => {
  it('keeps its query, without undefined values', () =>
    expect(screenUrl('/portal', 'forgotten', { lang: 'de', login: undefined, destination: '/a?b=c&d#e' })).toBe(
      '/portal/forgotten?lang=de&destination=%2Fa%3Fb%3Dc%26d%23e',
    ));
});
