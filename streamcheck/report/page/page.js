"use strict";
(() => {
  const DATA = JSON.parse(document.getElementById("data").textContent);
  const LANE = 26; // pixels: the height of a row
  const WIDEST = 64, NARROWEST = 0.05; // pixels of a step
  const MOST_TEXT = 60;

  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "text") element.textContent = value;
      else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && value !== null) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  };
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const clamp = (value, least, most) => Math.min(most, Math.max(least, value));
  const words = (text) => (text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text);

  /** The number that a text is: also `1/3`. NaN if it is none. */
  const numberOf = (text) => {
    const parts = text.split("/");
    return parts.length === 2 ? Number(parts[0]) / Number(parts[1]) : text === "" ? NaN : Number(text);
  };

  /** A signal with the run of equal values that each step belongs to. */
  class Signal {
    constructor(plain) {
      Object.assign(this, plain);
      const length = plain.runs.reduce((sum, [, count]) => sum + count, 0);
      this.run = new Int32Array(length);
      this.first = [];
      let step = 0;
      plain.runs.forEach(([, count], i) => {
        this.first.push(step);
        this.run.fill(i, step, (step += count));
      });
      this.isFree = new Set(plain.free || []);
      if (plain.kind === "number") {
        this.numbers = plain.runs.map(([text]) => numberOf(text));
        const finite = this.numbers.filter(Number.isFinite);
        this.least = finite.length ? finite.reduce((a, b) => Math.min(a, b)) : 0;
        this.most = finite.length ? finite.reduce((a, b) => Math.max(a, b)) : 0;
      }
    }
    text(step) { return this.runs[this.run[step]][0]; }
    changes(step) { return step > 0 && this.run[step] !== this.run[step - 1]; }
    shown(step) { return this.isFree.has(step) ? `(${this.text(step)})` : this.text(step); }
  }

  class Viewer {
    constructor(host, plain) {
      this.plain = plain;
      this.signals = plain.signals.map((row) => new Signal(row));
      const { numbers } = plain;
      this.count = numbers.each ? numbers.each.length : numbers[1];
      this.number = (step) => (numbers.each ? numbers.each[step] : numbers[0] + step);
      this.step = Math.max(0, plain.bad === null ? this.count - 1 : plain.bad);
      this.rows = [];
      this.build(host);
      this.choose();
      this.fit();
      this.goTo(this.step);
    }

    build(host) {
      const button = (text, title, act) => make("button", { type: "button", text, title, onclick: act });
      this.filter = make("input", { type: "search", placeholder: "part of a name", oninput: () => this.choose() });
      this.which = make("select", { onchange: () => this.choose() },
        make("option", { value: "needed", text: "that matter" }), make("option", { value: "all", text: "all" }));
      this.changing = make("input", { type: "checkbox", onchange: () => this.choose() });
      this.at = make("input", { type: "number", min: this.number(0), onchange: () => this.goToNumber(Number(this.at.value)) });
      const together = (...parts) => make("span", { class: "steps" }, ...parts);
      const label = (text, input) => make("label", {}, `${text} `, input);
      const hasAside = this.signals.some((s) => s.aside);
      const tools = make("div", { class: "tools", role: "group", "aria-label": `timeline of ${this.plain.title}` },
        label("Filter", this.filter), hasAside ? label("Rows", this.which) : "",
        make("label", {}, this.changing, " only rows that change"),
        together(button("◀", `the ${this.plain.step} before`, () => this.goTo(this.step - 1)), label(this.plain.step, this.at),
          button("▶", `the next ${this.plain.step}`, () => this.goTo(this.step + 1)),
          this.plain.bad === null ? "" : button("violation", "where the property is false", () => this.goTo(this.plain.bad))),
        together(button("−", "narrower steps", () => this.zoom(1 / 1.5)), button("+", "wider steps", () => this.zoom(1.5)),
          button("fit", "the whole run", () => { this.fit(); this.draw(); })));
      this.names = make("div", { class: "names", role: "table", "aria-label": `values at the chosen ${this.plain.step}` });
      this.canvas = make("canvas", { role: "img" });
      this.drawing = make("div", { class: "drawing" }, this.canvas);
      this.scroll = make("div", { class: "scroll", tabindex: "0", role: "region",
        "aria-label": `timeline of ${this.plain.title}; arrow keys choose a ${this.plain.step}`,
        onscroll: () => this.later(), onkeydown: (event) => this.key(event) },
      make("div", { class: "lanes" }, this.names, this.drawing));
      this.live = make("p", { class: "legend", "aria-live": "polite" });
      this.tip = make("div", { class: "tip", role: "tooltip", hidden: true });
      this.canvas.addEventListener("mousemove", (event) => this.hover(event));
      this.canvas.addEventListener("mouseleave", () => { this.tip.hidden = true; });
      this.canvas.addEventListener("click", (event) => this.goTo(this.stepAt(event)));
      const left = make("div", {}, tools, this.scroll, this.live, this.tip);
      if (this.plain.note) left.append(make("p", { class: "legend", text: this.plain.note }));
      const source = this.buildSource();
      host.append(make("div", { class: source ? "viewer" : "viewer alone" }, left, source || ""));
      new ResizeObserver(() => this.later()).observe(this.scroll);
    }

    /** The lines of the file, with room for the values of the streams that each defines. */
    buildSource() {
      this.cells = new Map();
      this.trs = new Map();
      const places = [...this.signals.map((s) => s.at), this.plain.claim_at, ...(this.plain.lines || [])].filter(Boolean);
      if (!places.length) return null;
      const files = [...new Set(places.map(([file]) => file))];
      const box = make("div", { class: "source", tabindex: "0", role: "region", "aria-label": "the source, with values" });
      for (const file of files) {
        box.append(make("p", { text: DATA.sources[file].name }));
        const body = make("tbody");
        for (const [number, text] of DATA.sources[file].lines) {
          const values = make("span", { class: "values" });
          const row = make("tr", {}, make("td", { text: number }), make("td", {}, make("span", { text: `${text} ` }), values));
          this.cells.set(`${file}:${number}`, values);
          this.trs.set(`${file}:${number}`, row);
          body.append(row);
        }
        box.append(make("table", { role: "presentation" }, body));
      }
      if (this.plain.claim_at && !this.plain.lines) this.trs.get(this.plain.claim_at.join(":"))?.classList.add("claim");
      this.box = box;
      requestAnimationFrame(() => this.reveal(this.trs.get((this.plain.claim_at || places[0]).join(":"))));
      return box;
    }

    /** Show the rows that fit the filters. */
    choose() {
      const part = this.filter.value.toLowerCase();
      const all = this.which.value === "all" || !this.signals.some((s) => s.aside);
      this.rows = this.signals.filter((s) => s.name.toLowerCase().includes(part) &&
        (all || !s.aside) && (!this.changing.checked || s.runs.length > 1));
      const head = make("div", { class: "head", role: "row" }, make("span", { role: "columnheader", text: "name" }),
        make("span", { role: "columnheader", text: "value" }));
      this.lanes = this.rows.map((s) => {
        const value = make("span", { class: "value", role: "cell" });
        const lane = make("div", { class: `lane${s.claim ? " claim" : ""}${s.aside ? " aside" : ""}`, role: "row" },
          make("span", { role: "rowheader", text: s.name, title: s.name }), value);
        return { lane, value };
      });
      this.names.replaceChildren(head, ...this.lanes.map(({ lane }) => lane));
      this.values();
      this.draw();
    }

    fit() {
      const room = this.scroll.clientWidth - this.names.offsetWidth - 2;
      this.wide = clamp((room > 0 ? room : 600) / Math.max(1, this.count), NARROWEST, WIDEST);
    }
    zoom(factor) {
      const middle = (this.step + 0.5) * this.wide - this.scroll.scrollLeft;
      this.wide = clamp(this.wide * factor, NARROWEST, WIDEST);
      this.draw();
      this.scroll.scrollLeft = (this.step + 0.5) * this.wide - middle;
      this.later();
    }
    goToNumber(number) {
      let step = this.count - 1;
      while (step > 0 && this.number(step) > number) step--;
      this.goTo(step);
    }
    goTo(step) {
      this.step = clamp(step, 0, Math.max(0, this.count - 1));
      const room = this.scroll.clientWidth - this.names.offsetWidth;
      const begin = this.step * this.wide, end = begin + this.wide;
      if (begin < this.scroll.scrollLeft) this.scroll.scrollLeft = begin;
      else if (end > this.scroll.scrollLeft + room) this.scroll.scrollLeft = end - room;
      this.values();
      this.later();
    }
    key(event) {
      const moves = { ArrowLeft: this.step - 1, ArrowRight: this.step + 1, Home: 0, End: this.count - 1,
        PageUp: this.step - 10, PageDown: this.step + 10 };
      if (event.key in moves) { this.goTo(moves[event.key]); event.preventDefault(); }
      if (event.key === "+" || event.key === "-") this.zoom(event.key === "+" ? 1.5 : 1 / 1.5);
    }

    /** The values at the chosen step: beside the names, and at the lines of the source. */
    values() {
      if (!this.count) return;
      this.at.value = this.number(this.step);
      const place = this.step === this.plain.bad ? ": the property is false" : "";
      this.live.textContent = `${this.plain.step} ${this.number(this.step)} of ${this.number(this.count - 1)}${place}`;
      this.rows.forEach((s, i) => {
        const { lane, value } = this.lanes[i];
        value.textContent = words(s.shown(this.step));
        lane.classList.toggle("changed", s.changes(this.step));
        lane.classList.toggle("free", s.isFree.has(this.step));
        lane.classList.toggle("wrong", Boolean(s.claim) && s.text(this.step) === "false");
      });
      const texts = new Map();
      for (const s of this.signals) {
        if (!s.at || !s.text(this.step)) continue;
        const key = s.at.join(":");
        if (!texts.has(key)) texts.set(key, []);
        texts.get(key).push(`${s.name} = ${words(s.shown(this.step))}`);
      }
      this.cells.forEach((cell, key) => { cell.textContent = texts.has(key) ? `  # ${texts.get(key).join(", ")}` : ""; });
      this.markLine();
    }
    markLine() {
      const line = this.plain.lines?.[this.step];
      this.now?.classList.remove("now");
      this.now = line && this.trs.get(line.join(":"));
      if (!this.now) return;
      this.now.classList.add("now");
      this.reveal(this.now);
    }
    /** Scroll the source so that this line can be seen. */
    reveal(row) {
      if (!row) return;
      const top = row.getBoundingClientRect().top - this.box.getBoundingClientRect().top;
      if (top < 30 || top > this.box.clientHeight - 30) this.box.scrollTop += top - this.box.clientHeight / 2;
    }

    stepAt(event) {
      const x = event.clientX - this.canvas.getBoundingClientRect().left + this.scroll.scrollLeft;
      return clamp(Math.floor(x / this.wide), 0, this.count - 1);
    }
    hover(event) {
      const box = this.canvas.getBoundingClientRect();
      const row = this.rows[Math.floor((event.clientY - box.top + this.scroll.scrollTop) / LANE) - 1];
      const step = this.stepAt(event);
      this.tip.hidden = !row || !this.count;
      if (row && this.count) {
        const free = row.isFree.has(step) ? " (any value will do)" : "";
        this.tip.textContent = `${row.name}, ${this.plain.step} ${this.number(step)}: ${row.text(step) || "–"}${free}`;
        this.tip.style.left = `${Math.min(event.clientX + 12, window.innerWidth - this.tip.offsetWidth - 8)}px`;
        this.tip.style.top = `${event.clientY + 16}px`;
      }
    }

    later() {
      if (this.waiting) return;
      this.waiting = true;
      requestAnimationFrame(() => { this.waiting = false; this.draw(); });
    }

    draw() {
      const { scroll, canvas } = this;
      if (!this.wide || !scroll.clientWidth) return;
      const width = Math.max(1, Math.min(scroll.clientWidth - this.names.offsetWidth, this.count * this.wide + 1));
      const full = (this.rows.length + 1) * LANE;
      this.drawing.style.width = `${Math.max(width, this.count * this.wide + 1)}px`;
      this.drawing.style.height = `${full}px`;
      const height = Math.max(1, Math.min(scroll.clientHeight, full));
      const ratio = window.devicePixelRatio || 1;
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      Object.assign(canvas.style, { width: `${width}px`, height: `${height}px`, left: `${this.names.offsetWidth}px` });
      canvas.setAttribute("aria-label", `${this.rows.length} rows over ${this.count} ${this.plain.step}s`);
      const c = canvas.getContext("2d");
      c.scale(ratio, ratio);
      c.font = "12px system-ui, sans-serif";
      c.textBaseline = "middle";
      const left = scroll.scrollLeft, top = scroll.scrollTop;
      const from = Math.floor(left / this.wide), to = Math.min(this.count - 1, Math.ceil((left + width) / this.wide));
      const x = (step) => step * this.wide - left;
      this.palette ??= Object.fromEntries(["back", "panel", "ink", "faint", "line", "bad", "bad-back", "chosen", "wave",
        "wave-fill", "number", "band", "event", "free"].map((name) => [name, colour(name)]));
      const p = this.palette;
      c.fillStyle = p.back;
      c.fillRect(0, 0, width, height);
      const stripe = (step, fill) => { c.fillStyle = fill; c.fillRect(x(step), 0, Math.max(1, this.wide), height); };
      if (this.plain.bad !== null) stripe(this.plain.bad, p["bad-back"]);
      if (this.step !== this.plain.bad) stripe(this.step, p.chosen);
      c.save();
      c.beginPath();
      c.rect(0, LANE, width, height);
      c.clip();
      const first = Math.floor(top / LANE), last = Math.min(this.rows.length - 1, Math.ceil((top + height) / LANE));
      for (let i = first; i <= last; i++) this.row(c, this.rows[i], (i + 1) * LANE - top, from, to, x);
      c.restore();
      this.gaps(c, from, to, x, height);
      this.ruler(c, from, to, x, width);
      c.strokeStyle = p.faint;
      c.lineWidth = 1;
      c.strokeRect(x(this.step) + 0.5, 0.5, Math.max(1, this.wide - 1), height - 1);
    }
    ruler(c, from, to, x, width) {
      const p = this.palette;
      c.fillStyle = p.panel;
      c.fillRect(0, 0, width, LANE);
      const digits = String(this.number(Math.max(0, this.count - 1))).length * 8 + 10;
      let every = 1;
      for (const factor of [2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 100000]) {
        if (every * this.wide < digits) every = factor;
      }
      c.textAlign = "center";
      for (let step = from; step <= to; step++) {
        const special = step === this.step || step === this.plain.bad;
        if (step % every && !special) continue;
        c.fillStyle = step === this.plain.bad ? p.bad : special ? p.ink : p.faint;
        c.fillText(this.number(step), x(step) + this.wide / 2, LANE / 2);
      }
      if (this.plain.loop !== null && this.plain.loop >= from && this.plain.loop <= to) {
        c.fillStyle = p.event;
        c.fillText("↻", x(this.plain.loop) + 6, LANE / 2);
      }
    }
    gaps(c, from, to, x, height) {
      c.strokeStyle = this.palette.faint;
      c.setLineDash([3, 3]);
      for (let step = Math.max(1, from); step <= to; step++) {
        if (this.number(step) === this.number(step - 1) + 1 || this.plain.step !== "step") continue;
        c.beginPath();
        c.moveTo(x(step), 0);
        c.lineTo(x(step), height);
        c.stroke();
      }
      c.setLineDash([]);
    }
    row(c, signal, top, from, to, x) {
      const p = this.palette;
      c.strokeStyle = p.line;
      c.lineWidth = 0.5;
      c.beginPath();
      c.moveTo(x(from), top + LANE - 0.5);
      c.lineTo(x(to + 1), top + LANE - 0.5);
      c.stroke();
      if (!this.count) return;
      const low = top + LANE - 6, high = top + 6;
      const level = (run) => {
        if (signal.kind === "bool") return signal.runs[run][0] === "true" ? high : low;
        const value = signal.numbers[run];
        if (!Number.isFinite(value)) return value > 0 ? high : value < 0 ? low : (low + high) / 2;
        return signal.most === signal.least ? (low + high) / 2 : low - (low - high) * (value - signal.least) / (signal.most - signal.least);
      };
      const drawn = signal.kind === "bool" || signal.kind === "number";
      const path = [], labels = [];
      for (let run = signal.run[from]; run <= signal.run[to]; run++) {
        const [text, length] = signal.runs[run];
        const begin = Math.max(signal.first[run], from), end = Math.min(signal.first[run] + length, to + 1);
        const l = x(begin), r = x(end);
        if (text === "") continue;
        if (signal.kind === "event") this.events(c, l, end - begin, top);
        else if (signal.kind === "text") this.band(c, text, l, r, top);
        else {
          const y = level(run);
          if (signal.kind === "bool" && text === "true") { c.fillStyle = p["wave-fill"]; c.fillRect(l, high, r - l, low - high); }
          if (signal.claim && text === "false") { c.fillStyle = p["bad-back"]; c.fillRect(l, high, r - l, low - high); }
          path.push([l, y], [r, y]);
          if (signal.kind === "number") labels.push([text, l, r]);
        }
      }
      if (drawn) {
        c.strokeStyle = signal.claim ? p.bad : signal.kind === "bool" ? p.wave : p.number;
        c.lineWidth = 1.5;
        c.beginPath();
        path.forEach(([px, py], i) => (i ? c.lineTo(px, py) : c.moveTo(px, py)));
        c.stroke();
        labels.forEach(([text, l, r]) => this.label(c, text, l, r, top, p.back));
      }
      this.hatch(c, signal, top, from, to, x);
    }
    label(c, text, l, r, top, behind) {
      if (c.measureText(text).width + 6 > r - l) return;
      if (behind) {
        const width = c.measureText(text).width + 4;
        c.globalAlpha = 0.85;
        c.fillStyle = behind;
        c.fillRect((l + r - width) / 2, top + 5, width, LANE - 10);
        c.globalAlpha = 1;
      }
      c.fillStyle = this.palette.ink;
      c.textAlign = "center";
      c.fillText(text, (l + r) / 2, top + LANE / 2);
    }
    band(c, text, l, r, top) {
      c.fillStyle = this.palette.band;
      c.strokeStyle = this.palette.faint;
      c.lineWidth = 1;
      c.fillRect(l + 0.5, top + 4, Math.max(1, r - l - 1), LANE - 8);
      if (r - l > 3) c.strokeRect(l + 0.5, top + 4, r - l - 1, LANE - 8);
      this.label(c, text, l, r, top);
    }
    events(c, l, count, top) {
      c.fillStyle = this.palette.event;
      for (let i = 0; i < count; i++) {
        c.beginPath();
        c.arc(l + (i + 0.5) * this.wide, top + LANE / 2, Math.min(5, Math.max(1.5, this.wide / 2)), 0, 7);
        c.fill();
      }
    }
    hatch(c, signal, top, from, to, x) {
      if (!signal.isFree.size) return;
      c.strokeStyle = this.palette.free;
      c.lineWidth = 1;
      c.save();
      c.beginPath();
      for (let step = from; step <= to; step++) if (signal.isFree.has(step)) c.rect(x(step), top + 3, this.wide, LANE - 6);
      c.clip();
      c.beginPath();
      for (let at = x(from) - LANE; at < x(to + 1); at += 7) { c.moveTo(at, top + LANE); c.lineTo(at + LANE, top); }
      c.stroke();
      c.restore();
    }
  }

  const viewers = new Map();
  const open = (host) => {
    if (!viewers.has(host) && host.offsetParent !== null) {
      viewers.set(host, new Viewer(host, DATA.timelines[Number(host.dataset.timeline)]));
    }
  };
  const openAll = () => document.querySelectorAll(".timeline").forEach(open);
  const redraw = () => viewers.forEach((viewer) => { viewer.palette = null; viewer.draw(); });
  document.addEventListener("toggle", openAll, true);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  // On paper all is open, light, and as wide as the run.
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details.property:not([open]), details.property > details:not(.as-table):not([open])")];
    closed.forEach((details) => { details.open = true; });
    document.documentElement.classList.add("paper");
    openAll();
    viewers.forEach((viewer) => viewer.fit());
    redraw();
  });
  window.addEventListener("afterprint", () => {
    closed.forEach((details) => { details.open = false; });
    document.documentElement.classList.remove("paper");
    redraw();
  });
  const show = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") target.open = true;
  };
  window.addEventListener("hashchange", show);
  show();
  openAll();

  for (const graph of document.querySelectorAll(".graph")) {
    const cones = JSON.parse(graph.querySelector(".cones").textContent);
    graph.querySelector("select").addEventListener("change", (event) => {
      const cone = cones[event.target.value] && new Set(cones[event.target.value]);
      const mark = (element, inside) => {
        element.classList.toggle("on", Boolean(cone) && inside);
        element.classList.toggle("off", Boolean(cone) && !inside);
      };
      graph.querySelectorAll(".node").forEach((n) => mark(n, cone?.has(n.dataset.key)));
      graph.querySelectorAll(".edge").forEach((e) => mark(e, cone?.has(e.dataset.source) && cone?.has(e.dataset.target)));
    });
  }

  for (const both of document.querySelectorAll(".both")) {
    const said = both.parentElement.querySelector(".partners");
    const place = (row) => `${row.closest("table").previousElementSibling.textContent}:${row.firstElementChild.textContent}`;
    const mark = (event) => {
      const row = event.target.closest("tr[data-with]");
      both.querySelectorAll(".match").forEach((other) => other.classList.remove("match"));
      if (!row) return;
      const keys = new Set(row.dataset.with.split(" "));
      const partners = [...both.querySelectorAll("tr[data-key]")].filter((other) => keys.has(other.dataset.key));
      [row, ...partners].forEach((other) => other.classList.add("match"));
      said.textContent = `${place(row)} belongs to ${partners.map(place).join(", ")}`;
      if (event.type === "click" && partners.length) partners[0].scrollIntoView({ block: "nearest" });
    };
    both.addEventListener("mouseover", mark);
    both.addEventListener("focusin", mark);
    both.addEventListener("click", mark);
  }
})();
