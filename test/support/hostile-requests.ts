import fc from 'fast-check';
import { calls } from '#contract/calls.ts';
import { legacyPaths, screenPaths } from '#contract/screens.ts';

/** Every path of the portal, and some that don't exist. */
export const paths = [
  ...['', '/', '/portal.html', '/assets/', '/assets/x.js', '/loginfail/', '/loginfail/x', '/logo', '/nothing'],
  ...Object.values(calls).map(({ path }) => path),
  ...Object.values(screenPaths),
  ...Object.keys(legacyPaths),
].map((path) => `/portal${path}`);
export const methods = 'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND SEARCH QUERY'.split(' ');

const hostileTexts = [
  ...['', ' ', '%00', '%', '%E0%A4%A', '%ff', '%ED%A0%80', '%C0%AF', '%0d%0aSet-Cookie:x=y', '..', '%2e%2e%2f', '//'],
  ...['__proto__', 'constructor', "' or 1=1--", '$1', '\\', '<script>', '{{1234567*7654321}}', '\u0001'],
  ...['%E2%80%AE', '%F0%9F%98%80'],
  // Values shaped like an email address and a token.
  ...['x@acme.test', 'A'.repeat(43)],
  ...['null', 'undefined', '0', '-1', '1e400', 'NaN', 'true', '[]', '{}', 'x'.repeat(400), 'x'.repeat(4000)],
];
const hostile = fc.oneof(fc.constantFrom(...hostileTexts), fc.string({ unit: 'binary-ascii', maxLength: 40 }));
/** What a header can contain after Node's parser. */
const headerValue = hostile.map((text) => text.replace(/[^\t\x20-\x7e]/g, '?').trim());
const fields =
  'username password repeat hash redirectURL username[] __proto__[x] code remember recovery codeSentViaEmail';
const fieldName = fc.oneof(fc.constantFrom(...fields.split(' ')), hostile);
const names =
  'lang login redirectURL destination hash reason ipaddress notice codeSentViaEmail remember recovery offset';
const query = fc.array(fc.tuple(fc.oneof(fc.constantFrom(...names.split(' ')), hostile), hostile), { maxLength: 3 });
const encoded = fc.oneof(hostile, fc.json()).map((text) => Buffer.from(text).toString('base64url'));
const cookie = fc.oneof(
  headerValue,
  fc
    .tuple(fc.constantFrom('session', 'device', 'refusal', 'reset', 'remembered'), fc.oneof(headerValue, encoded))
    .map(([name, value]) => `vestibule-${name}=${value}`),
);
const headers = fc.record(
  {
    accept: fc.constantFrom('text/html', 'application/json', '*/*', '', 'text/html;q=x'),
    'accept-language': fc.oneof(fc.constantFrom('de', 'pl;q=0.5,it', 'xx', '*'), headerValue),
    'accept-encoding': fc.oneof(fc.constantFrom('br', 'gzip', 'br;q=0'), headerValue),
    'content-type': fc.oneof(
      { weight: 4, arbitrary: fc.constant('application/x-www-form-urlencoded') },
      fc.constantFrom('application/json', 'text/plain', 'multipart/form-data'),
      headerValue,
    ),
    'content-encoding': headerValue,
    cookie: fc.array(cookie, { maxLength: 4 }).map((pairs) => pairs.join('; ')),
    host: fc.oneof({ weight: 6, arbitrary: fc.constant('localhost:8080') }, headerValue),
    origin: fc.oneof({ weight: 6, arbitrary: fc.constant('http://localhost:8080') }, headerValue),
    'sec-fetch-site': fc.oneof({ weight: 6, arbitrary: fc.constant('same-origin') }, headerValue),
    'sec-fetch-mode': fc.constantFrom('navigate', 'cors', 'no-cors', ''),
    referer: headerValue,
    'x-forwarded-for': headerValue,
    'if-none-match': headerValue,
    range: headerValue,
    'user-agent': headerValue,
    'x-http-method-override': fc.constantFrom('POST', 'DELETE'),
  },
  { requiredKeys: ['host'] },
);
const body = fc.oneof(
  fc
    .array(fc.tuple(fieldName, hostile), { maxLength: 25 })
    .map((pairs) => pairs.map((pair) => pair.join('=')).join('&')),
  hostile,
  fc.json(),
  fc.constant('a'.repeat(20_000)),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
);

/** What a script could send as a code. */
const code = fc
  .oneof(
    fc.stringMatching(/^[0-9]{5,7}$/),
    fc.stringMatching(/^[0-9A-Za-z]{4}-[0-9A-Z]{4}[- ][0-9A-Z]{4}$/),
    hostile,
    fc.jsonValue({ maxDepth: 3 }),
  )
  .map((value) => JSON.stringify(value));

export type Sent = {
  method: string;
  path: string;
  query: [string, string][];
  headers: Record<string, string>;
  body: string | Buffer | null;
};
export const requests: fc.Arbitrary<Sent> = fc.record({
  method: fc.constantFrom(...methods),
  path: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...paths) },
    hostile.map((text) => `/portal/${text}`),
  ),
  query: query as fc.Arbitrary<[string, string][]>,
  headers: headers as fc.Arbitrary<Record<string, string>>,
  body: fc.option(body),
});

/** Requests to the calls and screens of the second factor; the caller adds the cookies. */
export const secondFactorRequests: fc.Arbitrary<Sent> = fc.record({
  method: fc.oneof({ weight: 3, arbitrary: fc.constantFrom('POST', 'GET') }, fc.constantFrom(...methods)),
  path: fc.constantFrom(...paths.filter((path) => /two-?factor/i.test(path))),
  query: query as fc.Arbitrary<[string, string][]>,
  headers: fc
    .tuple(headers, fc.constantFrom('application/json', 'application/x-www-form-urlencoded', null))
    .map(([given, type]) => ({
      ...given,
      ...(type !== null && { 'content-type': type, origin: 'http://localhost:8080', 'sec-fetch-site': 'same-origin' }),
    })) as fc.Arbitrary<Record<string, string>>,
  body: fc.option(fc.oneof(code, code, body)),
});
