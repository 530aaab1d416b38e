import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { tooNewInScript, tooNewInStyle } from '#test/support/too-new.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const read = (path: string) => readFileSync(root + path, 'utf8');
const filesOf = (pattern: string) => globSync(pattern, { cwd: root });

/** Missing in some target but optional, or rewritten by the builder. */
const allowed: Record<string, string> = {
  ':autofill': 'the builder adds -webkit-autofill',
  ':has': 'what stands in for it is beside it, under @supports not',
  ':selection': 'else the browser’s own colours',
  'color-mix()': 'else no tint, and an edge in the colour of the text',
  '(scripting': 'else the list of rules has its empty circles, and a gap is left where a script would show more',
  'field-sizing:': 'else the menu of languages is as wide as its longest',
  'forced-color-adjust:': 'else a button in forced colours is like any other',
  'hyphens:': 'else a title may be hyphenated where its words fit',
  'outline:': 'Safari before 16.4 draws it with square corners',
  'text-size-adjust:': 'of phones alone; the builder adds -webkit-text-size-adjust',
  'text-wrap:': 'else lines break where they are full',
  // As old as SVG itself; the data list them for HTML text.
  ...Object.fromEntries(
    ['fill', 'stroke', 'stroke-dasharray', 'stroke-dashoffset', 'stroke-linecap', 'stroke-width'].map((name) => [
      `${name}:`,
      'of SVG',
    ]),
  ),
  '.address': 'our own',
  '.connections': 'our own',
  '.cookieEnabled': 'as old as Navigator',
  'PublicKeyCredential.isConditionalMediationAvailable': 'asked for before it is called; else the button alone',
  '.signalAllAcceptedCredentials': 'asked for before it is called; else the list of a manager stays as it is',
  '.getTransports': 'asked for before it is called; else browsers look everywhere',
  '.isComposing': 'every target has it on key and input events',
};

describe('the style', () => {
  it('uses what every target has, or falls back by @supports', () => {
    for (const path of filesOf('web/styles/*.css'))
      expect(
        tooNewInStyle(read(path)).filter((name) => !(name in allowed)),
        path,
      ).toEqual([]);
  });
});

describe('the script', () => {
  const scripts = filesOf('{web,contract}/**/*.{ts,tsx}').filter(
    (path) => !/\.(?:test|d)\.tsx?$|targets\/|render\.tsx$|for-test|vectors/.test(path),
  );
  it('uses what every target has', () => {
    for (const path of scripts)
      expect(
        tooNewInScript(read(path)).filter((name) => !(name in allowed)),
        path,
      ).toEqual([]);
  });
});
