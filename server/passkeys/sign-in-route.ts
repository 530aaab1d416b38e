import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Notice } from '#contract/notices.ts';
import { PasskeyForm } from '#contract/payloads.ts';
import { screenUrl } from '#contract/screens.ts';
import type { Deps } from '../deps/deps.ts';
import type { FormKeeper } from '../http/form-again.ts';
import { refuse, sendProblem } from '../http/refuse.ts';
import {
  destinationOfForm,
  destinationToKeep,
  keptForm,
  type Onwards,
  recordRefusedDestination,
} from '../sign-in/destination-of-form.ts';
import { letIn } from '../sign-in/let-in.ts';
import { turnAway } from '../sign-in/turn-away.ts';
import type { HalfSession } from '../storage/half-session.ts';
import { secondFactorUrl } from '../two-factor/second-factor-url.ts';
import { twoFactorFormAgain } from '../two-factor/verify-route.ts';
import { knownVisitorOf } from '../visitor/visitor.ts';
import { beginCeremony, browserToBegin, optionsOfSignIn } from './ceremony.ts';
import { waitOfPasskeys } from './refuse-passkey.ts';
import { signInByPasskey } from './sign-in-by-passkey.ts';

/**
 * `POST passkeys/options` and `POST passkeys/second-factor/options`: begins a sign-in. The answer is the same for
 * everybody but for its challenge, so nobody learns who has passkeys.
 */
export function passkeyOptionsRoute(deps: Deps, purpose: 'sign-in' | 'second-factor') {
  const rp = deps.config.passkeys;

  return async function passkeyOptions(request: FastifyRequest, reply: FastifyReply) {
    if (!rp) return sendProblem(reply, 404);
    const visitor = await knownVisitorOf(deps, request, reply);
    if (!visitor) return reply;
    const browserToken = await browserToBegin(deps, request, reply, visitor);
    if (browserToken === null) return reply;
    const challenge = await beginCeremony(deps, browserToken, { purpose, sessionId: null });
    return reply.send(optionsOfSignIn(challenge, rp.id));
  };
}

export const passkeySignInSchema = { body: PasskeyForm };

/**
 * `POST passkeys/sign-in` and `POST passkeys/second-factor`: the answer of the authenticator, with the destination; 303 to
 * it, or to one page for every refusal.
 */
export function passkeySignInRoute(deps: Deps, purpose: 'sign-in' | 'second-factor') {
  const { config } = deps;
  const rp = config.passkeys;

  return async function passkeySignIn(request: FastifyRequest<{ Body: PasskeyForm }>, reply: FastifyReply) {
    if (!rp) return sendProblem(reply, 404);
    const visitor = await knownVisitorOf(deps, request, reply);
    if (!visitor) return reply;
    const who = await visitor.who();
    const { onwards, accepted, isRefused } = destinationOfForm(config, request, visitor);
    const toForm = (notice: Notice) => {
      const destination = accepted ? destinationToKeep(config.basePath, accepted) : undefined;
      return reply.redirect(screenUrl(config.basePath, 'login', { notice, destination, lang: onwards.lang }), 303);
    };
    const wait = await waitOfPasskeys(deps, visitor);
    if (wait && who.kind === 'half' && purpose === 'second-factor') return backToCode(reply, who.half, onwards);
    if (wait) return await refuse(deps, request, reply, 429, { ...wait, form: keptForm(config, request.body) });
    const result = await signInByPasskey(deps, rp, { visitor, answer: request.body.credential, purpose });
    if (result.kind === 'signedIn') {
      if (isRefused) await recordRefusedDestination(deps, request, onwards.address);
      return letIn(request, reply, config, result, { ...onwards, username: null });
    }
    if (result.kind === 'expired') return toForm('signInExpired');
    // It keeps no cookies at all, or none that any page of ours sets.
    if (result.kind === 'noCookie' && request.headers.cookie === undefined) return toForm('cookiesNeeded');
    if (purpose === 'second-factor' && who.kind === 'half') return backToCode(reply, who.half, onwards);
    const type = result.kind === 'networkRefused' ? 'ip' : 'passkey';
    const unknownPasskey = result.kind === 'refused' ? result.unknownPasskey : null;
    return turnAway(reply, config, { type, reference: result.reference, username: '', unknownPasskey }, onwards);
  };

  /** What a password began goes on, by its code. */
  function backToCode(reply: FastifyReply, half: HalfSession, { destination, lang }: Onwards): FastifyReply {
    const query = { destination, notice: 'passkeyRefused' satisfies Notice, lang };
    return reply.redirect(secondFactorUrl(config.basePath, half, query), 303);
  }
}

/** How a sign-in by passkey that could not be tried leads to the form again; in place of a code, to that of the code. */
export function passkeyFormAgain(deps: Deps, purpose: 'sign-in' | 'second-factor'): FormKeeper {
  if (purpose === 'second-factor') return twoFactorFormAgain(deps);
  return async (request, reply, wait) =>
    await refuse(deps, request, reply, 503, {
      ...wait,
      form: keptForm(deps.config, (request.body ?? {}) as Partial<PasskeyForm>),
    });
}
