import { useMessage } from '../messages.tsx';
import { Icon } from './icon.tsx';

export function PrintButton() {
  const message = useMessage();
  return (
    <button className="button quiet small" type="button" onClick={() => print()}>
      <Icon name="print" size={18} />
      {message('print')}
    </button>
  );
}
