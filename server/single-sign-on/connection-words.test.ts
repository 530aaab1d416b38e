import { describe, expect, it } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import { doubtsAbout, doubtsOf } from './connection-words.ts';
import type { SsoConnection } from './sso-connection.ts';

const connection = (key: string, more: Partial<SsoConnection> = {}) =>
  ({ key, name: 'Acme Ltd.', active: true, required: false, domains: ['acme.example'], ...more }) as SsoConnection;

describe('two connections of one domain', () => {
  it('with names that look alike', () =>
    eachRow(
      [
        ['Acme Ltd.', 'Acme Ltd.'],
        ['Acme Ltd.', 'ACME  ltd. '],
        ['Acme Ltd.', 'Acme\u00a0Ltd.'],
        ['Acme', 'Ａcme'],
      ],
      ([name, other]) => {
        const doubts = doubtsOf([connection('one', { name }), connection('two', { name: other })]);
        expect(doubts).toEqual([
          expect.stringMatching(/acme\.example cannot tell connections one and two apart.*set two/),
        ]);
      },
    ));

  it('that differ are no cause for doubt', () =>
    eachRow(
      [
        ['names that differ', connection('two', { name: 'Acme Austria' })],
        ['domains that differ', connection('two', { domains: ['acme.test'] })],
        ['one that is switched off', connection('two', { active: false })],
      ],
      ([_, two]) => {
        expect(doubtsOf([connection('one'), two])).toEqual([]);
      },
    ));
});

it('vouching for a public mail domain is vouching for strangers', () =>
  eachRow(
    ['gmail.com', 'outlook.com', 'gmx.de', 'web.de', 'wp.pl', 'libero.it', 'ziggo.nl', 'hotmail.es'],
    (domain) => {
      const doubts = doubtsOf([connection('one', { domains: ['acme.example', domain] })]);
      expect(doubts).toEqual([expect.stringContaining(`connection one vouches for ${domain}, where anyone`)]);
    },
  ));

it('a domain that requires single sign-on and has none is reported', () => {
  const off = connection('one', { required: true, active: false });
  expect(doubtsOf([off])).toEqual([expect.stringContaining('nobody in acme.example can sign in')]);
  expect(doubtsOf([off, connection('two', { name: 'Other' })])).toEqual([]);
});

it('doubts about one connection leave out those that exist without it', () => {
  const all = [connection('one', { domains: ['gmx.de'] }), connection('two'), connection('three')];
  expect(doubtsAbout('three', all)).toEqual([expect.stringContaining('two and three')]);
  expect(doubtsAbout('one', all)).toEqual([expect.stringContaining('gmx.de')]);
});
