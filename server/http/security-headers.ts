import { createHash } from 'node:crypto';
import type { Config } from '../config/config.ts';

/**
 * The headers of every answer. The policy starts from nothing; the one style block is admitted by its hash. `styleText`
 * is the exact text between the style tags.
 */
export function securityHeaders(config: Config, styleText: string): Record<string, string> {
  const styleHash = createHash('sha256').update(styleText).digest('base64');
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'sha256-${styleHash}'`,
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
