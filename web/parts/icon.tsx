import type { ReactNode } from 'react';

/** A shape of shapes.tsx or later-shapes.tsx, in the colour of the text. */
export function Icon({ shape, size = 20 }: { shape: ReactNode; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {shape}
    </svg>
  );
}
