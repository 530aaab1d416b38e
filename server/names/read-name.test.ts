import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import { foldLoginName, readCustomerName, readEmail, readShortName, readUsername } from './read-name.ts';

describe('a username', () => {
  test('a username may have letters of any script', () =>
    eachRow(
      [
        'alice',
        'Alice.Doe',
        'j\u00f6rg',
        '\u674e\u660e',
        'o\u2019neill',
        'alice@corp.example',
        '\u{1f98a}',
        'x'.repeat(100),
      ],
      (text) => {
        expect(readUsername(` ${text} `)).toEqual({ kind: 'ok', value: text });
      },
    ));

  test('what no username is, is refused by name', () =>
    eachRow(
      [
        ['empty', ' ', 'must not be empty'],
        ['too long', 'x'.repeat(101), '100 characters'],
        ['a space inside', 'alice doe', 'spaces'],
        ['NUL', 'alice\0', 'invisible'],
        ['an escape', 'alice\u001b[2J', 'invisible'],
        ['zero-width joiner (UN-04)', 'ali\u200dce', 'invisible'],
        ['soft hyphen (UN-04)', 'ali\u00adce', 'invisible'],
        ['Hangul filler', '\u3164', 'invisible'],
        ['lone surrogate', 'alice\ud800', 'invisible'],
        ['full width (UN-04)', '\uff41lice', 'write alice'],
        ['not composed', 'Jose\u0301', 'write Jos\u00e9'],
        ['an @ without a domain', 'alice@', 'must be an email address'],
      ],
      ([_, text, words]) => {
        const reading = readUsername(text);
        expect(reading.kind).toBe('refused');
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
});

describe('an email', () => {
  test("loses the root's dot and the case of its domain", () => {
    expect(readEmail(' Alice@CORP.Example. ')).toEqual({ kind: 'ok', value: 'Alice@corp.example' });
    expect(readEmail('eva@b\u00fccher.example')).toEqual({ kind: 'ok', value: 'eva@b\u00fccher.example' });
    expect(readEmail('root@localhost')).toEqual({ kind: 'ok', value: 'root@localhost' });
  });

  test('what no address is, is refused by name', () =>
    eachRow(
      [
        'alice@',
        'a@b@corp.example',
        'alice@corp..example',
        'alice@corp.example/x',
        'alice@-.\u00df%',
        'alice,bob@corp.example',
        '"bob@evil.example"@corp.example',
        'bob@good(x)evil.example',
        'Alice<alice@corp.example>',
        'alice@[127.0.0.1]',
        'alice@corp.example\r\nBcc:bob@evil.example',
        'alice\uff20corp.example',
        'ali\u200bce@corp.example',
        `${'a'.repeat(242)}@corp.example`,
      ],
      (text) => {
        const reading = readEmail(text);
        expect(reading.kind).toBe('refused');
        expect(reading.kind === 'refused' && reading.problem).toContain('email: ');
      },
    ));

  test('has at most 254 bytes', () => {
    expect(readEmail(`${'a'.repeat(241)}@corp.example`).kind).toBe('ok');
    expect(readEmail(`${'\u00e4'.repeat(121)}@corp.example`).kind).toBe('refused');
  });
});

test('a customer key is lower-case letters, digits and dashes', () => {
  for (const key of ['acme', '3m', 'a-b', 'x'.repeat(63)]) expect(readShortName(key).kind).toBe('ok');
  for (const key of ['', '-a', 'Acme', 'a_b', 'a b', '\u00e4', 'a\n', 'x'.repeat(64)])
    expect(readShortName(key).kind).toBe('refused');
});

test('a customer name is one line of text', () => {
  expect(readCustomerName(' M\u00fcller & S\u00f6hne ')).toEqual({ kind: 'ok', value: 'M\u00fcller & S\u00f6hne' });
  for (const name of ['', ' ', 'a\nb', 'a\u202eb', 'a\ud800', 'x'.repeat(201)])
    expect(readCustomerName(name).kind).toBe('refused');
});

const anyText = fc.string({ unit: 'binary' });
const asciiName = fc.stringMatching(/^[a-z0-9._-]{1,20}$/);
const toFullWidth = (text: string) => text.replace(/[!-~]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0));

describe('the fold of a name', () => {
  test('folding twice changes nothing', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          anyText,
          fc.tuple(anyText, anyText).map((parts) => parts.join('@')),
        ),
        (text) => {
          expect(foldLoginName(foldLoginName(text))).toBe(foldLoginName(text));
        },
      ),
    );
  });

  test('case, surrounding spaces and composition make no difference (UN-04)', () => {
    fc.assert(
      fc.property(asciiName, (name) => {
        for (const variant of [name.toUpperCase(), ` ${name}\t`, toFullWidth(name), toFullWidth(name.toUpperCase())]) {
          expect(foldLoginName(variant)).toBe(name);
        }
      }),
    );
    expect(foldLoginName('Jose\u0301')).toBe(foldLoginName('JOS\u00c9'));
    expect(foldLoginName('\u00a0alice\u00a0')).toBe('alice');
  });

  test('a look-alike stays a different name (UN-02, UN-03, UN-04)', () =>
    eachRow(
      [
        ['dotless i', 'al\u0131ce', 'alice'],
        ['dotted capital I', 'AL\u0130CE', 'alice'],
        ['sharp s', 'stra\u00dfe', 'strasse'],
        ['Cyrillic a', '\u0430lice', 'alice'],
        ['zero-width joiner', 'ali\u200dce', 'alice'],
        ['soft hyphen', 'ali\u00adce', 'alice'],
      ],
      ([_, twin, name]) => {
        expect(foldLoginName(twin)).not.toBe(foldLoginName(name));
      },
    ));
});

describe('the domain of an email', () => {
  test('an address is folded (UN-05)', () =>
    eachRow(
      [
        'alice@corp.example',
        'alice@corp.example.',
        'Alice@CORP.EXAMPLE',
        '\uff41lice@corp.example',
        'alice\uff20corp.example',
      ],
      (text) => {
        expect(foldLoginName(text)).toBe('alice@corp.example');
      },
    ));

  test('an international domain and its xn-- form are one (UN-05)', () => {
    expect(foldLoginName('eva@b\u00fccher.example')).toBe('eva@xn--bcher-kva.example');
    expect(foldLoginName('eva@BU\u0308CHER.example')).toBe('eva@xn--bcher-kva.example');
    expect(foldLoginName('eva@XN--BCHER-KVA.example')).toBe('eva@xn--bcher-kva.example');
  });

  test('no other domain becomes example.com', () =>
    eachRow(
      [
        ['percent encoding', 'alice@ex%61mple.com'],
        ['soft hyphen', 'alice@exam\u00adple.com'],
        ['zero-width space', 'alice@exam\u200bple.com'],
        ['sharp s', 'alice@\u00dfexample.com'],
        ['Cyrillic homograph (UN-10)', 'alice@ex\u0430mple.com'],
        ['a path', 'alice@example.com/x'],
      ],
      ([_, text]) => {
        expect(foldLoginName(text)).not.toBe('alice@example.com');
      },
    ));
});
