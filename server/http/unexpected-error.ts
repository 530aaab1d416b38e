import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Call, callUrl } from '#contract/calls.ts';
import { problemStatuses } from '#contract/page.ts';
import { type PlainScreen, queryNames, screenOfPath, screenUrl, withoutTrailingSlash } from '#contract/screens.ts';
import { WorkQueueFull } from '../crypto/password-hash.ts';
import { isDatabaseAway } from '../database/connect.ts';
import type { Deps } from '../deps.ts';
import { second } from '../limits.ts';
import { refuse, sendProblem } from './refuse.ts';
import { UnreadableBody } from './request-body.ts';
import { asksForJson, destinationOfAddress, languageOverride, splitUrl, wantsPage } from './request-url.ts';

/** The only place that decides what a visitor may see of an error. */
export function unexpectedError(deps: Deps) {
  const answerNotFound = notFound(deps);

  return async function handleError(
    error: FastifyError,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const retryAfter = retryAfterOf(error);
    if (retryAfter !== null) {
      // A queue that is full under load would only fill the log as well.
      if (error instanceof WorkQueueFull) request.whyRefused = 'too many passwords are waiting to be checked';
      else request.log.error({ err: error }, 'the database is down');
      const { formAgain } = request.routeOptions.config;
      if (formAgain && wantsPage(request)) return await formAgain(reply, { retryAfter });
      return await refuse(deps, reply, 503, { retryAfter });
    }
    if (error instanceof UnreadableBody) {
      const { statusCode, message: detail, field } = error;
      return await refuse(deps, reply, statusCode, { detail, ...(field && { field }) });
    }
    if (error.validation) return await refuse(deps, reply, 400, validationDetail(error));
    if (error.code === 'FST_STATIC_FORBIDDEN_PATH') return await answerNotFound(request, reply);
    if (error.statusCode === 416) return sendProblem(reply, 416);
    const status = problemStatuses.find((known) => known === error.statusCode && known < 500);
    if (status) return await refuse(deps, reply, status);
    if (error.statusCode && error.statusCode < 500) return await refuse(deps, reply, 400);
    request.log.error({ err: error }, 'unexpected error');
    return await refuse(deps, reply, 500);
  };
}

function validationDetail({ validation }: FastifyError): { detail: string; field?: string } {
  const [first] = validation ?? [];
  const missing = first?.params?.missingProperty ?? (first?.params?.requiredProperties as string[] | undefined)?.[0];
  const field = typeof missing === 'string' ? missing : first?.instancePath.slice(1);
  return { detail: `${field || 'The request'} ${first?.message ?? 'is not valid'}`, ...(field && { field }) };
}

const retrySoon = 5 * second;

/** After how many milliseconds to retry an error that resolves itself; null if it does not. */
function retryAfterOf(error: unknown): number | null {
  if (error instanceof WorkQueueFull) return retrySoon;
  const { statusCode } = error as { statusCode?: unknown };
  // A client that disconnects during its body causes ECONNRESET too, but with a status.
  return statusCode === undefined && isDatabaseAway(error) ? retrySoon : null;
}

const readable = ['GET', 'HEAD'];

/** The screens whose forms are sent to these calls, and shown again at their addresses (form-again.ts). */
const screenOfCall: Partial<Record<Call, PlainScreen>> = {
  performLogin: 'login',
  checkSsoLogin: 'login',
  performSsoLogin: 'singleSignOn',
  passwordForgotten: 'forgotten',
  passwordChange: 'forgottenChange',
};

/**
 * Answers unrouted requests: 405 with the methods that the address supports, else 404. A person who opens the address of
 * a form's call gets the form.
 */
export function notFound(deps: Deps) {
  const { basePath } = deps.config;
  const formAt = new Map(
    Object.entries(screenOfCall).map(([call, screen]) => [callUrl(basePath, call as Call), screen]),
  );
  return async function answerNotFound(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { path } = splitUrl(request.url);
    const screen = request.method === 'GET' && wantsPage(request) && formAt.get(withoutTrailingSlash(path));
    if (screen) {
      const query = {
        [queryNames.destination]: destinationOfAddress(request, deps.config),
        [queryNames.language]: languageOverride(request),
      };
      return reply.redirect(screenUrl(basePath, screen, query), 303);
    }
    // The specification's addresses, without the base path.
    if (readable.includes(request.method) && screenOfPath(path).name !== 'notFound')
      return reply.redirect(basePath + request.url, 302);
    const methods = methodsOf(request.server, path, basePath);
    if (methods.length > 0 && !methods.includes(request.method)) {
      reply.header('allow', methods.join(', '));
      return await refuse(deps, reply, 405);
    }
    return await nothingThere(deps, request, reply);
  };
}

/** The answer at an address that does not exist, or not for whoever asks. */
export async function nothingThere(deps: Deps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  if (asksForJson(request)) return sendProblem(reply, 404);
  return await deps.pages.send(reply, 404, { screen: { name: 'notFound' } });
}

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
