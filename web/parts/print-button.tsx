import { useMessage } from '../messages.tsx';
import { Icon } from './icon.tsx';
import { laterShapes } from './later-shapes.tsx';

export function PrintButton() {
  const message = useMessage();
  return (
    <button className="button quiet small" type="button" onClick={() => print()}>
      <Icon shape={laterShapes.print} size={18} />
      {message('print')}
    </button>
  );
}
