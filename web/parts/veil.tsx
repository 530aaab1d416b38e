const arch = 'M7 27V16a9 9 0 0 1 18 0v11';

/** Light moving round a small arch. The frame's status region announces its text, so it is hidden here. */
export function Veil({ text }: { text: string }) {
  return (
    <div className="veil" aria-hidden="true">
      <svg className="spin" viewBox="0 0 32 32" width="48" height="48" aria-hidden="true">
        <path d={arch} />
        <path d={arch} pathLength="100" />
      </svg>
      <span>{text}</span>
    </div>
  );
}
