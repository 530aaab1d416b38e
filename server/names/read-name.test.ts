import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import { browserName, foldLoginName, readDisplayName, readEmail, readShortName, readUsername } from './read-name.ts';

const kindOf = (reading: { kind: string }) => reading.kind;

test('a username may have letters of any script', () =>
  eachRow(
    [...'alice Alice.Doe j\u00f6rg \u674e\u660e o\u2019neill alice@corp.example \u{1f98a}'.split(' '), 'x'.repeat(100)],
    (text) => expect(readUsername(` ${text} `)).toEqual({ kind: 'ok', value: text }),
  ));

test('what no username is, is refused by name (UN-04)', () =>
  eachRow(
    [
      [' ', 'must not be empty'],
      ['\u3164', 'must not be empty'],
      ['x'.repeat(101), '100 characters'],
      ['alice doe', 'spaces'],
      ...['alice\0', 'alice\u001b[2J', 'ali\u200dce', 'ali\u00adce', 'alice\ud800'].map((text) => [text, 'invisible']),
      ['alice@', 'must be an email address'],
    ] as [string, string][],
    ([text, words]) => {
      const reading = readUsername(text);
      expect(reading.kind === 'refused' && reading.problem).toContain('username: ');
      expect(reading.kind === 'refused' && reading.problem).toContain(words);
    },
  ));

test('an accepted name is stored as it is compared, except for case', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }), (text) => {
      const reading = readUsername(text);
      if (reading.kind === 'refused') return;
      expect(foldLoginName(reading.value)).toBe(foldLoginName(text));
      expect(reading.value.normalize('NFKC')).toBe(reading.value);
    }),
  );
});

test("an email loses the root's dot and the case of its domain, and has at most 254 bytes", () => {
  expect(readEmail(' Alice@CORP.Example. ')).toEqual({ kind: 'ok', value: 'Alice@corp.example' });
  for (const text of ['alice\uff20corp.example', '\u202aalice@corp.example\u202c', 'alice@corp.example\u200b'])
    expect(readEmail(text)).toEqual({ kind: 'ok', value: 'alice@corp.example' });
  for (const text of [
    "sinead.o'neil@corp.example",
    'a`|b@corp.example',
    'eva@b\u00fccher.example',
    'root@localhost',
    `${'a'.repeat(241)}@corp.example`,
  ])
    expect(readEmail(text)).toEqual({ kind: 'ok', value: text });
  expect(kindOf(readEmail(`${'\u00e4'.repeat(121)}@corp.example`))).toBe('refused');
});

test('what no address is, is refused by name', () =>
  eachRow(
    [
      ...['alice@', 'a@b@corp.example', 'alice@corp..example', 'alice@corp.example/x', 'alice@-.\u00df%'],
      ...['alice,bob@corp.example', '"bob@evil.example"@corp.example', 'bob@good(x)evil.example', 'alice@[127.0.0.1]'],
      ...['Alice<alice@corp.example>', 'alice@corp.example\r\nBcc:bob@evil.example', "'alice@corp.example'"],
      ...['ali\u200bce@corp.example', `${'a'.repeat(242)}@corp.example`],
    ],
    (text) => {
      const reading = readEmail(text);
      expect(reading.kind === 'refused' && reading.problem).toContain('email: ');
    },
  ));

test('a customer has a key of lower-case letters, digits and dashes, and a name of one line', () => {
  for (const key of ['acme', '3m', 'a-b', 'x'.repeat(63)]) expect(kindOf(readShortName(key))).toBe('ok');
  for (const key of ['', '-a', 'Acme', 'a_b', 'a b', '\u00e4', 'a\n', 'x'.repeat(64)])
    expect(kindOf(readShortName(key))).toBe('refused');
  expect(readDisplayName(' M\u00fcller & S\u00f6hne ')).toEqual({ kind: 'ok', value: 'M\u00fcller & S\u00f6hne' });
  for (const name of ['', ' ', 'a\nb', 'a\u202eb', 'a\ud800', 'x'.repeat(201)])
    expect(kindOf(readDisplayName(name))).toBe('refused');
});

test('folding twice changes nothing', () => {
  const text = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(text, fc.constantFrom('', '@'), text, (start, at, end) => {
      const folded = foldLoginName(start + at + end);
      expect(foldLoginName(folded)).toBe(folded);
    }),
  );
});

test('case, surrounding spaces, composition and width make no difference (UN-04)', () => {
  const toFullWidth = (text: string) => text.replace(/[!-~]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0));
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z0-9._-]{1,20}$/), (name) => {
      for (const variant of [name, name.toUpperCase(), toFullWidth(name), toFullWidth(name.toUpperCase())])
        for (const [before, after] of [' \t', '\u00a0\u3000', '\u202a\u202c', '\u200e\ufeff'])
          expect(foldLoginName(before + variant + after)).toBe(name);
    }),
  );
});

test('other spellings of a name are that name (UN-05)', () =>
  eachRow(
    [
      ['alice@corp.example', 'alice@corp.example. Alice@CORP.EXAMPLE \uff41lice@corp.example alice\uff20corp.example'],
      ['eva@xn--bcher-kva.example', 'eva@b\u00fccher.example eva@BU\u0308CHER.example eva@XN--BCHER-KVA.example'],
      ['jos\u00e9', 'Jose\u0301 JOS\u00c9'],
    ] as const,
    ([name, spellings]) => {
      for (const text of spellings.split(' ')) expect(foldLoginName(text)).toBe(name);
    },
  ));

test('a look-alike stays a different name, also of a domain (UN-02, UN-03, UN-04, UN-10)', () =>
  eachRow(
    [
      ['alice', 'al\u0131ce AL\u0130CE \u0430lice ali\u200dce ali\u00adce'],
      ['strasse', 'stra\u00dfe'],
      [
        'alice@example.com',
        'alice@ex%61mple.com alice@exam\u00adple.com alice@exam\u200bple.com alice@\u00dfexample.com',
      ],
      ['alice@example.com', 'alice@ex\u0430mple.com alice@example.com/x'],
    ] as const,
    ([name, twins]) => {
      for (const twin of twins.split(' ')) expect(foldLoginName(twin)).not.toBe(name);
    },
  ));

const mozilla = 'Mozilla/5.0';
const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';

it.each([
  [`${mozilla} (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0`, 'Firefox, Windows'],
  [`${mozilla} (X11; Linux x86_64) ${webkit} Chrome/140.0.0.0 Safari/537.36`, 'Chrome, Linux'],
  [`${mozilla} (Windows NT 10.0; Win64; x64) ${webkit} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`, 'Edge, Windows'],
  [`${mozilla} (Linux; Android 15) ${webkit} Chrome/140.0.0.0 Mobile Safari/537.36`, 'Chrome, Android'],
  [
    `${mozilla} (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1`,
    'Safari, iOS',
  ],
  [
    `${mozilla} (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15`,
    'Safari, macOS',
  ],
  ['curl/8.5.0', undefined],
  ['', undefined],
  [undefined, undefined],
  ['<img src=x> Firefox/1\r\nBcc: evil@x', 'Firefox'],
])('%s is %s', (userAgent, name) => {
  expect(browserName(userAgent)).toBe(name);
});
