import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Language } from '#contract/languages.ts';
import { tokenHash } from '../crypto/token.ts';
import { nullIfDatabaseAway } from '../database/connect.ts';
import type { Deps } from '../deps.ts';
import { readTokenCookie } from '../http/cookies.ts';
import { addressOf } from '../http/guards.ts';
import { refuse } from '../http/refuse.ts';
import { languageOfRequest } from '../http/request-url.ts';
import type { MailPlace } from '../mail/queue-mail.ts';
import { browserName } from '../names/browser-name.ts';
import { fullSessionOf, type Who, whoHas } from './who.ts';

/** The browser that sent a request, and who is using it. Tokens are those it holds, or null. */
export type Visitor = {
  /** Null if it could not be determined. */
  address: string | null;
  sessionToken: string | null;
  sessionHash: Buffer | null;
  deviceToken: string | null;
  rememberedToken: string | null;
  /** Of the ceremonies with passkeys that the browser has begun. */
  passkeyToken: string | null;
  /** The page's language. */
  language: Language;
  userAgent: string | undefined;
  requestId: string;
  /**
   * Who they are, read at the first call; the same afterwards, whatever the request itself changes. A visitor whose
   * address is unknown is nobody.
   */
  who: () => Promise<Who>;
};

/** A visitor whose address is known. */
export type KnownVisitor = Visitor & { address: string };

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

/** The visitor of a request, or null after refusing it with 400: their address could not be determined. */
export async function knownVisitorOf(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<KnownVisitor | null> {
  const visitor = visitorOf(deps, request);
  if (isKnown(visitor)) return visitor;
  await refuse(deps, request, reply, 400, { detail: 'The client address could not be determined.' });
  return null;
}

function isKnown(visitor: Visitor): visitor is KnownVisitor {
  return visitor.address !== null;
}

function readVisitor(deps: Deps, request: FastifyRequest): Visitor {
  const tokenOf = (name: 'device' | 'session' | 'remembered' | 'passkey') =>
    readTokenCookie(request.headers, deps.config, name);
  const address = addressOf(deps, request);
  const sessionToken = tokenOf('session');
  const sessionHash = sessionToken === null ? null : tokenHash(sessionToken);
  let who: Promise<Who> | undefined;
  return {
    address,
    sessionToken,
    sessionHash,
    // Read only when asked for: session checks need none of it.
    get deviceToken() {
      return tokenOf('device');
    },
    get rememberedToken() {
      return tokenOf('remembered');
    },
    get passkeyToken() {
      return tokenOf('passkey');
    },
    get language() {
      return languageOfRequest(request);
    },
    userAgent: request.headers['user-agent'],
    requestId: request.id,
    who() {
      who ??= read();
      return who;
    },
  };

  async function read(): Promise<Who> {
    if (address === null || sessionHash === null) return { kind: 'nobody' };
    return await whoHas(deps, sessionHash, address);
  }
}

/**
 * Tells whether a request's visitor is signed in, without marking their session as used: a page that asks for an address which
 * does not exist, again and again, must not keep it alive. While the database is down nobody is.
 */
export function isSignedInAt(deps: Deps) {
  return async function isSignedIn(request: FastifyRequest): Promise<boolean> {
    const { sessionHash, address } = visitorOf(deps, request);
    if (sessionHash === null || address === null) return false;
    const session = await fullSessionOf(deps, { tokenHash: sessionHash, address }).catch(nullIfDatabaseAway);
    return session !== null;
  };
}

/** What an email says of a visitor: where they are and in which browser. */
export function placeOfVisitor({
  address,
  language,
  userAgent,
}: Pick<KnownVisitor, 'address' | 'language' | 'userAgent'>): MailPlace {
  const browser = browserName(userAgent);
  return { address, language, ...(browser && { browser }) };
}
