import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Call, callUrl } from '#contract/calls.ts';
import { type PlainScreen, queryNames, screenOfPath, screenUrl, withoutTrailingSlash } from '#contract/screens.ts';
import type { Deps } from '../deps.ts';
import { refuse, sendProblem } from './refuse.ts';
import { asksForJson, destinationOfAddress, languageOverride, splitUrl, wantsPage } from './request-url.ts';

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
export function notFound(deps: Deps, isSignedIn: IsSignedIn = nobody) {
  return async function answerNotFound(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
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
    const methods = methodsOf(request.server, path, basePath);
    if (methods.length > 0 && !methods.includes(request.method)) {
      reply.header('allow', methods.join(', '));
      return await refuse(deps, request, reply, 405);
    }
    if (asksForJson(request)) return sendProblem(reply, 404);
    return await deps.pages.send(request, reply, 404, {
      screen: { name: 'notFound', ...((await isSignedIn(request)) && { hasAccount: true }) },
    });
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

/** The methods of an address; none if it doesn't exist. */
function methodsOf(server: FastifyInstance, path: string, basePath: string): string[] {
  const plain = withoutTrailingSlash(path);
  // Other characters mean something in the pattern of a route.
  if (!/^[\w/.-]+$/.test(plain)) return [];
  const urls = [plain, plain.replace(/[^/]+$/, ':connection')];
  const methods = ['GET', 'HEAD', 'POST'].filter((method) => urls.some((url) => server.hasRoute({ method, url })));
  if (methods.length > 0) return methods;
  // One route is for all screens.
  const isScreen = plain.startsWith(`${basePath}/`) && screenOfPath(plain.slice(basePath.length)).name !== 'notFound';
  return isScreen ? readable : [];
}
