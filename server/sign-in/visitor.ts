import type { FastifyRequest } from 'fastify';
import type { Language } from '#contract/languages.ts';
import type { Deps } from '../deps.ts';
import { readTokenCookie } from '../http/cookies.ts';
import { languageOfRequest } from '../http/request-url.ts';

/** Whose browser asks to sign in. Tokens are those it holds, or null. */
export type Visitor = {
  address: string;
  deviceToken: string | null;
  sessionToken: string | null;
  rememberedToken: string | null;
  /** Of the page. */
  language: Language;
  /** The browser's user agent. */
  userAgent: string | undefined;
  requestId: string;
};

/** The visitor of a request whose address is already known. */
export function visitorOf({ config }: Deps, request: FastifyRequest, address: string): Visitor {
  const tokenOf = (name: 'device' | 'session' | 'remembered') => readTokenCookie(request.headers, config, name);
  return {
    address,
    deviceToken: tokenOf('device'),
    sessionToken: tokenOf('session'),
    rememberedToken: tokenOf('remembered'),
    language: languageOfRequest(request),
    userAgent: request.headers['user-agent'],
    requestId: request.id,
  };
}
