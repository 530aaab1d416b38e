import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Language, languages } from '#contract/languages.ts';
import { type Brand, brandFolder } from '../brand/brand.ts';
import { mediaTypeOf } from '../brand/logo-on-pages.ts';
import { textModule } from '../brand/text-module.ts';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import type { BuiltPages } from './built-pages.ts';
import { bestQuality, encode, encodingOf } from './encoding.ts';

/** The name of an asset changes with its content. */
export const assetLifetime = `public, max-age=${limits.assetLifetimeSeconds}, immutable`;

/**
 * What only the pages of one brand load: logos too large for the document, and, below the brand's digest, the scripts
 * with its texts. A name that is unknown may be that of a brand that another instance has read first.
 */
export function addBrandFiles(app: FastifyInstance, deps: Deps, built: BuiltPages): void {
  const { brands, config } = deps;
  const folder = config.basePath + brandFolder;
  const notFound = (reply: FastifyReply) => reply.callNotFound();
  const named = { config: { name: 'brandFile' } };

  app.get(`${folder}/:file`, named, async (request: FastifyRequest<{ Params: { file: string } }>, reply) => {
    const logo = await found((brand) => brand.files.get(request.params.file));
    if (!logo) return notFound(reply);
    return reply
      .header('cache-control', assetLifetime)
      .header('content-security-policy', "default-src 'none'; sandbox; frame-ancestors 'none'")
      .type(mediaTypeOf(logo))
      .send(logo.bytes);
  });

  app.get(
    `${folder}/:digest/:file`,
    named,
    async (request: FastifyRequest<{ Params: { digest: string; file: string } }>, reply) => {
      const { digest, file } = request.params;
      const brand = await found((one) => (one.digest === digest ? one : undefined));
      if (!brand || !/^[\w-]+\.js$/.test(file)) return notFound(reply);
      const language = languages.find((one) => built.fileOfTexts[one] === file);
      if (!language || !brand.texts[language]) return reply.sendFile(file);
      reply.header('cache-control', assetLifetime).header('vary', 'Accept-Encoding').type('text/javascript');
      return await sendTexts(request, reply, brand, language);
    },
  );

  async function found<T>(look: (brand: Brand) => T | undefined): Promise<T | undefined> {
    const find = () => {
      for (const brand of brands.all()) {
        const one = look(brand);
        if (one !== undefined) return one;
      }
      return undefined;
    };
    const one = find();
    if (one !== undefined) return one;
    await brands.refresh();
    return find();
  }
}

/** By brand, then by encoding and language: anybody may ask for them, and compression takes its time. */
const texts = new WeakMap<Brand, Map<string, Promise<string | Buffer>>>();

async function sendTexts(request: FastifyRequest, reply: FastifyReply, brand: Brand, language: Language) {
  const encoding = encodingOf(request);
  const made = texts.get(brand) ?? new Map<string, Promise<string | Buffer>>();
  texts.set(brand, made);
  const key = `${encoding} ${language}`;
  const body = made.get(key) ?? encode(textModule(language, brand.texts), encoding, bestQuality);
  made.set(key, body);
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  return reply.send(await body);
}
