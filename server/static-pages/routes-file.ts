import { calls } from '#contract/calls.ts';
import { hubStartPath, screenPaths } from '#contract/screens.ts';
import { limits } from '../limits.ts';
import { redirects, screenRules } from './addresses.ts';
import { fileOf } from './render-screens.ts';
import { backendProblems, notFoundName, problemName, staticScreens } from './static-screens.ts';

type Site = { basePath: string; headers: Record<string, string> };

/** What any other web server has to do, as JSON: which file answers which address, and with which headers. */
export function routesFile({ basePath, headers }: Site): string {
  const page = (name: string) => `/${fileOf({ basePath }, name, null)}`;
  const [, , , anyFailure] = screenRules(basePath);
  const screens = staticScreens.filter(({ path, query }) => path !== '' && query === '');
  const routes = {
    pages: [
      { address: `${basePath}/`, file: page('login') },
      ...screens.map(({ path, name }) => ({ address: basePath + path, file: page(name) })),
      { pattern: anyFailure?.pattern, file: page('loginfail-default') },
    ],
    notFound: { below: `${basePath}/`, file: page(notFoundName), status: 404 },
    backendAway: backendProblems.map((status) => ({ status, file: page(problemName(status)) })),
    headersOfPages: headers,
    assets: {
      below: `${basePath}/assets/`,
      headers: { 'cache-control': `public, max-age=${limits.assetLifetimeSeconds}, immutable` },
    },
    redirects: [
      { from: '/', to: `${basePath}/` },
      { from: '/.well-known/change-password', to: basePath + screenPaths.forgotten },
      ...redirects.map(([old, now]) => ({ from: basePath + old, to: basePath + now, keepsQuery: true })),
    ],
    backend: [
      ...[calls.performLogin.path, calls.logout.path, hubStartPath].map((path) => basePath + path),
      ...['authenticate', 'password', 'two-factor-authentication'].map((folder) => `${basePath}/${folder}/`),
    ],
  };
  return `${JSON.stringify(routes, null, 2)}\n`;
}
