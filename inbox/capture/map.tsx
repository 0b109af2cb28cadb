// A map of the world without anybody else's tiles: land, a grid, what is marked, and the place that is chosen. By pointer, keys or numbers.
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Field, isObject, type Json, numberOf, own, type Place, textOf } from '../form/types.ts';
import { useUi } from '../views/context.ts';
import { numberIn } from '../form/numbers.ts';
import { whereAmI } from './camera.ts';

interface Marker extends Place {
  readonly label: string;
  readonly color: string;
}

interface View extends Place {
  /** Degrees from edge to edge. */
  readonly width: number;
}

/** Width to height. */
const RATIO = 4 / 3;
const [WIDEST, NARROWEST, USUAL] = [360, 0.005, 20];
const ZOOM = 2;
const MOVE = 1 / 20;
const DIGITS = 6;

const markersOf = (field: Field): Marker[] => {
  const markers = own(field.source, 'markers');
  return (Array.isArray(markers) ? markers : []).filter(isObject).map((marker) => ({
    label: textOf(marker, 'label'),
    longitude: numberOf(marker, 'longitude', 0),
    latitude: numberOf(marker, 'latitude', 0),
    color: textOf(marker, 'color', '#d00000'),
  }));
};

const limited = ({ longitude, latitude }: Place): Place => ({
  longitude: Number(Math.min(180, Math.max(-180, longitude)).toFixed(DIGITS)),
  latitude: Number(Math.min(90, Math.max(-90, latitude)).toFixed(DIGITS)),
});

/** All that is marked, with a margin; else the world. */
function firstView(places: readonly Place[]): View {
  if (places.length === 0) return { longitude: 0, latitude: 10, width: WIDEST };
  const edges = (of: (place: Place) => number): [number, number] => [Math.min(...places.map(of)), Math.max(...places.map(of))];
  const [[west, east], [south, north]] = [edges(({ longitude }) => longitude), edges(({ latitude }) => latitude)];
  const width = Math.max(east - west, (north - south) * RATIO) * 1.5;
  return { longitude: (west + east) / 2, latitude: (south + north) / 2, width: width === 0 ? USUAL : Math.min(WIDEST, Math.max(1, width)) };
}

interface MapProps {
  readonly field: Field;
  readonly value: Place | null;
  /** null: the map is only looked at. */
  readonly onChange: ((place: Place) => void) | null;
}

export function MapView({ field, value, onChange }: MapProps) {
  const { say } = useUi();
  const markers = markersOf(field);
  const [view, setView] = useState<View>(() => firstView(value ? [value, ...markers] : markers));
  const [cross, setCross] = useState<Place | null>(null);
  const [fault, setFault] = useState('');
  const box = useRef<HTMLDivElement>(null);
  const height = view.width / RATIO;
  const zoom = (factor: number): void => setView({ ...view, width: Math.min(WIDEST, Math.max(NARROWEST, view.width * factor)) });
  // Counts what was chosen: a place that was looked for meanwhile, or behind a closed map, comes too late.
  const chosen = useRef(0);
  useEffect(() => () => void chosen.current++, []);
  const choose = (place: Place): void => {
    chosen.current++;
    setCross(null);
    onChange?.(limited(place));
  };
  const tap = ({ clientX, clientY }: MouseEvent): void => {
    const { left, top, width, height: high } = (box.current as HTMLDivElement).getBoundingClientRect();
    const [x, y] = [(clientX - left) / width - 0.5, (clientY - top) / high - 0.5];
    choose({ longitude: view.longitude + x * view.width, latitude: view.latitude - y * height });
  };
  const key = (event: KeyboardEvent): void => {
    const at = cross ?? value ?? view;
    const [dx, dy] = ARROWS[event.key] ?? [0, 0];
    if (event.key === '+' || event.key === '-') zoom(event.key === '+' ? 1 / ZOOM : ZOOM);
    else if (event.key === 'Enter' || event.key === ' ') choose(at);
    else if (dx !== 0 || dy !== 0) {
      const moved = limited({ longitude: at.longitude + dx * view.width * MOVE, latitude: at.latitude + dy * height * MOVE });
      setCross(moved);
      if (!isInside(moved, view)) setView({ ...view, ...moved });
    } else return;
    event.preventDefault();
  };
  const here = (): void => {
    const before = chosen.current;
    void whereAmI().then(
      (place) => {
        if (chosen.current !== before) return;
        setView((now) => ({ ...now, ...place, width: Math.min(now.width, 1) }));
        choose(place);
      },
      (error: Error) => setFault(error.message),
    );
  };
  const type = textOf(field.source, 'maptype', 'Standard');
  return (
    <div class={`map ${type.toLowerCase()}`}>
      <div
        ref={box}
        class="map-box"
        {...(onChange
          ? { role: 'application', tabIndex: 0, onClick: tap, onKeyDown: key, 'aria-describedby': `${field.key}-hint` }
          : { role: 'img' })}
        aria-label={textOf(field.source, 'label') || say('map')}
      >
        <Land view={view} />
        {type !== 'Satellite' && <Grid view={view} />}
        {markers.map((marker, at) => (
          <Pin key={at} place={marker} view={view} color={marker.color} label={marker.label} />
        ))}
        {value && <Pin place={value} view={view} color="#0060d0" label="" />}
        {cross && <Pin place={cross} view={view} color="#d00000" label="+" />}
      </div>
      <div class="row">
        <button type="button" class="button" aria-label={say('zoomIn')} onClick={() => zoom(1 / ZOOM)}>
          +
        </button>
        <button type="button" class="button" aria-label={say('zoomOut')} onClick={() => zoom(ZOOM)}>
          −
        </button>
        {onChange && (
          <button type="button" class="button" onClick={here}>
            {say('here')}
          </button>
        )}
      </div>
      {fault !== '' && <p role="alert">{say('noPlace', fault)}</p>}
      {onChange && (
        <>
          <p class="quiet" id={`${field.key}-hint`}>
            {say('mapHint')}
          </p>
          <div class="row">
            <Degrees field={field} of="longitude" most={180} value={value} onChange={choose} />
            <Degrees field={field} of="latitude" most={90} value={value} onChange={choose} />
          </div>
        </>
      )}
      {markers.length > 0 && (
        <ul class="markers" aria-label={say('markers')}>
          {markers.map(({ label, longitude, latitude }, at) => (
            <li key={at}>
              <span dir="auto">{label}</span>{' '}
              <span class="quiet" dir="ltr">
                {latitude}, {longitude}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

const ARROWS: Record<string, readonly [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

const shares = ({ longitude, latitude }: Place, view: View): [number, number] => [
  0.5 + (longitude - view.longitude) / view.width,
  0.5 - (latitude - view.latitude) / (view.width / RATIO),
];

const isInside = (place: Place, view: View): boolean => shares(place, view).every((share) => share >= 0 && share <= 1);

function Pin({ place, view, color, label }: { place: Place; view: View; color: string; label: string }) {
  if (!isInside(place, view)) return null;
  const [x, y] = shares(place, view);
  return (
    <span class="pin" style={{ left: `${x * 100}%`, top: `${y * 100}%`, background: color }} title={label}>
      {label === '+' ? '+' : ''}
    </span>
  );
}

/** The outlines of the land (Natural Earth) as one picture of the whole world, of which the view is a part. */
function Land({ view }: { view: View }) {
  const width = WIDEST / view.width;
  const [left, top] = shares({ longitude: -180, latitude: 90 }, view);
  return (
    <img
      class="land"
      src={document.querySelector<HTMLLinkElement>('link[rel="x-land"]')?.href}
      alt=""
      draggable={false}
      style={{ left: `${left * 100}%`, top: `${top * 100}%`, width: `${width * 100}%` }}
    />
  );
}

const LINES = [45, 30, 15, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005];

function Grid({ view }: { view: View }) {
  const step = LINES.find((one) => view.width / one >= 4) ?? 0.0005;
  const from = (center: number, span: number): number[] => {
    const first = Math.ceil((center - span / 2) / step);
    return Array.from({ length: Math.floor(span / step) + 1 }, (_, at) => (first + at) * step);
  };
  return (
    <>
      {from(view.longitude, view.width).map((longitude) => (
        <span key={`x${longitude}`} class="meridian" style={{ left: `${shares({ longitude, latitude: 0 }, view)[0] * 100}%` }}>
          {Number(longitude.toFixed(4))}°
        </span>
      ))}
      {from(view.latitude, view.width / RATIO).map((latitude) => (
        <span key={`y${latitude}`} class="parallel" style={{ top: `${shares({ longitude: 0, latitude }, view)[1] * 100}%` }}>
          {Number(latitude.toFixed(4))}°
        </span>
      ))}
    </>
  );
}

interface DegreesProps {
  readonly field: Field;
  readonly of: 'longitude' | 'latitude';
  readonly most: number;
  readonly value: Place | null;
  readonly onChange: (place: Place) => void;
}

/** The other one of a place that has none yet begins at 0. What is no degree is found wrong as it stands there, and changes nothing. */
function Degrees({ field, of, most, value, onChange }: DegreesProps) {
  const { say } = useUi();
  const given: Json = value ? value[of] : null;
  const [typed, setTyped] = useState('');
  const [isWrong, setWrong] = useState(false);
  const isTyping = useRef(false);
  useEffect(() => {
    if (isTyping.current) return; // a place comes from the other field, or the map, a moment after it was entered
    setTyped(given === null ? '' : String(given));
    setWrong(false);
  }, [given]);
  const id = `${field.key}-${of}`;
  const take = (): void => {
    isTyping.current = false;
    const entered = numberIn(typed, navigator.language);
    const degrees = entered === null ? null : Number(entered);
    const isEmpty = typed.trim() === '';
    setWrong(!isEmpty && (degrees === null || Math.abs(degrees) > most));
    if (isEmpty || degrees === given) setTyped(given === null ? '' : String(given));
    else if (degrees !== null && Math.abs(degrees) <= most) onChange({ ...(value ?? { longitude: 0, latitude: 0 }), [of]: degrees });
  };
  return (
    <div class="degrees">
      <label for={id}>{say(of)}</label>
      <input
        id={id}
        type="text"
        inputMode="text"
        dir="ltr"
        value={typed}
        aria-invalid={isWrong}
        {...(isWrong && { 'aria-describedby': `${id}-problem` })}
        onInput={({ currentTarget }) => {
          isTyping.current = true;
          setTyped(currentTarget.value);
        }}
        onChange={take}
      />
      {isWrong && (
        <p class="problem" id={`${id}-problem`} role="alert">
          {say('wrongRange', -most, most)}
        </p>
      )}
    </div>
  );
}
