import type { FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { listCookies, readTokenCookie, type TokenCookieName } from '../http/cookies.ts';

/** Enough characters of the state to distinguish the visits of one browser. */
const told = 8;

/** The cookie that shows which browser brought the answer to a visit. */
export function answerCookie(state: string): TokenCookieName {
  return `answer-${state.slice(0, told)}`;
}

/** The tokens of the answers that this browser has brought, and has not read the end of yet. */
export function answersOfBrowser({ headers }: FastifyRequest, config: Config): string[] {
  const names = listCookies(headers, config, 'answer-') as TokenCookieName[];
  return names.map((name) => readTokenCookie(headers, config, name)).filter((token) => token !== null);
}
