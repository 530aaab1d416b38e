import { ProviderFailure } from '../http/provider-fetch.ts';

/** One check, in words for the operator. They name the flag of `connection set` that is wrong. */
export type CheckStep = { step: string; ok: boolean; words: string };

export function checkStep(step: string, ok: boolean, words: string): CheckStep {
  return { step, ok, words };
}

/** Why the provider did not answer; rethrows errors that are not the provider's. */
export function wordsOf(error: unknown): string {
  if (error instanceof ProviderFailure) return error.message;
  throw error;
}
