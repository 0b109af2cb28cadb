// The map field: a button that shows the map, which is loaded then. Without an id it is only looked at.
import { useState } from 'preact/hooks';
import { hasValue, placeOf } from '../form/form.ts';
import { textOf } from '../form/types.ts';
import { useUi } from '../views/context.ts';
import { controlAttributes, Framed, type FieldProps } from './label.tsx';
import { lazy } from './lazy.tsx';

const MapView = lazy(() => import('../capture/map.tsx').then((module) => module.MapView));

export function MapField({ field, value, problem, onChange }: FieldProps) {
  const { say } = useUi();
  const [isOpen, setOpen] = useState(false);
  const place = placeOf(value);
  const takesPlace = hasValue(field);
  const { 'aria-required': _required, 'aria-invalid': _invalid, ...attributes } = controlAttributes(field, problem);
  return (
    <Framed field={field} problem={problem}>
      <div class="row">
        <button type="button" class="button" {...attributes} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <span dir="auto">{textOf(field.source, 'placeholder') || say('showMap')}</span>
        </button>
        {place && (
          <span dir="ltr">
            {place.latitude}, {place.longitude}
          </span>
        )}
        {takesPlace && place && (
          <button type="button" class="quiet-button" onClick={() => onChange(null)}>
            {say('clear')}
          </button>
        )}
      </div>
      {isOpen && <MapView field={field} value={place} onChange={takesPlace ? (chosen) => onChange({ ...chosen }) : null} />}
    </Framed>
  );
}
