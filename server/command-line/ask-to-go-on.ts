import { createInterface } from 'node:readline/promises';
import type { NotAgreed, WhatFollows } from '../storage/what-follows.ts';
import { canAsk } from './ask-password.ts';
import { failure } from './failure.ts';
import { printWarning } from './print.ts';

/** The option by which a script confirms in advance. */
export const yesFlag = [
  '--yes',
  'skip the confirmation, even if passwords work again, a domain is locked out or users are unlinked',
] as const;

/**
 * Tries a change. If it locks people out, unlinks them or allows passwords again, says so and asks; throws a failure,
 * with nothing changed, if the answer is no or nobody can be asked.
 */
export async function askToGoOn<T extends { kind: string }>(
  attempt: (isAgreed: boolean) => Promise<T | NotAgreed>,
  yes: boolean,
): Promise<T> {
  const first = await attempt(yes);
  if (!isNotAgreed(first)) return first;
  warnOf(first.follows);
  if (!canAsk()) throw failure('Nothing was changed. To go ahead, add --yes.');
  if (!(await isYes())) throw failure('Nothing was changed.');
  return (await attempt(true)) as T;
}

function isNotAgreed(result: { kind: string }): result is NotAgreed {
  return result.kind === 'notAgreed';
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

/** Asks whether to go on; only a yes is one. */
export async function isYes(): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  try {
    const answer = terminal.question('Continue? Type yes: ').catch(() => '');
    return (await Promise.race([answer, closed])).trim().toLowerCase() === 'yes';
  } finally {
    terminal.close();
  }
}
