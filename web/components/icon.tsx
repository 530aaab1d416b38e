/** A shape, from below or from seal.tsx, in the colour of the text. */
export function Icon({ shape, size = 20 }: { shape: string; size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 20 20" strokeWidth="1.5" aria-hidden="true">
      <path d={shape} />
    </svg>
  );
}

/** The icons of the first script. All are a path each, circles included, which is less to load and to hydrate. */
export const shapes = {
  alert: 'M2.5 10a7.5 7.5 0 1 0 15 0 7.5 7.5 0 1 0-15 0ZM10 6.2v4.6M10 13.7v.1',
  info: 'M2.5 10a7.5 7.5 0 1 0 15 0 7.5 7.5 0 1 0-15 0ZM10 9.2v4.6M10 6.3v.1',
  eye: 'M2 10s3-5.2 8-5.2S18 10 18 10s-3 5.2-8 5.2S2 10 2 10ZM7.6 10a2.4 2.4 0 1 0 4.8 0 2.4 2.4 0 1 0-4.8 0Z',
  eyeClosed:
    'M3.5 3.5l13 13M8 5c.6-.1 1.3-.2 2-.2 5 0 8 5.2 8 5.2a13 13 0 0 1-2.4 2.9M5 6.7A13.5 13.5 0 0 0 2 10s3 5.2 8 5.2c1.7 0 3.1-.6 4.3-1.3M8.3 8.3a2.4 2.4 0 0 0 3.4 3.4',
  globe:
    'M2.75 10a7.25 7.25 0 1 0 14.5 0 7.25 7.25 0 1 0-14.5 0ZM2.75 10h14.5M10 2.75c2.2 2 3 4.5 3 7.25s-.8 5.25-3 7.25c-2.2-2-3-4.5-3-7.25s.8-5.25 3-7.25Z',
};
