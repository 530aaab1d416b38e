import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import { foldLoginName } from './fold-name.ts';

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
        ['capital sharp s', 'STRA\u1e9eE', 'strasse'],
        ['Cyrillic a', '\u0430lice', 'alice'],
        ['zero-width joiner', 'ali\u200dce', 'alice'],
        ['soft hyphen', 'ali\u00adce', 'alice'],
        ['combining dot', 'ali\u0307ce', 'alice'],
      ],
      ([_, twin, name]) => {
        expect(foldLoginName(twin)).not.toBe(foldLoginName(name));
      },
    ));

  test('no single letter beside case and compatibility forms folds to an ASCII letter (UN-02)', () => {
    const surprising: string[] = [];
    for (let code = 0x80; code <= 0x1ffff; code++) {
      const letter = String.fromCodePoint(code);
      if (/\p{Cs}/u.test(letter)) continue;
      const fold = foldLoginName(`x${letter}x`).slice(1, -1);
      if (/^[a-z]+$/.test(fold) && letter.normalize('NFKC').toLowerCase() !== fold) surprising.push(letter);
    }
    expect(surprising).toEqual([]);
  });
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
        ['a user part', 'alice@eve@example.com'],
        ['a port', 'alice@example.com:80'],
      ],
      ([_, text]) => {
        expect(foldLoginName(text)).not.toBe('alice@example.com');
      },
    ));

  test('numbers are unchanged', () => {
    expect(foldLoginName('root@1')).toBe('root@1');
    expect(foldLoginName('root@0x7f.1')).toBe('root@0x7f.1');
  });
});
