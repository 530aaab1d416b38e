import type { ReactNode } from 'react';
import { Icon } from './icon.tsx';

/** The icons of the second script. */
export const sealShapes = {
  check: <path d="m4.5 10.5 3.6 3.6 7.4-8.2" />,
  bang: <path d="M10 4.5v7M10 15.2v.1" />,
  mail: (
    <>
      <rect x="2.75" y="4.5" width="14.5" height="11" rx="2" />
      <path d="m3.5 6 6.5 5 6.5-5" />
    </>
  ),
  shield: (
    <>
      <path d="M10 2.5 16 4.7v4.5c0 4-2.5 6.7-6 8.3-3.5-1.6-6-4.3-6-8.3V4.7Z" />
      <path d="M10 7v3.4M10 13v.1" />
    </>
  ),
  key: (
    <>
      <circle cx="6.75" cy="13.25" r="3.75" />
      <path d="m9.5 10.5 7-7m-3 3 2.5 2.5m-5 0 1.5 1.5" />
    </>
  ),
  copy: (
    <>
      <rect x="7" y="7" width="9.5" height="9.5" rx="2" />
      <path d="M13 4.5a1 1 0 0 0-1-1H5.5a2 2 0 0 0-2 2V12a1 1 0 0 0 1 1" />
    </>
  ),
  download: <path d="M10 3.5v9m-3.6-3.4 3.6 3.6 3.6-3.6M4 16.5h12" />,
  print: <path d="M6 7.5v-4h8v4M6 14H3.5V7.5h13V14H14M6 11.5h8v5H6Z" />,
  open: <circle cx="10" cy="10" r="7.25" />,
  met: (
    <>
      <circle cx="10" cy="10" r="8.25" fill="currentColor" stroke="none" />
      <path d="m6.5 10.3 2.4 2.4 4.7-5.2" stroke="var(--door)" strokeWidth="1.8" />
    </>
  ),
  broken: (
    <>
      <circle cx="10" cy="10" r="8.25" fill="currentColor" stroke="none" />
      <path d="M10 5.8v4.9M10 13.9v.1" stroke="var(--door)" strokeWidth="1.8" />
    </>
  ),
} satisfies Record<string, ReactNode>;

/** The arch-shaped tile above the heading of a result. */
export function Seal({ icon, kind = 'plain' }: { icon: keyof typeof sealShapes; kind?: 'plain' | 'bad' | 'good' }) {
  return (
    <div className={kind === 'plain' ? 'seal' : `seal ${kind}`}>
      <Icon shape={sealShapes[icon]} size={24} />
    </div>
  );
}
