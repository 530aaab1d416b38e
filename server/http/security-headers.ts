import { createHash } from 'node:crypto';
import type { Config } from '../config/config.ts';

/** The Content-Security-Policy of a page in a brand: it starts from nothing; style blocks are admitted by their hashes. */
export function pagePolicy(config: Config, styles: readonly string[]): string {
  const styleHashes = styles.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`);
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styleHashes.join(' ')}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    // Chromium applies this rule to the redirect after a form post as well.
    ["form-action 'self'", ...config.destinationRules.allowedOrigins].join(' '),
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

/** The headers of every answer. `styles` are the exact texts between the style tags of pages in the installation's brand. */
export function securityHeaders(config: Config, styles: readonly string[]): Record<string, string> {
  return {
    'content-security-policy': pagePolicy(config, styles),
    'referrer-policy': 'strict-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy':
      'accelerometer=(), browsing-topics=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), payment=(), usb=()',
    'cache-control': 'no-store',
    ...(config.publicUrl.protocol === 'https:' && {
      'strict-transport-security': 'max-age=63072000; includeSubDomains',
    }),
  };
}
