import { proofToAsk } from '../account/prove.ts';
import { checkImport, findImport, runImport } from '../accounts/run-import.ts';
import { readText } from '../config/read-text-file.ts';
import { limits } from '../limits.ts';
import type { Customer } from '../people/customer.ts';
import { countAttempt } from '../throttle/throttle.ts';
import { customerFor } from './customer.ts';
import { accepted, type DeskPageRoom, Refused } from './desk-page.ts';

/** Adds people to a customer from a CSV file: a file that is sent is checked, and imported once somebody has seen what it would do. */
export const importPage: DeskPageRoom<Customer> = {
  path: '/customers/:key/import',
  bodyLimit: limits.importBytes,
  find: customerFor('import'),
  target: ({ key }) => ({ kind: 'customer', key }),

  view: async (deps, { desk }, { id, key, name }) => ({
    name: 'import',
    customerKey: key,
    displayName: name,
    asksProof: proofToAsk(desk.visit, deps.now()) !== null,
    last: await findImport(desk.sql, id),
  }),

  acts: {
    async import(_deps, { desk, request }, { id }, fields) {
      const { sql, by } = desk;
      const { file } = request;
      // After a proof there is no file yet: now it can be chosen.
      if (!file && fields.import === undefined) return 'done';
      // A check says whose names are taken, and leaves no event.
      const key = { key: `import:${id}`, limit: limits.throttle.code };
      if (file && (await countAttempt(sql, [key], by.now))) throw new Refused('tooManyAttempts');
      const begin = file ? checkImport(sql, id, readFile(file), by) : runImport(sql, id, fields.import ?? '', by);
      if (!(await begin)) throw new Refused('changedMeanwhile');
      return 'done';
    },
  },
};

function readFile(file: Uint8Array): string {
  const text = accepted(readText(file), 'file').trimStart();
  if (text === '') throw new Refused('entryMissing', 'file');
  // The first line names the fields, and nothing follows the last. No more are looked for: millions would take seconds.
  const most = limits.importLines + 2;
  const lines = text.split(/\r\n?|\n/, most + 1);
  if (lines.length > most) throw new Refused('entryRefused', 'lines');
  return lines.join('\n');
}
