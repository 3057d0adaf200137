// @ts-check
/** What breaks must not take with it what stands around it. */

import { Component } from "preact";

import { html } from "../html.js";

export class Guard extends Component {
  state = { broken: /** @type {Error | null} */ (null) };

  /** @param {Error} broken */
  static getDerivedStateFromError(broken) {
    return { broken };
  }

  render() {
    const { broken } = this.state;
    if (!broken) return this.props.children;
    console.error(broken);
    return html`<p class="refusal" role="alert">${broken.name}: ${broken.message}</p>`;
  }
}
