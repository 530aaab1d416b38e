import type { FastifyRequest } from 'fastify';
import type { Language } from '#contract/languages.ts';
import { tokenHash } from '../crypto/token.ts';
import { nullIfDatabaseAway } from '../database/connect.ts';
import type { Deps } from '../deps.ts';
import { readTokenCookie } from '../http/cookies.ts';
import { languageOfRequest } from '../http/request-url.ts';
import type { MailPlace } from '../mail/queue-mail.ts';
import { browserName } from '../names/read-name.ts';
import { fullSessionOf, type Who, whoHas } from './who.ts';

/** The browser that sent a request, and who is using it. Tokens are those it holds, or null. */
export type Visitor = {
  address: string;
  sessionToken: string | null;
  sessionHash: Buffer | null;
  deviceToken: string | null;
  rememberedToken: string | null;
  /** Of the ceremonies with passkeys that the browser has begun. */
  passkeyToken: string | null;
  language: Language;
  /** As people call it; null if unknown. */
  browser: string | null;
  requestId: string;
  /** Who they are, read at the first call; the same afterwards, whatever the request itself changes. */
  who: () => Promise<Who>;
};

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sent the request, once somebody has asked (`visitorOf`). */
    visitor?: Visitor;
  }
}

/** The visitor of a request, read once. No other file reads the session token. */
export function visitorOf(deps: Deps, request: FastifyRequest): Visitor {
  request.visitor ??= readVisitor(deps, request);
  return request.visitor;
}

function readVisitor(deps: Deps, request: FastifyRequest): Visitor {
  const tokenOf = (name: 'device' | 'session' | 'remembered' | 'passkey') =>
    readTokenCookie(request.headers, deps.config, name);
  const { address } = request;
  const sessionToken = tokenOf('session');
  const sessionHash = sessionToken === null ? null : tokenHash(sessionToken);
  let who: Promise<Who> | undefined;
  return {
    address,
    sessionToken,
    sessionHash,
    deviceToken: tokenOf('device'),
    rememberedToken: tokenOf('remembered'),
    passkeyToken: tokenOf('passkey'),
    language: languageOfRequest(request),
    browser: browserName(request.headers['user-agent']) ?? null,
    requestId: request.id,
    async who() {
      if (sessionHash === null) return { kind: 'nobody' };
      who ??= whoHas(deps, sessionHash, address);
      return await who;
    },
  };
}

/** Whether a visitor is signed in; it counts as no use of the session. While the database is down nobody is. */
export function isSignedInAt(deps: Deps) {
  return async function isSignedIn(request: FastifyRequest): Promise<boolean> {
    const { sessionHash, address } = visitorOf(deps, request);
    if (sessionHash === null) return false;
    const session = await fullSessionOf(deps, { tokenHash: sessionHash, address }).catch(nullIfDatabaseAway);
    return session !== null;
  };
}

/** What an email says of a visitor: where they are and in which browser. */
export function placeOfVisitor({
  address,
  language,
  browser,
}: Pick<Visitor, 'address' | 'language' | 'browser'>): MailPlace {
  return { address, language, ...(browser && { browser }) };
}
