import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { changeFailedReasons } from '#contract/reasons.ts';
import {
  accountRefusalReasons,
  auditEvents,
  refusalReasons,
  resetOutcomes,
  ssoRefusalReasons,
} from './audit/audit-events.ts';
import { passkeyRefusalReasons } from './audit/passkey-reasons.ts';
import { ConfigFile } from './config/config-file.ts';

const read = (name: string) => readFileSync(new URL(`../docs/${name}`, import.meta.url), 'utf8');

/** The first cells of the tables under a heading, without backticks. */
function firstCells(document: string, heading: string): string[] {
  const part = document.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const rows = part.split('\n').filter((line) => /^\| (?:`|\d)/.test(line));
  return rows.flatMap((row) => row.split('|')[1]?.match(/[^`,·\s]+/g) ?? []);
}

/** The dotted names of a schema's settings. */
function settingNames(schema: { properties?: object }, start = ''): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, value]) =>
    value.properties ? settingNames(value, `${start}${name}.`) : [start + name],
  );
}

describe('closed lists and their rows in the documentation', () => {
  it('every event has a row, and every row is an event', () => {
    expect(firstCells(read('events.md'), 'Events').sort()).toEqual(Object.keys(auditEvents).sort());
  });

  it('every reason of a refused sign-in has a row, and every row is a reason', () => {
    expect(firstCells(read('events.md'), 'Reasons of a refused sign-in').sort()).toEqual(
      Object.keys(refusalReasons).sort(),
    );
  });

  it('every reason of a refused single sign-on has a row, and every row is a reason', () => {
    expect(firstCells(read('events.md'), 'Reasons of a refused single sign-on').sort()).toEqual(
      Object.keys(ssoRefusalReasons).sort(),
    );
  });

  it('every reason of a refused passkey has a row, and every row is a reason', () => {
    expect(firstCells(read('events.md'), 'Reasons of a refused passkey').sort()).toEqual(
      Object.keys(passkeyRefusalReasons).sort(),
    );
  });

  it('every reason of a refusal on the account page has a row, and every row is a reason', () => {
    expect(firstCells(read('events.md'), 'Reasons of a refusal on the account page').sort()).toEqual(
      Object.keys(accountRefusalReasons).sort(),
    );
  });

  it('every table of the database has a row that says what it is bound by', () => {
    const schema = readFileSync(new URL('storage/schema.sql', import.meta.url), 'utf8');
    const tables = [...schema.matchAll(/^create table (\w+)/gm)].map(([, name]) => name);
    const scale = read('operating.md').split('\n### Scale\n')[1]?.split('\n### ')[0] ?? '';
    expect(firstCells(`## Scale\n${scale}`, 'Scale').sort()).toEqual(tables.sort());
  });

  it('every outcome of a request for a link has a row, and every row is an outcome', () => {
    expect(firstCells(read('events.md'), 'What came of a request for a link').sort()).toEqual(
      Object.keys(resetOutcomes).sort(),
    );
  });

  it('every reason of a failed password change has a row, and every row is a reason', () => {
    const rows = firstCells(read('events.md'), 'Reasons of a failed password change').map(Number);
    expect(rows).toEqual(Object.values(changeFailedReasons));
  });

  it('every setting of the file has a row, and every row is a setting', () => {
    const settings = settingNames(ConfigFile).filter((name) => name !== '$schema');
    expect(firstCells(read('configuration.md'), 'File').sort()).toEqual(settings.sort());
  });

  it('the security page names every case of the list of attacks', () => {
    const named = new Set(read('security.md').match(/\b[A-Z]{2}-\d{2}\b/g));
    // And eleven more that were found here.
    expect(named.size).toBe(312 + 11);
  });

  it('every case tied to a test by the security page is named in that test', () => {
    const rows = [...read('security.md').matchAll(/^\| ([A-Z]{2}-\d+[^|]*) \| (`[^|]+`) \|$/gm)];
    expect(rows.length).toBeGreaterThan(40);
    for (const [, cases = '', files = ''] of rows) {
      for (const file of files.match(/[^`, ]+/g) ?? []) {
        const test = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
        for (const id of cases.split(', ')) expect(test, `${id} in ${file}`).toContain(id);
      }
    }
  });
});
