import { dictionary } from '@zxcvbn-ts/language-common';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defaultPasswordPolicy, popularEntryIn } from '#contract/password-rules.ts';
import { eachRow } from '#test/support/runs-all.ts';
import { newPasswordProblem, ownNames } from './new-password.ts';

const customers = [{ key: 'acme', name: 'Acme Instruments Ltd' }];
const names = ownNames({ username: 'maria.lopez', email: 'ml77@corp.example', customers }, 'Vestibule');
const rules = { policy: defaultPasswordPolicy, names };
const problemOf = (password: string, repeat = password) => newPasswordProblem(password, repeat, rules)?.reason ?? null;
const says = (words: string, password: string, names: readonly string[]) =>
  newPasswordProblem(password, password, { ...rules, names })?.words.some((said) => said.includes(words)) === true;
const isOwnName = (password: string, names: readonly string[]) => says('just a name', password, names);

/** Uniform over the characters of password managers; fast-check itself prefers the edges. */
const ofPasswordManager = fc.noBias(
  fc.string({
    unit: fc.constantFrom(...'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789!@#$%^&*()-_=+'),
    minLength: 20,
    maxLength: 20,
  }),
);

// Length, score, popular entries and possible characters: contract/password-rules.test.ts.
describe('a new password', () => {
  test('V6.2.5 V6.2.9 may be anything that is strong enough', () =>
    eachRow(
      [
        ...['Trout-lantern-8', 'correct horse battery', 'kqzvhwxjfmrtbnypd', 'maria.lopez likes the sea'],
        ...['Zürich-Café', '🔑'.repeat(72), 'ab'.repeat(32), 'ab'.repeat(36)],
      ],
      (password) => expect(problemOf(password)).toBeNull(),
    ));

  test('PW-05 V6.2.4 V6.2.12 may not be on the list of common passwords, however strong', () => {
    const list = dictionary['passwords-common'].filter((_, n) => n % 10 === 0);
    expect(list.filter((entry) => entry.length >= 7 && problemOf(entry) !== 9)).toEqual([]);
    for (const password of ['1Qaz2Wsx3Edc', 'FinalFantasy', 'Porsche911', 'L58JKDJP!'])
      expect(problemOf(password), password).toBe(9);
  });

  test('from a password manager is never refused, unless it happens to contain a popular entry', () => {
    fc.assert(
      fc.property(ofPasswordManager, (password) => {
        expect(isOwnName(password, names)).toBe(false);
        expect(problemOf(password)).toBe(popularEntryIn(password) ? 9 : null);
      }),
    );
  });
});

const maria = ownNames(
  {
    username: 'maria.lopez',
    email: 'm.l-garcia@acme.example',
    customers: [
      { key: 'acme-4', name: 'Acme Größe & Söhne KG' },
      { key: 'bo', name: '李小龍' },
    ],
  },
  'Front Door',
);

describe('a password that is an own name', () => {
  test('PW-05 V6.2.11 is refused: of the user, with or without what follows the @, of a customer, of the hub', () =>
    eachRow(
      [
        ...['maria.lopez', 'MariaLopez2026!', '!!MARIA_LOPEZ??', ' maria lopez ', 'ＭａｒｉａＬｏｐｅｚ'],
        ...['m.l-garcia@acme.example', 'M.L-Garcia@Acme.Example1', 'mlgarcia2026', '₁maria.lopez²', 'Maria\u00adLopez'],
        ...['Acme-2026!', '4Acme4', 'ACME GRÖSSE & SÖHNE KG', 'acmegro\u0308ßesöhnekg99', 'FrontDoor#1', '李小龍'],
      ],
      (password) => expect(isOwnName(password, maria)).toBe(true),
    ));

  test('is none with something else in it', () =>
    eachRow(
      [
        ...['maria.lopez-at-the-beach', 'xmaria.lopez', 'maria2lopez', 'marialópez', 'lopez.maria', 'maria-front-door'],
        ...['', '2026!', '1234567', '!!!!!!!', 'bo123456', '李小龍2026!', 'acme.example', 'acmegrossesohnekg'],
      ],
      (password) => expect(isOwnName(password, maria)).toBe(false),
    ));
});
