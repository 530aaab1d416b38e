import { useEffect, useState } from 'react';

const second = 1000;

/** The whole seconds until a moment, counting down; 0 on the server and once it has passed. */
export function useSecondsUntil(moment: number): number {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const look = () => {
      const left = Math.max(0, Math.ceil((moment - Date.now()) / second));
      setSeconds(left);
      if (left === 0) clearInterval(timer);
    };
    const timer = setInterval(look, second);
    look();
    return () => clearInterval(timer);
  }, [moment]);
  return seconds;
}
