import { passwordScore, smallestPasswordScore } from '#contract/password-rules.ts';
import { useMessage } from '../messages.tsx';

/** Bars and a label: weak, fair, good (passes), strong. */
export function StrengthMeter({ password }: { password: string }) {
  const message = useMessage('strength', 'strength-1', 'strength-2', 'strength-3', 'strength-4');
  const level: 0 | 1 | 2 | 3 | 4 = password === '' ? 0 : levelOf(passwordScore(password));
  return (
    <div className="strength" data-level={level}>
      <i />
      <i />
      <i />
      <i />
      <p aria-live="polite">
        {level !== 0 && (
          <>
            {message('strength')} <strong>{message(`strength-${level}`)}</strong>
          </>
        )}
      </p>
    </div>
  );
}

function levelOf(score: number): 1 | 2 | 3 | 4 {
  if (score < 3) return 1;
  if (score < smallestPasswordScore) return 2;
  return score < 9 ? 3 : 4;
}
