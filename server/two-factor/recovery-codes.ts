import { randomInt } from 'node:crypto';
import { groupedRecoveryCode, recoveryCodeAlphabet, recoveryCodeLetters } from '#contract/recovery-code.ts';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { codeDigest } from '../secrets/code-digest.ts';
import { seal, unseal } from '../secrets/sealed.ts';
import type { Connection } from '../storage/database.ts';
import {
  countRecoveryCodes,
  findShownRecoveryCodes,
  putShownRecoveryCodes,
  replaceRecoveryCodes,
} from '../storage/recovery-code.ts';

/** Whose codes they are, and the one session that may view them. */
type Viewer = { userId: string; sessionId: string };

/** Gives a user ten new recovery codes, replacing the existing ones; one session can view them for a few minutes. */
export async function makeRecoveryCodes({ keys }: Deps, sql: Connection, viewer: Viewer, now: Date): Promise<void> {
  const { userId } = viewer;
  const codes = Array.from({ length: limits.recoveryCodes }, newRecoveryCode);
  await replaceRecoveryCodes(
    sql,
    userId,
    codes.map((code) => codeDigest(keys.code, code, userId)),
  );
  await putShownRecoveryCodes(sql, {
    ...viewer,
    sealedCodes: seal(keys.seal, codes.join(' '), shownPlace(viewer)),
    shownUntil: new Date(now.getTime() + limits.recoveryCodesShown),
  });
}

/** The codes of a user in groups, or null if this session may not view them; and how many are unused. */
export async function lookAtRecoveryCodes(
  { sql, keys, now }: Deps,
  viewer: Viewer,
): Promise<{ codes: string[] | null; left: number }> {
  const sealed = await findShownRecoveryCodes(sql, { ...viewer, now: now() });
  const text = sealed && unseal(keys.seal, sealed, shownPlace(viewer));
  const left = await countRecoveryCodes(sql, viewer.userId);
  return { codes: text?.split(' ').map(groupedRecoveryCode) ?? null, left };
}

export function newRecoveryCode(): string {
  const letter = () => recoveryCodeAlphabet[randomInt(recoveryCodeAlphabet.length)];
  return Array.from({ length: recoveryCodeLetters }, letter).join('');
}

/** Binding (additional data) for shown codes: a copy in another user's or session's row does not open. */
function shownPlace({ userId, sessionId }: Viewer): string {
  return `recovery-codes:${userId}:${sessionId}`;
}
