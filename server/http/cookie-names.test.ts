import { beforeAll, expect, it } from 'vitest';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { type ListeningPortal, listeningPortal } from '#test/support/listening-portal.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';

const name = '__Host-vestibule-session';

const portal = portalOfFile({ env: { PUBLIC_URL: 'https://portal.example' } });
let listening: ListeningPortal;
let alice: string;
let mallory: string;
beforeAll(async () => {
  await addAttackFixtures(portal);
  listening = await listeningPortal(portal);
  alice = cookiesOf(await portal.signIn('alice', testPassword))[name] ?? '';
  mallory = cookiesOf(await portal.signIn('bob', testPassword))[name] ?? '';
});

/** The user signed in by these bytes of a Cookie field, one character each. */
async function signedInBy(cookie: string): Promise<string | null> {
  const { text } = await listening.exchange(
    `GET /portal/session HTTP/1.1\r\nHost: ${listening.host}\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`,
  );
  return /"username":"(\w+)"/.exec(text)?.[1] ?? null;
}

/** Unicode white space, or what a browser might leave in a name: a neighbouring host may set such a cookie. */
const before = [
  '\xa0',
  '\x85',
  '\x0b',
  '\x0c',
  '\xad',
  '\x1c',
  '\x1f',
  '\xa0 ',
  '\xc2\xa0',
  '\xef\xbb\xbf',
  '\xa0\xa0',
];

it('CK-04 a name with a leading character has no prefix and is another name', async () => {
  expect(await signedInBy(`${name}=${alice}`)).toBe('alice');
  for (const character of before) {
    const planted = `${character}${name}=${mallory}`;
    expect(await signedInBy(planted), JSON.stringify(character)).toBeNull();
    expect(await signedInBy(`a=b; ${planted}`), JSON.stringify(character)).toBeNull();
    expect(await signedInBy(`${name}${character}=${mallory}`), JSON.stringify(character)).toBeNull();
  }
});

it('CK-04 the genuine cookie counts beside it, in any order', async () => {
  for (const character of ['\xa0', '\x85', '\xc2\xa0', '\xad']) {
    const planted = `${character}${name}=${mallory}`;
    expect(await signedInBy(`${planted}; ${name}=${alice}`), JSON.stringify(character)).toBe('alice');
    expect(await signedInBy(`${name}=${alice}; ${planted}`), JSON.stringify(character)).toBe('alice');
  }
  expect(await signedInBy(`${name}=${alice}; ${name}=${mallory}`)).toBeNull();
});
