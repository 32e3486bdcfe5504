// Keeps a page up to date. Every page is whole without this script: it takes the live regions of newer renderings from the
// event stream, and says how old they are while there is none. Texts of the cluster are set as text; no markup is written.
"use strict";
(() => {
  const FRESH_MS = 5000;
  let events = document.body.dataset.events;
  const lost = document.getElementById("link-lost");
  let clockOffset = Number(document.body.dataset.now) - Date.now();
  let lastMessage = Date.now();

  // Regions -----------------------------------------------------------------------------------------------------------

  // Parsed in a document of its own, where nothing runs or loads; nodes are copied over where they differ.
  const parse = html => new DOMParser().parseFromString(`<live-region>${html}</live-region>`, "text/html").body.firstChild;

  const sameKind = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && (a.id ?? "") === (b.id ?? "");

  function syncAttributes(from, to) {
    for (const { name } of [...from.attributes]) if (!to.hasAttribute(name)) from.removeAttribute(name);
    for (const { name, value } of to.attributes) if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  }

  // Keeps nodes that are of the same kind, so that focus, selection, scroll positions and open details stay.
  function morph(from, to) {
    if (from.nodeType === Node.TEXT_NODE) {
      if (from.data !== to.data) from.data = to.data;
      return;
    }
    if (from.nodeType !== Node.ELEMENT_NODE) return;
    const keepsOwnState = from.nodeName === "DETAILS";
    const wasOpen = keepsOwnState && from.open;
    syncAttributes(from, to);
    if (keepsOwnState) from.open = wasOpen;
    if (from.nodeName === "INPUT") {
      if (from !== document.activeElement) from.value = to.value;
      return;
    }
    morphChildren(from, to);
  }

  function morphChildren(from, to) {
    let old = from.firstChild;
    for (const wanted of [...to.childNodes]) {
      if (old && sameKind(old, wanted)) {
        const next = old.nextSibling;
        morph(old, wanted);
        old = next;
      } else {
        from.insertBefore(document.importNode(wanted, true), old);
      }
    }
    while (old) {
      const next = old.nextSibling;
      old.remove();
      old = next;
    }
  }

  function apply(message) {
    clockOffset = message.now - Date.now();
    for (const [id, html] of Object.entries(message.regions)) {
      const region = document.getElementById(id);
      if (region) morphChildren(region, parse(html));
    }
  }

  // Ages --------------------------------------------------------------------------------------------------------------

  const age = ms => {
    const seconds = Math.max(0, Math.floor(ms / 1000));
    if (seconds < 120) return `${seconds}\u00a0s`;
    if (seconds < 7200) return `${Math.floor(seconds / 60)}\u00a0min`;
    return `${Math.floor(seconds / 3600)}\u00a0h`;
  };

  function showAges() {
    const now = Date.now() + clockOffset;
    for (const seen of document.querySelectorAll("[data-seen]")) {
      const old = now - Number(seen.dataset.seen);
      const text = old >= FRESH_MS ? `${age(old)} old` : "";
      if (seen.textContent !== text) seen.textContent = text;
      seen.closest("[data-figure]")?.classList.toggle("old", old >= FRESH_MS);
    }
    const silent = Date.now() - lastMessage;
    const isLost = events && silent >= FRESH_MS;
    if (isLost) lost.textContent = `The console does not answer for ${age(silent)}. The page keeps what it had.`;
    if (lost.hidden === Boolean(isLost)) lost.hidden = !isLost;
    document.body.classList.toggle("lost", Boolean(isLost));
  }

  // The stream --------------------------------------------------------------------------------------------------------

  let source;
  function open() {
    if (!events || source) return;
    source = new EventSource(events);
    source.onmessage = event => {
      lastMessage = Date.now();
      apply(JSON.parse(event.data));
      showAges();
    };
    // The browser tries again after a break by itself; after a refusal it does not.
    source.onerror = () => {
      if (source?.readyState !== EventSource.CLOSED) return;
      source = undefined;
      setTimeout(open, 3000);
    };
  }

  function close() {
    source?.close();
    source = undefined;
  }

  // A hidden page asks for nothing.
  document.addEventListener("visibilitychange", () => {
    lastMessage = Date.now();
    if (document.hidden) close();
    else open();
  });

  // The history slider ------------------------------------------------------------------------------------------------

  document.addEventListener("input", event => {
    const output = event.target.dataset?.output && document.getElementById(event.target.dataset.output);
    if (output) output.textContent = Number(event.target.value).toLocaleString("en").replaceAll(",", "\u202f");
  });

  // Another position is shown in place: the focus stays at the slider, so that a keyboard can go on.
  let moving;
  document.addEventListener("change", event => {
    const form = event.target.matches?.("input[type=range]") && event.target.form;
    if (!form) return;
    clearTimeout(moving);
    moving = setTimeout(() => {
      const query = new URLSearchParams(new FormData(form));
      history.replaceState(null, "", `${form.getAttribute("action")}?${query}`);
      events = `${events.split("?")[0]}?${query}`;
      close();
      open();
    }, 120);
  });

  // In a narrow window the pages stand in one row, of which the open one is to be seen.
  document.querySelector("nav [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
  if (!document.hidden) open();
  setInterval(showAges, 1000);
})();
