import { createInterface } from 'node:readline/promises';
import type { NotAgreed, WhatFollows } from '#server/single-sign-on/with-agreement.ts';
import { canAsk } from './ask.ts';
import { failure, printWarning } from './print.ts';

/** The option by which a script confirms in advance. */
export const yesFlag = ['--yes', 'go ahead without asking'] as const;
export type YesFlag = { yes?: true };

/**
 * Asks before what cannot be undone, such as `This removes user alice for good`. Throws a failure, with nothing changed, at
 * anything but a yes, or if nobody can be asked.
 */
export async function confirm(what: string, { yes }: YesFlag): Promise<void> {
  if (yes) return;
  if (!canAsk()) throw failure(`${what}: nothing was changed, as there is no terminal to ask at and no --yes.`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  const answer = terminal.question(`${what}. Continue? Type yes: `).catch(() => '');
  const text = await Promise.race([answer, closed]).finally(() => terminal.close());
  if (text.trim().toLowerCase() !== 'yes') throw failure('Nothing was changed.');
}

/** Tries a change, and asks before one that does not happen without the operator's agreement. */
export async function confirmIfNeeded<T extends { kind: string }>(
  what: string,
  flags: YesFlag,
  attempt: (isAgreed: boolean) => Promise<T | NotAgreed>,
): Promise<T> {
  const first = await attempt(flags.yes === true);
  if (!('follows' in first)) return first;
  warnOf(first.follows);
  await confirm(what, flags);
  return (await attempt(true)) as T;
}

function warnOf({ opened, lockedOut, unlinked, domainsDropped }: WhatFollows): void {
  if (opened.length > 0)
    printWarning(
      `Single sign-on is no longer required for ${opened.join(', ')}: users who have a password there can sign in with it again.`,
    );
  if (lockedOut.length > 0)
    printWarning(
      `Then nobody in ${lockedOut.join(', ')} can sign in: single sign-on is disabled, and passwords stay forbidden ` +
        'while it is required (connection set --required off allows them).',
    );
  if (unlinked > 0)
    printWarning(
      domainsDropped.length > 0
        ? `The connection no longer vouches for ${domainsDropped.join(', ')}. ` +
            `Users who are unlinked: ${unlinked}; their sessions through it end. If they should still sign in through ` +
            'it, add --keep-links instead.'
        : 'Another issuer or entity ID is another provider, whose subjects may be other people. ' +
            `Users who are unlinked: ${unlinked}; their sessions end, and their next sign-in links them again by ` +
            'their verified address. If it is the same provider under another name, add --keep-links instead.',
    );
}
