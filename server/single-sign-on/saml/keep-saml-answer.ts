import { hash, randomUUID } from 'node:crypto';
import type { Deps } from '../../deps.ts';
import { limits } from '../../limits.ts';
import { seal } from '../../secrets/sealed.ts';
import { newToken, tokenHash } from '../../secrets/token.ts';
import type { Connection } from '../../storage/database.ts';
import { insertSamlAssertion } from '../../storage/saml-assertion.ts';
import type { SamlConnection } from '../../storage/sso-connection.ts';
import {
  findSsoRequestByState,
  insertSsoRequest,
  requestPlace,
  updateSsoRequestAnswer,
} from '../../storage/sso-request.ts';
import { type RequestDetails, type WaitingAnswer, waitingAnswer } from '../request-details.ts';
import type { SamlAnswer } from './saml.ts';

type Accepted = Extract<SamlAnswer, { ok: true }>;

/** Rolls the transaction back. */
class UsedBefore extends Error {}

/**
 * Keeps an answer for the browser that brought it; returns the browser's token, or null if the assertion or the request
 * was used for something else (SAML profiles §4.1.4.5: a bearer assertion is used once). The same answer posted twice
 * by a double click gets one token: either of the two posts leads on.
 */
export async function keepSamlAnswer(
  deps: Deps,
  { id, state }: { id: string; state: string },
  connection: SamlConnection,
  answer: Accepted,
): Promise<string | null> {
  return (
    (await once(deps, async (sql) => {
      await useAssertion(sql, connection, answer);
      return await keep(deps, sql, id, answer);
    })) ?? (await tokenOfSame(deps, state, connection, answer))
  );
}

/** Keeps an unsolicited answer; returns how it is found, and the token as above. */
export async function keepUnaskedAnswer(
  deps: Deps,
  connection: SamlConnection,
  answer: Accepted,
  destination: string,
): Promise<{ state: string; token: string } | null> {
  const id = randomUUID();
  // The same for the same answer, and no secret: only the token lets anyone in.
  const state = hash('sha256', JSON.stringify([connection.id, answer.assertionId]), 'base64url');
  const madeAt = deps.now();
  const details: RequestDetails = { url: null, destination, lang: null, typed: null, kept: null };
  const made = await once(deps, async (sql) => {
    await useAssertion(sql, connection, answer);
    await insertSsoRequest(sql, {
      id,
      stateHash: tokenHash(state),
      connectionId: connection.id,
      browserHash: null,
      sealedDetails: seal(deps.keys.seal, JSON.stringify(details), requestPlace(id)),
      madeAt,
      endsAt: new Date(madeAt.getTime() + limits.answerWaits),
    });
    return await keep(deps, sql, id, answer);
  });
  const token = made ?? (await tokenOfSame(deps, state, connection, answer));
  return token === null ? null : { state, token };
}

async function useAssertion(sql: Connection, { id }: SamlConnection, { assertionId, endsAt }: Accepted): Promise<void> {
  const assertion = { connectionId: id, assertionHash: tokenHash(assertionId), endsAt };
  if (!(await insertSamlAssertion(sql, assertion))) throw new UsedBefore();
}

async function keep(deps: Deps, sql: Connection, id: string, { identity, assertionId }: Accepted): Promise<string> {
  const token = newToken();
  const waiting: WaitingAnswer = { answer: { ok: true, identity }, saml: { assertionId, token } };
  const isKept = await updateSsoRequestAnswer(sql, id, {
    sealedAnswer: seal(deps.keys.seal, JSON.stringify(waiting), requestPlace(id)),
    answerHash: tokenHash(token),
    endsAt: new Date(deps.now().getTime() + limits.answerWaits),
  });
  if (!isKept) throw new UsedBefore();
  return token;
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

async function once(deps: Deps, work: (sql: Connection) => Promise<string>): Promise<string | null> {
  return await deps.sql
    .begin(async (sql) => await work(sql))
    .catch((error: unknown) => {
      if (error instanceof UsedBefore) return null;
      throw error;
    });
}
