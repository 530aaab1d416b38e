import { randomUUID } from 'node:crypto';
import type { Deps } from '../../deps.ts';
import { limits } from '../../limits.ts';
import { seal } from '../../secrets/sealed.ts';
import { newToken, tokenHash } from '../../secrets/token.ts';
import type { Connection } from '../../storage/connect.ts';
import { insertSamlAssertion } from '../../storage/saml-assertion.ts';
import type { SamlConnection } from '../../storage/sso-connection.ts';
import {
  insertSsoRequest,
  requestPlace,
  type SsoRequestRow,
  updateSsoRequestAnswer,
} from '../../storage/sso-request.ts';
import type { RequestDetails } from '../request-details.ts';
import type { SamlAnswer } from './saml.ts';

type Accepted = Extract<SamlAnswer, { ok: true }>;

/** Takes the transaction back. */
class UsedBefore extends Error {}

/**
 * Keeps an answer for the browser that began the request. False when the assertion or the request was used before: of
 * several posts at once one gets true (SAML profiles §4.1.4.5: a bearer assertion is used once).
 */
export async function keepSamlAnswer(
  deps: Deps,
  { id }: SsoRequestRow,
  connection: SamlConnection,
  answer: Accepted,
): Promise<boolean> {
  const sealed = seal(deps.keys.seal, JSON.stringify(answer.identity), requestPlace(id));
  return await once(deps, async (sql) => {
    await useAssertion(sql, connection, answer);
    if (!(await updateSsoRequestAnswer(sql, id, sealed))) throw new UsedBefore();
  });
}

/** Keeps an answer that no request of ours asked for; the state under which it is found, or null when it was used before. */
export async function keepUnaskedAnswer(
  deps: Deps,
  connection: SamlConnection,
  answer: Accepted,
  destination: string,
): Promise<string | null> {
  const id = randomUUID();
  const state = newToken();
  const madeAt = deps.now();
  const details: RequestDetails = { url: null, destination, lang: null, typed: null, kept: null };
  const isKept = await once(deps, async (sql) => {
    await useAssertion(sql, connection, answer);
    await insertSsoRequest(sql, {
      id,
      stateHash: tokenHash(state),
      connectionId: connection.id,
      browserHash: null,
      sealedDetails: seal(deps.keys.seal, JSON.stringify(details), requestPlace(id)),
      sealedAnswer: seal(deps.keys.seal, JSON.stringify(answer.identity), requestPlace(id)),
      madeAt,
      // The redirect that follows asks for it at once.
      endsAt: new Date(madeAt.getTime() + limits.samlUnaskedWaits),
    });
  });
  return isKept ? state : null;
}

async function useAssertion(sql: Connection, { id }: SamlConnection, { assertionId, endsAt }: Accepted): Promise<void> {
  const assertion = { connectionId: id, assertionHash: tokenHash(assertionId), endsAt };
  if (!(await insertSamlAssertion(sql, assertion))) throw new UsedBefore();
}

async function once(deps: Deps, work: (sql: Connection) => Promise<void>): Promise<boolean> {
  return await deps.sql
    .begin(async (sql) => {
      await work(sql);
      return true;
    })
    .catch((error: unknown) => {
      if (error instanceof UsedBefore) return false;
      throw error;
    });
}
