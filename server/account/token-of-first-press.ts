import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { tokenHash } from '../secrets/token.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { findOpenedByPressForUpdate } from '../storage/code-try.ts';
import type { Connection } from '../storage/database.ts';
import { RollBack } from '../storage/database.ts';
import { isSessionOfPress } from '../storage/session.ts';
import { countAttempt } from '../storage/throttle.ts';
import { accountKey, codeKey, type WayIn } from '../storage/throttle-keys.ts';
import type { KnownVisitor } from '../visitor/visitor.ts';
import { whoHas } from '../visitor/who.ts';
import { nextTokens } from './press.ts';
import type { Fields } from './section.ts';

/**
 * The token that the first press of a button has given to this session moments ago, while the session is alive; null if none
 * has. Any other form that comes with a token that is over and with a password or a code is a guess, and counts as one
 * (docs/decisions/0028). Without either there is nothing to guess: what the page of the first press had is random.
 */
export async function tokenOfFirstPress(
  deps: Deps,
  visitor: KnownVisitor & { sessionToken: string },
  fields: Fields,
): Promise<string | null> {
  const token = await deps.sql.begin((sql) => find(deps, sql, visitor, fields));
  if (token === null) return null;
  return (await whoHas(deps, token, visitor.address)).kind === 'full' ? token : null;
}

/** Counts the attempt before the check, and not at all if the press is the same. */
async function find(
  deps: Deps,
  sql: Connection,
  visitor: KnownVisitor & { sessionToken: string },
  fields: Fields,
): Promise<RollBack<string> | null> {
  const now = deps.now();
  const since = new Date(now.getTime() - limits.sameCodePress);
  const former = tokenHash(visitor.sessionToken);
  const person = await findOpenedByPressForUpdate(sql, former, since);
  if (!person) return null;
  const isPassword = fields.password !== undefined;
  const isGuess = isPassword || fields.code !== undefined;
  if (isGuess && (await countAttempt(sql, [isPassword ? passwordKey(person) : codeKey(person)], now))) return null;
  for (const token of nextTokens(deps, { visitor, fields }))
    if (await isSessionOfPress(sql, { former, own: tokenHash(token) }, { since, now })) return new RollBack(token);
  if (!isGuess) return null;
  const { userId, username } = person;
  const { address, requestId } = visitor;
  const reason = isPassword ? 'wrong-password' : 'wrong-code';
  const steps = [{ step: 'form', outcome: 'after the right one' }];
  await insertAuditEvent(
    sql,
    { event: 'fresh-proof-refused', reason, userId, username, address, requestId, steps },
    now,
  );
  return null;
}

function passwordKey({ userId }: WayIn) {
  return { key: accountKey(userId), limit: limits.throttle.account };
}
