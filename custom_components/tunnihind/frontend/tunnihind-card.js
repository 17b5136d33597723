// The card of the household's price.

class TunnihindCard extends HTMLElement {
  setConfig(config) {
    this._config = config;
  }

  set hass(hass) {
    this._subscription ??= hass.connection.subscribeMessage((changed) => this._show(changed), {
      type: "tunnihind/card/subscribe",
      ...(this._config.entity ? { entity_id: this._config.entity } : {}),
    });
  }

  _show(changed) {
    this._shown = { ...this._shown, ...changed };
    this.textContent = `${this._shown.title}: ${this._shown.now?.price ?? this._shown.state}`;
  }
}

customElements.define("tunnihind-card", TunnihindCard);
(window.customCards ??= []).push({ type: "tunnihind-card", name: "Tunnihind", preview: true });
