import type { FastifyRequest } from 'fastify';
import { queryNames, type Screen, screenUrl } from '#contract/screens.ts';
import type { Config } from '../config/config.ts';
import { destinationOfAddress } from '../http/destination-of-address.ts';
import { languageOverride, queryValue, splitUrl } from '../http/request-url.ts';
import { isToken } from '../secrets/token.ts';

/**
 * The right address of a link whose own was damaged on its way, as by the full stop of a sentence or by quoted-printable; null if
 * it is right, or names none.
 */
export function mendedLink(request: FastifyRequest, config: Config, name: Screen['name']): string | null {
  const { basePath } = config;
  const { path } = splitUrl(request.url);
  const isMeant = name === 'notFound' && path.toLowerCase().startsWith(`${basePath}/forgottenchange`.toLowerCase());
  if (name !== 'forgottenChange' && !isMeant) return null;
  if (!isMeant && isToken(queryValue(request, queryNames.hash) ?? '')) return null;
  // Whoever has asked for the link chose its destination, which may name a link of their own, also once it is decoded.
  const url = request.url.replace(otherValues, '$1');
  const named = /hash(?:=|%3d)?([^&#]*)/i.exec(url)?.[1] ?? '';
  const hash = named ? (wholeTokenIn(named) ?? brokenTokenIn(named)) : wholeTokenIn(url);
  if (hash === null) return null;
  return screenUrl(basePath, 'forgottenChange', {
    [queryNames.hash]: hash,
    [queryNames.destination]: destinationOfAddress(request, config),
    [queryNames.language]: languageOverride(request),
  });
}

const otherNames = Object.values(queryNames).filter((name) => name !== queryNames.hash);
const otherValues = new RegExp(`((?:${otherNames.join('|')})(?:=|%3d))[^&#]*`, 'gi');
const escapes = /%[\da-f]{2}/gi;
const tokenLength = 43;

function wholeTokenIn(text: string): string | null {
  const words = text.replace(escapes, ' ').match(/[\w-]+/g) ?? [];
  return words.map(withoutEquals).find(isToken) ?? null;
}

/** A token with something inside of it, as by the end of a line, or with a few letters more. */
function brokenTokenIn(text: string): string | null {
  const [joined = ''] = /^[\w-]*/.exec(text.replace(escapes, '').replaceAll('=', '')) ?? [];
  const letters = withoutEquals(joined);
  const token = letters.slice(0, tokenLength);
  return letters.length <= tokenLength + 3 && isToken(token) ? token : null;
}

/** Quoted-printable writes the equals sign before a token as `=3D`. */
function withoutEquals(text: string): string {
  return text.length >= tokenLength + 2 ? text.replace(/^3D/, '') : text;
}
