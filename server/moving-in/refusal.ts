import type { Reading } from '../names/read-name.ts';

/** Why a line is not taken over: the field, and the reason in words. */
export type Refusal = { field: string; reason: string };

/** A refused value; the problem begins with the field, as in names/read-name.ts. */
export function refusedValue(field: string, reason: string): Extract<Reading<never>, { kind: 'refused' }> {
  return { kind: 'refused', problem: `${field}: ${reason}` };
}

/** The field and the reason of a problem. */
export function refusalOf(problem: string): Refusal {
  const [, field = 'line', reason = problem] = /^(\w+): (.*)$/su.exec(problem) ?? [];
  return { field, reason };
}
