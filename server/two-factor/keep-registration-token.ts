import type { FastifyReply } from 'fastify';
import type { Config } from '../config/config.ts';
import { setCookie } from '../http/cookies.ts';
import { limits } from '../limits.ts';

/** Keeps the token of the key that a browser is shown, for as long as it may set up that app. */
export function keepRegistrationToken(reply: FastifyReply, config: Config, registrationToken: string): void {
  setCookie(reply, config, 'registration', registrationToken, limits.freshSignIn);
}
