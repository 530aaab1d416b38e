import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { eachRow } from '#testing/runs-all.ts';
import { isOwnName, ownNames } from './own-names.ts';

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

describe('own names', () => {
  test('are username and email, their parts before the @, keys and names of the customers, and the hub', () => {
    expect(maria).toEqual([
      ...['maria.lopez', 'maria.lopez', 'm.l-garcia@acme.example', 'm.l-garcia'],
      ...['acme-4', 'Acme Größe & Söhne KG', 'bo', '李小龍', 'Front Door'],
    ]);
    expect(ownNames({ username: 'a@b@c.example', email: 'a@b.example', customers: [] }, 'Hub')).toContain('a@b');
  });
});

describe('a password that is an own name', () => {
  test('PW-05 V6.2.11 is refused', () =>
    eachRow(
      [
        ...[
          'maria.lopez',
          'MariaLopez2026!',
          '2026-maria.lopez',
          '!!MARIA_LOPEZ??',
          ' maria lopez ',
          'ＭａｒｉａＬｏｐｅｚ',
        ],
        ...['m.l-garcia@acme.example', 'M.L-Garcia@Acme.Example1', 'mlgarcia2026', '₁maria.lopez²', 'Maria\u00adLopez'],
        ...[
          'Acme-2026!',
          '4Acme4Acme4'.slice(0, 5),
          'ACME GRÖSSE & SÖHNE KG',
          'acmegro\u0308ßesöhnekg99',
          'FrontDoor#1',
        ],
        '李小龍',
      ],
      (password) => expect(isOwnName(password, maria)).toBe(true),
    ));

  test('is no longer one', () =>
    eachRow(
      [
        ...['maria.lopez-at-the-beach', 'xmaria.lopez', 'maria2lopez', 'marialópez', 'lopez.maria', 'maria-front-door'],
        ...['', '2026!', '1234567', '!!!!!!!', 'bo123456', '李小龍2026!', 'acme.example', 'acmegrossesohnekg'],
      ],
      (password) => expect(isOwnName(password, maria)).toBe(false),
    ));

  test('with fewer than four letters is compared including its ends', () => {
    expect(isOwnName('4711-0815', ['4711-0815'])).toBe(true);
    expect(isOwnName('47110815', ['4711-0815'])).toBe(true);
    expect(isOwnName('47110815!x', ['4711-0815'])).toBe(false);
    expect(isOwnName('99-0815', ['4711-0815'])).toBe(false);
    expect(isOwnName('Abc1234', ['abc'])).toBe(false);
    expect(isOwnName('Abcd1234', ['abcd'])).toBe(true);
    expect(isOwnName('!!**!!**', ['!!**!!**'])).toBe(true);
    expect(isOwnName('??++??++', ['!!**!!**'])).toBe(false);
  });

  test('is the same in capitals, whatever that does to letters and accents', () => {
    for (const name of ['νικος.παπας', 'ταΰγετος', 'weiß.groß', 'mªria.lopez'])
      for (const form of ['NFC', 'NFD', 'NFKC'])
        expect(isOwnName(name.toUpperCase().normalize(form), [name]), name).toBe(true);
  });

  test('differs with other vowel signs', () => {
    expect(isOwnName('कुमारशर्मा', ['कुमार.शर्मा'])).toBe(true);
    expect(isOwnName('कमरशरम', ['कुमार.शर्मा'])).toBe(false);
  });

  const name = fc.stringMatching(/^[a-z]{2,8}[._-]?[a-z]{2,8}$/);
  const ends = fc.stringMatching(/^[0-9!?#*+_. -]{0,6}$/);

  test('is recognised in any case and with any digits and symbols around it', () => {
    fc.assert(
      fc.property(name, ends, ends, fc.boolean(), (name, before, after, isLoud) => {
        const password = before + (isLoud ? name.toUpperCase() : name.replace(/^./, (c) => c.toUpperCase())) + after;
        expect(isOwnName(password, ['someone else', name])).toBe(true);
      }),
    );
  });

  test('is not recognised with an extra letter anywhere', () => {
    fc.assert(
      fc.property(name, ends, fc.nat(20), (name, after, at) => {
        expect(isOwnName(`${name.slice(0, at)}q${name.slice(at)}${after}`, [name])).toBe(false);
      }),
    );
  });
});
