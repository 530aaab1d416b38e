import { Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import type { SamlConnection } from '#server/storage/sso-connection.ts';
import { field } from '#testing/forged-saml.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { eachRow } from '#testing/runs-all.ts';
import { keptForTest } from '#testing/saml-for-test.ts';
import { readSamlMetadata } from './read-saml-metadata.ts';
import { readSamlAnswer } from './saml.ts';
import { readSamlField } from './text.ts';

const size = 180_000;
const filled = (piece: string) => piece.repeat(size / piece.length);
const laughs = Array.from({ length: 10 }, (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`).join('');

/** Each with the reason for refusal; only the last ones reach a parser. */
const hostile: [name: string, words: RegExp, xml: string][] = [
  ['a DOCTYPE', /DOCTYPE/, '<!DOCTYPE r><r/>'],
  ['an external entity', /DOCTYPE/, '<!DOCTYPE r [<!ENTITY x SYSTEM "http://127.0.0.1:9/x">]><r>&x;</r>'],
  ['an entity of a file', /DOCTYPE/, '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>'],
  ['a parameter entity', /DOCTYPE/, '<!DOCTYPE r [<!ENTITY % x SYSTEM "http://127.0.0.1:9/x"> %x;]><r/>'],
  ['an external DTD', /DOCTYPE/, '<!DOCTYPE r SYSTEM "http://127.0.0.1:9/x.dtd"><r/>'],
  ['a billion laughs', /DOCTYPE/, `<!DOCTYPE r [<!ENTITY l0 "ha">${laughs}]><r>&l10;</r>`],
  ['a DOCTYPE in small letters', /DOCTYPE/, '<!doctype r><r/>'],
  ['a style sheet', /processing instruction/, '<?xml-stylesheet href="http://127.0.0.1:9/x"?><r/>'],
  ['elements in each other', /nested too deep/, filled('<a>')],
  ['elements in each other, all closed', /nested too deep/, '<a>'.repeat(20_000) + '</a>'.repeat(20_000)],
  ['elements beside each other', /too many elements/, `<r>${filled('<a/>')}</r>`],
  ['attributes', /malformed tag/, `<r ${Array.from({ length: 20_000 }, (_, at) => `a${at}=""`).join(' ')}/>`],
  ['beginnings of tags', /malformed tag/, filled('<')],
  ['ends of tags', /do not match/, filled('</a>')],
  ['quotes that do not end', /malformed tag/, `<r ${filled('a="')}`],
  ['tags that do not end', /malformed tag/, filled('<a ')],
  ['ampersands', /entity/, `<r>${filled('&')}</r>`],
  ['numbers of characters', /too many entities/, `<r>${filled('&#65;')}</r>`],
  ['white space in an end tag', /not a SAML response|malformed tag|well-formed/, `<r></r${filled(' ')}>`],
  ['a long name', /tag that is too long/, `<${filled('a')}/>`],
  ['colons', /malformed tag/, `<${filled('a:')}/>`],
  ['white space around', /not a SAML response/, `${filled(' ')}<r/>`],
  ['a declaration that does not end', /processing instruction/, `<?xml version="1.0" ${filled(' ')}`],
  ['attributes beside each other', /too many attributes/, `<r>${'<a b="" c="" d="" e=""/>'.repeat(790)}</r>`],
  ['elements up to the limit', /not a SAML response/, `<r>${'<a b="" c=""/>'.repeat(790)}</r>`],
  ['namespaces up to the limit', /not a SAML response/, `<r>${'<a xmlns:b="urn:b" xmlns:c="urn:c"/>'.repeat(790)}</r>`],
];

const portal = portalOfFile();

describe('hostile XML is refused at once, and nobody is called', () => {
  it('SA-32 in an answer', () =>
    eachRow(hostile, async ([_name, words, xml]) => {
      const to = { protocol: 'saml', settings: {}, attributes: {} } as SamlConnection;
      const posted = field(xml);
      const connect = vi.spyOn(Socket.prototype, 'connect');
      const times: number[] = [];
      for (let round = 0; round < 3; round += 1) {
        const begin = process.threadCpuUsage();
        const answer = { response: readSamlField(posted), kept: keptForTest };
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
