import type { Turns } from '#contract/page.ts';
import { happenedSince } from '#contract/turn-of-form.ts';

/** A form of the second factor as it counts now: one from before a sign-out has the earlier person's destination. */
export function formOfTurn<Form extends { redirectURL?: string; turn?: string }>(
  form: Form,
  turns: Turns | undefined,
): Form {
  return happenedSince(form.turn, turns) === 'signOut' ? { ...form, redirectURL: '' } : form;
}
