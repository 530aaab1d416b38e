import { sealedPlace as mailPlace } from '../mail/queue-mail.ts';
import { hubKeyPlace } from '../storage/hub-key.ts';
import { portalKeyPlace } from '../storage/portal-key.ts';
import type { SealedColumn, SealedRow } from '../storage/sealed-column.ts';
import { idTokenPlace } from '../storage/session.ts';
import { connectionPlace } from '../storage/sso-connection.ts';
import { outcomePlace, questionPlace, requestPlace } from '../storage/sso-request.ts';
import { shownPlace } from '../two-factor/recovery-codes.ts';
import { pendingPlace, totpPlace } from '../two-factor/registration.ts';

/** A kind of sealed texts: its name for operators, its column, and what each row is bound to. */
export type SealedKind = SealedColumn & { what: string; place: (row: SealedRow) => string };

const byId = { key: 'id', keyType: 'uuid' } as const;
const byUser = { key: 'user_id', keyType: 'uuid' } as const;
const idToken = {
  key: 'token_hash',
  keyType: 'bytea',
  place: ({ userId }: SealedRow) => idTokenPlace(userId ?? ''),
} as const;

/** Everything stored sealed, long-lived kinds first; a test compares it with the existing columns. */
export const sealedKinds: readonly SealedKind[] = [
  {
    what: 'client secrets',
    table: 'sso_connection',
    column: 'sealed_secret',
    ...byId,
    place: ({ key }) => connectionPlace(key),
  },
  { what: 'portal keys', table: 'portal_key', column: 'sealed_key', ...byId, place: ({ key }) => portalKeyPlace(key) },
  { what: 'keys for hubs', table: 'hub_key', column: 'sealed_key', ...byId, place: ({ key }) => hubKeyPlace(key) },
  {
    what: 'authenticator apps',
    table: 'totp',
    column: 'sealed_secret',
    ...byUser,
    place: ({ key }) => totpPlace(key),
  },
  { what: 'waiting emails', table: 'mail', column: 'sealed_token', ...byId, place: ({ key }) => mailPlace(key) },
  { what: 'sign-out proofs of sessions', table: 'session', column: 'sealed_id_token', ...idToken },
  {
    what: 'sign-out proofs of replaced sessions',
    table: 'session',
    column: 'sealed_replaced_id_token',
    ...idToken,
  },
  {
    what: 'sign-out proofs of sessions just ended',
    table: 'signed_out_session',
    column: 'sealed_id_token',
    ...idToken,
  },
  {
    what: 'visits to providers',
    table: 'sso_request',
    column: 'sealed_details',
    ...byId,
    place: ({ key }) => requestPlace(key),
  },
  {
    what: 'answers of providers',
    table: 'sso_request',
    column: 'sealed_answer',
    ...byId,
    place: ({ key }) => requestPlace(key),
  },
  {
    what: 'answers waiting for confirmation',
    table: 'sso_request',
    column: 'sealed_question',
    ...byId,
    place: ({ key }) => questionPlace(key),
  },
  {
    what: 'results of visits',
    table: 'sso_request',
    column: 'sealed_outcome',
    ...byId,
    place: ({ key }) => outcomePlace(key),
  },
  {
    what: 'apps being set up',
    table: 'pending_totp',
    column: 'sealed_secret',
    key: 'session_hash',
    keyType: 'bytea',
    place: ({ sessionHash }) => pendingPlace(sessionHash ?? Buffer.alloc(0)),
  },
  {
    what: 'recovery codes on the screen',
    table: 'shown_recovery_codes',
    column: 'sealed_codes',
    ...byUser,
    place: ({ key, sessionHash }) => shownPlace({ userId: key, sessionHash: sessionHash ?? Buffer.alloc(0) }),
  },
];
