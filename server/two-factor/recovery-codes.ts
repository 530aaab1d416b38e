import { randomInt } from 'node:crypto';
import { groupedRecoveryCode, recoveryCodeAlphabet, recoveryCodeLetters } from '#contract/recovery-code.ts';
import type { Deps } from '../deps.ts';
import { limits } from '../limits.ts';
import { codeDigest } from '../secrets/code-digest.ts';
import { seal, unseal } from '../secrets/sealed.ts';
import type { Connection } from '../storage/connect.ts';
import {
  countRecoveryCodes,
  findShownRecoveryCodes,
  putShownRecoveryCodes,
  replaceRecoveryCodes,
} from '../storage/recovery-code.ts';

/** Gives a user ten new recovery codes in place of those before; they can be looked at for a few minutes. */
export async function makeRecoveryCodes({ keys }: Deps, sql: Connection, userId: string, now: Date): Promise<void> {
  const codes = Array.from({ length: limits.recoveryCodes }, newRecoveryCode);
  await replaceRecoveryCodes(
    sql,
    userId,
    codes.map((code) => codeDigest(keys.code, code, userId)),
  );
  await putShownRecoveryCodes(sql, {
    userId,
    sealedCodes: seal(keys.seal, codes.join(' '), shownPlace(userId)),
    shownUntil: new Date(now.getTime() + limits.recoveryCodesShown),
  });
}

/** The codes of a user in groups, or null when they may not be looked at any more; and how many are unused. */
export async function lookAtRecoveryCodes(
  { sql, keys, now }: Deps,
  userId: string,
): Promise<{ codes: string[] | null; left: number }> {
  const sealed = await findShownRecoveryCodes(sql, userId, now());
  const text = sealed && unseal(keys.seal, sealed, shownPlace(userId));
  return { codes: text?.split(' ').map(groupedRecoveryCode) ?? null, left: await countRecoveryCodes(sql, userId) };
}

function newRecoveryCode(): string {
  const letter = () => recoveryCodeAlphabet[randomInt(recoveryCodeAlphabet.length)];
  return Array.from({ length: recoveryCodeLetters }, letter).join('');
}

/** Where the shown codes of a user are sealed for. */
function shownPlace(userId: string): string {
  return `recovery-codes:${userId}`;
}
