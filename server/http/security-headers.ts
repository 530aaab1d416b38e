import { createHash } from 'node:crypto';
import type { Config } from '../config/config.ts';

/**
 * The headers of every answer. The policy starts from nothing; style blocks are admitted by their hashes. `styles` are the
 * exact texts between the style tags.
 */
export function securityHeaders(config: Config, styles: readonly string[]): Record<string, string> {
  const styleHashes = styles.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`);
  const policy = [
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
  ];
  return {
    'content-security-policy': policy.join('; '),
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
