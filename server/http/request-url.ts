import type { FastifyRequest } from 'fastify';
import { destinationToCarry } from '#contract/destination.ts';
import { bestLanguage, type Language, languageOfTag, tagsOfAcceptLanguage } from '#contract/languages.ts';
import { queryNames } from '#contract/screens.ts';
import type { Config } from '../config/config.ts';

/** Path and query of a request, split. Nothing is decoded: the router has decoded the path correctly. */
export function splitUrl(url: string): { path: string; search: string } {
  const at = url.indexOf('?');
  return at < 0 ? { path: url, search: '' } : { path: url.slice(0, at), search: url.slice(at) };
}

/** Whether every `%` of a path begins an encoded byte, and all are UTF-8. */
export function isWellEncoded(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

const longestRecorded = 256;

/** A text from a request for records: truncated, and in ASCII, so that nothing in it moves a terminal's cursor. */
export function recordable(text: string): string {
  const cut = text.slice(0, longestRecorded);
  return cut.replace(/[^!-~]/g, (character) => encodeURIComponent(character)).slice(0, longestRecorded);
}

/** One query parameter, the first if repeated. */
export function queryValue(request: FastifyRequest, name: string): string | null {
  return new URLSearchParams(splitUrl(request.url).search).get(name);
}

/** The language of an answer: `?lang=`, else the best match of Accept-Language, else the fallback. */
export function languageOfRequest(request: FastifyRequest): Language {
  return languageOverride(request) ?? bestLanguage(tagsOfAcceptLanguage(request.headers['accept-language'] ?? ''));
}

/** `?lang=` as the visitor set it, to be kept in a redirect; undefined if absent. */
export function languageOverride(request: FastifyRequest): Language | undefined {
  return languageOfTag(queryValue(request, queryNames.language) ?? '') ?? undefined;
}

/**
 * Whether what isn't there is told in JSON: to a client that asks for it, and to what a page loads, which
 * nobody reads. A client that takes anything, such as curl or a browser's address bar through a proxy, gets the page.
 */
export function asksForJson(request: FastifyRequest): boolean {
  const { accept = '', 'sec-fetch-mode': mode } = request.headers;
  if (mode !== undefined) return mode !== 'navigate';
  return /\bjson\b/.test(accept) && !wantsPage(request);
}

/** Whether a person sees the answer, and not a script. */
export function wantsPage(request: FastifyRequest): boolean {
  const mode = request.headers['sec-fetch-mode'];
  if (mode !== undefined) return mode === 'navigate';
  return /\btext\/html\b/.test(request.headers.accept ?? '');
}

/** The destination in the address of a request, judged; undefined if there is none to carry along. */
export function destinationOfAddress(request: FastifyRequest, config: Config): string | undefined {
  return destinationToCarry(queryValue(request, queryNames.destination), config.destinationRules);
}
