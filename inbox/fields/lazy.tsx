// A component that is loaded when it is first shown. Offline it comes from the service worker, which has kept it.
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useUi } from '../views/context.ts';

export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  return function Loaded(props: Props) {
    const { say } = useUi();
    const [state, setState] = useState<{ Component: ComponentType<Props> | null; isBroken: boolean }>({ Component: null, isBroken: false });
    useEffect(() => {
      load().then(
        (Component) => setState({ Component, isBroken: false }),
        () => setState({ Component: null, isBroken: true }),
      );
    }, []);
    if (state.isBroken) return <p class="problem">{say('unreachable')}</p>;
    return state.Component ? <state.Component {...props} /> : <p class="quiet">{say('loading')}</p>;
  };
}
