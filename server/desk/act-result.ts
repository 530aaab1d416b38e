import type { Reading } from '../names/read-name.ts';
import { Refused } from './desk-visit.ts';

/** An entry as it is stored; refused if it was not read. */
export function accepted<T>(reading: Reading<T>, field: string): T {
  if (reading.kind === 'refused') throw new Refused('entryRefused', field);
  return reading.value;
}

type Result = number | boolean | null | { kind: string; problem?: string };

/** Back to the page, if that is how an act on accounts went. */
export function done(result: Result): 'done' {
  if (result === null || result === false) throw new Refused('notPossible');
  if (typeof result !== 'object') return 'done';
  switch (result.kind) {
    case 'notFound':
    case 'useless':
      throw new Refused('notPossible');
    case 'nothing':
    case 'unchanged':
      throw new Refused('nothingChanged');
    case 'changedMeanwhile':
      throw new Refused('changedMeanwhile');
    case 'notAgreed':
      throw new Refused('entryRefused', 'connection');
    case 'refused': {
      const [about = ''] = result.problem?.split(':') ?? [];
      if (about === 'role') throw new Refused('lastOperator');
      throw new Refused('entryRefused', fieldsOfProblems[about] ?? null);
    }
    default:
      return 'done';
  }
}

/** The field of what a problem begins with. */
const fieldsOfProblems: Record<string, string> = {
  email: 'email',
  username: 'email',
  customer: 'customers',
  group: 'groups',
  invitation: 'invitation',
};
