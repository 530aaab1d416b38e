import { proofToAsk } from '../account/prove.ts';
import { checkImport, findImport, linesOf, runImport } from '../accounts/run-import.ts';
import { readText } from '../config/read-text-file.ts';
import { limits } from '../limits.ts';
import { type Customer, findCustomer } from '../people/customer.ts';
import type { DeskPageRoom } from './desk-page.ts';
import { Refused } from './desk-visit.ts';
import { mayAct } from './may-act.ts';

/** Adds people to a customer from a CSV file: a file that is sent is checked, and imported once somebody has seen what it would do. */
export const importPage: DeskPageRoom<Customer> = {
  path: '/customers/:key/import',
  bodyLimit: limits.importBytes,
  kept: ['import'],

  async find(_deps, { desk, params: { key = '' } }) {
    if (!mayAct(desk.actor, 'import', { kind: 'customer', key })) return null;
    return await findCustomer(desk.sql, key);
  },
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
      if (fields.import !== undefined) {
        if (!(await runImport(desk.sql, id, fields.import, desk.by))) throw new Refused('changedMeanwhile');
        return 'done';
      }
      const { file } = request;
      // After a proof there is none yet: now it can be chosen.
      if (!file) return 'done';
      const text = readText(file);
      if (text.kind === 'refused') throw new Refused('entryRefused', 'file');
      const csv = text.value.replace(/\r\n?/g, '\n').trimStart();
      if (csv === '') throw new Refused('entryMissing', 'file');
      // The first one names the fields.
      if (linesOf(csv) > limits.importLines + 1) throw new Refused('entryRefused', 'lines');
      if (!(await checkImport(desk.sql, { customerId: id, csv, by: desk.by }))) throw new Refused('changedMeanwhile');
      return 'done';
    },
  },
};
