import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { Config } from '../config/config.ts';

/** The texts of scripts in the document, and other origins that a form may lead to. */
type More = { scripts?: readonly string[]; formOrigins?: readonly string[] };

/**
 * The Content-Security-Policy of a page: it starts from nothing; style blocks are admitted by their hashes.
 * `styles` are the exact texts between the style tags.
 */
export function pagePolicy(config: Config, styles: readonly string[], more: More = {}): string {
  const { scripts = [], formOrigins = [] } = more;
  return [
    "default-src 'none'",
    ["script-src 'self'", ...scripts.map(hashOf)].join(' '),
    ['style-src', ...styles.map(hashOf)].join(' '),
    "img-src 'self' data:",
    "connect-src 'self'",
    // Chromium applies this rule to the redirect after a form post as well.
    ["form-action 'self'", ...config.destinationRules.allowedOrigins, ...formOrigins].join(' '),
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

/** The headers of every answer. `styles` are those of pages. */
export function securityHeaders(config: Config, styles: readonly string[], more: More = {}): Record<string, string> {
  return {
    'content-security-policy': pagePolicy(config, styles, more),
    'referrer-policy': 'strict-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy':
      'accelerometer=(), browsing-topics=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), payment=(), usb=()',
    'cache-control': 'no-store',
    ...(config.publicUrl.protocol === 'https:' && {
      // Two years (RFC 6797 §6.1).
      'strict-transport-security': 'max-age=63072000; includeSubDomains',
    }),
  };
}

/** How the policy names a text inside the document (Content Security Policy Level 3, §2.3.1). */
function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** Chromium applies `form-action` to the post: only this page may post, and only there (docs/decisions/0016). */
export function sendFormPolicy(reply: FastifyReply, url: string): void {
  const policy = String(reply.getHeader('content-security-policy'));
  reply.header(
    'content-security-policy',
    policy.replace(/form-action [^;]*/, `form-action 'self' ${new URL(url).origin}`),
  );
}
