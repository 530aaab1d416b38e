import { Socket } from 'node:net';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { field } from '#test/forgeries/forged-saml.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { eachRow } from '#test/support/runs-all.ts';
import { keptForTest, type SamlForTest, samlForTest } from '#test/support/saml-for-test.ts';
import { readSamlMetadata } from './provider-metadata.ts';
import { readSamlAnswer } from './sign-in.ts';

const size = 180_000;
const filled = (piece: string) => piece.repeat(size / piece.length);
const laughs = Array.from({ length: 10 }, (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`).join('');

/** Each with the reason for refusal. */
const hostile: [name: string, words: RegExp, xml: string][] = [
  ['a DOCTYPE', /document type/, '<!DOCTYPE r><r/>'],
  ['an external entity', /document type/, '<!DOCTYPE r [<!ENTITY x SYSTEM "http://127.0.0.1:9/x">]><r>&x;</r>'],
  ['an entity of a file', /document type/, '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>'],
  ['a parameter entity', /document type/, '<!DOCTYPE r [<!ENTITY % x SYSTEM "http://127.0.0.1:9/x"> %x;]><r/>'],
  ['an external DTD', /document type/, '<!DOCTYPE r SYSTEM "http://127.0.0.1:9/x.dtd"><r/>'],
  ['a billion laughs', /document type/, `<!DOCTYPE r [<!ENTITY l0 "ha">${laughs}]><r>&l10;</r>`],
  ['a DOCTYPE in small letters', /document type/, '<!doctype r><r/>'],
  ['a style sheet', /processing instruction/, '<?xml-stylesheet href="http://127.0.0.1:9/x"?><r/>'],
  ['a declaration that does not end', /processing instruction/, `<?xml version="1.0" ${filled(' ')}`],
  ['elements in each other', /too many/, filled('<a>')],
  ['elements beside each other', /too many/, `<r>${filled('<a/>')}</r>`],
  ['attributes', /too many/, `<r ${Array.from({ length: 20_000 }, (_, at) => `a${at}=""`).join(' ')}/>`],
  ['ampersands', /too many/, `<r>${filled('&')}</r>`],
  ['ends of tags', /too many/, filled('</a>')],
  ['quotes that do not end', /too many/, `<r ${filled('a="')}`],
  ['white space in an end tag', /not a Response/, `<r></r${filled(' ')}>`],
  ['a long name', /not a Response|well-formed/, `<${filled('a')}/>`],
  ['colons', /not a Response|well-formed/, `<${filled('a:')}/>`],
  ['white space around', /not a Response/, `${filled(' ')}<r/>`],
  ['elements up to the limit', /not a Response/, `<r>${'<a b="" c=""/>'.repeat(990)}</r>`],
  ['namespaces up to the limit', /not a Response/, `<r>${'<a xmlns:b="urn:b" xmlns:c="urn:c"/>'.repeat(990)}</r>`],
];

const portal = portalOfFile();
let saml: SamlForTest;
beforeAll(async () => {
  saml = await samlForTest(portal);
});

describe('hostile XML is refused at once, and nobody is called', () => {
  it('SA-32 in an answer', () =>
    eachRow(hostile, async ([_name, words, xml]) => {
      const to = saml.connection();
      const posted = field(xml);
      const connect = vi.spyOn(Socket.prototype, 'connect');
      const times: number[] = [];
      for (let round = 0; round < 3; round += 1) {
        const begin = process.threadCpuUsage();
        const answer = { field: posted, kept: keptForTest };
        expect(await readSamlAnswer(portal.deps, to, answer)).toMatchObject({ words: expect.stringMatching(words) });
        times.push(process.threadCpuUsage(begin).user / 1000);
      }
      expect(connect).not.toHaveBeenCalled();
      connect.mockRestore();
      // Of the processor: the machine may be busy. The first round compiles what it runs.
      expect(Math.min(...times)).toBeLessThan(50);
    }));

  it('SA-32 as metadata', () =>
    eachRow(hostile, ([_name, _words, xml]) => {
      expect(readSamlMetadata(xml, { now: portal.deps.now() })).toMatchObject({ kind: 'refused' });
    }));
});
