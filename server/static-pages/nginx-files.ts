import { languages } from '#contract/languages.ts';
import { queryNames, screenPaths } from '#contract/screens.ts';
import { mediaTypes } from '../brand/logo-on-pages.ts';
import { limits } from '../limits.ts';
import { backendPattern, type Rule, redirects, screenOtherwise, screenRules, variantRules } from './addresses.ts';
import { firstLanguagePattern } from './first-language-pattern.ts';
import { backendProblems, problemName } from './static-screens.ts';

type Site = { basePath: string; folder: string; headers: Record<string, string> };

/** The headers of every document, for `include`. */
export function nginxHeaders({ headers }: Site): string {
  return Object.entries(headers)
    .map(([name, value]) => `add_header ${name} "${value}" always;\n`)
    .join('');
}

/** nginx in front of a backend, for /etc/nginx/conf.d. */
export function nginxSite(site: Site): string {
  const { basePath, folder } = site;
  const document = (name: string) => `try_files ${basePath}/${name}.$vestibule_language.html$vestibule_suffix =404;`;
  // With `always`, nginx's own error pages would be labelled, too: only where a file answers with an error's status.
  const file = (always: '' | ' always') => `gzip off;
        add_header Content-Encoding $vestibule_encoding${always};`;
  const page = (always: '' | ' always') => `default_type "text/html; charset=utf-8";
        types {}
        ${file(always)}
        include ${folder}/nginx-headers.conf;`;
  return `# Written by \`vestibule pages\`: nginx in front of a backend, for /etc/nginx/conf.d. Change the backend's address, the name
# and the certificate.

upstream vestibule_backend {
    server 127.0.0.1:3000;
}

# Every file is there three times: for browsers that read brotli, for those that read gzip, and as it is.
map $http_accept_encoding $vestibule_suffix {
    default "";
    "~*(?:^|[\\s,])br(?!\\s*;\\s*q=0(?:\\.0*)?\\s*(?:,|$))(?:[\\s,;]|$)" .br;
    "~*(?:^|[\\s,])gzip(?!\\s*;\\s*q=0(?:\\.0*)?\\s*(?:,|$))(?:[\\s,;]|$)" .gz;
}

map $vestibule_suffix $vestibule_encoding {
    default "";
    .br br;
    .gz gzip;
}

# The language that the browser asks for first, unless the address says another one.
map $http_accept_language $vestibule_accepted {
    default ${languages[0]};
${languages.map((language) => `    "~*${quoted(firstLanguagePattern(language))}" ${language};\n`).join('')}}

map $arg_${queryNames.language} $vestibule_language {
    default $vestibule_accepted;
${languages.map((language) => `    "~*^${language}(?:[-_]|$)" ${language};\n`).join('')}}

map $uri $vestibule_screen {
    default ${screenOtherwise};
${screenRules(basePath).map(ruleOf).join('')}}

map "$vestibule_screen $args" $vestibule_variant {
    default "";
${variantRules().map(ruleOf).join('')}}

server {
    listen 443 ssl;
    server_name hub.example.com;
    ssl_certificate /etc/ssl/certs/hub.pem;
    ssl_certificate_key /etc/ssl/private/hub.key;

    root ${folder}/public;
    absolute_redirect off;

    location = / {
        return 302 ${basePath}/;
    }

    location = /.well-known/change-password {
        return 302 ${basePath}${screenPaths.forgotten};
    }

${redirects.map(([old, now]) => `    location = ${basePath}${old} {\n        return 302 ${basePath}${now}$is_args$args;\n    }\n`).join('')}
    location ${basePath}/assets/ {
        default_type text/javascript;
        types {}
        ${file('')}
        add_header Vary Accept-Encoding always;
        add_header Cache-Control "public, max-age=${limits.assetLifetimeSeconds}, immutable";
        add_header X-Content-Type-Options nosniff always;
        try_files $uri$vestibule_suffix =404;
    }

    # A logo that is too large for the documents.
    location ~ ^${basePath}/assets/brand/[^/]+\\.(?:${Object.keys(mediaTypes).join('|')})$ {
        types {
${Object.entries(mediaTypes)
  .map(([ending, type]) => `            ${type} ${ending};\n`)
  .join('')}        }
        add_header X-Content-Type-Options nosniff always;
        add_header Content-Security-Policy "default-src 'none'; style-src 'unsafe-inline'" always;
        try_files $uri =404;
    }

    # The calls and the start page of the hub. What else the backend serves below ${basePath}/ belongs here too.
    location ~ "${backendPattern(basePath)}" {
${backendProblems.map((status) => `        error_page ${status} ${problemAddress(status)};\n`).join('')}        proxy_set_header Host $http_host;
        proxy_set_header X-Forwarded-For $remote_addr;
        proxy_set_header X-Forwarded-Proto $scheme;
        proxy_pass http://vestibule_backend;
    }

    # Every other address below it is a screen.
    location ${basePath}/ {
        error_page 404 /.vestibule/${screenOtherwise};
        if ($vestibule_screen = ${screenOtherwise}) {
            return 404;
        }
        ${page('')}
        ${document('$vestibule_screen$vestibule_variant')}
    }
${[screenOtherwise, ...backendProblems.map(problemName)]
  .map(
    (name) => `
    location = /.vestibule/${name} {
        internal;
        ${page(' always')}
        ${document(name)}
    }
`,
  )
  .join('')}
    # The hub itself, if it has other addresses:
    #location / {
    #    proxy_set_header Host $http_host;
    #    proxy_set_header X-Forwarded-For $remote_addr;
    #    proxy_pass http://vestibule_backend;
    #}
}
`;
}

const problemAddress = (status: number) => `/.vestibule/${problemName(status)}`;

/** nginx keeps the groups of the last match in numbers, which a map shares with all others: they need a name. */
function ruleOf({ pattern, result }: Rule): string {
  if (!result.includes('$1')) return `    "~${quoted(pattern)}" ${result};\n`;
  const named = pattern.replace(/\((?!\?)/, '(?<vestibule_part>');
  return `    "~${quoted(named)}" ${result.replace('$1', '$vestibule_part')};\n`;
}

/** A backslash before anything but a quote stays in nginx's own strings. */
function quoted(pattern: string): string {
  return pattern.replaceAll('"', '\\"');
}
