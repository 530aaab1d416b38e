import type { Deps } from '../../deps/deps.ts';
import { limits } from '../../limits.ts';
import { seal } from '../../secrets/sealed.ts';
import { newToken, tokenHash } from '../../secrets/token.ts';
import type { Connection } from '../../storage/database.ts';
import { RollBack } from '../../storage/database.ts';
import { insertSamlAssertion } from '../../storage/saml-assertion.ts';
import type { SamlConnection } from '../../storage/sso-connection.ts';
import { findSsoRequestByState, requestPlace, updateSsoRequestAnswer } from '../../storage/sso-request.ts';
import { type WaitingAnswer, waitingAnswer } from '../request-details.ts';
import type { SamlAnswer } from './saml.ts';

type Accepted = Extract<SamlAnswer, { kind: 'ok' }>;

/**
 * Keeps an answer for the browser that brought it; returns the browser's token, or null if the assertion or the request
 * was used for something else (SAML profiles §4.1.4.5: a bearer assertion is used once). The same answer posted twice
 * by a double click gets one token, so that either of the two posts works.
 */
export async function keepSamlAnswer(
  deps: Deps,
  { id, state }: { id: string; state: string },
  connection: SamlConnection,
  answer: Accepted,
): Promise<string | null> {
  const token = await deps.sql.begin(async (sql) =>
    (await markAsUsed(sql, connection, answer)) ? await keep(deps, sql, id, connection, answer) : null,
  );
  return token ?? (await tokenOfSame(deps, state, connection, answer));
}

/** Returns whether an assertion is used for the first time. */
async function markAsUsed(
  sql: Connection,
  { id }: SamlConnection,
  { assertionId, endsAt }: Accepted,
): Promise<boolean> {
  return await insertSamlAssertion(sql, { connectionId: id, assertionHash: tokenHash(assertionId), endsAt });
}

/** Nothing happens, to the assertion either, if the request was used before. */
async function keep(
  deps: Deps,
  sql: Connection,
  id: string,
  { answersVersion }: SamlConnection,
  { identity, assertionId }: Accepted,
): Promise<string | RollBack<null>> {
  const token = newToken();
  const waiting: WaitingAnswer = { answer: { kind: 'ok', identity }, saml: { assertionId, token } };
  const isKept = await updateSsoRequestAnswer(sql, id, {
    sealedAnswer: seal(deps.keys.seal, JSON.stringify(waiting), requestPlace(id)),
    answerHash: tokenHash(token),
    answersVersion,
    endsAt: new Date(deps.now().getTime() + limits.answerWaits),
  });
  return isKept ? token : new RollBack(null);
}

/** The token of an answer kept before, if it is this one. */
async function tokenOfSame(
  deps: Deps,
  state: string,
  connection: SamlConnection,
  { assertionId }: Accepted,
): Promise<string | null> {
  const row = await findSsoRequestByState(deps.sql, tokenHash(state));
  const kept = row?.connectionId === connection.id ? waitingAnswer(deps.keys, row)?.saml : null;
  return kept?.assertionId === assertionId ? kept.token : null;
}
