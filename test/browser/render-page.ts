import { text } from 'node:stream/consumers';
import { loadBuiltPages } from '#server/http/built-pages.ts';

/** Renders the page on standard input; a process of its own, because the test runner would first rewrite the build. */
const { render } = await loadBuiltPages({ basePath: '/portal', brand: { accentColour: null, texts: {} } });
process.stdout.write(render(JSON.parse(await text(process.stdin))));
