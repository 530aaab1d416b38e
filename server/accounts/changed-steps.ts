import type { AuditStep } from '../audit/audit-events.ts';

/** What differs between the same steps in words, before and after a change. */
export function changedSteps(before: readonly AuditStep[], after: readonly AuditStep[]): AuditStep[] {
  return after.flatMap(({ step, outcome }, index) =>
    before[index]?.outcome === outcome ? [] : [{ step, outcome: `${before[index]?.outcome} → ${outcome}` }],
  );
}
