import type { FastifyRequest } from 'fastify';
import { callUrl } from '#contract/calls.ts';
import { queryValue } from '../http/request-url.ts';

/** The page that names who is signed in and asks whether to sign out; what is undefined in its query is left out. */
export function signOutQuestionUrl(basePath: string, query: Record<string, string | undefined> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return `${callUrl(basePath, 'logout')}?${new URLSearchParams({ confirm: '', ...Object.fromEntries(given) })}`;
}

/** Whether that page is requested: whoever does, nobody is signed out. */
export function isSignOutQuestion(request: FastifyRequest): boolean {
  return queryValue(request, 'confirm') !== null;
}
