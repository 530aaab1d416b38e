import { languages } from '#contract/languages.ts';
import { queryNames, screenPaths } from '#contract/screens.ts';
import { mediaTypes } from '../brand/logo-on-pages.ts';
import { limits } from '../limits.ts';
import { backendPattern, type Rule, redirects, screenOtherwise, screenRules, variantRules } from './addresses.ts';
import { firstLanguagePattern } from './first-language-pattern.ts';
import { backendProblems, problemName } from './static-screens.ts';

type Site = { basePath: string; folder: string; headers: Record<string, string> };

/** Caddy in front of a backend. */
export function caddyFile({ basePath, folder, headers }: Site): string {
  return `# Written by \`vestibule pages\`: Caddy in front of a backend. SITE and BACKEND come from the environment, or are changed here.

(vestibule_page) {
	header {
		Content-Type "text/html; charset=utf-8"
${Object.entries(headers)
  .map(([name, value]) => `\t\t${name} "${value}"\n`)
  .join('')}	}
	rewrite * ${basePath}/{args.0}.{vestibule_language}.html
	file_server {
		precompressed br gzip
	}
}

{$SITE:hub.example.com} {
	root * ${folder}/public

	# The language that the browser asks for first, unless the address says another one.
	map {header.Accept-Language} {vestibule_accepted} {
${languages.map((language) => `\t\t\`~(?i)${firstLanguagePattern(language)}\` ${language}\n`).join('')}		default ${languages[0]}
	}
	map {query.${queryNames.language}} {vestibule_language} {
${languages.map((language) => `\t\t\`~(?i)^${language}(?:[-_]|$)\` ${language}\n`).join('')}		default {vestibule_accepted}
	}
	map {path} {vestibule_screen} {
${screenRules(basePath).map(ruleOf).join('')}		default ${screenOtherwise}
	}
	map "{vestibule_screen} {query}" {vestibule_variant} {
${variantRules().map(ruleOf).join('')}		default ""
	}

	redir / ${basePath}/ 302
	redir /.well-known/change-password ${basePath}${screenPaths.forgotten} 302
${redirects.map(([old, now]) => redirectOf(basePath, old, now)).join('')}
	@vestibule_logo path_regexp ^${basePath}/assets/brand/[^/]+\\.(?:${Object.keys(mediaTypes).join('|')})$
	handle @vestibule_logo {
		header X-Content-Type-Options nosniff
		header Content-Security-Policy "default-src 'none'; style-src 'unsafe-inline'"
		file_server
	}

	@vestibule_assets path_regexp ^${basePath}/assets/
	handle @vestibule_assets {
		header Cache-Control "public, max-age=${limits.assetLifetimeSeconds}, immutable"
		header X-Content-Type-Options nosniff
		file_server {
			precompressed br gzip
		}
	}

	# The calls and the start page of the hub. What else the backend serves below ${basePath}/ belongs here too.
	@vestibule_backend path_regexp ${backendPattern(basePath)}
	handle @vestibule_backend {
		reverse_proxy {$BACKEND:127.0.0.1:3000}
	}

	# Every other address below it is a screen.
	@vestibule_unknown expression \`{vestibule_screen} == "${screenOtherwise}"\`
	handle @vestibule_unknown {
		error 404
	}
	handle {
		import vestibule_page {vestibule_screen}{vestibule_variant}
	}

	handle_errors {
		method GET
${[404, ...backendProblems]
  .map(
    (status) => `		@vestibule_${status} expression {err.status_code} == ${status}
		handle @vestibule_${status} {
			import vestibule_page ${status === 404 ? screenOtherwise : problemName(status)}
		}
`,
  )
  .join('')}	}
}
`;
}

/** A group in Caddy's own notation. */
function ruleOf({ pattern, result }: Rule): string {
  return `\t\t\`~${pattern}\` ${result.replace(/\$(\d)/, '$${$1}')}\n`;
}

/** Caddy's own matcher of paths overlooks case. */
function redirectOf(basePath: string, old: string, now: string): string {
  const name = `vestibule_old${old.replace('/', '_')}`;
  return `\t@${name} path_regexp ^${basePath}${old}$
	redir @${name} ${basePath}${now}?{query} 302
`;
}
