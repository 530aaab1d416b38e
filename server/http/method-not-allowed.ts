import type { FastifyReply, FastifyRequest } from 'fastify';
import { accountSectionOf } from '#contract/account.ts';
import { type Call, calls, callUrl, isPathOfCall } from '#contract/calls.ts';
import {
  hubStartPath,
  type PlainScreen,
  queryNames,
  screenOfPath,
  screenUrl,
  withoutTrailingSlash,
} from '#contract/screens.ts';
import type { Deps } from '../deps/deps.ts';
import { destinationOfAddress } from './destination-of-address.ts';
import { refuse, sendProblem } from './refuse.ts';
import { asksForJson, languageOverride, splitUrl, wantsPage } from './request-url.ts';

const readable = ['GET', 'HEAD'];

/** The screens whose forms are sent to these calls, and shown again at their addresses (form-again.ts). */
const screenOfCall: Partial<Record<Call, PlainScreen>> = {
  performLogin: 'login',
  checkSsoLogin: 'login',
  performSsoLogin: 'singleSignOn',
  passwordForgotten: 'forgotten',
  passwordChange: 'forgottenChange',
  passkeyInvitation: 'forgottenChange',
};

/**
 * Answers unrouted requests: 405 with the methods that the address supports, else 404. A person who opens the address of
 * a form's call gets the form. `isSignedIn`: who is gets a link to their account page.
 */
export function methodNotAllowed(deps: Deps, isSignedIn: IsSignedIn = nobody) {
  return async function noRoute(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { basePath } = deps.config;
    const { path } = splitUrl(request.url);
    const screen = request.method === 'GET' && wantsPage(request) && screenOfForm(path, basePath);
    if (screen) {
      const query = {
        [queryNames.destination]: destinationOfAddress(request, deps.config),
        [queryNames.language]: languageOverride(request),
      };
      return reply.redirect(screenUrl(basePath, screen, query), 303);
    }
    const methods = methodsOf(path, basePath);
    if (methods.length > 0 && !methods.includes(request.method)) {
      reply.header('allow', methods.join(', '));
      return await refuse(deps, request, reply, 405);
    }
    if (asksForJson(request)) return sendProblem(reply, 404);
    return await deps.pages.send(request, reply, 404, { ...((await isSignedIn(request)) && { hasAccount: true }) });
  };
}

type IsSignedIn = (request: FastifyRequest) => Promise<boolean>;
const nobody: IsSignedIn = async () => false;

function screenOfForm(path: string, basePath: string): PlainScreen | undefined {
  const call = (Object.keys(screenOfCall) as Call[]).find(
    (name) => callUrl(basePath, name) === withoutTrailingSlash(path),
  );
  return call && screenOfCall[call];
}

const readableRootPaths = [
  '/',
  '/.well-known/change-password',
  '/.well-known/passkey-endpoints',
  '/healthz',
  '/readyz',
  '/metrics',
];

/** The methods of an address; none if it doesn't exist. */
function methodsOf(path: string, basePath: string): string[] {
  const plain = withoutTrailingSlash(path);
  if (readableRootPaths.includes(plain)) return readable;
  if (plain !== basePath && !plain.startsWith(`${basePath}/`)) return [];
  const below = plain.slice(basePath.length);
  if (accountSectionOf(below) !== null) return [...readable, 'POST'];
  const methods = (Object.keys(calls) as Call[])
    .filter((call) => isPathOfCall(call, below))
    .flatMap((call) => (calls[call].method === 'GET' ? readable : calls[call].method));
  if (methods.length > 0) return methods;
  return below === hubStartPath || screenOfPath(below).name !== 'notFound' ? readable : [];
}
